"""Checks guides: every placeholder has a source, every check a remedy, every command parses, every manifest is one.

``guide_form`` has what must hold before a guide can be used at all. What cannot be looked at here, for want of bash or
of a YAML reader, is no flaw and no success: ``Shelf.undone`` says so.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ncclcheck.node.places import load
from ncclcheck.rulebook.guide_fill import fill_block, fill_command, placeholders, stray_brace
from ncclcheck.rulebook.guide_form import form_flaws
from ncclcheck.rulebook.guide_schema import PLACEHOLDERS, Guide, GuideTexts, Step, StepTexts
from ncclcheck.rulebook.guides import first_uses, in_language
from ncclcheck.rulebook.library import builtin_folder
from ncclcheck.rulebook.load import label
from ncclcheck.rulebook.patterns import Flaw
from ncclcheck.rulebook.schema import nearest

SAMPLES: Mapping[str, str] = {
    "host": "node-a",
    "interface": "ens7",
    "address": "10.0.0.11",
    "peer_host": "node-b",
    "peer_address": "10.0.0.12",
    "master_addr": "10.0.0.11",
    "master_port": "29500",
    "nodes": "2",
    "role": "0",
    "node_rank": "0",
    "nproc": "8",
    "world_size": "16",
    "python": "/opt/venv/bin/python",
    "script": "train.py",
    "nccl": "2.29.7",
    "conf_path": "/etc/nccl.conf",
    "setting": "NCCL_SOCKET_IFNAME==ens7 NCCL_IB_DISABLE=0",
    "hosts": "10.0.0.11,10.0.0.12",
    "invitation": "ncclcheck setup --join '40123-AAAA 10.0.0.11'",
}
"""A value for each placeholder, to fill what is parsed."""
_PARSE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Shelf:
    """What a guide is compared with, and what can be looked at here."""

    guides: Mapping[Path, Guide]
    rules: frozenset[str]
    """The ids of all rules."""
    places: frozenset[str]
    """The names of ``rules/places.toml``."""
    parses: Callable[[str], str] | None
    """What a shell says against a command, empty if nothing; None where there is no bash."""
    yaml: bool
    """Whether manifests can be read."""

    def undone(self, paths: Iterable[Path]) -> tuple[str, ...]:
        """What could not be looked at in these files, though there was something to look at."""
        steps = [step for path in paths for step in self.guides[path].step]
        bash = "the commands of guides were not parsed: there is no bash here"
        yaml = "the manifests of guides were not read: pip install 'ncclcheck[guides]'"
        no_bash = self.parses is None and any(step.commands for step in steps)
        no_yaml = not self.yaml and any(step.manifest for step in steps)
        return (*((bash,) if no_bash else ()), *((yaml,) if no_yaml else ()))


def shelf(guides: Mapping[Path, Guide], rules: frozenset[str]) -> Shelf:
    """The shelf of this machine; ``rules`` are the ids of all rules."""
    places = frozenset(place.name for place in load(builtin_folder() / "places.toml"))
    bash = shutil.which("bash")
    parses = None if bash is None else lambda command: bash_says(bash, command)
    return Shelf(guides, rules, places, parses, yaml=find_spec("yaml") is not None)


def bash_says(bash: str, command: str) -> str:
    """What bash says against a command that it reads and does not run; empty if nothing."""
    done = subprocess.run(
        [bash, "--norc", "-n", "-c", command],
        capture_output=True,
        text=True,
        timeout=_PARSE_SECONDS,
        env={"LC_ALL": "C"},
        check=False,
    )
    said = done.stderr.strip().splitlines()
    return said[0].partition("line ")[2].partition(": ")[2] or said[0] if said else ""


def guide_flaws(path: Path, guide: Guide, known: Shelf) -> Iterator[Flaw]:
    """What is wrong with a guide."""
    yield from form_flaws(path, guide)
    yield from _source_flaws(guide, known)
    for other, taken in known.guides.items():
        if other != path and taken.name == guide.name:
            yield Flaw("name", f"the name {guide.name} is taken by {label(other)}", "a name of its own")
    yield from _term_flaws(guide.terms, [text for _, text, _ in _prose(guide)])
    yield from _placeholder_flaws(guide)
    samples = {**SAMPLES, **{name: asked.example for step in guide.step for name, asked in step.ask.items()}}
    for number, step in enumerate(guide.step):
        yield from _remedy_flaws(f"step[{number}]", step, known)
        yield from _command_flaws(f"step[{number}]", step, samples, known)
        yield from _manifest_flaws(f"step[{number}].manifest", step, samples, known)
        yield from _conf_flaws(f"step[{number}].file", step, samples)


def _source_flaws(guide: Guide, known: Shelf) -> Iterator[Flaw]:
    if guide.kind != "common" and not guide.sources:
        yield Flaw("sources", "nobody says where this is from", 'sources = ["https://…"], the pages that were read')
    if guide.kind != "common" and guide.read is None:
        yield Flaw("read", "nobody says when the sources were read", "read = 2026-11-30, the day itself")
    for number, source in enumerate(guide.sources):
        if not source.startswith(("https://", "http://")):
            yield Flaw(f"sources[{number}]", f"{source!r} is no address of a page", "as in https://…")
    if guide.places and guide.kind != "place":
        yield Flaw("places", "only the guide of a place applies by the signs of one", "leave it out")
    for place in guide.places:
        if place not in known.places:
            yield Flaw("places", f"places.toml has no place {place}", nearest(place, known.places))


def _prose(guide: Guide) -> Iterator[tuple[str, str, int]]:
    """What people read, with its key and the number of its step, -1 for the guide's own."""
    yield "title", guide.title, -1
    yield "text", guide.text, -1
    for number, step in enumerate(guide.step):
        key = f"step[{number}]"
        for name in ("title", "text", "proves", "skip", "undo"):
            yield f"{key}.{name}", getattr(step, name), number
        for name, asked in step.ask.items():
            yield f"{key}.ask.{name}.question", asked.question, number
        for place, check in enumerate(step.check):
            yield f"{key}.check[{place}].fails", check.fails, number


def _blocks(guide: Guide) -> Iterator[tuple[str, str, int]]:
    """What people copy, likewise."""
    for number, step in enumerate(guide.step):
        for place, command in enumerate(step.commands):
            yield f"step[{number}].commands[{place}]", command, number
        yield f"step[{number}].manifest", step.manifest, number
        if step.file:
            yield f"step[{number}].file.path", step.file.path, number
            yield f"step[{number}].file.content", step.file.content, number


def _term_flaws(terms: Mapping[str, str], texts: list[str]) -> Iterator[Flaw]:
    used = {term for here in first_uses(texts, terms) for term, _ in here}
    for term in sorted(terms.keys() - used):
        yield Flaw(f"terms.{term}", "the term is explained and never used", "leave it out, or use the word itself")


def _placeholder_flaws(guide: Guide) -> Iterator[Flaw]:
    asked = {name: number for number, step in reversed(list(enumerate(guide.step))) for name in step.ask}
    asked = {name: number for name, number in asked.items() if name not in PLACEHOLDERS}
    used: set[str] = set()
    for key, text, number in (*_prose(guide), *_blocks(guide)):
        used |= set(placeholders(text))
        yield from _text_flaws(key, text, set(asked))
        for name in placeholders(text):
            if asked.get(name, -1) > number:
                yield Flaw(key, f"{{{name}}} is only asked in a later step", f"ask it in step[{max(number, 0)}]")
    for name in sorted(asked.keys() - used):
        yield Flaw(
            f"step[{asked[name]}].ask.{name}", "nothing is done with the answer", f"use {{{name}}}, or do not ask"
        )


def _text_flaws(key: str, text: str, asked: set[str]) -> Iterator[Flaw]:
    known = asked | PLACEHOLDERS.keys()
    for name in dict.fromkeys(placeholders(text)):
        if name not in known:
            yield Flaw(key, f"{{{name}}} has no source", nearest(name, known))
    if brace := stray_brace(text):
        yield Flaw(key, f"{brace} is no placeholder", "{name}, or {{ and }} for braces")


def _remedy_flaws(key: str, step: Step, known: Shelf) -> Iterator[Flaw]:
    for number, check in enumerate(step.check):
        if check.remedy and check.remedy not in known.rules:
            yield Flaw(
                f"{key}.check[{number}].remedy", f"there is no rule {check.remedy}", nearest(check.remedy, known.rules)
            )


def _command_flaws(key: str, step: Step, samples: Mapping[str, str], known: Shelf) -> Iterator[Flaw]:
    for number, command in enumerate(step.commands):
        sound = not stray_brace(command) and samples.keys() >= set(placeholders(command))
        if known.parses and sound and (said := known.parses(fill_command(command, samples))):
            yield Flaw(f"{key}.commands[{number}]", f"bash cannot read it: {said}", "try it: bash -n -c '…'")


def _manifest_flaws(key: str, step: Step, samples: Mapping[str, str], known: Shelf) -> Iterator[Flaw]:
    if step.manifest and known.yaml:
        from ncclcheck.rulebook.guide_manifest import manifest_flaws

        yield from manifest_flaws(key, fill_block(step.manifest, samples))


def _conf_flaws(key: str, step: Step, samples: Mapping[str, str]) -> Iterator[Flaw]:
    """Lines of an nccl.conf that NCCL would read in another way than they look."""
    from ncclcheck.node.lint import lint

    path = fill_block(step.file.path, samples) if step.file else ""
    if step.file and path.endswith("nccl.conf"):
        content = fill_block(step.file.content, samples)
        for line in lint(content.encode(), path, samples["nccl"]):
            yield Flaw(f"{key}.content", f"line {line.line}: {line.meaning}", line.corrected or "leave the line out")


def translation_flaws(path: Path, texts: GuideTexts, known: Shelf) -> Iterator[Flaw]:
    """What is wrong with a guide's texts in another language."""
    guide = next((guide for guide in known.guides.values() if guide.name == path.stem), None)
    if guide is None:
        names = [guide.name for guide in known.guides.values()]
        yield Flaw("title", f"there is no guide {path.stem} to translate", nearest(path.stem, names))
        return
    asked = {name for step in guide.step for name in step.ask}
    for key, text in (("title", texts.title), ("text", texts.text)):
        yield from _text_flaws(key, text, asked)
    yield from _term_flaws(texts.terms, [text for _, text, _ in _prose(in_language(guide, texts))])
    by_id = {step.id: step for step in guide.step}
    for number, step in enumerate(texts.step):
        if step.id not in by_id:
            yield Flaw(f"step[{number}].id", f"{guide.name} has no step {step.id}", nearest(step.id, by_id))
        else:
            yield from _step_flaws(f"step[{number}]", step, by_id[step.id], asked)


def _step_flaws(key: str, texts: StepTexts, step: Step, asked: set[str]) -> Iterator[Flaw]:
    for name in sorted(texts.ask.keys() - step.ask.keys()):
        yield Flaw(f"{key}.ask.{name}", f"the step does not ask {name}", nearest(name, step.ask) or "leave it out")
    if len(texts.check) > len(step.check):
        yield Flaw(
            f"{key}.check", f"the step has {len(step.check)} checks, not {len(texts.check)}", "the same, in order"
        )
    words = {name: getattr(texts, name) for name in ("title", "text", "proves", "skip", "undo")}
    words |= {f"ask.{name}.question": question.question for name, question in texts.ask.items()}
    words |= {f"check[{number}].fails": check.fails for number, check in enumerate(texts.check)}
    for name, text in words.items():
        yield from _text_flaws(f"{key}.{name}", text, asked)
