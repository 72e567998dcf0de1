"""Placeholders: what a stranger's value says stays a value, whatever shell reads the line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncclcheck.rulebook.guide_fill import fill, fill_block, fill_command, placeholders, stray_brace

HOSTILE = ("$(touch hit)", "`touch hit`", "'; touch hit; '", '"; touch hit; "', "\ntouch hit\n", "a b", "-oX=y", "é")
LINES = (
    "echo {host}",
    "echo '{host}'",
    'echo "{host}"',
    'echo "$(echo "{host}")"',
    "echo `echo {host}`",
    "cat <<END\n{host}\nEND",
    "echo a # it's {host}\necho '{host}'",
    r"echo \'{host}\'",
    r"echo '\' {host}",
    r"echo '\' '{host}'",
    "bash -c 'echo {host}'",
    "echo ${{HOME}}{host}",
    "echo $'\\'{host}'",
    "env {setting} echo",
)


def bash(line: str, folder: Path) -> str:
    """What bash prints of a line, in an empty folder."""
    done = subprocess.run(
        ["bash", "--norc", "-c", line], cwd=folder, capture_output=True, text=True, timeout=20, check=False
    )
    return done.stdout


@pytest.mark.parametrize("line", LINES)
def test_no_value_is_run(line: str, tmp_path: Path) -> None:
    for value in HOSTILE:
        bash(fill_command(line, {"host": value, "setting": f"A={value}"}), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_hostile_values_do_run_where_nobody_minds(tmp_path: Path) -> None:
    for value in HOSTILE:
        bash(f"echo {value}", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["hit"]


@settings(max_examples=60, deadline=None)
@given(value=st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" "), min_size=1, max_size=12))
def test_a_value_is_one_word(value: str) -> None:
    filled = fill_command("printf '%s|' a {host}", {"host": value})
    assert bash(filled, Path("/")) == f"a|{value}|" or (value.startswith("-") and filled.endswith("<HOST>"))


@pytest.mark.parametrize(
    ("line", "filled"),
    [
        ("ping {address}", "ping 10.0.0.1"),
        ("ping {peer_address}", "ping <PEER_ADDRESS>"),
        ("env {setting} run", "env NCCL_SOCKET_IFNAME='=eth1' NCCL_NET=Socket run"),
        (
            "bash -c 'env {setting} run {address}'",
            "bash -c 'env NCCL_SOCKET_IFNAME==eth1 NCCL_NET=Socket run 10.0.0.1'",
        ),
        ("awk '{{print $1}}' {{{address}}}", "awk '{print $1}' {10.0.0.1}"),
        ("export NAME={interface}", "export NAME='=eth1'"),
        ("{invitation}", "ncclcheck setup --join '1-A 10.0.0.1'"),
        ("echo {nothing}", "echo <NOTHING>"),
        ("ssh {option} '{option}'", "ssh <OPTION> '<OPTION>'"),
        ("echo {host} '{host}'", "echo 'node a' '<HOST>'"),
    ],
)
def test_commands(line: str, filled: str) -> None:
    values = {
        "address": "10.0.0.1",
        "interface": "=eth1",
        "host": "node a",
        "setting": "NCCL_SOCKET_IFNAME==eth1 NCCL_NET=Socket",
        "invitation": "ncclcheck setup --join '1-A 10.0.0.1'",
        "nothing": "",
        "option": "-oProxyCommand=x",
    }
    assert fill_command(line, values) == filled


def test_no_setting_leaves_no_trace() -> None:
    none = {"setting": ""}
    assert fill_command("env {setting} run", none) == "run"
    assert fill_command("bash -c 'cd x && env {setting} run'", none) == "bash -c 'cd x && run'"
    assert fill_command("export {setting}", none) == "export "


def test_prose_keeps_to_its_line_and_quotes_what_will_be_copied() -> None:
    values = {"host": "a\nb c"}
    assert fill("On {host}, {{so}}: {port}.", values) == "On a b c, {so}: <PORT>."
    assert fill("Run `ping {host}` on {host}.", {"host": "b c"}) == "Run `ping 'b c'` on b c."
    assert fill("It's {host}, ` alone.", {"host": "b c"}) == "It's b c, ` alone."


def test_a_file_takes_only_what_means_nothing_there() -> None:
    line = "NCCL_SOCKET_IFNAME={interface}\n"
    assert fill_block(line, {"interface": "=eth1"}) == "NCCL_SOCKET_IFNAME==eth1\n"
    assert fill_block(line, {"interface": "eth1\nNCCL_X=1"}) == "NCCL_SOCKET_IFNAME=<INTERFACE>\n"


def test_names_and_stray_braces() -> None:
    text = "{one} {{two}} {three} {Four} {{{five}}}"
    assert placeholders(text) == ("one", "three", "five")
    assert stray_brace(text) == "{Four}"
    assert stray_brace("{one} {{two}}") == ""
