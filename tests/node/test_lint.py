"""Every way in which people misspell an nccl.conf, with the line as it should be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.model import ConfLine, Setting, Trouble
from ncclcheck.node import conf, lint, selection
from ncclcheck.node.environment import ENVIRONMENT
from tests.node.cases import BASE
from tests.node.traps import TRAPS

PATH = "/etc/nccl.conf"


@pytest.mark.parametrize(("line", "trouble", "corrected"), TRAPS)
def test_each_trap_is_named_and_corrected(line: str, trouble: Trouble, corrected: str) -> None:
    found = lint.lint(line.encode() + b"\n", PATH, "2.29.7")

    assert [(one.line, one.text, one.trouble, one.corrected) for one in found] == [(1, line, trouble, corrected)]


@pytest.mark.parametrize(
    "line",
    [
        "NCCL_SOCKET_IFNAME==eth1",
        "NCCL_SOCKET_IFNAME=^lo,docker",
        "NCCL_SOCKET_IFNAME=^=lo",
        "NCCL_SOCKET_IFNAME=eth0:5000",
        "NCCL_DEBUG=info",
        "NCCL_DEBUG_SUBSYS=^COLL",
        "NCCL_DEBUG_FILE=/tmp/nccl%h#1.log",
        "NCCL_IB_GID_INDEX=-1",
        "NCCL_P2P_LEVEL=PHB",
        "NCCL_VERSION=2.18.3",
        "NCCL_MY_OWN_PLUGIN_SETTING=1",
        "# NCCL_SOCKET_IFNAME=eth0",
        "  # NCCL_SOCKET_IFNAME = eth0",
        "[nccl]",
        "PATH = /bin",
        "",
    ],
)
def test_what_is_right_or_harmless_is_left_alone(line: str) -> None:
    content = line.encode() + b"\n"

    assert lint.lint(content, PATH, "2.29.7") == ()
    assert lint.repair(content, "2.29.7") == content


@pytest.mark.parametrize(
    "corrected", sorted({corrected for _, _, corrected in TRAPS if corrected.startswith("NCCL_SOCKET_IFNAME=")})
)
def test_a_corrected_line_leads_to_an_interface_that_others_can_call(corrected: str) -> None:
    choice = selection.bootstrap_among(BASE, {"NCCL_SOCKET_IFNAME": corrected.partition("=")[2]}, "2.29.7")

    assert (choice.code, choice.interface) != (0, "lo")
    assert choice.code == 0


def test_a_carriage_return_does_no_harm_from_2_30() -> None:
    assert lint.lint(b"NCCL_SOCKET_IFNAME=eth0\r\n", PATH, "2.30.3") == ()


def test_blanks_between_subsystems_do_no_harm_from_2_30() -> None:
    assert lint.lint(b"NCCL_DEBUG_SUBSYS=INIT, NET\n", PATH, "2.30.3") == ()


def test_the_first_line_of_a_name_counts_and_the_second_goes() -> None:
    content = b"NCCL_DEBUG=WARN\nNCCL_DEBUG=INFO\n"

    assert lint.lint(content, PATH, "2.29.7") == (
        ConfLine(
            PATH,
            2,
            "NCCL_DEBUG=INFO",
            Trouble.SECOND_LINE,
            "line 1 sets NCCL_DEBUG already, and the first line counts",
            "",
        ),
    )
    assert lint.repair(content, "2.29.7") == b"NCCL_DEBUG=WARN\n"


def test_repair_does_not_let_a_dead_line_take_over_from_the_living_one() -> None:
    content = b"export NCCL_SOCKET_IFNAME=eth0\nNCCL_SOCKET_IFNAME=eth1\n"

    assert lint.repair(content, "2.29.7") == b"NCCL_SOCKET_IFNAME=eth1\n"


def test_one_line_can_have_many_troubles_and_one_correction() -> None:
    found = lint.lint(b'\xef\xbb\xbfexport NCCL_SOCKET_IFNAME = "^docker"  # x\r\n', PATH, "2.29.7")

    assert {one.corrected for one in found} == {"NCCL_SOCKET_IFNAME=^docker,lo"}
    assert [one.trouble for one in found] == [
        Trouble.BYTE_ORDER_MARK,
        Trouble.EXPORT,
        Trouble.BLANKS,
        Trouble.CARRIAGE_RETURN,
        Trouble.COMMENT,
        Trouble.QUOTES,
        Trouble.EXCLUSION,
    ]


def test_bytes_that_are_no_text_survive_a_repair_and_can_be_shown() -> None:
    content = b"NCCL_DEBUG_FILE= /tmp/\xff\nNCCL_X=\xfe\n"

    assert lint.repair(content, "2.29.7") == b"NCCL_DEBUG_FILE=/tmp/\xff\nNCCL_X=\xfe\n"
    assert [one.corrected for one in lint.lint(content, PATH, "2.29.7")] == [r"NCCL_DEBUG_FILE=/tmp/\xff"]


def test_an_empty_variable_that_hides_a_file_is_found() -> None:
    settings = (
        Setting("NCCL_SOCKET_IFNAME", "", ENVIRONMENT),
        Setting("NCCL_SOCKET_IFNAME", "eth1", PATH, line=3, wins=False),
        Setting("NCCL_DEBUG", "info # x", ENVIRONMENT),
    )

    assert [(one.path, one.line, one.trouble, one.corrected) for one in lint.lint_settings(settings, "2.29.7")] == [
        (ENVIRONMENT, 0, Trouble.EMPTY, ""),
        (ENVIRONMENT, 0, Trouble.COMMENT, "NCCL_DEBUG=info"),
    ]


WRITTEN = some.sampled_from([line for line, _, _ in TRAPS] + ["# note", "", "NCCL_DEBUG=INFO"])
UNREPAIRABLE = (Trouble.OTHER_VERSION, Trouble.TILDE)


@given(some.lists(some.one_of(WRITTEN, some.text(max_size=12)), max_size=6), some.sampled_from(("2.29.7", "2.30.7")))
def test_a_repaired_file_has_nothing_left_to_repair(lines: list[str], nccl: str) -> None:
    repaired = lint.repair("\n".join(lines).encode("utf-8", "surrogatepass"), nccl)

    assert [one for one in lint.lint(repaired, PATH, nccl) if one.trouble not in UNREPAIRABLE] == []
    names = [entry.name for entry in conf.entries(repaired, nccl) if entry.name.startswith("NCCL_")]
    assert len(names) == len(set(names))
