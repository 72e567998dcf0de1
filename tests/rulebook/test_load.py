"""A broken rule is reported and left out; the others still count."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncclcheck.doctor.diagnose import diagnose_sources
from ncclcheck.logs.sources import pasted
from ncclcheck.model import Verdict
from ncclcheck.rulebook.library import builtin_folder, user_folder
from ncclcheck.rulebook.load import BETWEEN, load

MISTAKES = sorted((Path(__file__).parents[1] / "bad_rules").glob("*/*.toml"))
LOG = """
Example: 10.0.0.11 turned us away again! turned us away
node-b:10:10 [0] NCCL INFO socketPollConnect: connect to 10.0.0.11<40000> returned Connection refused, retrying (3/34)
"""


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda path: path.stem)
def test_no_broken_rule_brings_an_analysis_down(mistake: Path, tmp_path: Path) -> None:
    room = tmp_path / mistake.parent.name
    room.mkdir()
    (room / mistake.name).write_bytes(mistake.read_bytes())
    book = load((builtin_folder(), tmp_path))
    assert len(book.rules) >= len(load((builtin_folder(),)).rules)
    assert diagnose_sources([pasted(LOG, "x")], book=book).verdict in Verdict


def test_the_id_of_a_rule_that_is_left_out_stays_taken(tmp_path: Path) -> None:
    (tmp_path / "causes").mkdir()
    rule = (builtin_folder() / "causes" / "NC101-wrong-interface.toml").read_text(encoding="utf-8")
    (tmp_path / "causes" / "mine.toml").write_text(rule.replace('id = "NC101"', 'id = "NC801"'), encoding="utf-8")
    folders = (builtin_folder(), tmp_path)
    said = [[error.problem for error in load(folders, but=but).broken] for but in ("", BETWEEN)]
    assert said == [["the id NC801 is taken by choice-not-shared"]] * 2


def test_what_cannot_be_run_is_reported_with_file_and_key(tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "mine.toml").write_text(
        '[[event]]\nkind = "x"\nliteral = "words"\npattern = "words ("\nsample = []\n'
    )
    (broken,) = load((builtin_folder(), tmp_path)).broken
    assert broken.place == "events/mine.toml, key event[0].pattern"


def test_fields_that_are_no_numbers_are_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "mine.toml").write_text(
        '[[event]]\nkind = "connect.retry"\nliteral = "words"\npattern = "words (?P<port>.*)"\nsample = []\n'
        '[[event]]\nkind = "communicator"\nliteral = "words"\npattern = "words (?P<number>.*)"\nsample = []\n'
    )
    book = load((builtin_folder(), tmp_path))
    assert book.broken == ()
    assert diagnose_sources([pasted("words without end", "x")], book=book).job.world_size is None


def test_the_users_folder_follows_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/somewhere")
    monkeypatch.setattr("sys.platform", "linux")
    assert user_folder() == Path("/somewhere/ncclcheck/rules")
    monkeypatch.setattr("sys.platform", "darwin")
    assert user_folder().parts[-4:] == ("Library", "Application Support", "ncclcheck", "rules")
