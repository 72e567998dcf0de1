"""Why a speed is what it is: one check a reason, the first that speaks is the answer. Pure.

0.85 of the ceiling is healthy, down to 0.6 it is a matter of settings (figures: nccl-tests #267 and #290, NVIDIA/nccl
#209, #450 and #1576).
"""

from __future__ import annotations

from collections.abc import Callable

from ncclcheck.model import Interface, Judgement, LinkKind, Pattern, Rating
from ncclcheck.speedtest.case import Case, active_ports
from ncclcheck.speedtest.ceiling import FAST, USUAL_MTU
from ncclcheck.speedtest.worker.words import bytes_words

_HEALTHY, _TUNE = 0.85, 0.6
_SOCKETS_ON_RDMA = 0.15
"""Of an RDMA port's rate: less went over sockets (NVIDIA/nccl #450)."""
_BY_CPU, _TUNE_BY_CPU = 1.0, 0.1
"""From this many GB/s on, CPUs are the limit rather than wires, and plain TCP has least to do for a byte."""
_PLATEAU = 8 * 1024**2
"""Bytes: smaller messages show latency, not what a link can carry (nccl-tests sweeps from 8M on)."""
_LOST, _LOST_BY_CPU = 0.02, 0.03
"""Of one connection's segments sent again. Several connections lose more to each other on any narrow link, and one
alone lost up to 0.016 between two namespaces where a CPU was the limit (24 runs with sockets at 0.7 to 1.9 GB/s, Linux
6.18)."""
_NOTABLE = 0.001
_TOO_FAST = 1.1
_CARDS = frozenset({LinkKind.ETHERNET, LinkKind.IPOIB, LinkKind.BOND, LinkKind.VLAN})


def _answer(case: Case, rating: Rating, reason: str, step: str = "") -> Judgement:
    return Judgement(rating, case.measured, case.ceiling.rate, case.ceiling.source, reason, step)


def _too_little(case: Case, reason: str, step: str) -> Judgement:
    """Something to tune; suspicious where settings alone would not explain so little."""
    rating = Rating.SUSPICIOUS if case.measured < case.ceiling.suspicious else Rating.TUNE
    return _answer(case, rating, reason, step)


def _rate(rate: float) -> str:
    return f"{rate:.3g} GB/s"


def _damaged(case: Case) -> Judgement | None:
    if not case.test.damaged:
        return None
    reason = "some of what arrived is not what was sent, and before that is mended no speed counts"
    step = "Repeat it over another interface; then test memory, cards and the switch between them"
    return _answer(case, Rating.SUSPICIOUS, reason, step)


def _within(case: Case) -> Judgement | None:
    if not case.transport.within:
        return None
    reason = "the data went through one machine's memory or between its GPUs: that says nothing of the network"
    return _answer(case, Rating.UNKNOWN, reason, "Run one rank on each of two machines")


def _sockets_beside_rdma(case: Case) -> Judgement | None:
    rates = active_ports(case.rdma)
    if case.transport.network != "Socket" or not rates:
        return None
    best = max(rates, key=lambda name: rates[name])
    return Judgement(
        Rating.SUSPICIOUS if case.measured < _SOCKETS_ON_RDMA * rates[best] else Rating.TUNE,
        case.measured,
        rates[best],
        f"the rate of {best}, which was not used",
        f"NCCL used sockets over {case.way}, although the RDMA port {best} is active",
        "See why NCCL left it out: NCCL_IB_DISABLE, NCCL_IB_HCA, NCCL_NET, and its NET/IB lines (ncclcheck analyze)",
    )


def _faster_elsewhere(case: Case) -> Judgement | None:
    others = [one for one in case.links if (one.speed or 0) > case.ceiling.line and _idle(one, case.used)]
    if not case.tcp or not case.ceiling.rate or not others:
        return None
    best = max(others, key=lambda one: one.speed or 0)
    name = "GLOO_SOCKET_IFNAME=" if case.backend == "gloo" else "NCCL_SOCKET_IFNAME=="
    reason = f"the data went over {case.way}, while {best.name} is up with {best.speed} Mbit/s and was not used"
    return _too_little(case, reason, f"Where the other nodes share {best.name}'s network: {name}{best.name}")


def _idle(one: Interface, used: tuple[Interface, ...]) -> bool:
    """It could carry data, and is no part of what did."""
    near = {name for other in used for name in (other.name, *other.members)}
    local = ("169.254.", "fe80:", "127.", "::1")
    addressed = any(not address.address.lower().startswith(local) for address in one.addresses)
    works = one.up is not False and one.running is not False and not one.master and one.kind in _CARDS
    return works and addressed and not near & {one.name, *one.members}


def _too_fast(case: Case) -> Judgement | None:
    if not case.share or case.share < _TOO_FAST:
        return None
    if case.speed.pattern is Pattern.ALL_REDUCE:
        reason = "more than the link carries: between two nodes NCCL's trees count for more than a ring would"
        return _answer(case, Rating.HEALTHY, reason, "Judge the link with NCCL_ALGO=RING")
    reason = f"more than {case.way} can carry: either its driver reports a wrong speed, or the data went another way"
    return _answer(case, Rating.UNKNOWN, reason, "Run it with NCCL_DEBUG=INFO, which tells the way")


def _healthy(case: Case) -> Judgement | None:
    if not case.share or case.share < _HEALTHY:
        return None
    return _answer(case, Rating.HEALTHY, f"{case.backend} gets what {case.way} can carry")


def _too_small(case: Case) -> Judgement | None:
    if case.speed.size >= _PLATEAU:
        return None
    reason = f"the largest message had {bytes_words(case.speed.size)}, too little to show what a link can carry"
    return _answer(case, Rating.UNKNOWN, reason, "Repeat it with a SIZE of 64M or more")


def _gdr_off(case: Case) -> Judgement | None:
    if not case.share or case.tcp or case.transport.gdr is not False:
        return None
    reason = "the cards do not reach the GPUs' memory directly (GPU Direct RDMA is off): all goes through the CPU's"
    return _too_little(case, reason, "Load nvidia_peermem (modprobe nvidia_peermem), or see what NCCL says of DMA-BUF")


def _network_slow(case: Case) -> Judgement | None:
    """Plain TCP fails too."""
    baseline = case.baseline
    if not (case.share and case.tcp and baseline) or not 0.8 * case.measured <= baseline < case.ceiling.suspicious:
        return None
    head = f"plain TCP does {_rate(baseline)} only, so it is the network and not {case.backend}"
    if case.again >= _NOTABLE:
        reason = f"{head}: {100 * case.again:.2g} % of its packets had to be sent again"
        return _answer(case, Rating.SUSPICIOUS, reason, _loss_step(case))
    counted = case.test.baseline and case.test.baseline.retransmits is not None
    losses = "hardly any packet gets lost" if counted else "nobody counted lost packets"
    reason = f"{head}; {losses}, so look for what holds it back: a limit, half duplex, a busy CPU"
    where = case.used[0].name
    step = f"See tc qdisc show dev {where}; ethtool {where}; your provider's terms; top while it runs, on both nodes"
    return _answer(case, Rating.SUSPICIOUS, reason, step)


def _loss_step(case: Case) -> str:
    where = next((one.name for one in case.used), "the interface")
    return f"Look where they get lost: ip -s link show {where}, ethtool -S {where}, on both nodes and between them"


def _one_flow(case: Case) -> Judgement | None:
    known = case.share and case.transport.network in ("Socket", "gloo")
    if not (known and case.ceiling.line >= FAST and case.transport.flows == 1):
        return None
    reason = (
        f"one connection carries it all, which one CPU core limits, on a link of {case.ceiling.line / 1000:g} Gbit/s"
    )
    if case.backend == "gloo":
        return _too_little(case, reason, "gloo has no setting for it: judge this link by NCCL, or by the baseline")
    return _too_little(case, reason, "Set NCCL_SOCKET_NTHREADS=4 and NCCL_NSOCKS_PERTHREAD=4 on every node")


def _small_mtu(case: Case) -> Judgement | None:
    small = [one.name for one in case.used if one.mtu and one.mtu <= USUAL_MTU]
    if not (case.share and case.tcp and case.ceiling.line >= FAST and small):
        return None
    reason = f"packets of {USUAL_MTU} bytes at most on a fast link ({', '.join(small)}): the CPUs handle each of them"
    return _too_little(case, reason, "Set an MTU of 9000 on both nodes, if the switch between them allows it")


def _not_the_network(case: Case) -> Judgement | None:
    baseline = case.baseline
    if not (case.share and case.tcp and baseline) or case.measured >= _HEALTHY * baseline:
        return None
    reason = f"plain TCP does {_rate(baseline)} over the same way, so it is not the network but {case.backend} or a CPU"
    return _too_little(case, reason, _own_step(case))


def _own_step(case: Case) -> str:
    if case.backend == "gloo":
        return "Repeat it with NCCL where there are GPUs; else see whether a CPU is busy (top) while it runs"
    if case.transport.flows == 1:
        return "Set NCCL_SOCKET_NTHREADS=4 and NCCL_NSOCKS_PERTHREAD=4 on every node"
    return "See whether a CPU is busy (top), and whether card and GPU are of one NUMA node (nvidia-smi topo -m)"


def _less_than_the_link(case: Case) -> Judgement | None:
    if not case.share:
        return None
    head = f"less than {case.way} can carry"
    if not case.tcp:
        step = "Compare the card's PCIe width and its place (lspci -vv, LnkSta; nvidia-smi topo -m) on both nodes"
        return _too_little(case, head, step)
    if case.baseline:
        step = "Look for other traffic and for busy CPUs on both nodes, then repeat it"
        return _too_little(case, f"{head}; plain TCP gets {_rate(case.baseline)} over the same way", step)
    return _too_little(
        case, f"{head}; {_no_baseline(case)}", "Repeat it with the baseline, which tells network from NCCL"
    )


def _no_baseline(case: Case) -> str:
    failure = case.test.baseline.failure if case.test.baseline else ""
    return f"the baseline failed: {failure}" if failure else "there is no baseline"


def _by_baseline(case: Case) -> Judgement | None:
    """Nobody knows the link's speed, but plain TCP took the same way."""
    baseline = case.baseline
    if case.share or not (case.tcp and baseline):
        return None
    settings, lost = (_TUNE, _LOST) if baseline < _BY_CPU else (_TUNE_BY_CPU, _LOST_BY_CPU)
    share = case.measured / baseline
    rating = Rating.HEALTHY if share >= _HEALTHY else Rating.TUNE if share >= settings else Rating.SUSPICIOUS
    head = f"nobody knows {case.ceiling.missing}; plain TCP does {_rate(baseline)} over the same way"
    # Before the comparison: how much loss leaves of a rate is luck, for the one as for the other.
    if case.transport.flows == 1 and case.again >= lost:
        reason = f"{head}, but {100 * case.again:.2g} % of its packets had to be sent again: they get lost on the way"
        return _against_tcp(case, Rating.SUSPICIOUS, reason, _loss_step(case))
    if rating is not Rating.HEALTHY:
        return _against_tcp(
            case, rating, f"{head}, so it is not the network but {case.backend} or a CPU", _own_step(case)
        )
    return _against_tcp(case, rating, f"{head}, and {case.backend} keeps up")


def _against_tcp(case: Case, rating: Rating, reason: str, step: str = "") -> Judgement:
    tool = case.test.baseline.tool if case.test.baseline else ""
    return Judgement(rating, case.measured, case.baseline, f"plain TCP, measured with {tool}", reason, step)


def _slower_than_tcp(case: Case) -> Judgement | None:
    baseline = case.baseline
    if case.share or case.tcp or not baseline or case.measured >= _HEALTHY * baseline:
        return None
    reason = f"even plain TCP does more ({_rate(baseline)}) than {case.way}, which is made to be faster"
    step = "See what NCCL says of that network: NCCL_DEBUG=INFO, then ncclcheck analyze"
    return _against_tcp(case, Rating.SUSPICIOUS, reason, step)


def unknown(case: Case) -> Judgement:
    """Nothing to compare with, and what is missing."""
    if not case.transport.network and active_ports(case.rdma):
        reason = "NCCL did not say whether it used sockets or RDMA"
        return _answer(case, Rating.UNKNOWN, reason, "Repeat it with NCCL_DEBUG=INFO")
    if not case.tcp:
        missing = case.ceiling.missing if case.transport.devices else f"what {case.way} should do here"
        return _answer(case, Rating.UNKNOWN, f"nobody knows {missing}", "Compare it with what your provider promises")
    reason = f"nobody knows {case.ceiling.missing}, and {_no_baseline(case)}"
    return _answer(case, Rating.UNKNOWN, reason, "Repeat it with the baseline: plain TCP over the same way")


Check = Callable[[Case], Judgement | None]
CHECKS: tuple[Check, ...] = (
    _damaged,
    _within,
    _sockets_beside_rdma,
    _faster_elsewhere,
    _too_fast,
    _healthy,
    _too_small,
    _gdr_off,
    _network_slow,
    _one_flow,
    _small_mtu,
    _not_the_network,
    _less_than_the_link,
    _by_baseline,
    _slower_than_tcp,
)
