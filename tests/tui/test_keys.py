"""Every key: named, explained, working where it is offered, and meaning one thing."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from textual import actions
from textual.binding import Binding
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import Screen
from textual.worker import WorkerCancelled

import ncclcheck.tui
from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.places import DESTINATIONS
from ncclcheck.tui.screens.place import Dialog, Place
from tests.tui import fake
from tests.tui.pilots import doctor_of, opened, pressed, settled

MEANINGS = {
    "enter": "the next best step, or what is under the cursor",
    "escape": "back",
    "tab": "the next pane",
    "up": "the row above",
    "down": "the row below",
    "left": "to the left, or the choice before",
    "right": "to the right, or the next choice",
    "pageup": "a page up",
    "pagedown": "a page down",
    "home": "the first row",
    "end": "the last row",
    "g": "the first row, as in less",
    "G": "the last row, as in less",
    "c": "copy",
    "C": "as plain text",
    "L": "the next launcher",
    "x": "stop",
    "y": "yes",
    "u": "undo",
}
"""Keys with several bindings, which all mean this."""
TWO_MEANINGS = {
    "n": "no, where there is a question; else the next finding, as in less and vim",
    "j": "down in a list, as in less; among the peers, where there is no list, join",
    "k": "up in a list; where a setup has no list in hand, skip",
    "r": "make a rule of a line of the log; in a setup, which has no log, repeat",
    "space": "a page down, as in less; in a list of runs mark, in a form the next value",
}
"""Keys that mean one thing in one place and another one elsewhere; each needs a reason."""
LEAVES = {"q", "ctrl+q", "ctrl+z", "ctrl+c", "ctrl+p"}
"""Keys that end the program, or are not ours."""


@pytest.fixture(autouse=True)
def _state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def bound() -> Iterator[tuple[type[DOMNode], Binding]]:
    """Every binding that a class of ours declares."""
    names = (module.name for module in pkgutil.walk_packages(ncclcheck.tui.__path__, "ncclcheck.tui."))
    for module in map(importlib.import_module, names):
        for owner in vars(module).values():
            if inspect.isclass(owner) and issubclass(owner, DOMNode) and owner.__module__ == module.__name__:
                for binding in Binding.make_bindings(owner.__dict__.get("BINDINGS", ())):
                    yield owner, binding


def test_every_binding_has_a_name_of_its_own_and_says_what_it_does() -> None:
    named: dict[str, tuple[type[DOMNode], str]] = {}
    for owner, binding in bound():
        assert binding.id, (owner, binding.key)
        assert binding.tooltip, (owner, binding.key)
        assert named.setdefault(binding.id, (owner, binding.action)) == (owner, binding.action)
    assert len(named) > 40


def test_a_key_means_one_thing() -> None:
    found: dict[str, set[str]] = {}
    for _, binding in bound():
        found.setdefault(binding.key, set()).add(binding.id or "")
    assert {key for key, names in found.items() if len(names) > 1} == MEANINGS.keys() | TWO_MEANINGS.keys()


@pytest.mark.parametrize("place", DESTINATIONS, ids=lambda place: place.mode)
async def test_every_key_of_a_place_does_something_that_exists(place: object) -> None:
    assert isinstance(place, type(DESTINATIONS[0]))
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "p", place.key)
        assert_sound(pilot)
        active = pilot.app.screen.active_bindings
        everywhere = {key for key, one in active.items() if one.node is pilot.app and not one.binding.show}
        # What works everywhere and is not in the footer is pressed in one place.
        left_out = everywhere if place is not DESTINATIONS[0] else set()
        for key in sorted(active.keys() - LEAVES - left_out):
            await pilot.press(key)
            await back(pilot, place.mode)
        await settled(pilot)
        assert pilot.app.is_running


async def back(pilot: Pilot[None], mode: str) -> None:
    """To where the key was pressed, with nothing that it began still going on."""
    for activity in Activity:
        doctor_of(pilot).stop(activity)
    with suppress(WorkerCancelled):
        await pilot.app.workers.wait_for_complete()
    while isinstance(pilot.app.screen, Dialog):
        assert_sound(pilot)
        await pilot.press("escape")
        await pilot.pause()
    if pilot.app.current_mode != mode:
        await pilot.app.switch_mode(mode)


def assert_sound(pilot: Pilot[None]) -> None:
    """Each key that works here is explained, its action is there, and none takes a key away that means more."""
    app, screen = pilot.app, pilot.app.screen
    for key, active in screen.active_bindings.items():
        binding = active.binding
        if not binding.id:
            continue  # The toolkit's own: focus and scrolling.
        assert binding.tooltip, key
        target, name, _ = actions.parse(binding.action)
        owner = {"": active.node, "app": app, "screen": screen, "focused": screen.focused}[target]
        assert hasattr(owner, f"action_{name}") or hasattr(owner, f"_action_{name}"), (key, binding.action)
        if active.node is not app and isinstance(screen, Place):
            hidden = app._bindings.key_to_bindings.get(key, [])
            takes = [one.id for one in hidden if one.id != binding.id and works(pilot, one.action)]
            assert not takes or key in MEANINGS, f"{key} is {binding.id} here and takes {takes} away"


def works(pilot: Pilot[None], action: str) -> bool:
    """Whether the app would do it here."""
    _, name, parameters = actions.parse(action)
    return doctor_of(pilot).check_action(name, parameters) is True


async def test_what_the_footer_offers_fits_80_columns_and_is_bound() -> None:
    async with opened(fake.Doctor()) as pilot:
        for place in DESTINATIONS:
            await pressed(pilot, place.key)
            assert footer_width(pilot.app.screen) <= 80, place.mode


def footer_width(screen: Screen[object]) -> int:
    """Columns of the footer's keys."""
    keys = screen.query("FooterKey")
    assert keys
    return sum(key.outer_size.width for key in keys)
