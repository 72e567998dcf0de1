"""What a fix will change, before anything is written."""

from __future__ import annotations

import pytest

from ncclcheck.errors import ApplyError
from ncclcheck.fixes import plan
from ncclcheck.fixes.plan import Change
from ncclcheck.model import Edit, FileContent, Fix, Risk, Scope, Setting

PATH = "/etc/nccl.conf"
GUIDE = b"# ours\nNCCL_SOCKET_IFNAME=eth1  # Replace with your own network interface name\n"


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        (None, Change(sets=(("NCCL_DEBUG", "INFO"),)), b"NCCL_DEBUG=INFO\n"),
        (GUIDE, Change(sets=(("NCCL_SOCKET_IFNAME", "=eth1"),)), b"# ours\nNCCL_SOCKET_IFNAME==eth1\n"),
        (GUIDE, Change(repair=True), b"# ours\nNCCL_SOCKET_IFNAME=eth1\n"),
        (GUIDE, Change(unsets=("NCCL_SOCKET_IFNAME",)), b"# ours\n"),
        (GUIDE, Change(sets=(("A", "1"),), unsets=("A",)), GUIDE + b"A=1\n"),
        (b"A=1\n", Change(sets=(("A", "1"),)), b"A=1\n"),
        (None, Change(unsets=("A",)), None),
    ],
)
def test_edits(before: bytes | None, change: Change, after: bytes | None) -> None:
    assert plan.edit(PATH, before, change, "2.29.7") == Edit(PATH, before, after)


@pytest.mark.parametrize(
    "value", ["eth1  # mine", "#", "eth1 ", " eth1", "eth1\r", "eth1\nA=1", '"eth1"', "'eth1'", "a\tb", "eth1;", "a\0b"]
)
def test_a_value_that_nccl_would_misread_is_refused(value: str) -> None:
    with pytest.raises(ApplyError) as caught:
        plan.edit(PATH, None, Change(sets=(("NCCL_SOCKET_IFNAME", value),)), "2.29.7")

    read = value.partition("\n")[0].partition("\0")[0].rstrip("\r")
    assert caught.value.problem.startswith("refused because of ")
    assert caught.value.problem.endswith(f"NCCL would read NCCL_SOCKET_IFNAME as {read!r}")
    assert "a line of its own" in caught.value.next_step


def test_a_value_that_nccl_takes_otherwise_is_remarked_on() -> None:
    assert plan.remarks(Change(sets=(("NCCL_DEBUG", "INFO"), ("NCCL_IB_DISABLE", "true"))), "2.29.7") == (
        "NCCL_IB_DISABLE=true: “true” is read as 0; NCCL_IB_DISABLE=1 is better",
    )


@pytest.mark.parametrize("name", ["", "A B", "A=B", "#A", "1A", "É"])
def test_a_name_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(ApplyError, match="no such name"):
        plan.edit(PATH, None, Change(sets=((name, "1"),)), "2.29.7")


def test_a_fix_brings_settings_and_whole_files() -> None:
    fix = Fix(
        title="t",
        scope=Scope.THIS_NODE,
        risk=Risk.SAFE,
        env=(("A", "1"),),
        files=(FileContent("/a", "x\n"), FileContent("/b", "é\n")),
    )

    assert plan.change_of(fix) == Change(sets=(("A", "1"),))
    assert plan.files_of(fix) == fix.files
    assert plan.file_edit(fix.files[0], None) == Edit("/a", None, b"x\n")
    assert plan.file_edit(fix.files[1], b"old") == Edit("/b", b"old", "é\n".encode())


def test_an_nccl_conf_keeps_its_other_lines_and_is_not_told_twice() -> None:
    file = FileContent(PATH, "# by a rule\nNCCL_SOCKET_IFNAME==eth1\n")
    fix = Fix(title="t", scope=Scope.THIS_NODE, risk=Risk.SAFE, env=(("NCCL_SOCKET_IFNAME", "=eth1"),), files=(file,))

    assert plan.files_of(fix) == ()
    assert plan.file_edit(file, GUIDE) == Edit(PATH, GUIDE, b"# ours\nNCCL_SOCKET_IFNAME==eth1\n")
    assert plan.file_edit(file, None) == Edit(PATH, None, b"# by a rule\nNCCL_SOCKET_IFNAME==eth1\n")


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (
            Edit(PATH, GUIDE, b"# ours\nNCCL_SOCKET_IFNAME=eth1\n"),
            "--- /etc/nccl.conf\n+++ /etc/nccl.conf\n@@ -1,2 +1,2 @@\n # ours\n"
            "-NCCL_SOCKET_IFNAME=eth1  # Replace with your own network interface name\n+NCCL_SOCKET_IFNAME=eth1",
        ),
        (Edit(PATH, None, b"A=1\n"), "--- /dev/null\n+++ /etc/nccl.conf\n@@ -0,0 +1 @@\n+A=1"),
        (Edit(PATH, b"A=1\n", None), "--- /etc/nccl.conf\n+++ /dev/null\n@@ -1 +0,0 @@\n-A=1"),
        (
            Edit(PATH, b"A=1", b"A=2"),
            "--- /etc/nccl.conf\n+++ /etc/nccl.conf\n@@ -1 +1 @@\n"
            "-A=1  (no line feed at the end)\n+A=2  (no line feed at the end)",
        ),
        (Edit(PATH, b"A=\xff\n", b""), "--- /etc/nccl.conf\n+++ /etc/nccl.conf\n@@ -1 +0,0 @@\n-A=\\xff"),
        (Edit(PATH, b"\0\1\2", b"A=1\n"), "/etc/nccl.conf: 3 bytes that are no text become 4 bytes"),
    ],
)
def test_the_diff(edit: Edit, text: str) -> None:
    assert plan.diff((edit,)) == text


MINE = "/home/a/.nccl.conf"
RESTART = "A job that runs already keeps its old settings: restart it on this node"


@pytest.mark.parametrize(
    ("settings", "path", "cautions"),
    [
        ((), PATH, (RESTART,)),
        (
            (Setting("A", "", "environment"),),
            PATH,
            ("the environment sets it to an empty value, which counts as well",),
        ),
        ((Setting("A", "2", MINE, line=3),), PATH, (f"{MINE}, line 3 sets it to 2",)),
        ((Setting("A", "2", PATH, line=3),), MINE, (RESTART,)),
        ((Setting("A", "2", PATH, line=3),), PATH, (RESTART,)),
        ((Setting("B", "2", "environment"),), PATH, (RESTART,)),
        ((), "/opt/x.conf", (f"/opt/x.conf is not among the files that NCCL reads here: {MINE}, {PATH}",)),
    ],
)
def test_the_cautions(settings: tuple[Setting, ...], path: str, cautions: tuple[str, ...]) -> None:
    found = plan.cautions(("A",), path, settings, (MINE, PATH))

    assert found[-1] == RESTART
    assert all(caution in text for caution, text in zip(cautions, found, strict=False))
    assert len(found) == 1 + (cautions != (RESTART,))
