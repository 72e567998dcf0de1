"""A finding laid out as compilers do it: what is quoted, what is underlined, what is cut, and whose words are used."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some
from rich.cells import cell_len

from ncclcheck.doctor.finding_text import (
    DEFAULT,
    GENERAL,
    Part,
    Room,
    chosen,
    finding_rows,
    fix_rows,
    launchers,
    next_launcher,
    plain,
)
from ncclcheck.doctor.quoting import quoted, telling
from ncclcheck.model import Confidence, FileContent, Finding, Fix, Risk, Scope, Severity, Where
from ncclcheck.rulebook.launchers import in_launchers_words
from ncclcheck.rulebook.load import load_launchers
from tests.tui.test_hostile import UNSAFE

FIX = Fix(
    title="Let NCCL use eth1",
    scope=Scope.ALL_NODES,
    risk=Risk.SAFE,
    env=(("NCCL_SOCKET_IFNAME", "=eth1"),),
    files=(FileContent("/etc/nccl.conf", "NCCL_SOCKET_IFNAME==eth1\n"),),
)
FINDING = Finding(
    rule="NC101",
    cause="wrong-interface",
    severity=Severity.ERROR,
    confidence=Confidence.LIKELY,
    title="NCCL uses eth0 (172.17.0.2) on node-a, a network that the nodes do not share",
    explanation="An address there means something else on every machine.",
    not_proof_of="It does not prove that eth1 is reachable.",
    subject=(("interface", "eth0"), ("address", "172.17.0.2"), ("host", "node-a")),
    ranks=(),
    evidence=(Where("a.log", 3), Where("a.log", 14), Where("b.log", 1)),
    fixes=(FIX, Fix("Look at the list", Scope.THIS_NODE, Risk.MANUAL, commands=("ip -br addr",), hosts=("node-a",))),
    explains=("NC204",),
)
LINES = {
    Where("a.log", 3): "node-a:1:1 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.2<0>",
    Where("a.log", 14): "node-a:1:9 [0] NCCL INFO connect to 172.17.0.2<4000> returned refused",
    Where("b.log", 1): "nothing of it here",
}


def lines(found: Finding = FINDING, room: Room = Room()) -> list[str]:  # noqa: B008, it is frozen
    """The finding as text."""
    return plain(finding_rows(found, lambda where: LINES.get(where, ""), room)).split("\n")


def test_the_whole_layout() -> None:
    assert lines() == [
        "error[NC101] NCCL uses eth0 (172.17.0.2) on node-a, a network that the nodes do",
        "  not share",
        "  --> a.log:3",
        " 3 | node-a:1:1 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.2<0>",
        "   |                                           ^^^^ ^^^^^^^^^^",
        "14 | node-a:1:9 [0] NCCL INFO connect to 172.17.0.2<4000> returned refused",
        "   |                                     ^^^^^^^^^^",
        "  --> b.log:1",
        " 1 | nothing of it here",
        "",
        "why (likely): An address there means something else on every machine.",
        "not proved: It does not prove that eth1 is reachable.",
        "",
        "what to do, on every node: Let NCCL use eth1",
        "  in /etc/nccl.conf, nothing else on the line:",
        "    NCCL_SOCKET_IFNAME==eth1",
        "  or in the environment of every process of the job:",
        "    export NCCL_SOCKET_IFNAME='=eth1'",
        "",
        "or, on node-a: Look at the list",
        "  run:",
        "    ip -br addr",
        "",
        "folded here as its echo: NC204",
        "cause: wrong-interface",
    ]


@pytest.mark.parametrize(
    ("line", "words", "marks"),
    [
        ("x Using eth0:1", ("eth0",), "        ^^^^"),
        ("x eth01 veth0 eth0", ("eth0",), "              ^^^^"),
        ("x 10.0.0.12 10.0.0.1, 10.0.0.1.", ("10.0.0.1",), "            ^^^^^^^^  ^^^^^^^^"),
        ("node-b: to node-b", ("node-b",), "           ^^^^^^"),
        ("x [1]eth1:10.0.0.1<4000>", ("4000", "eth1"), "     ^^^^          ^^^^"),
        ("\tx 漢字 eth0", ("eth0",), "       ^^^^"),
        ("x\ty eth0", ("eth0",), "          ^^^^"),
        ("x \x1b[2J eth0", ("eth0",), "          ^^^^"),
        ("x nothing", ("eth0",), ""),
        ("x NCCL WARN Net : broken", ("eth0",), "            ^^^^^^^^^^^^"),
        ("x A set by environment to b c", (), "                          ^^^"),
    ],
)
def test_what_is_underlined(line: str, words: tuple[str, ...], marks: str) -> None:
    assert quoted(line, words, 80)[1] == marks


@pytest.mark.parametrize(
    ("title", "subject", "words"),
    [
        ("NCCL_NET=eth1 names no network on node-a", (("host", "node-a"),), ("NCCL_NET=eth1", "NCCL_NET", "eth1")),
        ("no interface at all", (("interface", "eth0"), ("host", "h")), ("eth0",)),
        ("port 40000 (10.0.0.1), twice.", (("port", "40000"),), ("40000", "10.0.0.1")),
        ("A to node-b1: refused", (("host", "node-b1"), ("peer", "10.0.0.2")), ("10.0.0.2",)),
    ],
)
def test_which_words_tell(title: str, subject: tuple[tuple[str, str], ...], words: tuple[str, ...]) -> None:
    assert telling(replace(FINDING, title=title, subject=subject)) == words


def test_a_long_line_is_cut_round_its_telling_part() -> None:
    line = "a" * 200 + " eth0 " + "b" * 200
    shown, marks = quoted(line, ("eth0",), 40)
    assert (shown[0], shown[-1], len(shown)) == ("…", "…", 40)
    at = shown.index("eth0")
    assert marks == " " * at + "^^^^"
    assert quoted(line, (), 40) == ("a" * 39 + "…", "")


@given(some.text(max_size=300), some.integers(10, 100))
def test_marks_stand_under_their_words_and_nothing_acts(text: str, width: int) -> None:
    shown, marks = quoted(f"{text} eth0 {text}", ("eth0",), width)
    assert cell_len(shown) <= width
    assert not (UNSAFE | {"\n", "\t"}) & set(shown + marks)
    if "^" in marks:
        before = marks.index("^")
        taken = 0
        rest = shown
        while taken < before:
            taken += cell_len(rest[0])
            rest = rest[1:]
        assert rest.startswith("eth0"[: max(1, len(rest) - 1)])


def test_no_line_is_wider_than_its_room_where_words_allow_it() -> None:
    for width in (44, 60, 80, 120):
        assert all(cell_len(line) <= width for line in lines(room=Room(width, width)))


def test_more_evidence_than_there_is_room_for_is_counted() -> None:
    many = replace(FINDING, evidence=tuple(Where("a.log", number) for number in range(1, 1300)))
    rows = list(finding_rows(many, lambda where: "x", Room()))
    assert sum(row.part is Part.QUOTE for row in rows) == 6
    assert "  = and 1,293 more such lines" in map(str, rows)


def test_evidence_that_cannot_be_read_again_is_still_named() -> None:
    places = (Where("conf", 2), Where("conf", 5), Where("environment", 0))
    shown = lines(replace(FINDING, evidence=places))
    assert shown[2:5] == [" --> conf:2", " ::: conf:5", " --> environment"]


# Launchers -----------------------------------------------------------------------------------------------------------


def worded(seen: str | None) -> Fix:
    """The fix in the words of all launchers."""
    return in_launchers_words(FINDING, load_launchers(), seen).fixes[0]


def told(fix: Fix, launcher: str) -> list[str]:
    """What is said of it beside the file."""
    return plain(fix_rows(fix, Room(launcher=launcher))).split("\n")[3:]


def test_the_launcher_that_was_seen_is_told_first_and_all_others_come_in_turn() -> None:
    fix = worded("srun")
    assert told(fix, DEFAULT) == [
        "  or with Slurm, which started this job:",
        "    export NCCL_SOCKET_IFNAME='=eth1'",
        "    srun --export=ALL …",
    ]
    turn, launcher = [DEFAULT], next_launcher(fix, DEFAULT)
    while launcher != DEFAULT:
        turn.append(launcher)
        launcher = next_launcher(fix, launcher)
    assert tuple(turn) == launchers(fix)
    assert "Slurm" not in turn
    assert {"torchrun", "mpirun", "Docker", "Kubernetes", "Ray", GENERAL} <= set(turn)
    assert told(fix, GENERAL)[0] == "  or in the environment of every process of the job:"


def test_without_a_trace_of_a_launcher_the_general_way_comes_first() -> None:
    fix = worded(None)
    assert told(fix, DEFAULT)[0] == "  or in the environment of every process of the job:"
    assert GENERAL not in launchers(fix)
    assert told(fix, "Kubernetes") == [
        "  or with Kubernetes:",
        "    env:  # of each container, in the job's YAML",
        '    - {name: NCCL_SOCKET_IFNAME, value: "=eth1"}',
    ]
    assert chosen(fix, "Kubernetes").seen is False  # type: ignore[union-attr]


def test_the_key_for_other_launchers_is_only_told_where_there_is_one() -> None:
    fix = worded("torchrun")
    hint = [str(row) for row in fix_rows(fix, Room(key="L")) if row.part is Part.NOTE]
    assert hint == ["  L shows it for mpirun, Ray, Slurm, DeepSpeed, Kubernetes, Docker"]
    assert not [row for row in fix_rows(fix, Room()) if row.part is Part.NOTE]


def test_a_choice_that_a_fix_does_not_know_is_no_obstacle() -> None:
    assert next_launcher(FIX, "Slurm") == DEFAULT
    assert told(FIX, "Slurm")[0] == "  or in the environment of every process of the job:"
