"""The place of the speed test: by keyboard alone at 80x24, and what is said of a test."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ncclcheck.errors import SpeedError
from ncclcheck.model import Baseline, Comparison, Judgement, Pattern, Rating, Speed, SpeedTest, Transport
from ncclcheck.speedtest.reports import Measured, Progress, Rate
from ncclcheck.tui import speeds, speeds_content
from ncclcheck.tui.live import Live, ticked
from ncclcheck.tui.screens.agree import AgreeDialog
from ncclcheck.tui.screens.log import LogPlace
from ncclcheck.tui.screens.peers import PeersPlace
from ncclcheck.tui.screens.speed import SpeedDialog
from ncclcheck.tui.screens.speeds import SpeedsPlace
from ncclcheck.tui.state import Earlier, Snapshot
from tests.tui import fake
from tests.tui.pilots import LARGE, doctor_of, opened, pressed, settled, text_of, until

COMMAND = "ncclcheck speedtest 10.0.0.1:29500 64M 0"


@pytest.fixture(autouse=True)
def _state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


async def measuring(pilot: Pilot[None]) -> None:
    """Half of it is through, and no more comes."""
    await until(pilot, lambda: len(doctor_of(pilot).snapshot.facts) == len(doctor_of(pilot).snapshot.nodes))
    await pilot.press("s")
    await until(pilot, lambda: bool((live := doctor_of(pilot).snapshot.live) and live.suspected))
    await pilot.pause()


async def test_enter_measures_and_says_what_it_should_have_been() -> None:
    doctor = fake.Doctor(failed=fake.PASSED)
    async with opened(doctor) as pilot:
        await pressed(pilot, "5")
        assert isinstance(pilot.app.screen, SpeedsPlace)
        assert "? Not measured yet\n" in text_of(pilot)
        assert "Press Enter to measure between node-a and node-b" in text_of(pilot)
        await pressed(pilot, "enter")
        assert (doctor.calls[-1], doctor.commands) == ("measure 10.0.0.1 over eth0", [COMMAND])
        shown = text_of(pilot)
        assert "! Tune: 1.46 GB/s one way, 47 % of 3.09 GB/s\n" in shown
        assert "because one connection carries it all, which one CPU core limits" in shown
        assert "→ gloo has no setting for it: judge this link by NCCL, or by the baseline" in shown
        assert "   3.09 ┤─┄─┄─┄" in shown
        assert "─ expected   3.09 GB/s" in shown
        assert "┄ plain TCP  2.80 GB/s, iperf3" in shown
        assert "latency    60.0 µs one way" in shown
        assert "0 ┤8    128   2K    32K  512K   8M  64M" in shown
        await pressed(pilot, "pagedown", "pagedown", "pagedown")
        assert "  64M     1.46      0.945       0.714       0.790\n" in text_of(pilot)
        assert "2026-11-30 12:00  gloo eth1  1.46 GB/s one way  tune" in text_of(pilot)


async def test_while_it_runs_it_shows_the_rate_the_time_left_and_what_is_suspected() -> None:
    doctor = fake.Doctor(failed=fake.PASSED, held={"transfer": threading.Event()})
    async with opened(doctor) as pilot:
        await measuring(pilot)
        shown = text_of(pilot)
        assert "! While it runs, the log points to this: NCCL goes over plain sockets here" in shown
        assert "ncclcheck explain NC301" in " ".join(shown.split())
        assert "GB/s, as it is measured" in shown
        assert "   1.53 ┤" in shown, "the scale goes to the quickest round"
        assert "left       about 4 s" in shown
        assert "through    13 figures" in shown
        assert "x Stop" in shown
        await pilot.press("x")
        await until(pilot, lambda: not doctor_of(pilot).snapshot.busy)
        doctor.held["transfer"].set()
        await settled(pilot)
        assert "? Not measured yet" in text_of(pilot)
        assert doctor.kept == []


async def test_the_key_goes_there_from_anywhere() -> None:
    doctor = fake.Doctor(failed=fake.PASSED)
    async with opened(doctor) as pilot:
        await pressed(pilot, "2")
        assert isinstance(pilot.app.screen, LogPlace)
        await pressed(pilot, "s")
        assert isinstance(pilot.app.screen, SpeedsPlace)
        assert "47 % of 3.09 GB/s" in text_of(pilot)
        await pressed(pilot, "1")
        assert "now     ✓ 1.46 GB/s one way, 0.95 GB/s both ways  (gloo over eth1)" in text_of(pilot)
        assert "tune, 47 % of 3.09 GB/s; 5 says why" in text_of(pilot)


async def test_one_machine_is_asked_where_the_other_one_is() -> None:
    async with opened(fake.Doctor(), fake.HERE) as pilot:
        await pressed(pilot, "5")
        assert "shown what to type there" in text_of(pilot)
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, SpeedDialog)
        await pressed(pilot, "escape")
        assert isinstance(pilot.app.screen, SpeedsPlace)


async def test_a_failed_test_says_where_and_leads_to_the_peers() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "s")
        shown = text_of(pilot)
        assert "✗ Failed: node-b could not reach 172.17.0.2 within 20 s\n" in shown
        assert "at that moment: waiting for rank 1 at 172.17.0.2:29500" in shown
        assert "gloo eth0  –  failed" in shown
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, PeersPlace)


async def test_before_and_after_a_fix_are_kept_and_drawn() -> None:
    doctor = fake.Doctor(failed=fake.SLOWER)
    async with opened(doctor) as pilot:
        await pressed(pilot, "p", "f", "a")
        assert "✓ Better: it passed before too, and is faster now." in text_of(pilot)
        await pressed(pilot, "escape", "5", "pagedown")
        shown = text_of(pilot)
        assert "✓ Better: it passed before too, and is faster now." in shown
        assert f"one way, 64M      before  {'█' * 9}▍{' ' * 18}   0.49 GB/s\n" in shown
        assert f"after   {'█' * 28}   1.46 GB/s  better\n" in shown
        assert [run.label for run in doctor.kept] == ["before the fix", "after the fix"]
        assert doctor.commands == [COMMAND] * 2
        assert doctor_of(pilot).snapshot.runs == tuple(doctor.kept)


async def test_the_speed_test_of_a_pairing_is_judged_too() -> None:
    async with opened(fake.Doctor(), fake.HERE) as pilot:
        await pilot.press("4", "i")
        await until(pilot, lambda: isinstance(pilot.app.screen, AgreeDialog))
        await pressed(pilot, "y", "5")
        assert "! Tune: 1.46 GB/s one way, 47 % of 3.09 GB/s" in text_of(pilot)


async def test_earlier_runs_and_why_a_run_is_not_among_them() -> None:
    doctor = fake.Doctor(failed=fake.PASSED, unkept="this run is not kept for ncclcheck history (/x: disk full)")
    doctor.kept = [fake.ran(one, fake.PASSED, doctor.facts(fake.LAB[0]), f"run {one}") for one in range(9)]
    async with opened(doctor) as pilot:
        await pressed(pilot, "5")
        listed = [text.split("tune  ")[1] for text in text_of(pilot).splitlines() if "tune  " in text]
        assert listed == [f"run {one}" for one in (8, 7, 6, 5, 4, 3)]
        await pressed(pilot, "s")
        assert "! this run is not kept for ncclcheck history (/x: disk full)" in text_of(pilot)


async def test_copy_takes_all_figures_and_help_names_the_keys() -> None:
    async with opened(fake.Doctor(failed=fake.PASSED)) as pilot:
        await pressed(pilot, "s", "c")
        copied = pilot.app.clipboard
        assert copied.startswith("! Tune: 1.46 GB/s one way, 47 % of 3.09 GB/s\n\nbecause one connection")
        assert "all gather  all reduce\n   8  60.0 µs" in copied
        await pilot.resize_terminal(*LARGE)
        await pressed(pilot, "question_mark")
        shown = " ".join(text_of(pilot).split())
        assert " 5 The last speed test, what it means, and earlier runs " in shown
        assert " s Measure latency and bandwidth between two nodes " in shown


async def test_what_cannot_run_is_said_and_leaves_nothing_running() -> None:
    error = SpeedError("no Python here has torch", next_step="name one: --python")
    async with opened(fake.Doctor(errors={"measure": error})) as pilot:
        await pressed(pilot, "s")
        assert "✗ The speed test did not run: no Python here has torch" in text_of(pilot)
        assert doctor_of(pilot).snapshot.live is None
        await pressed(pilot, "5")
        assert "no Python here has torch" in text_of(pilot), "it is there until somebody read it"


# What is said --------------------------------------------------------------------------------------------------------


def judgement(rating: Rating, expected: float | None = 2.0) -> Judgement:
    """Of half of what was expected."""
    return Judgement(rating, 1.0, expected, "the link", "of this")


@pytest.mark.parametrize(
    ("rating", "said"),
    [
        (Rating.HEALTHY, "✓ Healthy: 1.46 GB/s one way, 50 % of 2.00 GB/s"),
        (Rating.TUNE, "! Tune: 1.46 GB/s one way, 50 % of 2.00 GB/s"),
        (Rating.SUSPICIOUS, "✗ Suspicious: 1.46 GB/s one way, 50 % of 2.00 GB/s"),
        (Rating.UNKNOWN, "? Unknown: 1.46 GB/s one way, 50 % of 2.00 GB/s"),
    ],
)
def test_the_rating_in_one_line(rating: Rating, said: str) -> None:
    found = speeds.rated(fake.PASSED, judgement(rating))
    assert f"{found.sign} {found.text}" == said


def test_damage_comes_before_any_rate() -> None:
    damaged = replace(fake.PASSED, speeds=tuple(replace(one, verified=False) for one in fake.PASSED.speeds))
    assert speeds.rated(damaged, judgement(Rating.HEALTHY)).text.startswith("Damaged")
    assert "DAMAGED" in speeds.matrix(damaged.speeds)[1][1]


@pytest.mark.parametrize(
    ("before", "after", "sign", "word"),
    [
        (fake.FAILED, fake.PASSED, "✓", "Proved"),
        (fake.SLOWER, fake.PASSED, "✓", "Better"),
        (fake.PASSED, fake.PASSED, "✓", "The same"),
        (fake.PASSED, fake.SLOWER, "!", "Worse: it passes as before"),
        (fake.PASSED, fake.FAILED, "✗", "Worse: the speed test passed before"),
        (fake.FAILED, fake.FAILED, "✗", "Not fixed"),
        (
            replace(fake.PASSED, speeds=fake.PASSED.speeds[:2]),
            replace(fake.PASSED, speeds=fake.PASSED.speeds[3:]),
            "?",
            "It passed before",
        ),
    ],
)
def test_what_a_comparison_proves(before: SpeedTest, after: SpeedTest, sign: str, word: str) -> None:
    said = speeds.proof(Comparison(before, after))
    assert said.sign == sign
    assert said.text.startswith(word)
    assert ("Proved" in said.text) == (word == "Proved")


def test_what_failed_before_is_said_in_words() -> None:
    now = Snapshot(nodes=fake.LAB, earlier=Earlier((), fake.FAILED), speed=fake.PASSED)
    assert speeds.verdict(now).text == "Proved: the speed test that failed before passes now."
    assert speeds_content.text(now).split("\n\n")[2:4] == [
        "before  gloo over eth0: failed, node-b could not reach 172.17.0.2 within 20 s\nafter   gloo over eth1: passed",
        f"one way, 64M      after   {'█' * 28}   1.46 GB/s\n"
        f"both ways, 64M    after   {'█' * 18}▏{' ' * 9}   0.95 GB/s\n"
        f"all gather, 64M   after   {'█' * 13}▊{' ' * 14}   0.71 GB/s\n"
        f"all reduce, 64M   after   {'█' * 15}▏{' ' * 12}   0.79 GB/s",
    ]


def test_what_only_one_run_measured_is_not_compared() -> None:
    one_way = replace(fake.SLOWER, speeds=tuple(one for one in fake.SLOWER.speeds if one.pattern is Pattern.ONE_WAY))
    shown = speeds_content.bars(Comparison(one_way, fake.PASSED)).plain
    assert "both ways, 64M    before  not measured\n" in shown
    assert shown.count("better") == 1


@pytest.mark.parametrize(
    ("transport", "words"),
    [
        (Transport("gloo", ("eth1",)), "gloo on eth1"),
        (Transport("Socket", ("eth0", "eth1"), threads=2, sockets=4), "NCCL's sockets on eth0, eth1, 8 connections"),
        (Transport("IB", devices=("mlx5_0:1/RoCE",), gdr=True), "RDMA on mlx5_0:1/RoCE, GPU Direct"),
        (Transport("IB", devices=("mlx5_0:1/IB",), gdr=False), "RDMA on mlx5_0:1/IB, no GPU Direct"),
        (Transport("IB", within=True), "one machine's memory, no network"),
        (Transport("", within=True), "one machine's memory, no network"),
        (Transport("AWS Libfabric"), "AWS Libfabric, by which device nobody said"),
        (None, "gloo on eth1"),
    ],
)
def test_what_carried_it(transport: Transport | None, words: str) -> None:
    assert speeds.carried(transport, fake.PASSED) == words


def test_a_link_that_nobody_knows_is_judged_by_plain_tcp_and_drawn_once() -> None:
    rate = fake.PASSED.baseline.rate if fake.PASSED.baseline else None
    assert [level.sign for level in speeds.levels(fake.PASSED, judgement(Rating.HEALTHY, rate))] == [speeds.TCP]
    failed = replace(fake.PASSED, baseline=Baseline("iperf3", 1, failure="refused"))
    assert speeds.levels(failed, judgement(Rating.UNKNOWN, None)) == ()
    assert speeds.beside(failed, None)[0] == (" ", "plain TCP", "not measured: refused")


def test_figures_without_a_round_or_a_time_are_no_figures() -> None:
    empty = SpeedTest("gloo", None, (Speed(Pattern.ONE_WAY, 8, (), True), Speed(Pattern.ONE_WAY, 64, (0.0,), True)))
    now = Snapshot(nodes=fake.LAB, speed=empty, judgement=judgement(Rating.UNKNOWN, None))
    assert speeds.matrix(empty.speeds) == ()
    assert "gloo on its own choice" in speeds_content.text(now)


def test_what_comes_again_while_nothing_happens_counts_once() -> None:
    speed = fake.PASSED.speeds[0]
    rate = Rate("one way", 1.0, Pattern.ONE_WAY, 8, 3, 1.5, 4.0)
    through = Measured("one way: through", 2.0, speed=speed)
    live = Live()
    for tick in (Progress("starting"), rate, replace(rate, seconds=1.5), replace(rate, rounds=6), through, through):
        live = ticked(live, tick)
    assert live.rates == (1.5, 1.5, speed.algbw)
    assert (live.through, live.left, live.seconds) == ((speed,), 4.0, 2.0)
    for number in range(500):
        live = ticked(live, replace(rate, rounds=number))
    assert len(live.rates) == 240
