"""A setup on disk: for its owner alone, whole or not at all, and with nothing in it that has to be looked at."""

from __future__ import annotations

import json
import stat
from datetime import datetime, timedelta, timezone

import pytest

from ncclcheck.doctor.setup.kept import SCHEMA, Keeper, path_in, read, restored
from ncclcheck.doctor.setup.state import State
from ncclcheck.doctor.setup.steps import Ready, Skipped
from ncclcheck.doctor.steps import Ended, MadeFix, Shook, Trained, WentFast
from ncclcheck.errors import NcclcheckError
from ncclcheck.rulebook.guides import load_guides
from tests.doctor.setups import INVITED, SETTLED, WRITTEN, after, fresh, measured, met, shaken, states, trained

NOON = datetime(2026, 11, 30, 12, tzinfo=timezone.utc)


def kept(path, setup, now=NOON):
    """Kept and read again."""
    keeper = Keeper(path, lambda: now)
    keeper.keep(setup)
    assert keeper.warning == ""
    return read(path, lambda: now)


def half_way():
    """The bandwidth is known, and the training over DDP is yet to come."""
    made = MadeFix("node-a", True, "written", (WRITTEN,))
    return after(
        fresh(script="mine.py"), Skipped("linux/limits", "known"), *met(SETTLED), made, Shook(shaken(), proposed=False),
        WentFast(measured()),
    )  # fmt: skip


def test_what_was_chosen_and_done_comes_back_and_what_was_seen_does_not(tmp_path):
    setup = half_way()
    back = restored(kept(tmp_path / "setup.json", setup), load_guides())
    assert back.choices == setup.choices
    assert (back.invitation, back.applied) == (INVITED, (WRITTEN,))
    assert (back.stage("limits").state, back.stage("limits").reason) == (State.SKIPPED, "known")
    assert set(states(back).values()) == {"waiting"}
    assert (back.evidence.facts, back.evidence.known, back.evidence.shook) == (None, None, None)
    # The bandwidth counts only where it is over the same interfaces again.
    assert (back.evidence.test, back.evidence.earlier) == (None, measured())
    assert back.evidence.before == setup.evidence.use


def test_only_its_owner_may_read_it_and_no_other_file_is_left(tmp_path):
    path = tmp_path / "folder" / "setup.json"
    kept(path, half_way())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["setup.json"]


def test_an_invitation_goes_once_all_is_proved_or_a_day_has_passed(tmp_path):
    path, setup = tmp_path / "setup.json", half_way()
    kept(path, setup)
    assert read(path, lambda: NOON + timedelta(hours=23)).invitation == INVITED
    assert read(path, lambda: NOON + timedelta(hours=25)).invitation is None
    proved = after(setup, Trained(trained()), Ended(True), Ready())
    assert kept(path, proved).invitation is None
    assert INVITED.token not in path.read_text()


def test_it_is_written_only_when_something_of_it_has_changed(tmp_path):
    path, setup = tmp_path / "setup.json", half_way()
    keeper = Keeper(path, lambda: NOON)
    keeper.keep(setup)
    first = path.stat().st_ino
    keeper.keep(setup)
    assert path.stat().st_ino == first
    keeper.keep(after(setup, Skipped("nodes/ddp", "no time")))
    assert path.stat().st_ino != first


def test_what_cannot_be_kept_is_a_warning_and_never_an_end(tmp_path):
    (tmp_path / "file").write_text("")
    keeper = Keeper(tmp_path / "file" / "setup.json")
    keeper.keep(half_way())
    assert "not kept for --resume" in keeper.warning


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no setup was begun"),
        ("", "is no setup of this version"),
        ('{"schema": 1', "is no setup of this version"),
        ('{"schema": 1, "time": 7}', "is no setup of this version"),
        ("[1, 2]", "is no setup of this version"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(tmp_path, content, said):
    path = tmp_path / "setup.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(NcclcheckError, match=said) as refused:
        read(path)
    assert refused.value.next_step


@pytest.mark.parametrize(
    ("change", "said"), [({"schema": SCHEMA + 1}, "kept by another ncclcheck"), ({"time": "noon"}, "is no setup")]
)
def test_another_schema_is_not_guessed_at(tmp_path, change, said):
    path = tmp_path / "setup.json"
    kept(path, half_way())
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(NcclcheckError, match=said):
        read(path)


def test_each_host_has_a_file_of_its_own_whatever_its_name():
    env = {"XDG_STATE_HOME": "/state"}
    assert str(path_in(env, "node-a")) == "/state/ncclcheck/setup-node-a.json"
    assert str(path_in(env, "../../etc/x")) == "/state/ncclcheck/setup-.._.._etc_x.json"
    assert str(path_in({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "a")).endswith(
        ".local/state/ncclcheck/setup-a.json"
    )
    assert str(path_in(env, "a", "/other")) == "/other/setup-a.json"
