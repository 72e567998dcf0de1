"""The journeys, by keyboard alone at 80x24."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from textual.events import Paste
from textual.widgets import Input, OptionList

from ncclcheck.errors import ApplyError, NodeError, ProbeError
from ncclcheck.tui.app import Doctor
from ncclcheck.tui.screens.fix import FixDialog
from ncclcheck.tui.screens.help import HelpDialog
from ncclcheck.tui.screens.log import LogPlace
from ncclcheck.tui.screens.open import OpenDialog
from ncclcheck.tui.screens.overview import OverviewPlace
from ncclcheck.tui.screens.peers import PeersPlace
from ncclcheck.tui.screens.speed import SpeedDialog
from ncclcheck.tui.text.document import every
from ncclcheck.tui.widgets.log_pane import LogPane
from ncclcheck.tui.widgets.log_view import LogView
from tests.tui import fake
from tests.tui.pilots import LARGE, doctor_of, opened, paste, pressed, settled, text_of, until

PROOF = [
    "measure 10.0.0.1 over eth0",
    "apply node-a",
    "apply node-b",
    "scan node-a",
    "scan node-b",
    "probe node-a",
    "probe node-b",
    "diagnose_probes",
    "handshake",
    "measure 10.0.0.1 over eth1",
]


@pytest.fixture(autouse=True)
def _state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


async def test_it_opens_with_what_nccl_will_do_and_why() -> None:
    async with opened(fake.Doctor()) as pilot:
        shown = text_of(pilot)
        assert "? Not checked yet: p asks the real NCCL here, or paste a log" in shown
        assert shown.count("NCCL 2.29.7 will take eth0 172.17.0.2") == 2
        assert "because first interface that is up and not loopback or docker" in shown
        assert "q Quit" in shown


async def test_enter_takes_the_next_best_step() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        await pressed(pilot, "enter")
        assert doctor.calls[2:] == ["probe node-a", "probe node-b", "diagnose_probes"]
        assert "✗ NCCL uses eth0 (172.17.0.2), which the other node cannot reach" in text_of(pilot)
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, FixDialog)


async def test_a_finding_jumps_to_its_evidence() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "p", "2")
        log = pilot.app.screen.query_one(LogView)
        pointed = [log.cursor]
        for key in ("e", "e", "e", "E", "up", "down", "n", "n", "N"):
            await pressed(pilot, key)
            pointed.append(log.cursor)
        # Rows: a heading, node-a's four lines, a heading, node-b's four; the note's evidence is node-a's third line.
        assert pointed == [1, 6, 3, 1, 3, 1, 3, 1, 3, 1]


async def test_the_arrows_choose_findings_and_show_them_in_full() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "p", "2")
        assert "--> node-a:1" in text_of(pilot)
        await pressed(pilot, "down")
        assert "No RDMA device was found." in text_of(pilot)


async def test_zoom_gives_the_focused_pane_the_screen_and_takes_it_back() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "p", "2", "tab", "z")
        assert "not proved: It does not prove that" in text_of(pilot)
        assert not pilot.app.screen.query_one(LogPane).display
        await pressed(pilot, "z")
        assert pilot.app.screen.query_one(LogPane).display


async def test_a_paste_is_diagnosed_without_a_question() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        await paste(pilot, "\r".join(fake.LOG))
        assert doctor.calls[-1] == "diagnose_text"
        assert isinstance(pilot.app.screen, LogPlace)
        assert "✗ NCCL uses eth0" in text_of(pilot)
        assert [row.text for row in every(doctor_of(pilot).snapshot.document)] == list(fake.LOG)


async def test_a_paste_into_a_dialog_is_diagnosed_and_one_line_is_typed() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        await pressed(pilot, "o")
        await paste(pilot, "/var/log/job.log")
        assert pilot.app.screen.query_one(Input).value == "/var/log/job.log"
        await paste(pilot, "\n".join(fake.LOG))
        assert isinstance(pilot.app.screen, LogPlace)


async def test_a_paste_that_says_nothing_says_what_is_missing() -> None:
    async with opened(fake.Doctor()) as pilot:
        await paste(pilot, "hello\nworld")
        assert "? what does NCCL do? (missing: a log with NCCL_DEBUG=INFO)" in text_of(pilot)


async def test_opening_what_is_not_there_loses_nothing() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "o")
        await pilot.press(*"missing.log")
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, OpenDialog)
        assert "✗ This could not be read: missing.log: no such file" in text_of(pilot)
        field = pilot.app.screen.query_one(Input)
        assert field.value == "missing.log"
        field.value = "there.log"
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, LogPlace)
        assert doctor_of(pilot).snapshot.document.title == "there.log"
        assert "missing" not in text_of(pilot)


async def test_looking_at_a_fix_and_leaving_changes_nothing() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        await pressed(pilot, "p", "f")
        shown = text_of(pilot)
        assert "/etc/nccl.conf" in shown
        assert "+ NCCL_SOCKET_IFNAME==eth1" in shown
        assert "Nothing is written yet" in shown
        await pressed(pilot, "escape")
        assert isinstance(pilot.app.screen, OverviewPlace)
        assert doctor.calls[-2:] == ["preview node-a", "preview node-b"]


async def test_one_yes_applies_probes_measures_and_compares() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        await pressed(pilot, "p", "f", "a")
        assert doctor.calls[-len(PROOF) :] == PROOF
        shown = text_of(pilot)
        assert "✓ Proved: the speed test that failed before passes now." in shown
        assert "before  gloo over eth0: failed, node-b could not reach 172.17.0.2 within 20 s" in shown
        assert "one way, 64M      after   ████████████████████████████   1.46 GB/s" in shown
        await pressed(pilot, "a")
        assert doctor.calls[-len(PROOF) :] == PROOF, "a second yes must not write again"
        await pressed(pilot, "escape")
        assert "✓ Fixed and proved" in text_of(pilot)


async def test_undo_takes_the_change_back_on_every_node() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        await pressed(pilot, "p", "f", "a", "u")
        after = doctor.calls[doctor.calls.index(PROOF[-1]) + 1 :]
        assert after[:2] == ["undo node-b", "undo node-a"]
        assert not doctor.fixed
        assert doctor_of(pilot).snapshot.changes == ()


async def test_a_fix_for_the_launcher_is_shown_and_never_written() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        await pressed(pilot, "p", "f", "right", "a")
        assert "This goes into your own start command" in text_of(pilot)
        assert not [call for call in doctor.calls if call.startswith("apply")]


async def test_a_fix_that_cannot_be_written_says_so_in_the_dialog() -> None:
    error = ApplyError("read-only file system", place="/etc/nccl.conf", next_step="write ~/.nccl.conf instead")
    async with opened(fake.Doctor(errors={"apply": error}), size=LARGE) as pilot:
        await pressed(pilot, "p", "f", "a")
        shown = text_of(pilot)
        assert "✗ writing /etc/nccl.conf on node-a" in shown
        assert "read-only file system" in shown
        assert "write ~/.nccl.conf instead" in shown


@pytest.mark.parametrize(
    ("case", "error", "key", "words"),
    [
        ("scan", NodeError("netlink refused", place="node-a"), "1", "This node could not be looked at: node-a"),
        (
            "probe",
            ProbeError("no libnccl", next_step="name a Python with torch"),
            "p",
            "The probe did not work: no",
        ),
        ("measure", ProbeError("port in use"), "s", "The speed test did not run: port in use"),
    ],
)
async def test_an_error_of_a_worker_is_text_and_goes_away(case: str, error: ProbeError, key: str, words: str) -> None:
    async with opened(fake.Doctor(errors={case: error})) as pilot:
        await pressed(pilot, key)
        assert f"✗ {words}" in text_of(pilot)
        await pressed(pilot, "escape")
        assert words not in text_of(pilot)


async def test_keys_work_while_a_scan_is_slow() -> None:
    gate = threading.Event()
    async with opened(fake.Doctor(held={"scan": gate})) as pilot:
        await until(pilot, lambda: "looking…" in text_of(pilot))
        await pilot.press("2")
        assert isinstance(pilot.app.screen, LogPlace)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpDialog))
        gate.set()
        await settled(pilot)
        assert len(doctor_of(pilot).snapshot.facts) == 2


async def test_while_a_probe_runs_nothing_else_is_started_and_x_stops_it() -> None:
    gate = threading.Event()
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        doctor.held["probe"] = gate
        await pilot.press("p")
        await until(pilot, lambda: doctor_of(pilot).snapshot.busy)
        await pilot.press("p", "f", "s")
        assert "asking the real NCCL on node-a" in text_of(pilot)
        await pilot.press("x")
        await until(pilot, lambda: not doctor_of(pilot).snapshot.busy)
        gate.set()
        await settled(pilot)
        assert doctor.calls[2:] == ["probe node-a"]
        assert doctor_of(pilot).snapshot.probes == ()


async def test_a_paste_wins_over_a_running_probe() -> None:
    gate = threading.Event()
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        doctor.held["probe"] = gate
        await pilot.press("p")
        await until(pilot, lambda: doctor_of(pilot).snapshot.busy)
        pilot.app.post_message(Paste("\n".join(fake.LOG)))
        await until(pilot, lambda: doctor_of(pilot).snapshot.diagnosis is not None)
        gate.set()
        await settled(pilot)
        assert doctor_of(pilot).snapshot.document.title == "pasted: a log"


async def test_help_lists_the_keys_of_the_place() -> None:
    async with opened(fake.Doctor(), size=(80, 70)) as pilot:
        await pressed(pilot, "2", "question_mark")
        shown = text_of(pilot)
        assert "Next line that proves something" in shown
        assert "Ask the real NCCL which network it takes" in shown
        await pressed(pilot, "escape")
        assert isinstance(pilot.app.screen, LogPlace)


async def test_the_palette_offers_only_what_applies_now() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "ctrl+p")
        await until(pilot, lambda: "Speed test" in text_of(pilot))
        assert "see what would change, apply it, prove it" not in text_of(pilot)
        await pressed(pilot, "escape", "p", "ctrl+p")
        await until(pilot, lambda: "see what would change, apply it, prove it" in text_of(pilot))
        await pilot.press(*"prove")
        await pressed(pilot, "down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, FixDialog))


async def test_copy_reaches_the_clipboard_and_a_file(tmp_path: Path) -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "p", "c")
        saved = tmp_path / "ncclcheck" / "copied.txt"
        assert saved.read_text() == pilot.app.clipboard
        assert saved.stat().st_mode & 0o777 == 0o600
        assert pilot.app.clipboard.startswith(
            "error[NC101] NCCL uses eth0 (172.17.0.2), which the other node cannot reach"
        )
        assert [note.message for note in pilot.app._notifications] == [
            f"Copied. Dropped by the terminal? It is in {saved}; C shows it as plain text"
        ]


async def test_the_speed_test_of_one_machine_asks_and_shows_the_other_side() -> None:
    doctor = fake.Doctor()
    async with opened(doctor, fake.HERE) as pilot:
        await pressed(pilot, "s")
        assert isinstance(pilot.app.screen, SpeedDialog)
        pilot.app.screen.query_one("#address", Input).value = "10.0.0.1:5000"
        pilot.app.screen.query_one("#size", Input).value = "10M"
        await settled(pilot)
        assert "ncclcheck speedtest 10.0.0.1:5000 10M 1" in text_of(pilot)
        await pressed(pilot, "enter")
        assert doctor.calls[-1] == "measure_here 10.0.0.1:5000 10485760 0"
        assert doctor.commands == ["ncclcheck speedtest 10.0.0.1:5000 10M 0"]
        assert "1.46 GB/s one way, 47 % of 3.09 GB/s" in text_of(pilot)


async def test_a_speed_test_with_a_bad_address_does_not_start() -> None:
    doctor = fake.Doctor()
    async with opened(doctor, fake.HERE) as pilot:
        await pressed(pilot, "s")
        pilot.app.screen.query_one("#address", Input).value = "nonsense"
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, SpeedDialog)
        assert "not HOST:PORT" in text_of(pilot)


async def test_the_menu_keeps_the_cursor_on_the_next_best_step() -> None:
    async with opened(fake.Doctor()) as pilot:
        menu = pilot.app.screen.query_one(OptionList)
        assert menu.highlighted_option is not None
        assert menu.highlighted_option.id == "probe"
        await pressed(pilot, "p")
        assert menu.highlighted_option.id == "fix"


@pytest.mark.parametrize("start", ["1", "5"])
async def test_a_place_is_opened_for_the_first_time_from_another_ones_menu(start: str) -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, start, "home")
        menu = pilot.app.screen.query_one(OptionList)
        while menu.highlighted_option is None or menu.highlighted_option.id != "peers":
            await pilot.press("down")
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, PeersPlace)


async def test_files_given_at_the_start_are_read_at_once() -> None:
    app = Doctor(fake.HERE, ("job.log",), fake.Doctor().cases())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert isinstance(app.screen, LogPlace)
        assert "✗ NCCL uses eth0" in text_of(pilot)
