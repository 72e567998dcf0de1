"""What was changed, and what taking it back would write: on this machine and on a node behind a prefix."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncclcheck.doctor import fix as doctor
from ncclcheck.doctor import history
from ncclcheck.doctor.history import HERE, Review
from ncclcheck.errors import ApplyError
from ncclcheck.fixes.plan import Change
from ncclcheck.model import Applied, Edit, Node

FAR = Node("node-b", prefix=("env",))


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A settings file of one line."""
    file = tmp_path / "nccl.conf"
    file.write_text("NCCL_DEBUG=WARN\n")
    return file


def applied(path: Path, name: str, node: Node = HERE) -> tuple[Applied, ...]:
    """Set a variable there."""
    return doctor.apply(doctor.revise(Change(sets=((name, "1"),)), str(path)).edits, node)


@pytest.mark.parametrize("node", [HERE, FAR], ids=["here", "far"])
def test_a_change_with_what_was_written_and_what_undo_writes(node: Node, path: Path) -> None:
    before = path.read_bytes()
    made = applied(path, "NCCL_A", node)
    after = before + b"NCCL_A=1\n"

    (found,) = history.changes([(node, made)])

    edit, back = Edit(str(path), before, after), Edit(str(path), after, before)
    assert (found.node, found.applied, found.review) == (node, made, Review((edit,), (back,)))
    doctor.undo(found.applied, found.node)
    assert path.read_bytes() == before
    assert history.changes() == ()


def test_a_new_file_goes_away_again(tmp_path: Path) -> None:
    made = applied(tmp_path / "new.conf", "NCCL_A")

    (found,) = history.changes()

    assert found.review.back == (Edit(made[0].path, b"NCCL_A=1\n", None),)
    assert found.review.refusal == ""


@pytest.mark.parametrize("node", [HERE, FAR], ids=["here", "far"])
def test_what_somebody_edited_since_is_not_taken_back(node: Node, path: Path) -> None:
    made = applied(path, "NCCL_A", node)
    path.write_text(path.read_text() + "# mine\n")

    (found,) = history.changes([(node, made)])

    assert found.review.refusal.startswith("Somebody has changed the file since")
    with pytest.raises(ApplyError, match="has been changed since"):
        doctor.undo(found.applied, node)


def test_of_two_changes_to_a_file_the_later_one_goes_first(path: Path) -> None:
    first, second = applied(path, "NCCL_A"), applied(path, "NCCL_B")

    later, earlier = history.changes()

    assert (later.applied, later.review.refusal) == (second, "")
    assert (earlier.applied, earlier.review.refusal[:14]) == (first, "A later change")
    assert earlier.review.edits == (Edit(str(path), b"NCCL_DEBUG=WARN\n", b"NCCL_DEBUG=WARN\nNCCL_A=1\n"),)
    doctor.undo(later.applied, HERE)
    assert [made.review.refusal for made in history.changes()] == [""]


def test_two_changes_to_a_file_in_one_go_are_taken_back_together(path: Path) -> None:
    before = path.read_bytes()
    middle, after = before + b"NCCL_A=1\n", before + b"NCCL_A=1\nNCCL_B=1\n"
    doctor.apply((Edit(str(path), before, middle), Edit(str(path), middle, after)), HERE)

    (found,) = history.changes()

    assert found.review.refusal == ""
    assert [(edit.before, edit.after) for edit in found.review.back] == [(after, middle), (middle, before)]


def test_a_lost_backup_is_said(path: Path) -> None:
    made = applied(path, "NCCL_A")
    assert made[0].backup
    Path(made[0].backup).unlink()

    assert [one.review.refusal for one in history.changes()] == ["What stood there before is lost: its backup is gone."]


def test_a_file_that_cannot_be_read_is_said_and_the_others_are_listed(path: Path, tmp_path: Path) -> None:
    applied(path, "NCCL_A")
    other = tmp_path / "other.conf"
    applied(other, "NCCL_B")
    path.unlink()
    path.mkdir()

    found = {made.applied[0].path: made.review.refusal for made in history.changes()}

    assert "cannot be read" in found[str(path)]
    assert found[str(other)] == ""


def test_what_could_not_be_recorded_is_listed_for_this_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    here = Node("gpu-box")
    made = applied(tmp_path / "new.conf", "NCCL_A", here)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    assert history.changes() == ()
    assert [(one.node, one.applied) for one in history.changes([(here, made)])] == [(here, made)]


def test_a_recorded_change_of_this_session_has_its_node_and_stands_once(path: Path) -> None:
    here = Node("gpu-box")
    made = applied(path, "NCCL_A", here)

    assert [(one.node, one.applied) for one in history.changes([(here, made)])] == [(here, made)]


def test_a_node_that_does_not_answer_is_a_reason_and_no_error(path: Path) -> None:
    gone = Node("node-b", prefix=("/bin/false",))

    (found,) = history.changes([(gone, applied(path, "NCCL_A"))])[:1]

    assert (found.node, found.review.edits) == (gone, ())
    assert "node-b" in found.review.refusal


def test_a_damaged_record_is_an_error(tmp_path: Path) -> None:
    record = tmp_path / "state/ncclcheck/applied.json"
    record.parent.mkdir(parents=True)
    record.write_text("{")

    with pytest.raises(ApplyError, match="the record is damaged"):
        history.changes()
