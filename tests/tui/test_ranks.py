"""The place of the ranks: by keyboard alone at 80x24, what is said of each, and thousands of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ncclcheck.doctor.diagnose import diagnose_sources
from ncclcheck.doctor.examine import Examination
from ncclcheck.doctor.ranks import Roll, roll_of
from ncclcheck.logs.sources import open_sources
from ncclcheck.model import Endpoint, Node, Stage
from ncclcheck.tui import ranks, ranks_details
from ncclcheck.tui.app import Doctor
from ncclcheck.tui.outcomes import Activity, Began, Called, Diagnosed, Failed
from ncclcheck.tui.screens.log import LogPlace
from ncclcheck.tui.screens.ranks import RanksPlace
from ncclcheck.tui.state import Snapshot, advance
from ncclcheck.tui.text import document
from ncclcheck.tui.widgets.rank_table import RankTable
from tests.doctor.test_ranks import answer, large
from tests.tui import fake
from tests.tui.pilots import SMALL, doctor_of, opened, paste, pressed, settled, text_of, typed
from tests.tui.test_hostile import HOSTILE, LITERAL, UNSAFE
from tests.yardstick import within

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
STUCK = LOGS / "wrong-interface" / "2.28.9-refused-2x4"


@pytest.fixture(autouse=True)
def _state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def snapshot_of(folder: Path) -> Snapshot:
    """What is known once these logs were read."""
    texts = open_sources([str(folder)])
    found = diagnose_sources(texts)
    text = document.opened("logs", texts).grown()
    return Snapshot(diagnosis=found, document=text, roll=roll_of(found, text.text_at))


def real(doctor: fake.Doctor) -> Doctor:
    """An app that diagnoses for real."""
    cases = replace(doctor.cases(), read=open_sources, examine=Examination)
    return Doctor(fake.HERE, cases=cases)


async def given(pilot: Pilot[None], now: Snapshot) -> None:
    """Know this, and go to the ranks."""
    app = doctor_of(pilot)
    app.snapshot = replace(app.snapshot, diagnosis=now.diagnosis, document=now.document, roll=now.roll)
    await pressed(pilot, "3")


def under(pilot: Pilot[None]) -> tuple[int, ...]:
    """The numbers under the cursor."""
    group = pilot.app.screen.query_one(RankTable).group
    assert group is not None
    return group.numbers


def row(pilot: Pilot[None], start: str) -> str:
    """The line of the screen that begins so, without what is before it."""
    return next(text.strip() for text in text_of(pilot).splitlines() if text.strip().startswith(start))


# By keyboard ---------------------------------------------------------------------------------------------------------


async def test_without_a_log_it_says_how_to_bring_one() -> None:
    async with opened(fake.Doctor(), fake.HERE) as pilot:
        await pressed(pilot, "3")
        assert isinstance(pilot.app.screen, RanksPlace)
        assert "No ranks yet. Paste a log of the job" in text_of(pilot)
        assert "Open/line" not in text_of(pilot)


async def test_a_pasted_log_is_told_rank_by_rank_and_enter_leads_to_the_line() -> None:
    log = "\n".join(path.read_text() for path in sorted(STUCK.iterdir()) if path.suffix == ".log")
    app = real(fake.Doctor())
    async with app.run_test(size=SMALL) as pilot:
        await settled(pilot)
        await paste(pilot, log)
        await pressed(pilot, "3")
        assert "✗ 4 of 8 ranks call rank 0 on node-a in vain; 4 wait" in text_of(pilot)
        await typed(pilot, "enter", "down")
        assert under(pilot) == (4,)
        last = app.snapshot.roll.groups[0].first.rank.last  # type: ignore[union-attr]
        await pressed(pilot, "enter")
        assert isinstance(app.screen, LogPlace)
        assert app.screen.pane.view.current == last
        await pressed(pilot, "3")
        assert under(pilot) == (4,), "the cursor stays where it was"


async def test_rows_line_up_with_the_stuck_ones_first_and_are_copied_so() -> None:
    async with opened(fake.Doctor(), fake.HERE) as pilot:
        await given(pilot, snapshot_of(STUCK))
        assert row(pilot, "RANK").split() == ["RANK", "HOST", "HOW", "FAR", "WAITS", "FOR", "HOW", "OFTEN"]
        assert row(pilot, "+  ✗ 4-7") == (
            "+  ✗ 4-7   node-b  ##....... bootstrap  rank 0 on node-a            refused 6×"
        )
        assert row(pilot, "… 0").startswith("… 0     node-a  ##....... bootstrap  called by ranks 4-7 on")
        assert under(pilot) == (4, 5, 6, 7)
        assert "✗ call rank 0 on node-a in vain: refused 6×, and gave up" in text_of(pilot)
        await pressed(pilot, "c")
        copied = pilot.app.clipboard
        assert copied.startswith("✗ 4 of 8 ranks call rank 0 on node-a in vain; 4 wait\n\n   RANK  HOST")
        assert "✗  4-7   node-b  ##....... bootstrap  rank 0 on node-a" in copied
        assert "Ranks 4-7 on node-b\n✗ call rank 0" in copied


async def test_groups_open_and_close_and_stay_open_while_the_log_grows() -> None:
    async with opened(fake.Doctor(), fake.HERE) as pilot:
        await given(pilot, snapshot_of(STUCK))
        table = pilot.app.screen.query_one(RankTable)
        assert table.count == 3
        seen = []
        for key in ("right", "down", "down", "left", "enter", "end", "home", "left", "G", "k", "pageup", "pagedown"):
            await pilot.press(key)
            seen.append((table.count, under(pilot)))
        every = (4, 5, 6, 7)
        assert seen == [
            (7, every),
            (7, (4,)),
            (7, (5,)),
            (3, every),
            (7, every),
            (7, (1, 2, 3)),
            (7, every),
            (3, every),
            (3, (1, 2, 3)),
            (3, (0,)),
            (3, every),
            (3, (1, 2, 3)),
        ]
        await typed(pilot, "home", "right", "down", "down")
        app = doctor_of(pilot)
        assert app.snapshot.roll is not None
        app.snapshot = advance(app.snapshot, Called(replace(app.snapshot.roll)))
        await settled(pilot)
        assert (table.count, under(pilot)) == (7, (5,))


async def test_the_rank_under_the_cursor_is_told_in_full() -> None:
    async with opened(fake.Doctor(), fake.HERE, size=(140, 45)) as pilot:
        await given(pilot, snapshot_of(STUCK))
        await typed(pilot, "right", "down")
        shown = text_of(pilot)
        for words in (
            "Rank 4 on node-b, process 6838",
            "stage      bootstrap: it is finding the others",
            "NCCL       2.28.9, network Socket",
            "bootstrap  eth0 172.17.0.2",
            "settings   NCCL_SOCKET_RETRY_CNT=5",
            "calls      172.17.0.2 port 52059: refused 6×",
            "node-b-rank4.log:29",
            "finding    NC101: NCCL uses eth0",
        ):
            assert words in shown
        assert "refused 6×  line 16" in shown


async def test_a_probe_is_no_job() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "p", "3")
        assert "From a probe, which stops once NCCL chose its interface" in text_of(pilot)
        assert "? ×2" in text_of(pilot)
        await typed(pilot, "enter", "down", "enter")
        assert isinstance(pilot.app.screen, RanksPlace)


def test_a_failure_stays_on_the_screen_while_the_ranks_are_worked_out() -> None:
    failed = advance(Snapshot(), Failed(Activity.SPEED, "no torch"))

    assert advance(failed, Began(Activity.RANKS)).failure == failed.failure
    assert advance(failed, Began(Activity.PROBE)).failure is None


# Words ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("healthy/2.28.9-healthy-2x2", "✓ All 4 ranks came through the initialisation"),
        ("healthy/2.18.6-healthy-2x1", "✓ Both ranks came through the initialisation"),
        ("unknown/2.28.9-rank1-never-starts", "✗ 1 of 2 ranks waits; rank 1 never appeared in these logs"),
        ("no-route/2.18.6-netunreach", "✗ 1 of 2 processes calls the root on node-a in vain; 1 waits"),
        ("duplicate-gpu/2.28.9-duplicate-gpu", "✗ 3 of 3 ranks stopped with an error"),
        ("stale-rendezvous/2.28.9-wrong-uid", "✗ 1 of 2 ranks calls rank 0 on node-a in vain; 1 is through"),
        ("unknown/not-a-log", "? No line of this text is a rank's: NCCL prints them with NCCL_DEBUG=INFO"),
        ("rank-died/2.18.6-rank-killed-after-init", "! Both ranks came through the initialisation; a finding names"),
    ],
)
def test_one_line_says_what_counts(folder: str, words: str) -> None:
    told = ranks.counts(snapshot_of(LOGS / folder))

    assert f"{told.sign} {told.text}".startswith(words)


def test_those_who_wait_for_one_that_is_behind_say_so() -> None:
    job = large("none")
    late = replace(job.ranks[3], stage=Stage.INTERFACE, bootstrap=Endpoint("eth0", "10.0.0.3"))
    small = replace(job, ranks=(*job.ranks[:3], late, *job.ranks[4:8]), world_size=8)
    roll = roll_of(answer(small), lambda _: "")

    assert [ranks.waits(group) for group in roll.groups] == ["no line tells", "rank 3 on node-0000"]


def test_every_log_of_ours_can_be_told() -> None:
    folders = sorted(folder for cause in LOGS.iterdir() for folder in cause.iterdir())
    for folder in folders:
        text = ranks_details.text(snapshot_of(folder))
        assert text.count("\n") >= 1
        assert "None" not in text


@pytest.mark.parametrize(
    ("found", "words"),
    [((), ""), ((3,), "3"), ((0, 1, 2, 4), "0-2, 4"), ((1, 3, 5, 7, 9), "1, 3, 5, 7, …"), ((1, 1, 2), "1-2")],
)
def test_runs_of_numbers_are_drawn_together(found: tuple[int, ...], words: str) -> None:
    assert ranks.numbers(found) == words


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        (Stage.SILENT, "......... silent"),
        (Stage.BOOTSTRAP, "##....... bootstrap"),
        (Stage.DESTROYED, "######### destroyed"),
    ],
)
def test_how_far_it_came_needs_no_colour_and_no_block_characters(stage: Stage, words: str) -> None:
    assert ranks.share(stage) == words
    assert words.isascii()


# Thousands, and strangers --------------------------------------------------------------------------------------------


async def test_ten_thousand_ranks_are_opened_and_walked_at_once() -> None:
    async with opened(fake.Doctor(), fake.HERE) as pilot:
        await pressed(pilot, "3")
        for kind in ("none", "root", "ring"):
            for act in walk(doctor_of(pilot), kind):
                began = time.process_time()
                act()
                assert within(0.05, time.process_time() - began)
                await pilot.pause()
            assert pilot.app.screen.query_one(RankTable).count > 1000


def walk(app: Doctor, kind: str) -> tuple[Callable[[], object], ...]:
    """What holds up the keys while somebody looks at ten thousand ranks."""
    found = answer(large(kind))
    roll = roll_of(found, lambda _: "")
    ranks.prepare(roll)  # As the worker does.
    app.snapshot = advance(app.snapshot, Diagnosed(found, document.pasted("", kind, kind)))
    table = app.screen.query_one(RankTable)
    return (
        lambda: setattr(app, "snapshot", advance(app.snapshot, Called(roll))),
        lambda: table.action_open(True),
        lambda: table.action_edge(True),
        lambda: table.action_move(-1),
        lambda: [table.render_line(y) for y in range(table.size.height)],
        lambda: ranks_details.details(roll.groups[0], app.snapshot),
        lambda: table.action_page(-1),
    )


def hostile() -> tuple[Snapshot, Roll]:
    """A job with strangers' text wherever there is text."""
    now = snapshot_of(STUCK)
    assert now.diagnosis is not None
    job = now.diagnosis.job
    bad = tuple(
        replace(
            rank,
            host=f"{HOSTILE}{rank.host}",
            nccl=HOSTILE,
            network=HOSTILE,
            device=HOSTILE,
            bootstrap=Endpoint(HOSTILE, rank.bootstrap.address) if rank.bootstrap else None,
            sockets=(Endpoint(HOSTILE, HOSTILE),),
            settings=((HOSTILE, HOSTILE),),
            last=replace(rank.last, source=HOSTILE),
        )
        for rank in job.ranks
    )
    findings = tuple(replace(finding, title=HOSTILE) for finding in now.diagnosis.findings)
    calls = tuple(replace(attempt, address=HOSTILE, result=HOSTILE, link=HOSTILE) for attempt in job.attempts)
    diagnosis = replace(now.diagnosis, findings=findings, job=replace(job, ranks=bad, attempts=calls))
    roll = roll_of(diagnosis, lambda _: HOSTILE)
    return replace(now, diagnosis=diagnosis, roll=roll), roll


async def test_what_a_log_says_of_ranks_is_inert() -> None:
    now, roll = hostile()
    async with opened(fake.Doctor(), (Node("here"),), size=(200, 60)) as pilot:
        await given(pilot, now)
        for key in ("right", "down", "end", "right", "down", "tab"):
            await pressed(pilot, key)
            shown = text_of(pilot)
            assert not UNSAFE & set(shown)
            assert LITERAL[:14] in shown
            assert "漢字" in shown
        await pressed(pilot, "c")
        assert LITERAL in pilot.app.clipboard
        assert not UNSAFE & set(pilot.app.clipboard)
        widths = {len(cell) for group in roll.groups for cell in ranks.cells(group).texts}
        assert widths
