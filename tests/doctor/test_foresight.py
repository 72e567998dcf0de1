"""What would become of findings with other settings, and what is left open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ncclcheck.doctor.conclude import conclude
from ncclcheck.doctor.diagnose import diagnose_text
from ncclcheck.doctor.foresight import NOTHING, Fate, Present, foresee
from ncclcheck.model import (
    Cell,
    Change,
    Confidence,
    ConfLine,
    Facts,
    Library,
    Outcome,
    Severity,
    Trouble,
    Where,
)
from ncclcheck.node.whatif import change
from tests.tui import fake

A, B = (replace(fake.Doctor().facts(node)) for node in fake.LAB)
FIRST = "NCCL_SOCKET_IFNAME==eth1"


def changed(text: str) -> Change:
    """A change as it is typed."""
    made = change(text)
    assert made is not None
    return made


def fates(text: str, nodes: tuple[Facts, ...] = (A, B), present: Present = NOTHING) -> list[str]:
    """Fate and rule of every finding."""
    seen = foresee(nodes, (changed(text),), "2.29.7", present)
    return [f"{one.fate.value} {one.rule}" for one in seen.findings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FIRST, ["goes NC101"]),
        ("NCCL_SOCKET_IFNAME==eth0", ["stays NC101"]),
        ("NCCL_DEBUG=INFO", ["stays NC101"]),
        ("NCCL_SOCKET_IFNAME=nosuch", ["goes NC101", "comes NC103", "comes NC103"]),
        ("NCCL_SOCKET_IFNAME==lo", ["goes NC101", "comes NC104"]),
        ("NCCL_SOCKET_IFNAME=^docker", ["goes NC101", "comes NC107"]),
        ("NCCL_SOCKET_IFNAME==eth1 # mine", ["goes NC101", "comes NC106"]),
    ],
)
def test_what_follows_from_settings_alone(text: str, expected: list[str]) -> None:
    assert fates(text) == expected


def test_a_finding_about_an_address_goes_with_the_choice_of_it_and_stays_with_it() -> None:
    alone = Present((replace(fake.FINDING, title="eth0 is not shared"),))
    gone = foresee((A,), (changed(FIRST),), "2.29.7", alone).findings
    kept = foresee((A,), (changed("NCCL_SOCKET_IFNAME=eth0"),), "2.29.7", alone).findings
    assert [str(one) for one in gone] == [
        "would go: NC101 eth0 is not shared (NCCL would take eth1 on node-a)",
    ]
    assert [str(one) for one in kept] == [
        "would stay: NC101 eth0 is not shared (NCCL would still take eth0 on node-a)",
    ]


def test_what_rests_on_a_run_is_left_open() -> None:
    died = replace(fake.FINDING, rule="NC302", cause="rank-died", confidence=Confidence.LIKELY)
    elsewhere = replace(fake.FINDING, subject=(("address", "172.30.0.9"), ("host", "node-z")))
    note = replace(died, severity=Severity.INFO)
    seen = foresee((A,), (changed(FIRST),), "2.29.7", Present((died, elsewhere, note)))
    assert [(one.fate, one.rule) for one in seen.findings] == [(Fate.OPEN, "NC302"), (Fate.OPEN, "NC101")]
    assert all("only a new one can tell" in one.why for one in seen.findings)


def test_a_real_probes_diagnosis_is_foreseen() -> None:
    log = "\n".join(line.replace("{host}", "node-a") for line in fake.LOG)
    found = diagnose_text(log).findings
    assert "NC101" in {finding.rule for finding in found}
    seen = foresee((A,), (changed(FIRST),), "2.29.7", Present(found))
    assert {one.fate for one in seen.findings if one.rule == "NC101"} == {Fate.GOES}


def test_between_nodes_the_reach_is_known_and_not_asked_for_again() -> None:
    hosts = (A.host, B.host)
    cells = tuple(
        Cell(caller, source, callee, "eth1", address, Outcome.OK)
        for (caller, callee, address) in ((A.host, B.host, "10.0.0.2"), (B.host, A.host, "10.0.0.1"))
        for source in ("eth1", "")
    )
    sides = conclude((A, B), cells).sides
    assert sides.match.hosts == hosts
    present = Present(sides=sides)
    seen = foresee((A, B), (changed(FIRST),), "2.29.7", present)
    assert "goes NC801" in fates(FIRST, present=present)
    assert (not seen.unknown) is sides.match.proved
    without = foresee((A, B), (changed(FIRST),), "2.29.7")
    assert [one.question for one in without.unknown] == ["do the nodes reach each other over it?"]


def test_another_version_may_read_other_files() -> None:
    node = replace(A, conf_files=("/etc/nccl.conf",), library=Library("/x/libnccl.so.2", "2.29.7"))
    seen = foresee((node,), (changed("NCCL_DEBUG=INFO"),), "2.18.3")
    assert [one.missing for one in seen.unknown] == ["a look at them: ncclcheck node --nccl 2.18.3"]
    assert foresee((node,), (changed("NCCL_DEBUG=INFO"),), "2.29.7").unknown == ()


def test_a_name_that_nobody_looked_up_leaves_everything_open() -> None:
    seen = foresee((A, B), (changed("NCCL_COMM_ID=node-b:5000"),), "2.29.7", Present((fake.FINDING,)))
    assert [tried.answer for tried in seen.nodes] == [None, None]
    assert {one.fate for one in seen.findings} == {Fate.OPEN}
    assert len(seen.unknown) == 2
    looked_up = foresee((A,), (changed("NCCL_COMM_ID=node-b:5000"),), "2.29.7", resolve=lambda name: "10.0.0.2")
    assert looked_up.nodes[0].answer is not None


@pytest.mark.parametrize(("text", "fate"), [("NCCL_NET=Socket", "goes"), ("NCCL_DEBUG=INFO", "stays")])
def test_what_is_wrong_with_a_variable_goes_with_its_value(text: str, fate: str) -> None:
    wrong = ConfLine("environment", 0, "NCCL_NET=sockets", Trouble.NOT_A_CHOICE, "no such net", "NCCL_NET=Socket")
    pasted = replace(A, conf_troubles=(wrong,), places=(Where("pasted", 1),))
    assert f"{fate} NC119" in fates(text, (pasted,))
