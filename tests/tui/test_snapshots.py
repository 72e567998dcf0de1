"""How each place and dialog looks in its states, at 80x24 and 140x45, dark and light."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from ncclcheck.doctor.diagnose import diagnose_sources
from ncclcheck.doctor.history import HERE
from ncclcheck.doctor.ranks import roll_of
from ncclcheck.errors import ProbeError
from ncclcheck.logs import sources
from ncclcheck.model import Applied, Node
from ncclcheck.peer import card
from ncclcheck.tui import fixing
from ncclcheck.tui.app import Doctor
from ncclcheck.tui.outcomes import Activity, Changed, Doing, Ended, Measures, Noted, Outcome, Ticked
from ncclcheck.tui.screens.agree import AgreeDialog
from ncclcheck.tui.state import advance
from ncclcheck.tui.text import document
from tests.tui import fake, fake_setup
from tests.tui.pilots import LARGE, SMALL, doctor_of, paste, pressed, settled, text_of, until

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
Compare = Callable[..., bool]
Journey = Callable[[Pilot[None]], Awaitable[None]]


@pytest.fixture(autouse=True)
def _still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(Input, "cursor_blink", False)


def keys(*steps: str) -> Journey:
    """A journey of key presses."""

    async def walk(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pressed(pilot, *steps)

    return walk


async def tried(pilot: Pilot[None]) -> None:
    """Another setting, with what would become of the findings."""
    await settled(pilot)
    await pressed(pilot, "w", *"=eth1")
    await until(pilot, lambda: "would go" in text_of(pilot))
    await pilot.pause()


async def stopped(pilot: Pilot[None]) -> None:
    """A fix that was ended after the first node."""
    await settled(pilot)
    await pressed(pilot, "p", "f")
    app, outcomes = doctor_of(pilot), list[Outcome]()

    def enough() -> bool:
        return any(isinstance(outcome, Changed) for outcome in outcomes)

    for outcome in fixing.prove(app.cases, app.snapshot, enough):
        outcomes.append(outcome)
        app.snapshot = advance(app.snapshot, outcome)
    app.snapshot = advance(app.snapshot, Ended(Activity.FIX))
    await settled(pilot)


def ranks_of(folder: str, *steps: str) -> Journey:
    """The ranks of a log of ours, under names that are the same everywhere."""

    async def walk(pilot: Pilot[None]) -> None:
        await settled(pilot)
        app, files = doctor_of(pilot), sorted((LOGS / folder).glob("*.log"))
        texts = tuple(sources.pasted(file.read_text(), file.name) for file in files)
        found, text = diagnose_sources(texts), document.opened(folder, texts).grown()
        roll = roll_of(found, text.text_at)
        app.snapshot = replace(app.snapshot, diagnosis=found, document=text, roll=roll)
        await pressed(pilot, "3", *steps)

    return walk


async def pasted(pilot: Pilot[None]) -> None:
    """A log, pasted."""
    await settled(pilot)
    await paste(pilot, "\n".join(fake.LOG).replace("{host}", "node-a"))


async def rule_drafted(pilot: Pilot[None]) -> None:
    """A rule, proposed for a line of that log."""
    await pasted(pilot)
    await pressed(pilot, "r")


async def begin(pilot: Pilot[None]) -> None:
    """Compare nodes; not waiting for anything that may be held."""
    await until(pilot, lambda: len(doctor_of(pilot).snapshot.facts) == len(doctor_of(pilot).snapshot.nodes))
    await pilot.press("4", "i")


async def waiting(pilot: Pilot[None]) -> None:
    """For another node, while a stranger calls."""
    await begin(pilot)
    await until(pilot, lambda: "turned away" in text_of(pilot))
    await pilot.pause()


async def half_way_through(pilot: Pilot[None]) -> None:
    """Half of the connections were tried."""
    await begin(pilot)
    await until(pilot, lambda: len(doctor_of(pilot).snapshot.pairing.cells) == 6)
    await pilot.pause()


async def asked(pilot: Pilot[None]) -> None:
    """The question whether this node may be changed."""
    await begin(pilot)
    await until(pilot, lambda: isinstance(pilot.app.screen, AgreeDialog))
    await pilot.pause()


async def card_pasted(pilot: Pilot[None]) -> None:
    """The card of another node."""
    await settled(pilot)
    await paste(pilot, card.write(fake.Doctor().facts(Node("node-b"))))


async def half_measured(pilot: Pilot[None]) -> None:
    """A speed test that hangs half-way, with what is suspected."""
    await settled(pilot)
    await pressed(pilot, "5")
    app, ticks = doctor_of(pilot), list(fake.told(fake.PASSED))
    told = (Ticked(Activity.SPEED, tick) for tick in (*ticks[: len(ticks) // 2], fake.SUSPECTED))
    for outcome in (Doing(Activity.SPEED, "speed test"), Measures(), *told):
        app.snapshot = advance(app.snapshot, outcome)
    app.refresh_bindings()
    await settled(pilot)


def led_to(words: str, *, agreed: bool = False) -> Journey:
    """A setup as far as these words; or to its end, with a yes once the question can have been read."""

    async def walk(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pressed(pilot, "6")
        await pilot.press("enter")
        await until(pilot, lambda: words in text_of(pilot))
        await pilot.pause(0.6)
        if agreed:
            await pressed(pilot, "y")

    return walk


STATES: dict[str, tuple[tuple[Node, ...], Journey]] = {
    "fresh": (fake.LAB, keys()),
    "one-node": (fake.HERE, keys("p")),
    "problem": (fake.LAB, keys("p")),
    "log-empty": (fake.LAB, keys("2")),
    "log-search": (fake.LAB, keys("p", "2", "slash", *"eth0", "enter")),
    "log-filter": (fake.LAB, keys("p", "2", "t", *"boot", "enter")),
    "filter": (fake.LAB, keys("p", "2", "t")),
    "finding": (fake.LAB, keys("p", "2", "n")),
    "pasted": (fake.HERE, pasted),
    "rule": (fake.HERE, rule_drafted),
    "fix": (fake.LAB, keys("p", "f")),
    "fix-by-hand": (fake.HERE, keys("p", "f", "right")),
    "proved": (fake.LAB, keys("p", "f", "a")),
    "after": (fake.LAB, keys("p", "f", "a", "escape")),
    "speed": (fake.HERE, keys("s")),
    "what-if": (fake.LAB, tried),
    "fix-alone": (fake.HERE, keys("p", "f")),
    "fix-stopped": (fake.LAB, stopped),
    "help": (fake.LAB, keys("question_mark")),
    "peers-alone": (fake.HERE, keys("4")),
    "peers-waiting": (fake.HERE, waiting),
    "peers-half": (fake.LAB, half_way_through),
    "peers-known": (fake.LAB, keys("4", "i")),
    "peers-proved": (fake.LAB, keys("4", "i", "f", "a", "escape", "v")),
    "peers-asked": (fake.HERE, asked),
    "peers-cards": (fake.HERE, card_pasted),
    "ranks-none": (fake.HERE, keys("3")),
    "ranks-stuck": (fake.HERE, ranks_of("wrong-interface/2.28.9-refused-2x4", "right", "down")),
    "ranks-absent": (fake.HERE, ranks_of("world-size/2.28.9-world-size-mismatch")),
    "ranks-up": (fake.HERE, ranks_of("healthy/2.28.9-healthy-2x2", "right")),
    "history-none": (fake.LAB, keys("7")),
    "history-change": (fake.LAB, keys("7")),
    "history-refused": (fake.LAB, keys("7", "down", "u")),
    "history-undo": (fake.LAB, keys("7", "u")),
    "history-run": (fake.LAB, keys("7", "down", "down", "enter")),
    "history-better": (fake.LAB, keys("7", "down", "down", "space", "down", "space")),
    "setup-choices": (fake.HERE, keys("6")),
    "setup-place": (fake.HERE, keys("6", "down", "down", "down")),
    "setup-prepared": (fake.HERE, led_to("6 shows what")),
    "setup-waiting": (fake.HERE, led_to("Waiting for the other node")),
    "setup-asked": (fake.HERE, led_to("6 shows what")),
    "setup-failed": (fake.HERE, led_to("6 shows what")),
    "setup-ready": (fake.HERE, led_to("6 shows what", agreed=True)),
    "speeds-none": (fake.LAB, keys("5")),
    "speeds-half": (fake.LAB, half_measured),
    "speeds-result": (fake.LAB, keys("s")),
    "speeds-better": (fake.LAB, keys("p", "f", "a", "escape", "5")),
}

_EARLIER = (
    fake.ran(1, fake.FAILED, fake.Doctor().facts(fake.LAB[0]), "before the fix"),
    fake.ran(2, fake.PASSED, fake.Doctor(fixed=True).facts(fake.LAB[0]), "after the fix"),
)
BETWEEN = {
    "speeds-none": fake.FAILED,
    "speeds-result": fake.PASSED,
    "speeds-better": fake.SLOWER,
}
"""What two nodes measure before a fix."""
KEPT = {"speeds-none", "history-change", "history-refused", "history-undo", "history-run", "history-better"}
"""States in which two runs are kept from before, and in the history two changes."""
_BACKUP = "/etc/nccl.conf.ncclcheck-backup-20261130T120000Z"
MADE = (
    fake.made(HERE, (Applied("/etc/nccl.conf", _BACKUP, "2026-11-30T12:00:00Z"),)),
    fake.made(
        HERE,
        (Applied("/root/.nccl.conf", None, "2026-11-29T08:30:00Z"),),
        "Somebody has changed the file since; taking it back would lose that.",
    ),
)
UNUSUAL = {
    "setup-place": {"place": "vast"},
    "setup-prepared": {"place": "vast"},
    "setup-failed": {"wall": True},
}
"""What is unusual about the setup of a state."""
HELD = {"peers-waiting": ("guest",), "peers-half": ("reach",), "setup-waiting": ("guest",)}
"""What never comes in a state."""


IN_LIGHT = ("problem", "finding", "ranks-stuck", "peers-known", "speeds-result", "setup-failed", "history-change")
"""A state of each place that has all of its colours."""


def app_of(state: str) -> Doctor:
    """The app before the journey to a state."""
    held = {what: threading.Event() for what in HELD.get(state, ())}
    setup = fake_setup.FakeSetup(**UNUSUAL.get(state, {}))
    doctor = fake.Doctor(held=held, failed=BETWEEN.get(state, fake.FAILED), setup=setup)
    doctor.kept += _EARLIER if state in KEPT else ()
    doctor.made += MADE if state in KEPT and state != "speeds-none" else ()
    return Doctor(STATES[state][0], cases=doctor.cases())


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "140x45"])
@pytest.mark.parametrize("state", STATES)
def test_it_looks_as_it_should(snap_compare: Compare, state: str, size: tuple[int, int]) -> None:
    assert snap_compare(app_of(state), terminal_size=size, run_before=STATES[state][1])


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "140x45"])
@pytest.mark.parametrize("state", IN_LIGHT)
def test_it_looks_as_it_should_in_light(snap_compare: Compare, state: str, size: tuple[int, int]) -> None:
    async def lit(pilot: Pilot[None]) -> None:
        pilot.app.theme = "textual-light"
        await STATES[state][1](pilot)

    assert snap_compare(app_of(state), terminal_size=size, run_before=lit)


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "140x45"])
def test_a_failure_is_a_calm_line(snap_compare: Compare, size: tuple[int, int]) -> None:
    error = ProbeError("no NCCL library found", place="node-a", next_step="name a Python that has torch: --python PATH")
    app = Doctor(fake.LAB, cases=fake.Doctor(errors={"probe": error}).cases())
    assert snap_compare(app, terminal_size=size, run_before=keys("p"))


def test_it_says_what_it_is_doing(snap_compare: Compare) -> None:
    async def half_way(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pressed(pilot, "p", "f")
        app = doctor_of(pilot)
        for outcome in (
            Doing(Activity.FIX, "writing /etc/nccl.conf on node-a"),
            Doing(Activity.FIX, "speed test after the fix"),
            Noted(Activity.FIX, "waiting for the other side (3 s)"),
        ):
            app.snapshot = advance(app.snapshot, outcome)
        await settled(pilot)

    assert snap_compare(Doctor(fake.LAB, cases=fake.Doctor().cases()), terminal_size=SMALL, run_before=half_way)


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
def test_other_colours(snap_compare: Compare, theme: str) -> None:
    async def coloured(pilot: Pilot[None]) -> None:
        pilot.app.theme = theme
        await settled(pilot)
        await pressed(pilot, "p", "2")

    assert snap_compare(Doctor(fake.LAB, cases=fake.Doctor().cases()), terminal_size=SMALL, run_before=coloured)
