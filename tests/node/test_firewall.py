"""Whether a firewall filters what comes in: a real one, and messages for the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncclcheck.model import Unknown
from ncclcheck.node import firewall
from ncclcheck.node.firewall import Ruleset
from tests.node.files_made import write
from tests.node.namespace import run


def nothing() -> Ruleset:
    raise PermissionError(1, "Operation not permitted")


FIREWALL = """
from pathlib import Path
from pyroute2.nftables.main import NFTables
from ncclcheck.node import firewall
print(firewall.read(Path("/proc")))
with NFTables(nfgen_family=2) as tables:
    tables.table("add", name="t")
    tables.chain("add", table="t", name="forward", hook="forward", type="filter", policy=0)
    print(firewall.read(Path("/proc")))
    tables.chain("add", table="t", name="in", hook="input", type="filter", policy=0)
print(firewall.read(Path("/proc")))
"""


def test_a_real_firewall_is_seen_and_one_for_others_does_not_count() -> None:
    assert run("", FIREWALL) == "(False, ())\n(False, ())\n(True, ())\n"


class Message(dict[str, object]):
    def get_attr(self, name: str) -> object:
        return self.get(name)


def chain(policy: int) -> Message:
    hook = Message(NFTA_HOOK_HOOKNUM=1)
    return Message(NFTA_CHAIN_TABLE="t", NFTA_CHAIN_NAME="in", NFTA_CHAIN_HOOK=hook, NFTA_CHAIN_POLICY=policy)


@pytest.mark.parametrize(
    ("ruleset", "answer"),
    [
        (Ruleset((), ()), False),
        (Ruleset((chain(1),), ()), False),
        (Ruleset((chain(0),), ()), True),
        (Ruleset((chain(1),), (Message(NFTA_RULE_TABLE="t", NFTA_RULE_CHAIN="in"),)), True),
        (Ruleset((chain(1),), (Message(NFTA_RULE_TABLE="t", NFTA_RULE_CHAIN="out"),)), False),
    ],
)
def test_what_counts_as_a_firewall(ruleset: Ruleset, answer: bool, tmp_path: Path) -> None:
    assert firewall.read(tmp_path, lambda: ruleset) == (answer, ())


def test_without_the_right_to_look_a_firewall_is_unknown(tmp_path: Path) -> None:
    unknown = Unknown("whether a firewall filters what comes in", "root: sudo nft list ruleset")
    assert firewall.read(tmp_path, nothing) == (None, (unknown,))

    write(tmp_path / "net/ip_tables_names", "filter\n")
    assert firewall.read(tmp_path, nothing) == (True, ())
