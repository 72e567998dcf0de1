"""Setups for tests: two sketched nodes, and the steps of a pairing between them, without a network."""

from __future__ import annotations

from dataclasses import replace

from ncclcheck.doctor.conclude import conclude
from ncclcheck.doctor.setup.begin import SetupOptions, begun
from ncclcheck.doctor.setup.growth import advanced
from ncclcheck.doctor.setup.state import Setup
from ncclcheck.doctor.setup.steps import Looked, Opened
from ncclcheck.doctor.steps import Concluded, FoundPort, Joined, Waiting
from ncclcheck.model import (
    Applied,
    Contact,
    DdpProof,
    Handshake,
    Leg,
    Limit,
    Machine,
    NameLookup,
    Pattern,
    Speed,
    SpeedTest,
)
from ncclcheck.peer.invitation import Invitation
from ncclcheck.rulebook import sketch
from ncclcheck.rulebook.guides import load_guides

INVITED = Invitation(41235, "A" * 16, ("10.0.0.1", "fd00::1"))
SKETCH = {"node-a": ("eth0 172.17.0.2/16", "eth1 10.0.0.1/24"), "node-b": ("eth0 172.17.0.2/16", "ens5 10.0.0.2/24")}
SETTLED = {name: (*texts, f"NCCL_SOCKET_IFNAME=={texts[1].split()[0]}") for name, texts in SKETCH.items()}
PASSED = ("node-a > node-b ens5 10.0.0.2 ok", "node-b > node-a eth1 10.0.0.1 ok")
DROPPED = ("node-a > node-b ens5 10.0.0.2 dropped never-arrived", "node-b > node-a eth1 10.0.0.1 ok")
LIMITS = (Limit("nofile", 65536, "files"), Limit("shm", 2 * 1024**3, "bytes"), Limit("memlock", None, "bytes"))
WRITTEN = Applied("/etc/nccl.conf", None, "2026-11-30T12:00:00Z", "12ab")


def facts(host: str = "node-a", nodes=None, **machine):
    """One node as it sees itself."""
    found = next(one for one in sketch.nodes(nodes or SKETCH) if one.host == host)
    known = {"limits": LIMITS, "names": (NameLookup(host, "own name", ("10.0.0.1", "10.0.0.2")),), **machine}
    return replace(found, machine=Machine(**known))


def fresh(role: int = 0, place: str = "linux", **asked) -> Setup:
    """A setup at its begin, on node-a or node-b."""
    given = INVITED if role else None
    mine = facts("node-b" if role else "node-a")
    setup = begun(SetupOptions(place=place, invitation=given, **asked), load_guides(), mine)
    return after(setup, Opened(setup), Looked(mine, 0, "/etc/nccl.conf"))


def after(setup: Setup, *steps) -> Setup:
    """What becomes of it."""
    for step in steps:
        setup = advanced(setup, step)
    return setup


def met(nodes=None, cells=PASSED, role: int = 0):
    """The steps up to what follows from the matrix."""
    one, other = sketch.nodes(nodes or SKETCH)
    known = conclude((one, other), sketch.cells(cells)[0])
    begin = () if role else (Waiting(INVITED),)
    return (*begin, Joined(one if role else other, ""), Concluded(known), FoundPort("10.0.0.1", 29501, (29500,)))


def shaken(problem: str = "") -> Handshake:
    """A handshake over both nodes."""
    contact = Contact(Leg.TO_ROOT, 1, "node-b", "10.0.0.1:41000", None if problem else 0.01, problem)
    return Handshake("2.27.3", "node-a", "10.0.0.1:41000", (contact,))


def measured(failure: str = "") -> SpeedTest:
    """One pattern at one size, of 1 GB/s."""
    speeds = () if failure else (Speed(Pattern.ONE_WAY, 10**6, (0.001,) * 5, True),)
    return SpeedTest("gloo", "eth1", speeds, failure)


def trained(*, same: bool = True) -> SpeedTest:
    """The training of a small model."""
    return SpeedTest("gloo", "eth1", ddp=DdpProof(2, 20, 0.05, 0.4, same, 0.9, 0.1))


def states(setup: Setup) -> dict[str, str]:
    """How far each step of the common guide is."""
    return {one.name: one.state.value for one in setup.stages if one.id.startswith("nodes/")}
