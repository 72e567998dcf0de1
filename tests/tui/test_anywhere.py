"""Anywhere: the places as text say what the screens say, and terminals without Unicode get signs that they have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Static

from ncclcheck.errors import NodeError, SourceError
from ncclcheck.model import Severity
from ncclcheck.tui import content, plain
from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.places import DESTINATIONS
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.terminal.opening import rows
from ncclcheck.tui.terminal.signs import ascii_wanted, bare, monochrome, to_ascii
from tests.tui import fake
from tests.tui.pilots import doctor_of, opened, paste, pressed, text_of

WIDE = (200, 60)
ONLY_SEEN = {"curve", "heading", "who", "doing", "mouse", "next", "title"}
"""Parts of the screens that text does without: drawings, hints about keys, names of columns that text has elsewhere."""
KEYS = {"Your", "script"}
"""Words that only say what a key or a field is for."""


@pytest.fixture(autouse=True)
def _state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


# The places as text --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [(), ("p",), ("p", "f", "a", "escape"), ("4", "i"), ("paste",)], ids=" ".join)
async def test_every_place_as_text_says_what_its_screen_says(keys: tuple[str, ...]) -> None:
    async with opened(fake.Doctor(), size=WIDE) as pilot:
        if keys == ("paste",):
            await paste(pilot, "\n".join(fake.LOG).replace("{host}", "node-a"))
        else:
            await pressed(pilot, *keys)
        for place in DESTINATIONS:
            await pressed(pilot, place.key)
            now = doctor_of(pilot).snapshot
            if place.mode == "log" and now.diagnosis is None:
                continue  # It says how to paste.
            told = plain.text(place.mode, now)
            missing = {word for word in words_on(pilot) if word not in told} - KEYS
            assert not missing, f"{place.mode}: {missing}\n{text_of(pilot)}\n{told}"


def words_on(pilot: Pilot[None]) -> Iterator[str]:
    """Every word in the texts of a place, but for what is cut off."""
    for part in pilot.app.screen.query(Static):
        if part.display and part.region and part.id not in ONLY_SEEN:
            shown = part.visual
            yield from (word for word in str(shown).split() if "…" not in word and set(word) - set("^|"))


def test_what_goes_wrong_is_told_and_the_rest_is_still_there() -> None:
    cases = fake.Doctor(errors={"scan": NodeError("no netlink", place="node-a")}).cases()
    told = plain.text("overview", plain.look(cases, fake.LAB))
    assert "✗ This node could not be looked at: node-a: no netlink" in told
    assert "Ways on:" in told


def test_a_log_that_is_given_is_read_and_its_ranks_are_called() -> None:
    now = plain.look(fake.Doctor().cases(), fake.HERE, ("job.log",))
    assert "✗ NCCL uses eth0 (172.17.0.2), which the other node cannot reach" in plain.text("log", now)
    assert now.roll is not None
    assert not now.running_in(Activity.DIAGNOSE)
    with pytest.raises(SourceError):
        plain.look(fake.Doctor().cases(), fake.HERE, ("missing.log",))


def test_every_way_on_has_a_command() -> None:
    told = plain.text("overview", plain.look(fake.Doctor().cases(), fake.HERE))
    assert told.count("  ncclcheck ") >= 4
    assert all(plain.text(place.mode, Snapshot(nodes=fake.HERE)) for place in DESTINATIONS), "before anything is known"


# The first frame -----------------------------------------------------------------------------------------------------


async def test_the_first_frame_is_where_the_overview_has_it() -> None:
    async with opened(fake.Doctor(held={}), fake.HERE) as pilot:
        shown, first = text_of(pilot).split("\n"), rows([node.name for node in fake.HERE], 80)
        assert first[0].rstrip() == shown[0].rstrip()
        assert first[3] == shown[3]
        assert first[4] == "   looking…"


# Signs ---------------------------------------------------------------------------------------------------------------


@given(st.text(alphabet=st.characters(codec="utf-8", categories=["L", "M", "N", "P", "S", "Zs"])))
def test_ascii_keeps_the_shape_of_every_line(text: str) -> None:
    shown = to_ascii(text)
    assert shown.isascii()
    assert [cell_len(to_ascii(sign)) for sign in text] == [cell_len(sign) for sign in text]


def test_signs_that_mean_different_things_stay_different() -> None:
    signs = [*(content.SIGNS[severity][0] for severity in Severity), *"?✓✗→…·–"]
    assert len({to_ascii(sign) for sign in signs}) == len(set(signs))


def test_escape_sequences_stay_as_they_are() -> None:
    assert to_ascii("\x1b[1m✓ eth0 │ 漢\x1b[0m") == "\x1b[1m+ eth0 | ??\x1b[0m"
    assert to_ascii("Müller, 5 µs") == "Muller, 5 us"


@pytest.mark.parametrize(
    ("environment", "encoding", "wanted"),
    [
        ({}, "utf-8", False),
        ({}, None, True),
        ({}, "ascii", True),
        ({"LANG": "de_DE.UTF-8"}, "utf-8", False),
        ({"LANG": "de_DE.utf8", "LC_ALL": "C"}, "utf-8", True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8", True),
        ({"LANG": "", "LC_CTYPE": "C.UTF-8"}, "utf-8", False),
        ({"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, "utf-8", False),
        ({"LANG": "C.UTF-8", "TERM": "linux"}, "utf-8", True),
        ({"LANG": "C.UTF-8", "TERM": "vt100"}, "utf-8", True),
        ({"LANG": "C.UTF-8", "TERM": "xterm"}, "utf-8", False),
        ({"LANG": "C", "NCCLCHECK_SIGNS": "unicode"}, "utf-8", False),
        ({"LANG": "C.UTF-8", "NCCLCHECK_SIGNS": "ascii"}, "utf-8", True),
    ],
)
def test_when_signs_are_ascii(environment: dict[str, str], encoding: str | None, wanted: bool) -> None:
    assert ascii_wanted(environment, encoding) is wanted


def test_old_terminals_are_known() -> None:
    assert [kind for kind in ("vt100", "vt220-w", "linux", "linux-16color", "xterm", "") if bare({"TERM": kind})] == [
        "vt100",
        "vt220-w",
        "linux",
        "linux-16color",
    ]
    assert [kind for kind in ("vt100", "linux", "xterm") if monochrome({"TERM": kind})] == ["vt100"]
