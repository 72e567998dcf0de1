"""What a speed should have been, and the one thing to try where it is less. Pure.

The rate of the interfaces or RDMA devices that were really used decides, never a name; where nobody knows that rate,
plain TCP over the same way does. ``ceiling`` works that rate out, ``reasons`` holds the checks, in the order in which
their answers would be of use.
"""

from __future__ import annotations

from ncclcheck.model import Interface, Judgement, Pattern, Rating, RdmaDevice, Speed, SpeedTest, Transport
from ncclcheck.speedtest.case import Case
from ncclcheck.speedtest.ceiling import Ceiling, carries_tcp, rdma_ceiling, tcp_ceiling
from ncclcheck.speedtest.reasons import CHECKS, unknown


def judge(test: SpeedTest, links: tuple[Interface, ...], rdma: tuple[RdmaDevice, ...] = ()) -> Judgement:
    """What the test's figure means; ``links`` and ``rdma`` are those of the machine that its transport speaks of."""
    speed = judged_speed(test)
    if speed is None:
        return _nothing(test)
    transport = test.transport or _assumed(test)
    used = tuple(one for name in transport.interfaces for one in links if one.name == name)
    case = Case(test, speed, transport, used, links, rdma, _ceiling(transport, used, rdma))
    return next((found for check in CHECKS if (found := check(case))), unknown(case))


def judged_speed(test: SpeedTest) -> Speed | None:
    """The figure by which a test is judged: the largest size of a pattern that surely crosses the network.

    With more than two ranks a pair may be of one machine, while a ring always crosses (nccl-tests, PERFORMANCE.md).
    """
    pair = (Pattern.ONE_WAY, Pattern.ALL_REDUCE, Pattern.ALL_GATHER, Pattern.BOTH_WAYS)
    ring = (Pattern.ALL_REDUCE, Pattern.ALL_GATHER, Pattern.ONE_WAY, Pattern.BOTH_WAYS)
    sound = [one for one in test.speeds if one.ranks >= 2 and one.seconds and one.median > 0 and one.size > 0]
    for pattern in pair if all(one.ranks == 2 for one in sound) else ring:
        if found := [one for one in sound if one.pattern is pattern]:
            return max(found, key=lambda one: one.size)
    return None


def _assumed(test: SpeedTest) -> Transport:
    network = "gloo" if test.backend == "gloo" else ""
    return Transport(network, tuple(test.interface.split(" and ")) if test.interface else ())


def _ceiling(transport: Transport, used: tuple[Interface, ...], rdma: tuple[RdmaDevice, ...]) -> Ceiling:
    if not carries_tcp(transport):
        return rdma_ceiling(transport.devices, rdma)
    # NCCL spreads over its interfaces; gloo has one on each side, and the slower one counts.
    shared = transport.network == "Socket"
    if shared and len(used) < len(transport.interfaces):
        return Ceiling(None, missing=f"what {' and '.join(transport.interfaces)} can do")
    return tcp_ceiling(used, shared=shared)


def _nothing(test: SpeedTest) -> Judgement:
    why = f": {test.failure}" if test.failure else ""
    return Judgement(Rating.UNKNOWN, 0.0, None, "", f"no bandwidth between two ranks was measured{why}")
