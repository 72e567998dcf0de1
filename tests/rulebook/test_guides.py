"""Guides are loaded, guessed, and made into one row of steps."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from ncclcheck.errors import RuleError
from ncclcheck.model import Hint
from ncclcheck.rulebook.guide_check import SAMPLES
from ncclcheck.rulebook.guide_schema import CHECKS, COMMON_STEPS, LOOKED_AT, PLACEHOLDERS, CheckKind
from ncclcheck.rulebook.guides import Guides, first_uses, guess, load_guides, plan
from tests.rulebook.small_guides import CLOUD, LAUNCHER, common, small, write_guides

GERMAN = """
title = "Maschinen einer Wolke"
terms = { Hilfsnetz = "ein Netz über einem Netz" }

[[step]]
id = "make"
text = "Ein Hilfsnetz für {nodes} Rechner."
ask = { project = { question = "Welches Projekt?" } }

[[step]]
id = "write"
check = [{ fails = "Es gibt nur ein Netz." }]
"""


@pytest.fixture(autouse=True)
def _no_rules_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def test_guides_are_found_by_kind_and_name(tmp_path: Path) -> None:
    guides, (place, nodes, launcher) = small(tmp_path)
    assert (place.title, nodes.name, launcher.kind) == ("Machines of a cloud", "nodes", "launcher")
    with pytest.raises(RuleError) as raised:
        guides.place("clod")
    assert (raised.value.place, raised.value.next_step) == ("--provider", "one of: cloud")


def test_every_list_is_complete() -> None:
    assert CHECKS.keys() == LOOKED_AT.keys() == set(get_args(CheckKind))
    assert SAMPLES.keys() == PLACEHOLDERS.keys()
    told = {kind: {name: 1 for name in arguments} for kind, arguments in CHECKS.items()}
    assert all("{" not in LOOKED_AT[kind].format(**told[kind]) for kind in CHECKS)


def test_any_place_and_launcher_that_come_along_make_a_row() -> None:
    guides = load_guides()
    assert tuple(step.id for step in guides.common.step) == COMMON_STEPS
    for place in guides.places:
        for launcher in guides.launchers:
            row = plan(place, guides.common, launcher)
            assert len({planned.id for planned in row}) == sum(
                len(guide.step) for guide in (place, guides.common, launcher)
            )


def test_ones_own_guide_is_there_beside_those_that_come_along(tmp_path: Path) -> None:
    write_guides(tmp_path / "config" / "ncclcheck" / "rules")
    (tmp_path / "config" / "ncclcheck" / "rules" / "guides" / "nodes.toml").unlink()
    assert load_guides().place("cloud").places == ("AWS",)
    write_guides(tmp_path / "config" / "ncclcheck" / "rules")
    with pytest.raises(RuleError, match="there is a guide nodes already"):
        load_guides()


@pytest.mark.parametrize(
    ("text", "problem", "place"),
    [
        (CLOUD.replace("skip =", "skipp ="), "Object contains unknown field `skipp`", "guides/mine.toml, key step[0]"),
        (
            CLOUD.replace('"interfaces"', '"interfacs"'),
            "Invalid enum value 'interfacs'",
            "guides/mine.toml, key step[1].check[0].kind",
        ),
        (CLOUD, "cloud is in a file that is not called so", "guides/mine.toml, key name"),
        (
            CLOUD.replace('"cloud"', '"mine"').replace('["network"]', '["look"]'),
            "nobody reaches this step: what it needs waits for it",
            "guides/mine.toml, key step[1].needs",
        ),
        (common().replace('"nodes"', '"mine"'), "this cannot be the common guide", "guides/mine.toml, key kind"),
    ],
)
def test_a_broken_guide_is_told_with_file_and_key(tmp_path: Path, text: str, problem: str, place: str) -> None:
    with pytest.raises(RuleError) as raised:
        load_guides(write_guides(tmp_path, mine=text))
    assert (raised.value.problem, raised.value.place) == (problem, place)


def test_without_the_common_guide_there_is_no_row(tmp_path: Path) -> None:
    write_guides(tmp_path)
    (tmp_path / "guides" / "nodes.toml").unlink()
    with pytest.raises(RuleError, match="0 guides are of the kind common"):
        load_guides(tmp_path)


def test_what_a_step_needs_comes_first(tmp_path: Path) -> None:
    _, three = small(tmp_path)
    ids = [planned.id for planned in plan(*three)]
    assert ids[:5] == ["cloud/make", "nodes/join", "nodes/network", "cloud/write", "cloud/look"]
    assert ids[5:] == [f"nodes/{name}" for name in COMMON_STEPS[2:]] + ["run/start"]


def test_places_are_guessed_by_their_signs_providers_first(tmp_path: Path) -> None:
    box = CLOUD.replace('"cloud"', '"box"').replace('"AWS"', '"Docker", "Podman"')
    linux = CLOUD.replace('"cloud"', '"linux"').replace('["AWS"]', "[]")
    guides = load_guides(write_guides(tmp_path, box=box, linux=linux))
    hints = (
        Hint("Docker", "runtime", ("/.dockerenv exists",)),
        Hint("Podman", "runtime", ("container is set",)),
        Hint("AWS", "provider", ("vendor",)),
        Hint("LXC", "runtime", ("no guide",)),
    )
    assert [(guide.name, evidence) for guide, evidence in guess(guides, hints)] == [
        ("cloud", ("vendor",)),
        ("box", ("/.dockerenv exists", "container is set")),
        ("linux", ()),
    ]
    assert [guide.name for guide, _ in guess(guides, ())] == ["linux"]


def test_a_translation_changes_words_and_nothing_else(tmp_path: Path) -> None:
    english = small(tmp_path)[0].place("cloud")
    (tmp_path / "guides" / "de").mkdir()
    (tmp_path / "guides" / "de" / "cloud.toml").write_text(GERMAN, encoding="utf-8")
    german = load_guides(tmp_path, "de").place("cloud")
    assert (german.title, german.text) == ("Maschinen einer Wolke", english.text)
    assert dict(german.terms) == {"Hilfsnetz": "ein Netz über einem Netz"}
    make, write, look = german.step
    assert make.text == "Ein Hilfsnetz für {nodes} Rechner."
    assert (make.ask["project"].question, make.ask["project"].pattern) == ("Welches Projekt?", r"\d+")
    assert (write.check[0].fails, write.check[0].remedy) == ("Es gibt nur ein Netz.", "NC802")
    assert (make.commands, write.file, look) == (english.step[0].commands, english.step[1].file, english.step[2])
    assert load_guides(tmp_path, "en").place("cloud") == english


@pytest.mark.parametrize("lang", ["fr", "../de", "de/"])
def test_a_language_that_nobody_began_is_told(tmp_path: Path, lang: str) -> None:
    write_guides(tmp_path)
    (tmp_path / "guides" / "de").mkdir()
    (tmp_path / "guides" / "de" / "cloud.toml").write_text(GERMAN, encoding="utf-8")
    with pytest.raises(RuleError) as raised:
        load_guides(tmp_path, lang)
    assert raised.value.next_step == "one of: de, en"


def test_a_term_is_explained_where_it_first_stands() -> None:
    terms = {"rank": "a number", "world size": "how many"}
    texts = ("Franks frank {rank}.", "Two Ranks,\nand the world\nsize.", "A rank.")
    assert list(first_uses(texts, terms)) == [(), (("rank", "a number"), ("world size", "how many")), ()]


def test_names_do_not_depend_on_the_launchers_file(tmp_path: Path) -> None:
    again = LAUNCHER.replace('"run"', '"other"')
    guides: Guides = load_guides(write_guides(tmp_path, other=again))
    assert [guide.name for guide in guides.launchers] == ["other", "run"]
