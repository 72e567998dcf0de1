"""The place of the setup, by keyboard alone at 80x24."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from ncclcheck.doctor.setup.begin import SetupOptions, begun
from ncclcheck.doctor.setup.growth import advanced
from ncclcheck.doctor.setup.line import options
from ncclcheck.doctor.setup.person import Repeat, Skip, TakeBack
from ncclcheck.doctor.setup.steps import Missed, Skipped
from ncclcheck.doctor.steps import Waiting
from ncclcheck.errors import PeerError
from ncclcheck.tui import content
from ncclcheck.tui.screens import setup as setup_screen
from ncclcheck.tui.screens.overview import OverviewPlace
from ncclcheck.tui.screens.setup import SetupPlace
from ncclcheck.tui.screens.setup_dialogs import PageDialog, ReasonDialog, TakeBackDialog
from ncclcheck.tui.setup.content import Books, led
from ncclcheck.tui.setup.values import Agreement, Preparing, Wishing
from ncclcheck.tui.widgets.step_list import StepList
from ncclcheck.tui.wording import Tone
from tests.tui import fake, fake_setup
from tests.tui.fake_peers import INVITATION
from tests.tui.fake_setup import FakeSetup
from tests.tui.pilots import doctor_of, opened, paste, pressed, settled, text_of, until
from tests.tui.test_hostile import HOSTILE, LITERAL, UNSAFE

JOIN = f"ncclcheck setup --script 'my train.py' --join 41317-{INVITATION.token} 172.17.0.2 10.0.0.1"
READY = "✓ 2 nodes, ready to train: 1.46 GB/s (11.7 Gbit/s) one way"
DROPPED = "Nothing answers gpu-box at 10.0.0.2 (eth1 on node-b)"


@pytest.fixture(autouse=True)
def _readers_are_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second passes with each look at the clock, so that every question can have been read."""
    monkeypatch.setattr(setup_screen, "monotonic", count().__next__)


@pytest.fixture(autouse=True)
def _state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def somebody(*held: str, **unusual: object) -> fake.Doctor:
    """A doctor with an unusual setup, who waits at these points until he is let go."""
    return fake.Doctor(setup=FakeSetup(**unusual), held={name: threading.Event() for name in held})


async def asked(pilot: Pilot[None], kind: type[object], *keys: str) -> None:
    """Press keys, and wait for a question of that kind."""
    await pilot.press(*keys)
    await until(pilot, lambda: isinstance(doctor_of(pilot).snapshot.guided.asking, kind))
    await pilot.pause()


async def arrived(pilot: Pilot[None]) -> None:
    """In the place, with the choices there."""
    await pilot.press("6")
    await until(pilot, lambda: doctor_of(pilot).snapshot.guided.beginning is not None)
    await pilot.pause()


def row(pilot: Pilot[None], text: str) -> str:
    """The line of the screen that holds this text."""
    return next((line for line in text_of(pilot).splitlines() if text in line), "")


# From nothing to the summary -----------------------------------------------------------------------------------------


async def test_two_enters_and_a_yes_lead_from_nothing_to_the_command_lines() -> None:
    doctor = somebody()
    async with opened(doctor, fake.HERE) as pilot:
        assert "6  Set up" in text_of(pilot), "whoever has nothing yet is told of it"
        await arrived(pilot)
        await asked(pilot, Agreement, "enter")
        shown = text_of(pilot)
        assert "Write this on this node?" in shown
        assert "+ NCCL_SOCKET_IFNAME==eth1" in shown
        assert "answered True" not in doctor.calls
        await pressed(pilot, "y")
        shown = text_of(pilot)
        assert READY in shown
        assert "On gpu-box (node 0):" in shown
        assert "--master_addr 10.0.0.1 --master_port 29501 train.py" in shown
        assert f"{fake_setup.SUMMARY} too" in shown
        await pressed(pilot, "c")
        assert pilot.app.clipboard.startswith("# 2 nodes, ready to train")
        assert "On node-b (node 1):" in pilot.app.clipboard
        assert doctor_of(pilot).snapshot.speed == fake.judged(fake.PASSED, doctor.facts(fake.HERE[0]))[0]


async def test_the_usual_needs_no_choice_and_each_can_be_changed_by_the_arrows() -> None:
    doctor = somebody("guest")
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        assert "→ The nodes are ‹ Two or more Linux machines ›" in text_of(pilot)
        await pilot.press("right", "down", "down", "right", "down", "left", "down")
        await pilot.press(*"x.py", "enter")
        await until(pilot, lambda: bool(doctor.setup.asked))
        taken = doctor.setup.asked[0]
    assert (taken.place not in ("", "linux"), taken.nodes, taken.launcher != "torchrun") == (True, 3, True)
    assert (taken.script, taken.role) == ("train.pyx.py", 0)


async def test_the_guessed_place_shows_its_signs_and_asks_what_only_the_person_knows() -> None:
    doctor = somebody("guest", place="vast")
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        shown = text_of(pilot)
        assert "By these signs: VAST_CONTAINERLABEL is set" in shown
        assert "Which cluster_id did you choose?" in shown
        await pilot.press(*["down"] * 5, *"8o")
        await pressed(pilot, "enter")
        assert "“8o” does not look like 80" in text_of(pilot)
        assert doctor.setup.asked == []
        await pilot.press("backspace", "0")
        await asked(pilot, Preparing, "enter")
        assert doctor.setup.asked[0].place == "", "guessed, so that its signs are told"
        await pilot.press("down", "down")
        await pilot.pause()
        assert "vastai search offers 'cluster_id=80'" in text_of(pilot)


async def test_console_steps_are_done_with_one_enter_or_left_out_one_by_one_with_a_reason() -> None:
    doctor = somebody("guest", place="vast")
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        await asked(pilot, Preparing, "enter")
        await pilot.press("k")
        await until(pilot, lambda: isinstance(pilot.app.screen, ReasonDialog))
        pilot.app.screen.query_one(Input).value = "TCP will do"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, SetupPlace))
        await pilot.pause()
        assert "  –  1  Decide whether" in text_of(pilot)
        assert "→ ·  2  Get vast.ai's" in text_of(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "Waiting for the other node" in text_of(pilot))
        steps = doctor_of(pilot).snapshot.guided.led.steps
        assert [one.sign for one in steps[:6]] == ["–", "✓", "✓", "✓", "✓", "✓"]
        assert "left out: TCP will do" in steps[0].told[0][0]


async def test_while_it_waits_the_line_stands_out_and_is_copied() -> None:
    doctor = somebody("guest")
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "Waiting for the other node" in text_of(pilot))
        shown = " ".join(text_of(pilot).split())
        line = INVITATION.command.replace("ncclcheck join", "ncclcheck setup --join")
        assert f"On the other node; c copies it: {line}" in shown
        await pilot.press("c")
        await until(pilot, lambda: pilot.app.clipboard == line)
        await pilot.press("y", "n", "k", "r", "u", "enter", "p", "s", "f")
        await pilot.pause()
        assert doctor.calls == ["scan gpu-box", "offered"], "nothing else is begun, and nothing is answered"


async def test_a_line_pasted_anywhere_shows_whom_it_joins_and_enter_joins() -> None:
    doctor = somebody()
    async with opened(doctor, fake.HERE) as pilot:
        await pressed(pilot, "2")
        await paste(pilot, JOIN.replace(" 10.", "\r10."))
        assert isinstance(pilot.app.screen, SetupPlace)
        assert "joins the first one: port 41317 of 172.17.0.2, 10.0.0.1" in text_of(pilot)
        assert "Started by" not in text_of(pilot), "the first node says it"
        assert doctor.setup.asked == []
        await asked(pilot, Agreement, "enter")
        await pressed(pilot, "y")
        assert "On node-b (node 0):" in text_of(pilot), "whoever invites is the first one"
        assert "'my train.py'" in text_of(pilot)
    taken = doctor.setup.asked[0]
    assert (taken.role, taken.invitation.addresses) == (1, ("172.17.0.2", "10.0.0.1"))


async def test_a_line_pasted_into_a_field_is_not_typed_and_join_of_a_pairing_is_taken_here() -> None:
    async with opened(somebody(), fake.HERE) as pilot:
        await arrived(pilot)
        await pressed(pilot, "down", "right")
        assert "? Paste the line that the first node shows" in text_of(pilot)
        await pressed(pilot, "enter", "down", "down", "down")
        assert isinstance(pilot.app.focused, Input)
        await paste(pilot, JOIN)
        assert "joins the first one" in text_of(pilot)
        await paste(pilot, INVITATION.command)
        assert isinstance(pilot.app.screen, SetupPlace)
        assert "joins the first one: port 41317 of 172.17.0.2, 10.0.0.1, fe80" in text_of(pilot)


async def test_a_line_that_is_cut_off_says_so_and_loses_nothing() -> None:
    doctor = somebody()
    async with opened(doctor, fake.HERE) as pilot:
        await paste(pilot, JOIN.replace(INVITATION.token, "236PQ"))
        assert "this is no invitation: '41317-236PQ' is no PORT-TOKEN" in text_of(pilot)
        await pressed(pilot, "enter")
        assert doctor.setup.asked == []
        await paste(pilot, JOIN)
        assert "joins the first one: port 41317" in text_of(pilot)


# What fails, and what is done then -----------------------------------------------------------------------------------


async def test_a_failed_step_shows_its_remedy_first_the_rules_page_behind_it_and_enter_looks_again() -> None:
    doctor = somebody(wall=True)
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        await asked(pilot, Wishing, "enter")
        shown = text_of(pilot)
        assert f"✗ Find the network that the nodes share: {DROPPED[:20]}" in shown
        assert f" ✗ {DROPPED}" in shown
        assert "sudo iptables -I INPUT -s 10.0.0.1 -p tcp -j ACCEPT" in shown
        assert "Enter looks again" in shown
        await pilot.press("tab", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, PageDialog))
        assert "# NC805" in pilot.app.screen.copied
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, SetupPlace))
        await pilot.press("tab")
        await asked(pilot, Agreement, "enter")
        assert doctor.calls[-1] == str(Repeat())
        await pressed(pilot, "y")
        assert READY in text_of(pilot)
        assert DROPPED in pilot.app.screen.copied, "the summary tells what was wrong on the way"


async def test_skip_asks_why_and_is_not_there_where_nothing_could_be_proved_without_the_step() -> None:
    doctor = somebody(wall=True)
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        await asked(pilot, Wishing, "enter")
        await pilot.press("k")
        await pilot.pause()
        assert isinstance(pilot.app.screen, SetupPlace)
        await pilot.press("down")
        await pilot.press("k")
        await until(pilot, lambda: isinstance(pilot.app.screen, ReasonDialog))
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, ReasonDialog), "without a reason it stays"
        pilot.app.screen.query_one(Input).value = "no firewall here"
        await pilot.press("enter")
        await until(pilot, lambda: doctor.calls[-1] == str(Skip("linux/firewall", "no firewall here")))
        await until(pilot, lambda: "–  4" in text_of(pilot))


async def test_no_means_no_and_undo_asks_first() -> None:
    doctor = somebody(trap=True)
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        await asked(pilot, Agreement, "enter")
        assert "- NCCL_SOCKET_IFNAME=eth1  # the overlay" in text_of(pilot)
        first, place = doctor_of(pilot).snapshot.guided.asking, pilot.app.screen
        assert isinstance(place, SetupPlace)
        for _ in range(3):
            place.action_agree(True)
        await until(pilot, lambda: doctor_of(pilot).snapshot.guided.asking not in (None, first))
        await pilot.pause(0.3)
        assert "answered True" not in doctor.calls, "three answers to one question are one"
        await pilot.press("n")
        await until(pilot, lambda: isinstance(doctor_of(pilot).snapshot.guided.asking, Wishing))
        assert ("repaired" in doctor.calls, "answered False" in doctor.calls) == (True, True)
        await pilot.press("u")
        await until(pilot, lambda: isinstance(pilot.app.screen, TakeBackDialog))
        await pilot.press("n")
        await pilot.pause()
        assert str(TakeBack()) not in doctor.calls
        await pilot.press("u")
        await until(pilot, lambda: isinstance(pilot.app.screen, TakeBackDialog))
        await pilot.press("y")
        await until(pilot, lambda: str(TakeBack()) in doctor.calls)


async def test_a_key_that_was_meant_for_something_else_is_no_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup_screen, "monotonic", lambda: 7.0)
    doctor = somebody()
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        await asked(pilot, Agreement, "enter")
        await pilot.press("enter", "y", "enter")
        await pilot.pause()
        assert "answered True" not in doctor.calls
        monkeypatch.setattr(setup_screen, "monotonic", lambda: 7.6)
        await pressed(pilot, "enter")
        assert "answered True" in doctor.calls


# Stop, and go on -----------------------------------------------------------------------------------------------------


async def test_x_ends_the_waiting_and_enter_takes_it_up_again() -> None:
    doctor = somebody("guest")
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "Waiting for the other node" in text_of(pilot))
        await pressed(pilot, "x")
        assert "– Not ready yet, and nothing is open: Waiting for the other node" in text_of(pilot)
        assert "Enter takes it up again" in text_of(pilot)
        assert INVITATION.token not in text_of(pilot), "there is nobody to join any more"
        assert "→ ·  2" in text_of(pilot)
        assert "✗" not in text_of(pilot), "to be stopped is no failure"
        doctor.held["guest"].set()
        await asked(pilot, Agreement, "enter")
        assert [taken.resume for taken in doctor.setup.asked] == [False, True]


async def test_whoever_stops_while_asked_has_said_no() -> None:
    doctor = somebody()
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        await asked(pilot, Agreement, "enter")
        await pilot.press("x")
        await until(pilot, lambda: "answered False" in doctor.calls)
        await settled(pilot)
        assert doctor_of(pilot).snapshot.guided.asking is None
        assert "Write this" not in text_of(pilot)


async def test_a_kept_setup_is_the_first_choice_and_another_one_the_second() -> None:
    doctor = somebody("guest")
    doctor.setup.kept = fake_setup.kept(doctor)
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        assert "3 of 10 steps done" in row(pilot, "take up again")
        assert "The nodes are" not in text_of(pilot)
        await pilot.press("right")
        await pilot.pause()
        assert "The nodes are" in text_of(pilot)
        await pilot.press("left", "enter")
        await until(pilot, lambda: bool(doctor.setup.asked))
    assert doctor.setup.asked[0] == SetupOptions(resume=True)


async def test_a_finished_setup_can_be_repeated_from_a_step_taken_back_or_begun_anew() -> None:
    doctor = somebody()
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        await asked(pilot, Agreement, "enter")
        await pressed(pilot, "y", "u", "y")
        assert "take back" in doctor.calls
        await pilot.press("up", "up")
        await asked(pilot, Agreement, "r")
        assert doctor.setup.asked[-1] == SetupOptions(resume=True, again="nodes/speed")
        await pressed(pilot, "y", "b")
        assert "→ The nodes are" in text_of(pilot)


async def test_an_error_is_a_calm_line_and_the_choices_are_there_again() -> None:
    def nobody(*_: object) -> object:
        raise PeerError("the invitation is too old", place="join", next_step="Run the line of the first node.")
        yield

    doctor = somebody()
    cases = doctor.cases()
    async with opened(doctor, fake.HERE) as pilot:
        pilot.app.cases = replace(cases, setup=replace(cases.setup, go=nobody))
        await arrived(pilot)
        await pressed(pilot, "enter")
        assert "✗ The setup stopped: join: the invitation is too old" in text_of(pilot)
        await pressed(pilot, "b")
        assert "→ The nodes are" in text_of(pilot)


# Elsewhere -----------------------------------------------------------------------------------------------------------


async def test_it_goes_on_while_another_place_is_looked_at_and_says_there_that_it_asks() -> None:
    async with opened(somebody(), fake.HERE) as pilot:
        await arrived(pilot)
        await asked(pilot, Agreement, "enter", "1")
        assert isinstance(pilot.app.screen, OverviewPlace)
        await until(pilot, lambda: "waits for you; 6 shows what it asks" in text_of(pilot))
        await pilot.press("6")
        await until(pilot, lambda: "Write this on this node?" in text_of(pilot))


async def test_the_cursor_opens_any_step_and_goes_back_to_the_one_at_hand() -> None:
    doctor = somebody("transfer")
    async with opened(doctor, fake.HERE) as pilot:
        await arrived(pilot)
        await asked(pilot, Agreement, "enter")
        await pilot.press("y")
        await until(pilot, lambda: doctor_of(pilot).snapshot.guided.led.at == "nodes/speed")
        await pilot.press("home")
        await pilot.pause()
        assert "✓ open files: 65536 files, and at least 1024 are needed" in text_of(pilot)
        doctor.held["transfer"].set()
        await settled(pilot)
        assert pilot.app.screen.query_one(StepList).step.id == "nodes/command"


# Texts ---------------------------------------------------------------------------------------------------------------


def test_each_term_is_explained_once_where_it_first_stands() -> None:
    doctor = somebody()
    setup = begun(SetupOptions(place="vast", role=0), fake_setup.GUIDES, doctor.facts(fake_setup.HERE))
    view = led(setup, Books(lambda _: "", fake_setup.GUIDES.common.terms))
    told = [text for step in view.steps for text, _ in step.told]
    meanings = {**fake_setup.GUIDES.common.terms, **setup.place.terms}
    counts = {term: sum(text.startswith(f"{term}: ") for text in told) for term in meanings}
    assert max(counts.values()) == 1
    assert {"overlay", "rank", "handshake", "rendezvous"} <= {term for term, count in counts.items() if count}


def test_nobody_came_lands_in_the_rule_for_it() -> None:
    setup = begun(SetupOptions(place="linux", role=0), fake_setup.GUIDES, somebody().facts(fake_setup.HERE))
    view = led(advanced(setup, Missed("nobody joined within 600 s")), Books(lambda rule: rule, {}))
    first = view.step("nodes/join")
    assert (view.at, first.sign, first.page, view.said.sign) == ("nodes/join", "✗", "NC802", "✗")
    assert ("seen: nobody joined within 600 s", Tone.MUTED) in first.told


def test_only_what_is_open_can_be_left_out() -> None:
    doctor = somebody()
    setup = begun(SetupOptions(place="linux", role=0), fake_setup.GUIDES, doctor.facts(fake_setup.HERE))
    view = led(setup, Books(lambda _: "", {}))
    assert {step.id for step in view.steps if not step.skippable} == {"nodes/join", "nodes/network"}
    skipped = led(advanced(setup, Skipped("nodes/ddp", "no time")), Books(lambda _: "", {}))
    assert skipped.step("nodes/ddp").told[0][0] == "– left out: no time"
    assert not skipped.step("nodes/ddp").skippable


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ncclcheck setup --join", "this is no invitation: nothing was given"),
        ("ncclcheck setup --join 1-A x", "is no PORT-TOKEN"),
        (f"ncclcheck setup --nodes 1 {JOIN[JOIN.index('--join') :]}", "'1' is no number of nodes from 2 to 64"),
        (f"ncclcheck setup --nodes ² {JOIN[JOIN.index('--join') :]}", "is no number of nodes"),
        (f"ncclcheck setup --size 1X {JOIN[JOIN.index('--join') :]}", "1X"),
        (f"ncclcheck setup --yes {JOIN[JOIN.index('--join') :]}", "the option --yes is for a shell"),
        (f"ncclcheck setup now {JOIN[JOIN.index('--join') :]}", "'now' is too much"),
        (f"ncclcheck setup --script a b {JOIN[JOIN.index('--join') :]}", "--script takes one word"),
        ("ncclcheck setup --script 'a --join", "a quote is missing"),
        ("rm -rf /", "it begins with 'rm -rf'"),
    ],
)
def test_a_line_that_cannot_be_read_says_why(text: str, problem: str) -> None:
    with pytest.raises(PeerError) as caught:
        options(text)
    assert problem in caught.value.problem


def test_what_a_setup_shows_for_other_nodes_is_read_back() -> None:
    doctor = somebody()
    for asked_for in (
        SetupOptions(),
        SetupOptions(nodes=5, launcher="srun", script="a 'b'; rm -rf $HOME.py", size=1 << 20),
    ):
        setup = begun(replace(asked_for, place="linux"), fake_setup.GUIDES, doctor.facts(fake_setup.HERE))
        line = advanced(setup, Waiting(INVITATION)).invite
        assert options(line) == replace(asked_for, role=1, invitation=INVITATION)


async def test_names_and_texts_from_elsewhere_are_inert() -> None:
    class Hostile(fake.Doctor):
        def facts(self, node: fake.Node) -> fake.Facts:
            honest = super().facts(node)
            return replace(honest, host=f"{node.name} {HOSTILE}")

    doctor = Hostile(setup=FakeSetup(wall=True))
    async with opened(doctor, fake.HERE, size=(200, 60)) as pilot:
        seen = []
        await paste(pilot, JOIN.replace("my train.py", f"my {HOSTILE}".replace("\x1b", "").replace("'", "")))
        seen.append(text_of(pilot))
        await asked(pilot, Wishing, "enter")
        seen.append(text_of(pilot))
        assert LITERAL[:40] in seen[-1]
        await asked(pilot, Agreement, "enter")
        seen.append(text_of(pilot))
        await pressed(pilot, "y")
        for key in ("home", "down", "down"):
            await pressed(pilot, key)
            seen.append(text_of(pilot))
        told = [text for step in doctor_of(pilot).snapshot.guided.led.steps for text, _ in step.told]
        shown = str(content.lines(content.piece(text) for text in told))
        assert not UNSAFE & set(shown)
        assert shown.count(LITERAL[:40]) > 5
        assert LITERAL[:40] in seen[-1]
        assert not [text for text in seen if UNSAFE & set(text)]
        await pressed(pilot, "c")
        assert not UNSAFE & set(pilot.app.clipboard)
