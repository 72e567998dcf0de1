"""Names, looked up with an end to the waiting."""

from __future__ import annotations

import socket
import threading

import pytest

from ncclcheck.errors import RuleError
from ncclcheck.model import NameLookup, Unknown
from ncclcheck.node import names
from ncclcheck.node.later import Later


def resolver(*, slow: threading.Event) -> names.Resolver:
    def addresses(name: str) -> tuple[str, ...]:
        if name == "slow":
            slow.wait(60)
        if name == "nobody":
            raise socket.gaierror(-2, "Name or service not known")
        return ("10.0.0.5",)

    return names.Resolver(addresses, lambda address: (f"name-of-{address}",))


def test_names_are_looked_up_and_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "LIMIT", 0.2)
    slow = threading.Event()
    system = resolver(slow=slow)

    found = names.answers((*names.ask("nobody", {"MASTER_ADDR": "node-a"}, system), names.ask_back("10.0.0.5", system)))
    late = names.answers(names.ask("slow", {}, system))
    slow.set()

    assert found == (
        (
            NameLookup("nobody", "own name", ()),
            NameLookup("node-a", "MASTER_ADDR", ("10.0.0.5",)),
            NameLookup("10.0.0.5", "reverse", ("name-of-10.0.0.5",)),
        ),
        (),
    )
    assert late == ((), (Unknown("what slow leads to (own name)", "no answer within 0.2 s"),))


def test_the_systems_resolver() -> None:
    found, _ = names.answers((*names.ask("localhost", {"MASTER_ADDR": "a" * 80}), names.ask_back("127.0.0.1")))

    assert {"127.0.0.1", "::1"} & set(found[0].found)
    assert found[1].found == ()


def test_an_error_in_a_question_comes_out_where_it_is_answered() -> None:
    def broken() -> int:
        raise RuleError("broken")

    with pytest.raises(RuleError):
        Later(broken).answer()
    with pytest.raises(RuleError):
        Later(broken).within(30)
