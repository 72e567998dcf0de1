"""What is printed cannot act on a terminal, and errors go where they belong."""

from __future__ import annotations

import pytest

from ncclcheck.cli import output
from ncclcheck.cli.diagnostics import ExitCode, note, report
from ncclcheck.cli.main import COMMANDS, build_parser, main
from ncclcheck.errors import SourceError


def test_control_characters_are_shown_as_text(capfd: pytest.CaptureFixture[str]) -> None:
    output.write("a\x1b[2J\u202eb\tc\nd")
    assert capfd.readouterr().out == "a\\x1b[2J\\x202eb\tc\nd\n"


def test_json_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    output.write_json({"a": "\n"})
    assert capfd.readouterr().out == '{"a":"\\n"}\n'


def test_errors_and_notes_go_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert report(SourceError("is \x1b bad", place="x.log", next_step="mend it")) is ExitCode.UNKNOWN
    note("wait \x07")
    out, err = capfd.readouterr()
    assert (out, err) == ("", "ncclcheck: x.log: is \\x1b bad\n  mend it\nwait \\x07\n")


def test_every_command_has_help() -> None:
    text = build_parser().format_help()
    assert [name for name in COMMANDS if f"    {name}" not in text] == []


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)])
def test_help_works(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 0
    assert capfd.readouterr().out


@pytest.mark.parametrize("arguments", [["analyse"], ["analyze", "--jsn"], ["rules"]])
def test_wrong_usage_is_two(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
