"""What a speed should have been: every reason once, and that nothing makes the judge stumble."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.model import (
    Address,
    Baseline,
    Interface,
    LinkKind,
    Pattern,
    Rating,
    RdmaDevice,
    RdmaPort,
    Speed,
    SpeedTest,
    Transport,
)
from ncclcheck.speedtest.ceiling import gigabits, payload_share, port_named, tcp_ceiling
from ncclcheck.speedtest.judge import judge, judged_speed

SIZE = 1_000_000_000


def link(name: str = "nic", speed: int | None = 10_000, **more: object) -> Interface:
    """An interface that carries data; nothing may depend on its name."""
    base = Interface(name, 2, LinkKind.ETHERNET, True, True, 1500, speed, (Address("10.0.0.11", 24),))
    return replace(base, **more)  # type: ignore[arg-type]


def speed_of(rate: float, pattern: Pattern = Pattern.ONE_WAY, **more: object) -> Speed:
    """One whose bus bandwidth is this many GB/s."""
    factor = Speed(pattern, SIZE, (1.0,), True).factor
    return replace(Speed(pattern, SIZE, (factor / rate,) * 5, True), **more)  # type: ignore[arg-type]


def ran(rate: float, transport: Transport | None, plain: float | None = None, **more: object) -> SpeedTest:
    """A test at this rate, with plain TCP at another."""
    backend = "gloo" if transport and transport.network == "gloo" else "nccl"
    baseline = Baseline("sockets", 1, int(plain * 1e9), 1.0, "nic", 0) if plain else None
    base = SpeedTest(backend, None, (speed_of(rate),), baseline=baseline, transport=transport)
    return replace(base, **more)  # type: ignore[arg-type]


def lossy(test: SpeedTest, segments: int | None) -> SpeedTest:
    """The same with segments of its baseline sent again."""
    assert test.baseline
    return replace(test, baseline=replace(test.baseline, retransmits=segments))


SOCKET, GLOO = Transport("Socket", ("nic",)), Transport("gloo", ("nic",))
MANY = replace(SOCKET, threads=4, sockets=4)
IB = Transport("IB", devices=("mlx5_0:1/IB",), gdr=True)
TEN, HUNDRED, VETH = link(), link(speed=100_000, mtu=9000), link(speed=None, kind=LinkKind.VETH)
NDR = (RdmaDevice("mlx5_0", (), (RdmaPort(1, "InfiniBand", "ACTIVE", "400 Gb/sec (4X NDR)"),)),)
ROCE = (RdmaDevice("mlx5_0", (), (RdmaPort(1, "Ethernet", "ACTIVE", "100 Gb/sec (4X EDR)"),)),)
DOWN = (RdmaDevice("mlx5_0", (), (RdmaPort(1, "InfiniBand", "DOWN", "400 Gb/sec (4X NDR)"),)),)
HEALTHY, TUNE, SUSPICIOUS, UNKNOWN = Rating.HEALTHY, Rating.TUNE, Rating.SUSPICIOUS, Rating.UNKNOWN

CASES = [
    # Nothing to judge.
    (SpeedTest("gloo", "nic", failure="refused"), (TEN,), (), UNKNOWN, "was measured: refused", ""),
    (ran(9.0, replace(SOCKET, within=True)), (TEN,), (), UNKNOWN, "says nothing of the network", "two machines"),
    (
        ran(1.1, SOCKET, speeds=(speed_of(1.1, verified=False),)),
        (TEN,),
        (),
        SUSPICIOUS,
        "not what was sent",
        "another interface",
    ),
    # The link's speed is known.
    (ran(1.1, SOCKET), (TEN,), (), HEALTHY, "NCCL gets what nic can carry", ""),
    (ran(1.1, GLOO), (TEN,), (), HEALTHY, "gloo gets what nic can carry", ""),
    (ran(1.1, None, backend="gloo", interface="nic"), (TEN,), (), HEALTHY, "gloo gets", ""),
    (ran(0.11, SOCKET), (link(speed=1000), link("x")), (), TUNE, "x is up with 10000", "NCCL_SOCKET_IFNAME==x"),
    (ran(0.03, SOCKET), (link(speed=1000), link("x")), (), SUSPICIOUS, "x is up with 10000", "NCCL_SOCKET_IFNAME==x"),
    (ran(0.11, GLOO), (link(speed=1000), link("x")), (), TUNE, "x is up", "GLOO_SOCKET_IFNAME=x"),
    (ran(0.8, SOCKET), (TEN,), NDR, SUSPICIOUS, "the RDMA port mlx5_0:1 is active", "NCCL_IB_DISABLE"),
    (ran(8.0, MANY), (HUNDRED,), NDR, TUNE, "used sockets over nic", "NCCL_IB_HCA"),
    (ran(1.1, SOCKET), (TEN,), DOWN, HEALTHY, "gets what nic", ""),
    (ran(2.0, SOCKET), (TEN,), (), UNKNOWN, "more than nic can carry", "NCCL_DEBUG"),
    (
        ran(1.8, SOCKET, speeds=(speed_of(1.8, Pattern.ALL_REDUCE),)),
        (TEN,),
        (),
        HEALTHY,
        "trees",
        "NCCL_ALGO=RING",
    ),
    (ran(0.3, SOCKET, 0.3), (TEN,), (), SUSPICIOUS, "it is the network and not NCCL; hardly any packet", "tc qdisc"),
    (lossy(ran(0.3, SOCKET, 0.3), None), (TEN,), (), SUSPICIOUS, "nobody counted lost packets", "ethtool nic"),
    (lossy(ran(0.3, GLOO, 0.3), 5000), (TEN,), (), SUSPICIOUS, "2.4 % of its packets", "ethtool -S nic"),
    (ran(2.0, SOCKET), (HUNDRED,), (), TUNE, "one connection", "NCCL_NSOCKS_PERTHREAD=4"),
    (ran(0.5, SOCKET, 2.5), (HUNDRED,), (), SUSPICIOUS, "one connection", "NCCL_SOCKET_NTHREADS=4"),
    (ran(2.0, GLOO), (HUNDRED,), (), TUNE, "one connection", "gloo has no setting"),
    (ran(3.0, MANY), (link(speed=100_000),), (), TUNE, "1500 bytes", "MTU of 9000"),
    (ran(0.8, SOCKET, 1.1), (TEN,), (), TUNE, "not the network but NCCL", "NCCL_SOCKET_NTHREADS=4"),
    (ran(0.2, GLOO, 1.1), (TEN,), (), SUSPICIOUS, "not the network but gloo", "NCCL where there are GPUs"),
    (ran(3.0, MANY, 9.0), (HUNDRED,), (), TUNE, "not the network but NCCL", "NUMA"),
    (ran(0.8, SOCKET, 0.85), (TEN,), (), TUNE, "plain TCP gets 0.85 GB/s", "other traffic"),
    (ran(0.8, MANY, 0.3), (TEN,), (), TUNE, "plain TCP gets 0.3 GB/s", "other traffic"),
    (ran(0.8, SOCKET), (TEN,), (), TUNE, "there is no baseline", "with the baseline"),
    (
        ran(0.4, SOCKET, baseline=Baseline("iperf3", 1, failure="refused")),
        (TEN,),
        (),
        SUSPICIOUS,
        "the baseline failed: refused",
        "with the baseline",
    ),
    (ran(2.2, replace(SOCKET, interfaces=("nic", "y"))), (TEN, link("y")), (), HEALTHY, "nic and y", ""),
    (ran(0.11, Transport("gloo", ("nic", "y"))), (TEN, link("y", 1000)), (), HEALTHY, "nic and y", ""),
    # RDMA.
    (ran(48.0, IB), (), NDR, HEALTHY, "NCCL gets what mlx5_0:1/IB can carry", ""),
    (ran(40.0, replace(IB, gdr=False)), (), NDR, TUNE, "GPU Direct RDMA is off", "nvidia_peermem"),
    (ran(20.0, replace(IB, gdr=False)), (), NDR, SUSPICIOUS, "GPU Direct RDMA is off", "nvidia_peermem"),
    (ran(40.0, IB), (), NDR, TUNE, "less than mlx5_0:1/IB can carry", "PCIe"),
    (ran(8.0, IB), (), ROCE, TUNE, "less than mlx5_0:1/IB", "PCIe"),
    (ran(7.0, IB), (), ROCE, SUSPICIOUS, "less than mlx5_0:1/IB", "PCIe"),
    (ran(40.0, IB), (), (), UNKNOWN, "nobody knows the rate of mlx5_0:1/IB", "provider"),
    (ran(40.0, Transport("AWS Libfabric"), 3.0), (), (), UNKNOWN, "what AWS Libfabric should do", "provider"),
    (ran(1.0, Transport("AWS Libfabric"), 3.0), (), (), SUSPICIOUS, "even plain TCP does more", "ncclcheck analyze"),
    # Nobody knows the link's speed.
    (ran(0.9, GLOO, 1.0), (VETH,), (), HEALTHY, "nobody knows the speed of nic (a veth link", ""),
    (ran(0.7, SOCKET, 1.0), (VETH,), (), TUNE, "not the network but NCCL", "NCCL_SOCKET_NTHREADS"),
    (ran(0.5, GLOO, 0.9), (VETH,), (), SUSPICIOUS, "not the network but gloo", "top"),
    (ran(1.0, GLOO, 2.0), (VETH,), (), TUNE, "not the network but gloo", "top"),
    (lossy(ran(0.9, GLOO, 1.0), 25_000), (VETH,), (), SUSPICIOUS, "get lost on the way", "ip -s link show nic"),
    (lossy(ran(0.9, GLOO, 1.0), 16_000), (VETH,), (), HEALTHY, "keeps up", ""),
    (lossy(ran(0.4, GLOO, 0.4), 6_000), (VETH,), (), SUSPICIOUS, "get lost on the way", "ip -s link show nic"),
    (lossy(ran(0.2, GLOO, 1.0), 25_000), (VETH,), (), SUSPICIOUS, "get lost on the way", "ip -s link show nic"),
    (lossy(ran(0.9, replace(SOCKET, threads=4), 1.0), 25_000), (VETH,), (), HEALTHY, "keeps up", ""),
    (ran(0.9, SOCKET), (VETH,), (), UNKNOWN, "and there is no baseline", "with the baseline"),
    (ran(0.9, SOCKET), (link(speed=None, speed_unknown="virtio"),), (), UNKNOWN, "speed of nic (virtio)", "baseline"),
    (ran(0.9, SOCKET), (), (), UNKNOWN, "what nic can do", "baseline"),
    (ran(0.9, None), (TEN,), (), UNKNOWN, "the interface that was used", "baseline"),
    (ran(0.9, None, 1.0), (TEN,), (), HEALTHY, "keeps up", ""),
    (ran(0.9, None, 1.0), (TEN,), NDR, UNKNOWN, "sockets or RDMA", "NCCL_DEBUG=INFO"),
]


@pytest.mark.parametrize("case", CASES)
def test_each_reason(case):
    test, links, rdma, rating, reason, step = case
    found = judge(test, links, rdma)
    assert (found.rating, reason in found.reason, step in found.next_step) == (rating, True, True), found
    assert bool(found.next_step) == bool(step)
    assert "\n" not in found.reason + found.next_step


@pytest.mark.parametrize(
    "more",
    [
        {"up": False},
        {"running": False},
        {"addresses": ()},
        {"addresses": (Address("169.254.3.4", 16), Address("fe80::1", 64))},
        {"master": "bond0"},
        {"members": ("nic",)},
        {"kind": LinkKind.DOCKER},
        {"kind": LinkKind.LOOPBACK},
        {"speed": 1000},
        {"speed": None},
    ],
)
def test_what_is_no_better_interface(more):
    found = judge(ran(0.11, SOCKET), (link(speed=1000), link("x", **more)))
    assert (found.rating, found.next_step) == (HEALTHY, "")


def test_a_member_of_the_bond_that_was_used():
    bond = link(speed=1000, kind=LinkKind.BOND, members=("x", "y"))
    assert judge(ran(0.11, SOCKET), (bond, link("x"))).rating is HEALTHY


def test_the_name_does_not_matter():
    for name in ("lo", "docker0", "eth0", "ib0", "veth123"):
        transport = replace(SOCKET, interfaces=(name,))
        assert judge(ran(1.1, transport), (link(name),)).rating is HEALTHY


def test_expectation_and_its_source():
    found = judge(ran(1.0, SOCKET), (TEN,))
    assert found.expected == pytest.approx(1.25 * 1448 / 1538)
    assert found.source == "nic: 10000 Mbit/s, MTU 1500, less the headers of TCP/IP"
    assert found.percent == pytest.approx(100 / 1.25 * 1538 / 1448)
    assert judge(ran(40.0, IB), (), NDR).source == "mlx5_0:1/IB: 400 Gb/sec (4X NDR)"
    assert judge(ran(0.9, GLOO, 1.0), (VETH,)).source == "plain TCP, measured with sockets"


def test_headers():
    assert payload_share(1500) == pytest.approx(0.9415, abs=1e-4)
    assert payload_share(9000) == pytest.approx(0.9900, abs=1e-4)
    assert payload_share(1500, 6) == pytest.approx(0.9285, abs=1e-4)
    six = link(addresses=(Address("2001:db8::1", 64),))
    assert tcp_ceiling((six,), shared=True).rate == pytest.approx(1.25 * payload_share(1500, 6))


@pytest.mark.parametrize(
    ("text", "rate"), [("400 Gb/sec (4X NDR)", 400), ("2.5 Gb/sec (1X SDR)", 2.5), ("", None), ("fast", None)]
)
def test_the_drivers_words(text, rate):
    assert gigabits(text) == rate


@pytest.mark.parametrize(("name", "found"), [("mlx5_0:1/RoCE", True), ("mlx5_0", True), ("mlx5_0:2/IB", False)])
def test_ports(name, found):
    assert bool(port_named(name, NDR)) is found


def test_which_figure_counts():
    way, ring = speed_of(1.0), speed_of(2.0, Pattern.ALL_REDUCE)
    small = replace(way, size=8)
    assert judged_speed(SpeedTest("nccl", None, (small, way, ring))) is way
    four = tuple(replace(one, ranks=4) for one in (small, way, ring))
    assert judged_speed(SpeedTest("nccl", None, four, ranks=4)) is four[2]
    assert judged_speed(SpeedTest("nccl", None, (replace(way, ranks=1), replace(way, seconds=())))) is None


NUMBERS = st.one_of(st.none(), st.integers(-1, 10**9))
LINKS = st.builds(
    Interface,
    name=st.sampled_from(["nic", "x", "y"]),
    index=st.integers(1, 9),
    kind=st.sampled_from(LinkKind),
    up=st.sampled_from([True, False, None]),
    running=st.sampled_from([True, False, None]),
    mtu=NUMBERS,
    speed=NUMBERS,
    addresses=st.lists(st.sampled_from([Address("10.0.0.1", 24), Address("fe80::1", 64), Address("", 0)])).map(tuple),
    members=st.sampled_from([(), ("x",)]),
)
SPEEDS = st.builds(
    Speed,
    pattern=st.sampled_from(Pattern),
    size=st.integers(0, 2**40),
    seconds=st.lists(st.floats(0, 1e6)).map(tuple),
    verified=st.booleans(),
    ranks=st.integers(1, 5000),
)
BASELINES = st.builds(
    Baseline,
    tool=st.just("sockets"),
    flows=st.integers(1, 64),
    bytes=st.integers(0, 2**50),
    seconds=st.floats(0, 1e6),
    retransmits=NUMBERS,
    failure=st.sampled_from(["", "refused"]),
)
TRANSPORTS = st.builds(
    Transport,
    network=st.sampled_from(["", "Socket", "IB", "gloo", "AWS Libfabric"]),
    interfaces=st.lists(st.sampled_from(["nic", "x", "z"]), max_size=3).map(tuple),
    devices=st.lists(st.sampled_from(["mlx5_0:1/IB", "mlx5_1:2", "?", ":"]), max_size=3).map(tuple),
    gdr=st.sampled_from([True, False, None]),
    threads=st.sampled_from([None, 0, 1, 4]),
    sockets=st.sampled_from([None, 0, 1, 4]),
    within=st.booleans(),
)
PORTS = st.builds(
    RdmaPort,
    number=st.integers(0, 3),
    link_layer=st.sampled_from(["InfiniBand", "Ethernet", ""]),
    state=st.sampled_from(["ACTIVE", "DOWN"]),
    rate=st.sampled_from(["400 Gb/sec (4X NDR)", "0 Gb/sec", "", "10"]),
)
DEVICES = st.builds(
    RdmaDevice, st.sampled_from(["mlx5_0", "mlx5_1"]), st.just(()), st.lists(PORTS, max_size=2).map(tuple)
)
TESTS = st.builds(
    SpeedTest,
    backend=st.sampled_from(["nccl", "gloo", ""]),
    interface=st.sampled_from([None, "nic", "nic and x"]),
    speeds=st.lists(SPEEDS, max_size=4).map(tuple),
    failure=st.sampled_from(["", "refused"]),
    baseline=st.one_of(st.none(), BASELINES),
    transport=st.one_of(st.none(), TRANSPORTS),
)


@given(TESTS, st.lists(LINKS, max_size=3).map(tuple), st.lists(DEVICES, max_size=2).map(tuple))
def test_it_always_answers(test, links, rdma):
    found = judge(test, links, rdma)
    assert found.reason
    assert found.measured >= 0
    assert found.expected is None or found.expected >= 0
    if found.percent is not None:
        assert math.isclose(found.percent * found.expected, 100 * found.measured)
    if found.rating in (Rating.TUNE, Rating.SUSPICIOUS):
        assert found.next_step
    if found.rating is Rating.HEALTHY and found.expected:
        assert found.percent >= 85
    if found.rating is not Rating.UNKNOWN and not test.damaged:
        assert found.expected
        assert found.source
