"""The place of the peers, by keyboard alone at 80x24."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from ncclcheck.errors import PeerError, ProbeError
from ncclcheck.model import Node
from ncclcheck.peer import card
from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.screens.agree import AgreeDialog
from ncclcheck.tui.screens.fix import FixDialog
from ncclcheck.tui.screens.join import JoinDialog
from ncclcheck.tui.screens.log import LogPlace
from ncclcheck.tui.screens.peers import PeersPlace
from ncclcheck.tui.widgets.ways import Ways
from tests.tui import fake
from tests.tui.fake_peers import FAILS, INVITATION
from tests.tui.pilots import doctor_of, opened, paste, pressed, settled, text_of, until

GUEST = card.write(fake.Doctor().facts(Node("node-b")))
USE = "✗ Use eth1 on both nodes; NCCL takes eth0 there now"
FIXED = "✓ Fixed and proved: NCCL's own handshake passes over eth1 on both nodes"


@pytest.fixture(autouse=True)
def _state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def held(*what: str) -> fake.Doctor:
    """A doctor that waits at these points until it is let go."""
    return fake.Doctor(held={name: threading.Event() for name in what})


async def ready(pilot: Pilot[None]) -> None:
    """The nodes were looked at, and the place is open."""
    await until(pilot, lambda: len(doctor_of(pilot).snapshot.facts) == len(doctor_of(pilot).snapshot.nodes))
    await pilot.press("4")


async def inviting(pilot: Pilot[None]) -> None:
    """Waiting for the other node, and a stranger came."""
    await ready(pilot)
    await pilot.press("i")
    await until(pilot, lambda: "it was turned away" in text_of(pilot))


def best(pilot: Pilot[None]) -> str | None:
    """What Enter would do."""
    option = pilot.app.screen.query_one(Ways).highlighted_option
    return option.id if option else None


async def test_enter_on_two_nodes_of_ours_finds_out_and_concludes() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "4", "enter")
        shown = text_of(pilot)
        assert USE in shown
        assert "because they share 10.0.0.0/24, and connections passed in every direction" in shown
        assert "✗ As things are set: NCCL's handshake fails: 172.17.0.2:42513 refused the" in shown
        assert "  → On node-b, let NCCL use eth1 and no other: NCCL_SOCKET_IFNAME==eth1" in shown
        assert best(pilot) == "fix"
        await pressed(pilot, "1")
        assert USE in text_of(pilot), "the newest answer is everywhere"


async def test_the_matrix_fills_as_the_calls_come() -> None:
    doctor = held("reach")
    async with opened(doctor) as pilot:
        await ready(pilot)
        await pilot.press("i")
        await until(pilot, lambda: len(doctor_of(pilot).snapshot.pairing.cells) == 6)
        await pilot.pause()
        rows = [line.split("  ") for line in text_of(pilot).splitlines() if " eth1 10.0.0.2  " in line]
        assert [[cell.strip() for cell in row if cell.strip()] for row in rows] == [
            ["eth1 10.0.0.2", "ok 0.12 ms", "…", "…"]
        ]
        doctor.held["reach"].set()
        await settled(pilot)
        await pressed(pilot, "pagedown", "pagedown")
        assert "eth1 10.0.0.2         ok 0.12 ms    no neighbour  ok 0.11 ms" in text_of(pilot)


async def test_fix_both_shows_both_diffs_writes_and_proves() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        await pressed(pilot, "4", "i", "f")
        assert isinstance(pilot.app.screen, FixDialog)
        shown = text_of(pilot)
        assert "Let NCCL use eth1 on both nodes, and no other interface" in shown
        assert [f" {node.name}\n   /etc/nccl.conf" in shown for node in fake.LAB] == [True, True]
        assert not [call for call in doctor.calls if call.startswith("apply")]
        await pressed(pilot, "a")
        written = doctor.calls.index("apply node-a")
        assert doctor.calls[written - 1 :] == [
            *("measure 10.0.0.1 over eth0", "apply node-a", "apply node-b", "scan node-a", "scan node-b"),
            *("probe node-a", "probe node-b", "diagnose_probes", "handshake", "measure 10.0.0.1 over eth1"),
        ]
        await pressed(pilot, "escape")
        shown = text_of(pilot)
        assert FIXED in shown
        assert "✗ Before: NCCL's handshake fails: 172.17.0.2:42513 refused the connection" in shown
        assert "✓ Now: NCCL's handshake passes, both ways and in the ring" in shown
        assert "✓ Now: the speed test reports 1.46 GB/s one way, 0.95 GB/s both ways" in shown
        await pressed(pilot, "f", "u", "escape")
        assert doctor.calls.count("undo node-a") == 1
        assert USE in text_of(pilot), "what is undone proves nothing any more"


async def test_one_key_proves_with_handshake_and_speed_test() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        await pressed(pilot, "4", "i")
        await pressed(pilot, "v")
        assert doctor.calls[-1] == "handshake", "where NCCL does not get through, speed need not be measured"
        assert "✗ Now: NCCL's handshake fails" in text_of(pilot)
        doctor.fixed = True
        await pressed(pilot, "v")
        assert doctor.calls[-2:] == ["handshake", "measure 10.0.0.1 over eth0"]
        assert FIXED in text_of(pilot)


async def test_leaving_the_program_closes_the_port() -> None:
    doctor = held("guest")
    async with opened(doctor, fake.HERE) as pilot:
        await inviting(pilot)
        await pilot.press("q")
    waited = threading.Event()
    for _ in range(200):
        if doctor.calls[-1] == "port closed":
            break
        waited.wait(0.02)
    assert doctor.calls[-1] == "port closed"


async def test_nobody_is_asked_before_the_diff_is_seen_and_a_yes_writes() -> None:
    doctor = fake.Doctor()
    async with opened(doctor, fake.HERE) as pilot:
        await ready(pilot)
        await pilot.press("i")
        await until(pilot, lambda: isinstance(pilot.app.screen, AgreeDialog))
        await pilot.pause()
        shown = text_of(pilot)
        assert "/etc/nccl.conf (new file)" in shown
        assert "+ NCCL_SOCKET_IFNAME==eth1" in shown
        await until(pilot, lambda: doctor.calls[-1] == "asked about gpu-box")
        await pilot.press("y")
        await until(pilot, lambda: isinstance(pilot.app.screen, PeersPlace))
        await settled(pilot)
        assert "answered True" in doctor.calls
        shown = text_of(pilot)
        assert FIXED in shown
        assert "✓ gpu-box: /etc/nccl.conf written" in shown
        assert "✓ Now: the speed test reports 1.46 GB/s one way" in shown
        await pressed(pilot, "pagedown")
        assert text_of(pilot).count("NCCL took eth0 172.17.0.2 before") == 2
        assert doctor.calls[-1] == "scan gpu-box", "the overview shows what NCCL takes now"


async def test_escape_decides_later_and_f_asks_again() -> None:
    doctor = fake.Doctor()
    async with opened(doctor, fake.HERE) as pilot:
        await ready(pilot)
        await pilot.press("i")
        await until(pilot, lambda: isinstance(pilot.app.screen, AgreeDialog))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, PeersPlace))
        assert "? Change /etc/nccl.conf on gpu-box? f shows it, and asks." in text_of(pilot)
        assert best(pilot) == "fix"
        await pilot.press("f")
        await until(pilot, lambda: isinstance(pilot.app.screen, AgreeDialog))
        await pilot.press("n")
        await settled(pilot)
        assert "answered False" in doctor.calls
        shown = text_of(pilot)
        assert "✗ gpu-box: not changed: its user said no; nothing was written" in shown
        assert USE in shown


async def test_whoever_stops_while_asked_has_said_no() -> None:
    doctor = fake.Doctor()
    async with opened(doctor, fake.HERE) as pilot:
        await ready(pilot)
        await pilot.press("i")
        await until(pilot, lambda: isinstance(pilot.app.screen, AgreeDialog))
        await pilot.press("escape", "x")
        await until(pilot, lambda: "answered False" in doctor.calls)
        await until(pilot, lambda: doctor.calls[-1] == "port closed")
        await settled(pilot)
        assert not doctor_of(pilot).snapshot.running_in(Activity.PAIR)


async def test_join_takes_part_by_the_line_of_the_other_node() -> None:
    doctor = fake.Doctor()
    async with opened(doctor, fake.HERE) as pilot:
        await pressed(pilot, "4", "j")
        assert isinstance(pilot.app.screen, JoinDialog)
        await paste(pilot, INVITATION.command.replace(INVITATION.token, "236PQ"))
        assert "this is no invitation: '41317-236PQ' is no PORT-TOKEN" in text_of(pilot)
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, JoinDialog), "a line that is cut off is not tried"
        pilot.app.screen.query_one(Input).value = INVITATION.command
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, AgreeDialog))
        await pilot.press("y")
        await settled(pilot)
        assert f"join {INVITATION.addresses[0]}" in doctor.calls
        assert FIXED in text_of(pilot)


async def test_an_invitation_pasted_anywhere_opens_the_question_and_starts_nothing() -> None:
    doctor = fake.Doctor()
    async with opened(doctor, fake.HERE) as pilot:
        await pressed(pilot, "2")
        await paste(pilot, INVITATION.command.replace(" fe80", "\r fe80"))
        assert isinstance(pilot.app.screen, JoinDialog)
        assert pilot.app.screen.query_one(Input).value == INVITATION.command
        assert doctor.calls == ["scan gpu-box"]


async def test_no_way_shows_what_was_tried_and_copies_the_card() -> None:
    doctor = fake.Doctor()
    doctor.no_way = True
    async with opened(doctor, fake.HERE) as pilot:
        await paste(pilot, INVITATION.command)
        await pressed(pilot, "enter")
        shown = text_of(pilot)
        assert "✗ None of the other node's addresses leads there from here" in shown
        assert "✗ 10.0.0.2: No route to host" in shown
        assert "tried from eth0 172.17.0.2, eth1 10.0.0.1" in shown
        await pressed(pilot, "c")
        assert [facts.host for facts in card.read(pilot.app.clipboard)] == ["gpu-box"]


async def test_a_log_that_speaks_of_cards_is_still_a_log() -> None:
    async with opened(fake.Doctor(), fake.HERE) as pilot:
        await paste(pilot, "NCCL INFO run ncclcheck join 1-A 10.0.0.1\nNCCLCARD is what ncclcheck card prints")
        assert isinstance(pilot.app.screen, LogPlace)


async def test_a_card_ends_the_waiting() -> None:
    doctor = held("guest")
    async with opened(doctor, fake.HERE) as pilot:
        await inviting(pilot)
        await paste(pilot, GUEST)
        await until(pilot, lambda: "port closed" in doctor.calls)
        assert "(by their cards, not proved)" in text_of(pilot)


async def test_it_begins_with_the_three_ways_and_keys_of_its_own() -> None:
    doctor = fake.Doctor()
    async with opened(doctor, fake.HERE) as pilot:
        await pilot.press("i", "j", "v")
        await pressed(pilot, "4")
        shown = text_of(pilot)
        assert doctor.calls == ["scan gpu-box"], "they do nothing elsewhere"
        assert [word for word in ("Invite  ", "Join  ", "Paste  ") if f"  {word}" not in shown] == []
        assert "ncclcheck card" in shown
        assert (best(pilot), "q Quit" in shown) == ("invite", True)
        await pressed(pilot, "question_mark")
        assert "Take part in what another node shows" in text_of(pilot)


async def test_waiting_shows_the_line_and_strangers_and_stop_closes_the_port() -> None:
    doctor = held("guest")
    async with opened(doctor, fake.HERE) as pilot:
        await inviting(pilot)
        shown = text_of(pilot)
        assert " ".join(shown.split()).count(INVITATION.command) == 1
        assert "! 10.0.0.66 called with a wrong token; it was turned away" in shown
        assert "x Stop" in shown
        await pilot.press("c")
        await until(pilot, lambda: pilot.app.clipboard == INVITATION.command)
        await pilot.press("p", "s", "i", "j", "f")
        assert isinstance(pilot.app.screen, PeersPlace)
        assert doctor.calls == ["scan gpu-box"], "nothing else is started meanwhile"
        await pilot.press("x")
        await until(pilot, lambda: doctor.calls[-1] == "port closed")
        await settled(pilot)
        shown = text_of(pilot)
        assert "– Ended before anything was known; nothing is open any more" in shown
        assert INVITATION.token not in shown
        assert "✗" not in shown, "to be stopped is no failure"
        assert best(pilot) == "invite"


async def test_a_card_pasted_anywhere_is_compared_with_this_node() -> None:
    doctor = fake.Doctor()
    async with opened(doctor, fake.HERE) as pilot:
        for keys, text in ((("2",), GUEST.replace("\n", "\r")), (("o",), GUEST.replace("\n", " ")), (("j",), GUEST)):
            await pressed(pilot, *keys)
            await paste(pilot, text)
            assert isinstance(pilot.app.screen, PeersPlace)
            shown = text_of(pilot)
            assert "? Use eth1 on both nodes (by their cards, not proved)" in shown
            assert "they share 10.0.0.0/24 by their addresses; no connection was tried" in shown
        assert doctor.calls == ["scan gpu-box", *["match_cards"] * 3]


async def test_by_cards_only_our_own_fix_is_written_and_a_broken_card_loses_nothing() -> None:
    doctor = fake.Doctor()
    async with opened(doctor, fake.HERE) as pilot:
        await paste(pilot, GUEST)
        await pressed(pilot, "f")
        assert "Let NCCL use eth1 on gpu-box, and no other interface" in text_of(pilot)
        assert [call for call in doctor.calls if call.startswith("preview")] == ["preview gpu-box"]
        await paste(pilot, GUEST[: GUEST.index("END-")])
        shown = text_of(pilot)
        assert "✗ This could not be read: the card of node-b: it is cut off" in shown
        assert "? Use eth1 on both nodes (by their cards, not proved)" in shown


async def test_an_error_is_a_calm_line() -> None:
    error = PeerError("nobody joined in time", place="pair", next_step="exchange cards")
    async with opened(fake.Doctor(errors={"reach": error}), fake.HERE) as pilot:
        await pressed(pilot, "4", "i")
        shown = text_of(pilot)
        assert "✗ The nodes were not compared to the end: pair: nobody joined in time" in shown
        assert "  exchange cards" in shown


async def test_a_handshake_that_cannot_be_run_is_no_failure_of_the_network() -> None:
    doctor = fake.Doctor(errors={"handshake": ProbeError("the prefix leads nowhere", place="node-b")})
    doctor.shaken = replace(FAILS, contacts=(), failure="node-a: no libnccl.so.2 within its reach")
    async with opened(doctor) as pilot:
        await pressed(pilot, "4", "i")
        shown = text_of(pilot)
        assert "? As things are set: NCCL's handshake was not run: node-a: no libnccl.so.2" in shown
        assert USE in shown
        await pressed(pilot, "v")
        assert "✗ The nodes were not compared to the end: node-b: the prefix leads nowhere" in text_of(pilot)
