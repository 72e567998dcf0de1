"""A rule from a line: the pattern that is proposed, its gate, and the files that come of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.doctor import own_rule
from ncclcheck.doctor.diagnose import diagnose_text
from ncclcheck.errors import RuleError
from ncclcheck.rulebook.check import check
from ncclcheck.rulebook.library import user_folder
from ncclcheck.rulebook.own import OwnRule, save
from ncclcheck.rulebook.propose import literal_of, message_of, name_for, pattern_for, refusal

LINE = "[rank0]: RuntimeError: token (lost) on 10.0.0.11:4000 in /opt/train/main.py, code 17"
OTHER = "[rank3]: RuntimeError: token (lost) on 10.0.0.12:9 in /home/x/y.py, code 4"


@pytest.mark.parametrize(
    ("line", "pattern", "literal"),
    [
        (
            LINE,
            r"RuntimeError: token \(lost\) on (?P<address>\d{1,3}(?:\.\d{1,3}){3}):\d{1,20} in \S{1,200},"
            r" code \d{1,20}",
            "RuntimeError: token (lost) on ",
        ),
        (
            "node-a:1:1 [0] misc/socket.cc:71 NCCL WARN Closed by node-b<4000> 0x7f12ab",
            r"Closed by node-b<\d{1,20}> 0x[0-9a-fA-F]{1,16}",
            "Closed by node-b<",
        ),
        ("a|b really? [yes]", r"a\|b really\? \[yes\]", "a|b really? [yes]"),
        ("weiß es 日本 nicht", r"wei.{1,40} es .{1,40} nicht", " nicht"),
    ],
)
def test_the_pattern_that_is_proposed(line: str, pattern: str, literal: str) -> None:
    message = message_of(line)
    assert pattern_for(message) == pattern
    assert literal_of(pattern, line) == literal
    assert re.search(pattern, message)


@given(st.text(st.characters(exclude_characters="\n"), max_size=400))
def test_whatever_the_line_the_pattern_finds_it_and_its_literal_is_in_it(line: str) -> None:
    message = message_of(line)
    pattern = pattern_for(message)
    found = regex.search(pattern, message, timeout=1)
    assert found is not None
    assert literal_of(pattern, line) in line


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [
        ("abc?xyz+foo", "xyz"),
        ("foo.*bar bar", "bar bar"),
        ("hello (world)+ again", "hello "),
        ("x{0,3}hello", "hello"),
        ("x{2}hello", "hello"),
        (r"h\.elo\d", "h.elo"),
        (r"one \| other", "one | other"),
        ("one|other", ""),
        ("(one|other) way", " way"),
        ("(?i)hello", ""),
        ("[hello]", ""),
        (r"[\]hello]x[^]hello]yz", "yz"),
        ("^hello$", "hello"),
        ("((nested) hello) there", " there"),
        ("", ""),
        ("(", ""),
        ("\\", ""),
    ],
)
def test_the_gate_is_in_every_line_that_matches(pattern: str, literal: str) -> None:
    assert literal_of(pattern, f"… {literal} … {literal.strip()}") == literal


def test_a_gate_does_not_reach_over_an_escape_that_stands_in_the_line() -> None:
    line = "the token \x1b[31mwas lost\x1b[0m for ever"
    assert pattern_for(message_of(line)) == "the token was lost for ever"
    assert literal_of("the token was lost for ever", line) == "token"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "the pattern does not compile"),
        ("(?=a)hello", "the pattern uses lookahead"),
        (r"(h)ello \1", "the pattern uses a backreference"),
        (r"\d+", "it needs words that each such line holds"),
        ("one|other", "it needs words that each such line holds"),
        ("hallo", "it does not match the line"),
        ("hello (?:(?:a|b|ab)+)+c", "it takes too long on a line"),
        ("hello", ""),
    ],
)
def test_why_no_rule_can_be_made(pattern: str, words: str) -> None:
    said = refusal(pattern, "hello one other 17 " + "ab" * 40 + "hello " + "ab" * 40)
    assert said.startswith(words)
    assert bool(said) is bool(words)


def test_names() -> None:
    assert name_for(message_of(LINE)) == "runtimeerror-token-lost-opt"
    assert name_for("17") == "own-rule"


def rule(line: str = LINE, pattern: str = "", title: str = "{host} lost its token: {address}") -> OwnRule:
    return OwnRule("lost-token", title, pattern or pattern_for(message_of(line)), line)


def test_a_rule_is_written_passes_the_check_and_is_in_force_at_once() -> None:
    assert diagnose_text(OTHER).findings == ()
    event, cause = own_rule.keep(rule())
    folder = user_folder()
    assert (event, cause) == (folder / "events" / "NC950-lost-token.toml", folder / "causes" / "NC950-lost-token.toml")
    assert check((folder,)).faults == ()
    (found,) = diagnose_text(f"hello\n{OTHER}\n").findings
    assert (found.rule, found.title) == ("NC950", "this node lost its token: 10.0.0.12")
    assert [where.line for where in found.evidence] == [2]


def test_a_second_rule_gets_a_number_of_its_own_and_nothing_is_overwritten(tmp_path: Path) -> None:
    first = save(rule(), tmp_path)
    before = [path.read_bytes() for path in first]
    assert [path.name for path in save(rule(), tmp_path)] == ["NC951-lost-token.toml"] * 2
    assert [path.read_bytes() for path in first] == before


@pytest.mark.parametrize("room", ["events", "causes"])
def test_a_file_that_is_there_already_stays_and_no_half_of_a_rule_is_left(tmp_path: Path, room: str) -> None:
    # Whoever wrote it did not use the number in its name as an id that is seen: it is no .toml.
    other = tmp_path / room
    other.write_text("mine")
    with pytest.raises(RuleError, match="cannot be written"):
        save(rule(), tmp_path)
    assert other.read_text() == "mine"
    assert [path for path in tmp_path.rglob("*.toml")] == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (OwnRule("Lost Token", "t", "RuntimeError", LINE), "is no name for a rule"),
        (OwnRule("../x", "t", "RuntimeError", LINE), "is no name for a rule"),
        (rule(pattern="(?=R)RuntimeError"), "the pattern uses lookahead"),
        (rule(pattern="something else"), "is too short to be a gate"),
        (rule(pattern=r"RuntimeError: token \(lost\) on \d{9} x"), "does not match the line"),
        (rule(pattern="Runtime(?:(?:a|E|r)+)+or: x", line="[rank0]: RuntimeError: x"), "takes more than 0.25 s"),
        (rule(title="{nothing} is known"), "there is no attribute nothing"),
    ],
)
def test_what_does_not_pass_the_check_is_not_written(tmp_path: Path, wrong: OwnRule, words: str) -> None:
    with pytest.raises(RuleError, match=words):
        save(wrong, tmp_path / "rules")
    assert not (tmp_path / "rules").exists()


@pytest.mark.parametrize(
    "line",
    [
        "node-a:1:1 [0] NCCL INFO Call to connect returned Connection refused, retrying",
        "it said \"'''hello'''\" \\ and \x1b[31mred\x07 \x7f \u202e and left",
        "Using network Socket and the unexpected " + "word " * 2000,
        "lone \ud800 surrogates and other words",
        "node-a:1:1 [0] NCCL INFO Using network Socket",
    ],
    ids=["a line that is known", "quotes and controls", "long", "no text", "a line of every job"],
)
def test_any_line_can_become_a_rule(tmp_path: Path, line: str) -> None:
    save(OwnRule("own", "It was said", pattern_for(message_of(line)), line), tmp_path)
    assert check((tmp_path,)).faults == ()


@pytest.fixture(autouse=True)
def _own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
