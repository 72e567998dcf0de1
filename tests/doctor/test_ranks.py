"""Ranks called by roll: how far each came, and whom it waits for as far as the logs tell."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ncclcheck.doctor.clock import clock_of
from ncclcheck.doctor.diagnose import diagnose, diagnose_text
from ncclcheck.doctor.ranks import Group, Plight, Roll, roll_of
from ncclcheck.logs.sources import open_sources, read
from ncclcheck.model import Attempt, Diagnosis, Endpoint, Job, Process, Rank, Stage, Verdict, Where
from tests.yardstick import within

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"


def of(folder: str) -> Roll:
    """The roll of a whole log."""
    paths = [str(LOGS / folder)]
    texts = {where: text for source in open_sources(paths) for where, text in read(source)}
    return roll_of(diagnose(paths), lambda where: texts.get(where, ""))


def of_text(text: str) -> Roll:
    """The roll of a text."""
    return roll_of(diagnose_text(text), lambda _: "")


Told = tuple[tuple[int, ...], tuple[str, ...], Plight, Stage, tuple[int, ...] | None, tuple[str, ...]]


def told(group: Group) -> Told:
    """A group in short: who, where, how it is doing, how far it came, whom it waits for."""
    one = group.first
    target = one.target
    return (
        group.numbers,
        group.hosts,
        one.plight,
        one.stage,
        target.ranks if target else None,
        target.hosts if target else (),
    )


A, B = ("node-a",), ("node-b",)
CALLS, WAITS, ABSENT, FAILED, UP = Plight.CALLS, Plight.WAITS, Plight.ABSENT, Plight.FAILED, Plight.UP
BOOT = Stage.BOOTSTRAP


@pytest.mark.parametrize(
    ("folder", "groups"),
    [
        (
            "wrong-interface/2.28.9-refused-2x4",
            [
                ((4, 5, 6, 7), B, CALLS, BOOT, (0,), A),
                ((0,), A, WAITS, BOOT, (4, 5, 6, 7), B),
                ((1, 2, 3), A, WAITS, BOOT, (4, 5, 6, 7), B),
            ],
        ),
        (
            "env-not-propagated/2.28.9-conf-one-node",
            [((0,), A, CALLS, BOOT, (1,), B), ((1,), B, WAITS, BOOT, (0,), A)],
        ),
        (
            "unknown/2.28.9-rank1-never-starts",
            [((1,), (), ABSENT, Stage.SILENT, None, ()), ((0,), A, WAITS, BOOT, (1,), ())],
        ),
        ("healthy/2.28.9-healthy-2x2", [((0, 1, 2, 3), ("node-a", "node-b"), UP, Stage.DESTROYED, None, ())]),
        (
            "duplicate-gpu/2.28.9-duplicate-gpu",
            [((0, 1), A, FAILED, Stage.RING, None, ()), ((2,), B, FAILED, Stage.RING, None, ())],
        ),
        (
            "ports-exhausted/2.18.6-ports-few-nsocks",
            [((0,), A, CALLS, Stage.CHANNELS, (1,), B), ((1,), B, CALLS, Stage.CHANNELS, (0,), A)],
        ),
    ],
)
def test_whole_logs(folder: str, groups: list[Told]) -> None:
    assert [told(group) for group in of(folder).groups] == groups


def test_those_who_are_stuck_stand_first_and_are_counted() -> None:
    roll = of("wrong-interface/2.28.9-refused-2x4")

    assert (roll.total, roll.of_ranks) == (8, True)
    assert {plight: count for plight, count in roll.counts.items() if count} == {CALLS: 4, WAITS: 4}
    assert [one.numbers[0] for one in roll.standings] == [4, 5, 6, 7, 0, 1, 2, 3]


def test_a_rank_that_is_called_in_vain_is_no_rank_like_those_that_wait() -> None:
    root, others = of("wrong-interface/2.28.9-refused-2x4").groups[1:]

    assert root.first.callers is not None
    assert (root.first.callers.ranks, root.first.callers.hosts) == ((4, 5, 6, 7), B)
    assert others.first.callers is None


def test_an_old_version_tells_no_numbers_and_the_root_is_known_all_the_same() -> None:
    caller = of("no-route/2.18.6-netunreach").groups[0]

    assert caller.numbers == ()
    assert caller.first.target is not None
    assert (caller.first.target.root, caller.first.target.hosts) == (True, A)


def test_an_address_with_another_zone_is_the_same_address() -> None:
    target = of("link-local-address/2.28.9-v6-linklocal-index-differs").groups[0].first.target

    assert target is not None
    assert (target.ranks, target.hosts) == ((0,), A)


def test_where_one_address_is_on_several_hosts_none_of_them_is_named_alone() -> None:
    ranks = tuple(rank(number, f"node-{number}", "172.17.0.2") for number in range(3))
    target = roll_of(answer(Job(ranks, (call(ranks[0], "172.17.0.2"),), 3)), _nothing).groups[0].first.target

    assert target is not None
    assert (target.ranks, target.hosts, target.own) == ((), ("node-1", "node-2"), False)


def test_its_own_address_is_called_that() -> None:
    target = of("comm-id/2.18.6-commid-wrong-host").groups[0].first.target

    assert target is not None
    assert (target.own, target.hosts, target.address) == (True, (), "10.0.0.12")


def test_equal_stories_are_one_row_by_host_and_rank_inside() -> None:
    (group,) = of("healthy/2.28.9-healthy-2x2").groups

    assert [(part.numbers, part.hosts) for part in group.parts] == [((0, 1), A), ((2, 3), B)]
    assert [part.numbers for part in group.parts[0].parts] == [(0,), (1,)]
    assert group.parts[0].parts[0].parts == ()


def test_a_level_that_divides_nothing_is_left_out() -> None:
    group = of("wrong-interface/2.28.9-refused-2x4").groups[0]

    assert [part.numbers for part in group.parts] == [(4,), (5,), (6,), (7,)]


def test_since_when_by_the_clock_or_by_the_line() -> None:
    first = of("wrong-interface/kubernetes-torchrun").groups[0].first
    assert (first.clock, first.lasted) == ("05:06:13", pytest.approx(21.0))

    without = of("wrong-interface/2.28.9-refused-2x4").groups[0].first
    assert without.since is not None
    assert (without.clock, without.since.line) == ("", 16)


def test_a_launcher_is_no_rank() -> None:
    assert of("port-in-use/rendezvous-port").groups == ()
    assert of_text("hello\nworld").groups == ()


def test_two_runs_in_one_log_are_no_job_of_more_ranks_than_it_has() -> None:
    ranks = tuple(rank(number % 2, "node-a", "10.0.0.1", pid=number) for number in range(4))
    roll = roll_of(answer(Job(ranks, (), 2)), _nothing)

    assert (roll.total, roll.of_ranks) == (2, False)
    assert len(roll.groups[0].parts) == 4


def test_neighbours_who_all_call_each_other_are_one_row() -> None:
    ranks = tuple(rank(number, f"node-{number}", f"10.0.0.{number}") for number in range(20))
    calls = tuple(call(one, f"10.0.0.{(one.numbers[0] + 1) % 20}", "ring") for one in ranks)
    roll = roll_of(answer(Job(ranks, calls, 20)), _nothing)

    assert [group.numbers for group in roll.groups] == [tuple(range(20))]
    assert [one.target.ranks for one in roll.standings if one.target] == [((n + 1) % 20,) for n in range(20)]


@pytest.mark.parametrize("kind", ["none", "root", "ring"])
def test_ten_thousand_ranks_take_no_time_worth_waiting_for(kind: str) -> None:
    found = answer(large(kind))

    # Seconds of the processor: the worker's thread is not alone on a busy machine.
    seconds, roll = min((timed(found) for _ in range(3)), key=lambda pair: pair[0])

    assert within(0.3, seconds)
    assert sum(len(group.members) for group in roll.groups) == 10_000
    assert len(roll.groups) < 10


def timed(found: Diagnosis) -> tuple[float, Roll]:
    """How long the roll takes, with a time in every line."""
    # Thousands of tests before this one left objects, which the collector would go through; the program's own it does
    # not (tui.terminal.courtesy).
    gc.freeze()
    try:
        began = time.process_time()
        roll = roll_of(found, lambda _: "2026-03-04T05:06:13.1Z stdout F x NCCL INFO")
        return time.process_time() - began, roll
    finally:
        gc.unfreeze()


def large(kind: str) -> Job:
    """Ten thousand ranks on 1250 hosts."""
    ranks = tuple(
        rank(number, f"node-{number // 8:04}", f"10.{number // 2000}.{number // 8 % 250}.1") for number in range(10_000)
    )
    target: dict[str, Callable[[int], str]] = {
        "root": lambda _: "10.0.0.1",
        "ring": lambda number: f"10.{(number + 1) // 2000}.{(number + 1) // 8 % 250}.1",
    }
    calls = tuple(call(one, target[kind](one.numbers[0]), kind) for one in ranks[8:]) if kind in target else ()
    return Job(ranks, calls, 10_000)


def rank(number: int, host: str, address: str, *, pid: int | None = None) -> Rank:
    """A rank in bootstrap."""
    process, last = Process("job.log", host, number if pid is None else pid), Where("job.log", number + 1)
    place = Endpoint("eth0", address)
    return Rank(process, host, (number,), None, "2.28.9", BOOT, place, (place,), "Socket", (), None, (), last)


def call(caller: Rank, address: str, link: str = "bootstrap") -> Attempt:
    """A call that is refused."""
    return Attempt(caller.process, address, 4000, "refused", 3, False, link, 34, False, (caller.last,))


def answer(job: Job) -> Diagnosis:
    """A diagnosis without a finding."""
    return Diagnosis(Verdict.UNKNOWN, (), (), job, 1, 1, 0.0)


def _nothing(_: Where) -> str:
    return ""


@pytest.mark.parametrize(
    ("line", "text", "seconds"),
    [
        ("2026-03-04T05:06:13.123456789Z stdout F x", "05:06:13", 18373.123456789),
        ("[2026-03-04 23:59:59] node-a:1:1 [0] NCCL WARN x", "23:59:59", 86399.0),
        ("2026-03-04 00:00:00,500 INFO x", "00:00:00", 0.5),
        ("Mar  4 12:00:01 node-a kernel: x", "12:00:01", 43201.0),
    ],
)
def test_the_time_of_day_in_a_line(line: str, text: str, seconds: float) -> None:
    found = clock_of(line)

    assert found is not None
    assert (found.text, found.seconds) == (text, pytest.approx(seconds))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "node-a:7185:7185 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>",
        "link/ether 00:11:22:33:44:55 brd ff:ff:ff:ff:ff:ff",
        "busId 0000:10:20:30.0",
        "fe80::10:20:30%eth0",
        "25:61:61",
        " " * 300 + "12:00:01",
    ],
)
def test_what_only_looks_like_a_time_is_none(line: str) -> None:
    assert clock_of(line) is None


def test_midnight_is_passed() -> None:
    before, after = clock_of("23:59:58"), clock_of("00:00:03")

    assert before is not None
    assert after is not None
    assert after.after(before) == 5.0
