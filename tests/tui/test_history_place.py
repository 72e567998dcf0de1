"""The place of the history: changes taken back and runs compared, by keyboard alone at 80x24."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ncclcheck.doctor import fix as fixes
from ncclcheck.doctor import history as kept
from ncclcheck.doctor.history import HERE, Made, Review
from ncclcheck.errors import ApplyError
from ncclcheck.fixes.plan import Change
from ncclcheck.model import Applied, Edit, Facts, Judgement, Node, Rating
from ncclcheck.speedtest.history import Run
from ncclcheck.tui import history, history_content
from ncclcheck.tui.app import Doctor
from ncclcheck.tui.screens.history import HistoryPlace, WholeDialog
from ncclcheck.tui.screens.history_undo import UndoDialog
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.history_list import HistoryList
from tests.tui import fake
from tests.tui.pilots import SMALL, doctor_of, opened, pressed, settled, text_of, typed
from tests.tui.test_hostile import HOSTILE, LITERAL, UNSAFE
from tests.yardstick import within

OLDER = (Applied("/root/.nccl.conf", None, "2026-11-29T08:30:00Z"),)
NEWER = (Applied("/etc/nccl.conf", "/etc/nccl.conf.ncclcheck-backup-1", "2026-11-30T12:00:00Z"),)
EDITED = "Somebody has changed the file since; taking it back would lose that."


@pytest.fixture(autouse=True)
def _state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def facts() -> Facts:
    """What the runs are judged by."""
    return fake.Doctor().facts(fake.LAB[0])


def runs() -> tuple[Run, ...]:
    """A pair round a fix, then one that is slower and one that is as before."""
    return (
        fake.ran(1, fake.FAILED, facts(), "before the fix"),
        fake.ran(2, fake.PASSED, facts(), "after the fix"),
        fake.ran(3, fake.SLOWER, facts()),
        fake.ran(4, fake.PASSED, facts()),
    )


def doctor() -> fake.Doctor:
    """Two changes of earlier sessions, one of them edited since, and four runs."""
    made = [fake.made(HERE, NEWER), fake.made(HERE, OLDER, EDITED)]
    return fake.Doctor(made=made, kept=list(runs()))


def under(pilot: Pilot[None]) -> str:
    """The row under the cursor."""
    row = pilot.app.screen.query_one(HistoryList).row
    assert row is not None
    return " ".join(row.texts)


# Changes -------------------------------------------------------------------------------------------------------------


async def test_with_nothing_kept_it_says_what_will_be() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "7")
        assert isinstance(pilot.app.screen, HistoryPlace)
        assert "Nothing is kept yet." in text_of(pilot)
        assert not {"u Undo", "space Compare"} & set(text_of(pilot).splitlines()[-1].split("  "))


async def test_changes_and_runs_are_listed_the_newest_first_and_copied_with_their_diffs() -> None:
    async with opened(doctor()) as pilot:
        await pressed(pilot, "7")
        shown = text_of(pilot)
        assert "1 change can be taken back; 1 cannot; 4 speed tests are kept" in shown
        rows = [text[2:] for text in shown.splitlines() if text[3:13].startswith("2026-11")]
        assert [text.split()[:2] for text in rows] == [
            ["2026-11-30", "12:00"],
            ["2026-11-29", "08:30"],
            ["2026-11-30", "12:04"],
            ["2026-11-30", "12:03"],
            ["2026-11-30", "12:02"],
        ]
        assert "/etc/nccl.conf    +NCCL_SOCKET_IFNAME==eth1" in rows[0]
        assert shown.count("The old /etc/nccl.conf is kept as") == 1
        assert "u Undo" in shown
        await pressed(pilot, "c")
        copied = pilot.app.clipboard
        assert copied.startswith(
            "i 1 change can be taken back; 1 cannot; 4 speed tests are kept\n\nChanged on this machine"
        )
        assert "    + NCCL_SOCKET_IFNAME==eth1" in copied
        assert EDITED in copied
        last = copied.rstrip().splitlines()[-1]
        assert last.split() == ["2026-11-30", "12:01", "gloo", "eth0", "–", "failed", "before", "the", "fix"]


async def test_nothing_is_taken_back_without_a_yes_or_over_somebody_elses_edit() -> None:
    made = doctor()
    async with opened(made) as pilot:
        await pressed(pilot, "7", "u")
        assert isinstance(pilot.app.screen, UndoDialog)
        shown = text_of(pilot)
        assert "Take this change back?" in shown
        assert "- NCCL_SOCKET_IFNAME==eth1" in shown
        await pressed(pilot, "n")
        assert isinstance(pilot.app.screen, HistoryPlace)
        await typed(pilot, "down")
        await pressed(pilot, "u")
        assert EDITED in text_of(pilot)
        assert "y Yes" not in text_of(pilot)
        await pressed(pilot, "y")
        assert isinstance(pilot.app.screen, UndoDialog)
        await pressed(pilot, "escape")
        assert isinstance(pilot.app.screen, HistoryPlace)
        assert not [call for call in made.calls if call.startswith("undo")]


async def test_a_yes_takes_it_back_and_looks_at_the_nodes_again() -> None:
    made = doctor()
    made.errors["undo"] = ApplyError("cannot be put back: Read-only file system", place="/etc/nccl.conf")
    async with opened(made) as pilot:
        await pressed(pilot, "7", "u", "y")
        assert "cannot be put back: Read-only file system" in text_of(pilot)
        assert under(pilot).startswith("2026-11-30 12:00"), "it stays in the list"
        made.errors.clear()
        await pressed(pilot, "u", "y")
        assert made.calls[-3:] == ["undo this machine", "scan node-a", "scan node-b"]
        assert "Read-only" not in text_of(pilot)
        assert under(pilot).startswith("2026-11-29 08:30")


async def test_a_fix_of_this_session_is_in_the_history_and_the_probe_is_asked_again() -> None:
    made = fake.Doctor()
    async with opened(made) as pilot:
        await pressed(pilot, "p", "f", "a", "escape", "7")
        assert "2 changes can be taken back; 2 speed tests are kept" in text_of(pilot)
        assert under(pilot).split()[2] == "node-b"
        await pressed(pilot, "u", "y")
        undone = made.calls[-6:]
        assert undone == [
            "undo node-b",
            "scan node-a",
            "scan node-b",
            "probe node-a",
            "probe node-b",
            "diagnose_probes",
        ]
        assert [change.node.name for change in doctor_of(pilot).snapshot.changes] == ["node-a"]
        assert doctor_of(pilot).snapshot.earlier is not None
        await pressed(pilot, "7")
        await pressed(pilot, "u", "y")
        assert doctor_of(pilot).snapshot.changes == ()
        assert doctor_of(pilot).snapshot.earlier is None


async def test_a_real_file_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "nccl.conf"
    path.write_text("# mine\n")
    here = Node("gpu-box")
    fixes.apply(fixes.revise(Change(sets=(("NCCL_SOCKET_IFNAME", "=eth1"),)), str(path)).edits, here)
    cases = replace(fake.Doctor().cases(), changes=kept.changes, undo=fixes.undo)
    app = Doctor((here,), cases=cases)
    async with app.run_test(size=SMALL) as pilot:
        await settled(pilot)
        await pressed(pilot, "7")
        await pressed(pilot, "u")
        assert "- NCCL_SOCKET_IFNAME==eth1" in text_of(pilot)
        await pressed(pilot, "y")
        assert path.read_text() == "# mine\n"
        assert kept.changes() == ()
        assert "Nothing is kept yet." in text_of(pilot)


# Runs ----------------------------------------------------------------------------------------------------------------


async def test_a_run_after_a_fix_is_compared_with_the_one_before() -> None:
    async with opened(doctor(), size=(140, 45)) as pilot:
        await pressed(pilot, "7")
        await typed(pilot, "down", "down", "down", "down")
        assert under(pilot).endswith("better after the fix")
        shown = text_of(pilot)
        assert "✓ Better" in shown
        assert "before  2026-11-30 12:01 on node-a" in shown
        assert "Failed: node-b could not reach" in shown


async def test_two_marked_runs_are_compared_whatever_their_order_and_of_three_the_oldest_mark_goes() -> None:
    async with opened(doctor(), size=(140, 45)) as pilot:
        await pressed(pilot, "7")
        await typed(pilot, "down", "down", "space")
        assert "Better" not in text_of(pilot)
        await typed(pilot, "down", "space", "up")
        shown = text_of(pilot)
        assert "✓ Better" in shown
        assert shown.index("before  2026-11-30 12:03") < shown.index("after   2026-11-30 12:04")
        assert "one way, 64M     0.49 GB/s  1.46 GB/s  better" in shown
        await typed(pilot, "down", "down", "space")
        marked = [text.split()[2] for text in text_of(pilot).splitlines() if text.strip().startswith("*")]
        assert marked == ["12:03", "12:02"]
        assert "✗ Worse" in text_of(pilot)
        await typed(pilot, "space")
        assert "✗ Worse" not in text_of(pilot)


async def test_a_run_is_shown_whole_in_the_words_of_the_speed_place() -> None:
    async with opened(doctor()) as pilot:
        await pressed(pilot, "7")
        await typed(pilot, "down", "down")
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, WholeDialog)
        shown = text_of(pilot)
        assert "! Tune: 1.46 GB/s one way, 47 % of 3.09 GB/s" in shown
        assert "GB/s, one way, by size" in shown
        await pressed(pilot, "c")
        assert pilot.app.clipboard.startswith("2026-11-30 12:04 on node-a\n! Tune: 1.46 GB/s")
        await pressed(pilot, "escape")
        assert isinstance(pilot.app.screen, HistoryPlace)


def test_a_pair_needs_both_and_the_same_host() -> None:
    first, second, third, _ = runs()
    elsewhere = replace(second, host="node-z")

    assert history.pairs((first, second, replace(third, label="after the fix"))) == {second.id: first}
    assert history.pairs((first, elsewhere)) == {}
    assert history.pairs((second, first)) == {}


def test_better_the_same_worse_and_nobody_knows() -> None:
    first, second, third, fourth = runs()
    few = replace(fourth, test=replace(fourth.test, speeds=tuple(_one_round(fourth.test.speeds))))

    def sign(before: Run, after: Run) -> str:
        return history.compared(before, after).sign

    assert [sign(first, second), sign(second, fourth), sign(second, third), sign(second, few)] == ["✓", "=", "✗", "?"]


def _one_round(speeds: Sequence[fake.Speed]) -> list[fake.Speed]:
    return [replace(one, seconds=one.seconds[:1]) for one in speeds]


def test_what_there_is_in_a_line() -> None:
    made = fake.made(HERE, NEWER)

    def words(now: Snapshot) -> str:
        return history.counts(now).text

    assert words(Snapshot(made=(made,), runs=runs()[:1])) == "1 change can be taken back; 1 speed test is kept"
    assert words(Snapshot(runs=runs())) == "No change of ours is left; 4 speed tests are kept"
    assert words(Snapshot(made=(made, made))) == "2 changes can be taken back; no speed tests are kept"


# Many, and strangers -------------------------------------------------------------------------------------------------


async def test_all_that_is_ever_kept_holds_up_no_key() -> None:
    many = tuple(replace(run, id=f"{number}-{run.id}") for number in range(125) for run in runs())
    made = tuple(replace(fake.made(HERE, NEWER), node=Node(f"node-{number}")) for number in range(50))
    async with opened(doctor()) as pilot:
        await pressed(pilot, "7")
        app = doctor_of(pilot)
        began = time.process_time()
        app.snapshot = replace(app.snapshot, runs=many, made=made)
        assert within(0.05, time.process_time() - began)
        await pressed(pilot, "end")
        assert under(pilot).endswith("before the fix")
        assert "400 older: ncclcheck history --limit 500 lists all of them" in text_of(pilot)


def hostile() -> Snapshot:
    """Strangers' text wherever there is text."""
    edit = Edit(HOSTILE, HOSTILE.encode(), f"{HOSTILE}\n{HOSTILE}\n".encode())
    made = Made(
        Node(HOSTILE), (Applied(HOSTILE, HOSTILE, HOSTILE),), Review((edit,), (edit,), f"{HOSTILE}\n  {HOSTILE}")
    )
    means = Judgement(Rating.TUNE, 1.0, 2.0, HOSTILE, HOSTILE, HOSTILE)
    test = replace(fake.PASSED, backend=HOSTILE, interface=HOSTILE, stage=HOSTILE)
    failed = replace(fake.FAILED, failure=f"{HOSTILE}\n{HOSTILE}", interface=HOSTILE)
    run = Run("1", HOSTILE, HOSTILE, failed, None, "before the fix")
    after = Run("2", HOSTILE, HOSTILE, test, means, "after the fix")
    return Snapshot(made=(made,), runs=(run, after, Run("3", HOSTILE, HOSTILE, test, means, HOSTILE)))


async def test_what_others_wrote_is_inert() -> None:
    now = hostile()
    async with opened(fake.Doctor(), size=(200, 60)) as pilot:
        await pressed(pilot, "7")
        app = doctor_of(pilot)
        app.snapshot = replace(app.snapshot, made=now.made, runs=now.runs)
        for keys in (("home",), ("u",), ("escape", "enter"), ("escape", "down"), ("down", "enter"), ("escape", "down")):
            await pressed(pilot, *keys)
            shown = text_of(pilot)
            assert not UNSAFE & set(shown)
            assert LITERAL[:14] in shown
            assert "漢字" in shown
        await pressed(pilot, "c")
        assert LITERAL in pilot.app.clipboard
        assert not UNSAFE & set(pilot.app.clipboard)
        assert not UNSAFE & set(history_content.comparison(now.runs[0], now.runs[1], 60).plain)
