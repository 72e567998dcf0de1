"""The proofs of a pairing: who is asked for what, and who is told, without a network."""

from __future__ import annotations

import pytest

from ncclcheck.doctor import proving
from ncclcheck.doctor.company import Company, Member
from ncclcheck.doctor.conclude import conclude
from ncclcheck.doctor.meet import Options
from ncclcheck.doctor.proving import Proofs
from ncclcheck.doctor.steps import FoundPort, Trained, WentFast
from ncclcheck.errors import PeerError
from ncclcheck.peer import messages
from ncclcheck.rulebook import sketch
from tests.doctor.setups import PASSED, SETTLED, measured, trained

NODES = sketch.nodes(SETTLED)
KNOWN = conclude(NODES, sketch.cells(PASSED)[0])
USE = KNOWN.sides.match.use


class Wire:
    """The channel to a guest: what was sent, and what he answers."""

    def __init__(self, *, gone=False):
        self.sent, self._gone, self.peer = [], gone, "10.0.0.2"

    def send(self, message, limit=10.0):
        self.sent.append(message)

    def receive(self, limit):
        return messages.Measured(measured())

    def must_be_there(self):
        if self._gone:
            raise PeerError("the other node has ended the conversation")


class Own:
    """This node's part, which measures at once."""

    facts = NODES[0]

    def __init__(self):
        self.asked = []

    def measure(self, asked):
        from ncclcheck.speedtest.reports import Progress

        self.asked.append(asked)
        yield Progress("connecting")
        yield trained() if asked.workload == "ddp" else measured()


def proofs(wire, **options):
    """What is to be proved with the guest at that wire."""
    own = Own()
    return own, Proofs(own, Company((Member(NODES[1], wire, "10.0.0.1"),)), Options(**options), KNOWN)


def test_a_taken_port_is_passed_over_and_everybody_is_told(monkeypatch):
    monkeypatch.setattr(proving, "free_port", lambda first: (first + 2, (first, first + 1)))
    monkeypatch.setattr(proving, "is_free", lambda port: True)
    wire = Wire()
    own, wanted = proofs(wire, speed=1024, train=True)
    steps = [*wanted.find_port(), *wanted.run()]
    assert steps[0] == FoundPort("10.0.0.1", 29502, (29500, 29501))
    assert [type(step) for step in steps if not hasattr(step, "seconds")] == [FoundPort, WentFast, Trained]
    assert [(one.port, one.rank, one.workload) for one in own.asked] == [(29502, 0, "transfers"), (29502, 0, "ddp")]
    told = [type(one) for one in wire.sent]
    assert told == [messages.PortFound, messages.Measure, messages.Measured, messages.Measure, messages.Trained]
    assert (wire.sent[1].rank, wire.sent[1].ranks, wire.sent[1].interface) == (1, 2, "ens5")


def test_a_port_that_was_taken_meanwhile_is_looked_for_again(monkeypatch):
    monkeypatch.setattr(proving, "free_port", lambda first: (first + 1, (first,)))
    monkeypatch.setattr(proving, "is_free", lambda port: False)
    _, wanted = proofs(Wire(), train=True)
    assert isinstance(next(iter(wanted.run())), FoundPort)


def test_a_bandwidth_over_the_same_interfaces_is_told_again_and_not_measured_again(monkeypatch):
    monkeypatch.setattr(proving, "is_free", lambda port: True)
    wire = Wire()
    own, wanted = proofs(wire, speed=1024, measured=tuple(reversed(USE)), earlier=measured())
    assert list(wanted.run()) == [WentFast(measured())]
    assert (own.asked, wire.sent) == ([], [messages.Measured(measured())])
    own, wanted = proofs(wire, speed=1024, measured=USE[:1], earlier=measured())
    list(wanted.run())
    assert len(own.asked) == 1


def test_a_guest_who_is_gone_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(proving, "is_free", lambda port: True)
    _, wanted = proofs(Wire(gone=True), speed=1024)
    with pytest.raises(PeerError, match="has ended"):
        list(wanted.run())


def test_nothing_is_proved_where_no_interfaces_fit_together():
    _, wanted = proofs(Wire(), speed=1024)
    wanted.known = conclude(sketch.nodes({"a": ("eth0 10.0.0.1/24",), "b": ("eth0 10.9.0.1/24",)}))
    assert not wanted.wanted
    _, wanted = proofs(Wire(), rendezvous=True)
    assert wanted.wanted
