"""``python -m ncclcheck.rulebook.pages [FOLDER]``: writes one page a rule, by default into ``docs/rules``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ncclcheck.rulebook.explain import page
from ncclcheck.rulebook.library import builtin_folder
from ncclcheck.rulebook.load import Rulebook, load
from ncclcheck.rulebook.vocabulary import vocabulary

_FOLDER = Path("docs") / "rules"


def pages(book: Rulebook) -> dict[str, str]:
    """File names with their text: one for each rule, and the list of all."""
    words = vocabulary(book.events)
    rules = sorted(book.rules, key=lambda rule: rule.id)
    index = ["# The rules", "", "| rule | cause | what it says |", "|---|---|---|"]
    index += [f"| [{rule.id}]({rule.id}.md) | `{rule.cause}` | {rule.name.replace('-', ' ')} |" for rule in rules]
    return {
        **{f"{rule.id}.md": page(rule, words.causes) for rule in rules},
        "README.md": "\n".join((*index, "", "Written by `python -m ncclcheck.rulebook.pages`.", "")),
    }


def write(folder: Path) -> Iterator[Path]:
    """Write the pages of the built-in rules, and remove those of rules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages(load((builtin_folder(),)))
    for path in folder.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")
        yield folder / name


def main(arguments: Sequence[str]) -> None:
    """Entry point."""
    written = list(write(Path(arguments[0]) if arguments else _FOLDER))
    sys.stdout.write(f"{len(written)} pages\n")


if __name__ == "__main__":
    main(sys.argv[1:])
