"""Show, apply, undo: on this machine and on a node behind a prefix."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncclcheck.doctor import fix as doctor
from ncclcheck.errors import ApplyError
from ncclcheck.fixes import record
from ncclcheck.fixes.plan import Change
from ncclcheck.model import Edit, FileContent, Fix, Node, Risk, Scope

HERE, FAR = Node("here"), Node("node-b", prefix=("env",))
FIX = Fix(title="t", scope=Scope.THIS_NODE, risk=Risk.SAFE, env=(("NCCL_SOCKET_IFNAME", "=eth1"),))


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize("node", [HERE, FAR], ids=["here", "far"])
def test_show_apply_undo(node: Node, tmp_path: Path) -> None:
    path = tmp_path / "nccl.conf"
    path.write_bytes(b"# \xff ours\nNCCL_SOCKET_IFNAME=eth0\n")

    edits = doctor.preview(FIX, node, path=str(path))
    assert edits == (Edit(str(path), path.read_bytes(), b"# \xff ours\nNCCL_SOCKET_IFNAME==eth1\n"),)
    applied = doctor.apply(edits, node)
    assert path.read_bytes() == edits[0].after
    doctor.undo(applied, node)

    assert path.read_bytes() == edits[0].before
    assert record.load(str(tmp_path / "state/ncclcheck/applied.json")) == ()


def test_what_is_so_already_needs_no_edit(tmp_path: Path) -> None:
    path = tmp_path / "nccl.conf"
    path.write_text("NCCL_SOCKET_IFNAME==eth1\n")

    assert doctor.preview(FIX, HERE, path=str(path)) == ()


def test_a_fix_with_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "x.conf"
    fix = Fix(title="t", scope=Scope.THIS_NODE, risk=Risk.SAFE, files=(FileContent(str(path), "A=1\n"),))

    assert doctor.preview(fix, HERE) == (Edit(str(path), None, b"A=1\n"),)


def test_the_last_change_made_here_can_be_undone_later(tmp_path: Path) -> None:
    path = tmp_path / "nccl.conf"
    doctor.apply(doctor.preview(FIX, HERE, path=str(path)), HERE)

    undone = doctor.undo_last()

    assert ([one.path for one in undone], path.exists()) == ([str(path)], False)
    with pytest.raises(ApplyError, match="nothing was applied here"):
        doctor.undo_last()


def test_a_change_stays_where_no_record_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    path = tmp_path / "nccl.conf"

    applied = doctor.apply(doctor.preview(FIX, HERE, path=str(path)), HERE)
    assert (path.exists(), "--undo will not know of this" in caplog.text) == (True, True)
    doctor.undo(applied, HERE)

    assert not path.exists()


def test_a_node_far_away_leaves_no_record_here(tmp_path: Path) -> None:
    doctor.apply(doctor.preview(FIX, FAR, path=str(tmp_path / "nccl.conf")), FAR)

    with pytest.raises(ApplyError, match="nothing was applied here"):
        doctor.undo_last()


def test_the_far_side_tells_why_it_cannot_write(tmp_path: Path) -> None:
    edit = Edit(str(tmp_path / "gone/nccl.conf"), None, b"A=1\n")

    with pytest.raises(ApplyError) as caught:
        doctor.apply((edit,), FAR)

    assert caught.value.problem == f"{edit.path}: cannot be written: No such file or directory; nothing was changed"
    assert "make the folder first" in caught.value.next_step


def test_the_cautions_name_a_variable_that_hides_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "nccl.conf")
    node = Node("here", env=(("NCCL_SOCKET_IFNAME", ""), ("NCCL_CONF_FILE", path)))

    planned = doctor.revise(Change(sets=FIX.env), path, node)

    assert planned.cautions == (
        f"NCCL_SOCKET_IFNAME in {path} will not count: the environment sets it to an empty value,"
        " which counts as well. Remove it there",
        "A job that runs already keeps its old settings: restart it on this node",
    )
