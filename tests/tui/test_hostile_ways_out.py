"""Strangers' text is inert on every way out of the program: in each place, as text, as ASCII, and as a picture."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from ncclcheck.model import Node
from ncclcheck.printable import printable
from ncclcheck.tui import plain
from ncclcheck.tui.places import DESTINATIONS
from ncclcheck.tui.state import advance
from ncclcheck.tui.terminal.signs import to_ascii
from tests.tui.pilots import doctor_of, opened, paste, pressed, text_of
from tests.tui.test_hostile import HOSTILE, UNSAFE, Hostile, hostile_pairing, hostile_speed

SCRIPT = "<script>alert(1)</script>]]><a href='javascript:1'>&amp;\u0301e\u200d\u2067"
STRANGE = f"{HOSTILE} {SCRIPT}"
INERT = {"svg", "style", "defs", "clipPath", "rect", "g", "text", "title", "circle"}
"""Elements of a picture that only draw."""


@pytest.fixture(autouse=True)
def _state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.mark.parametrize("what", ["probe", "paste", "pairing", "speed"])
async def test_every_place_on_every_way_out(what: str) -> None:
    doctor = Hostile()
    async with opened(doctor, (Node(STRANGE), Node("node-b")), size=(160, 50)) as pilot:
        app = doctor_of(pilot)
        if what == "probe":
            await pressed(pilot, "p")
        elif what == "paste":
            await paste(pilot, f"NCCL {STRANGE}\nNCCL INFO {STRANGE}\n" * 3)
        else:
            for outcome in (hostile_pairing if what == "pairing" else hostile_speed)(doctor):
                app.snapshot = advance(app.snapshot, outcome)
        shown_somewhere = ""
        for place in DESTINATIONS:
            await pressed(pilot, place.key)
            shown, told = text_of(pilot), plain.text(place.mode, app.snapshot)
            assert not UNSAFE & set(shown), place.mode
            assert not UNSAFE & set(told), place.mode
            assert printable(told) == told, place.mode
            assert to_ascii(told).isascii(), place.mode
            assert_only_draws(app.export_screenshot(), place.mode)
            shown_somewhere += shown
        assert "[@click=app.quit]x[/]" in shown_somewhere


def assert_only_draws(picture: str, where: str) -> None:
    """A well-formed picture in which nothing can act (SVG 2, chapters "Scripting" and "Linking")."""
    for element in ElementTree.fromstring(picture).iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in INERT, (where, element.tag)
        assert not [name for name in element.attrib if name.startswith("on") or name.endswith("href")], where
        assert not (UNSAFE - {"\t"}) & set(element.text or ""), where
