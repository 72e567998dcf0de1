"""``rules check`` refuses what rule authors get wrong, with file, key and what to write instead."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ncclcheck.errors import RuleError
from ncclcheck.rulebook.check import check
from ncclcheck.rulebook.draft import begin
from ncclcheck.rulebook.library import builtin_folder

MISTAKES = sorted((Path(__file__).parents[1] / "bad_rules").glob("*/*.toml"))


def test_there_are_at_least_twenty_mistakes() -> None:
    assert len(MISTAKES) >= 20


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda path: path.stem)
def test_each_mistake_has_the_answer_promised_beside_it(mistake: Path, tmp_path: Path) -> None:
    room = tmp_path / mistake.parent.name
    room.mkdir()
    shutil.copy(mistake, room)
    answer = "\n".join(map(str, check((tmp_path,)).faults))
    assert answer == mistake.with_suffix(".txt").read_text().rstrip("\n")


def test_a_file_in_the_wrong_place_is_told_where_to_go(tmp_path: Path) -> None:
    (tmp_path / "NC950-x.toml").write_text('id = "NC950"\n')
    (fault,) = check((tmp_path,)).faults
    assert (fault.place, fault.next_step) == ("NC950-x.toml", f"move it to {tmp_path.name}/causes/")


def test_a_draft_is_a_rule_that_passes(tmp_path: Path) -> None:
    begin("lost-token", tmp_path)
    second = begin("lost-token", tmp_path)
    assert second.name == "NC951-lost-token.toml"
    checked = check((tmp_path,))
    assert (checked.rules, checked.faults) == (2, ())


def test_a_folder_that_is_not_there_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(RuleError) as raised:
        check((tmp_path / "nothing",))
    assert raised.value.problem == "is no folder"


def test_the_built_in_folder_may_be_named_in_any_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(builtin_folder().parent)
    assert check((Path(builtin_folder().name),)).faults == ()
