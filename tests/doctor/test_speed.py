"""A run is kept as it goes and judged by what carried it: by logs, and in the lab over shaped and lossy links."""

import json
import sys

import pytest

from ncclcheck.doctor.measure import measure
from ncclcheck.doctor.scan import scan
from ncclcheck.doctor.speed import Judged, history, judged, kept
from ncclcheck.lab import DOCKER_FIRST, built
from ncclcheck.model import Address, Facts, Interface, LinkKind, Pattern, Rating, Speed, SpeedTest
from ncclcheck.speedtest.reports import Measured, Progress
from tests.doctor.paired import shell
from tests.peer.networks import wall

SPEED = Speed(Pattern.ONE_WAY, 64 * 1024**2, (0.0545,) * 5, True)
LOG = (
    "rank 0: node-a:1:1 [0] NCCL INFO Bootstrap: Using eth1:10.0.0.1<0>",
    "rank 0: node-a:1:1 [0] NCCL INFO NET/Socket : Using [0]eth1:10.0.0.1<0>",
    "rank 0: node-a:1:1 [0] NCCL INFO Using network Socket",
    "rank 0: node-a:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0",
)


def link(name, index, speed, mtu=1500):
    return Interface(name, index, LinkKind.ETHERNET, True, True, mtu, speed, (Address(f"10.0.{index}.1", 24),))


@pytest.fixture(autouse=True)
def _state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_nccls_own_lines_tell_what_carried_it_and_so_what_it_should_have_been():
    facts = Facts("node-a", (link("eth0", 1, 1000), link("eth1", 2, 10000)))
    test, judgement = judged(SpeedTest("nccl", None, (SPEED,), log=LOG), facts)
    assert (test.transport.network, test.transport.interfaces) == ("Socket", ("eth1",))
    assert judgement.rating is Rating.HEALTHY
    assert judgement.expected == pytest.approx(1.25 * 1448 / 1538)


def test_a_slow_interface_beside_a_fast_one_is_the_wrong_one():
    facts = Facts("node-a", (link("eth0", 1, 100000), link("eth1", 2, 1000)))
    slow = Speed(Pattern.ONE_WAY, 64 * 1024**2, (0.57,) * 5, True)
    _, judgement = judged(SpeedTest("nccl", None, (slow,), log=LOG), facts)
    # The link does what it can; it is the wrong one, if the nodes share the other.
    assert judgement.rating is Rating.TUNE
    assert judgement.next_step == "Where the other nodes share eth0's network: NCCL_SOCKET_IFNAME==eth0"


def test_each_result_is_kept_at_once_and_the_whole_at_the_end():
    def running():
        yield Progress("starting")
        assert history() == ()
        yield Measured("one way, 64M", 1.0, speed=SPEED)
        yield Measured("one way, 64M", 2.0, speed=SPEED)
        (cut_off,) = history()
        assert cut_off.test.speeds == (SPEED,)
        assert "cut off" in cut_off.test.failure
        yield SpeedTest("gloo", "eth1", (SPEED,), log=("much",))

    *before, last = kept(running(), ("speedtest", "64M"), Facts("node-a", (link("eth1", 1, 10000),)), "here")
    assert [type(value) for value in before] == [Progress, Measured, Measured]
    assert isinstance(last, Judged)
    (run,) = history()
    assert (run.id, run.label, run.host) == (last.run, "here", "node-a")
    assert (run.test.speeds, run.test.log, run.judgement) == ((SPEED,), (), last.judgement)


def test_where_nothing_can_be_kept_the_test_still_counts(tmp_path):
    (tmp_path / "ncclcheck").write_text("in the way")
    (last,) = kept(iter((SpeedTest("gloo", "eth1", (SPEED,)),)), (), Facts("node-a", ()))
    assert last.test.passed
    assert "not kept" in last.warning
    assert last.run == ""


SHAPE = "tc qdisc add dev eth1 root tbf rate {} burst 256kb latency 50ms"
LINKS = {
    "100 Mbit/s": (SHAPE.format("100mbit"), 8, {Rating.HEALTHY}, ""),
    "1 Gbit/s": (SHAPE.format("1gbit"), 32, {Rating.HEALTHY}, ""),
    # CPUs are the limit here, and other work takes its share of them.
    "unshaped": ("true", 64, {Rating.HEALTHY, Rating.TUNE}, ""),
    "lossy": (wall("input", 'iifname "eth1" numgen random mod 100 < 4 drop'), 8, {Rating.SUSPICIOUS}, "sent again"),
}


@pytest.mark.parametrize("name", LINKS)
def test_a_link_nobody_knows_the_speed_of_is_judged_by_plain_tcp(name):
    script, megabytes, ratings, said = LINKS[name]
    with built(DOCKER_FIRST) as nodes:
        for node in nodes:
            shell(node, script)
        values = measure(
            nodes,
            address="10.0.0.11",
            port=5000,
            size=megabytes * 1024**2,
            interfaces=("eth1", "eth1"),
            limit=60.0,
            python=sys.executable,
            seconds=3.0,
        )
        test = [value for value in values if isinstance(value, SpeedTest)][-1]
        facts = scan(nodes[0])
    assert test.failure == ""
    test, judgement = judged(test, facts)
    assert judgement.rating in ratings, json.dumps([judgement.reason, judgement.percent])
    assert judgement.source.startswith("plain TCP")
    assert said in judgement.reason


def test_a_path_that_swallows_full_packets_fails_in_words_and_in_time():
    with built(DOCKER_FIRST) as nodes:
        for node in nodes:
            shell(node, "ip link set eth1 gso_max_segs 1; ip link set eth1 gro_max_size 1500 2>/dev/null || true")
        shell(nodes[0], wall("input", 'iifname "eth1" meta length > 1400 drop'))
        values = measure(
            nodes,
            address="10.0.0.11",
            port=5000,
            size=8 * 1024**2,
            interfaces=("eth1", "eth1"),
            limit=12.0,
            python=sys.executable,
            seconds=2.0,
        )
        test = [value for value in values if isinstance(value, SpeedTest)][-1]
    assert not test.passed
    assert test.stage
    assert test.failure
