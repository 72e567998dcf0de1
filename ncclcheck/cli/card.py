"""``ncclcheck card``: what this node tells about itself, as a few lines for the other node."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ncclcheck.cli.diagnostics import ExitCode, note
from ncclcheck.cli.node import version
from ncclcheck.cli.output import write, write_json
from ncclcheck.errors import PeerError
from ncclcheck.model import Facts

_LONGEST = 1 << 20
"""Characters of a file that may hold cards; a card has one or two thousand."""

_DESCRIPTION = """\
Prints this node's card: its interfaces, addresses, routes, NCCL settings, limits and RDMA devices, as a few lines
that can be pasted into any terminal, chat or ticket. It holds names and addresses, and no keys or passwords."""

_EPILOG = """\
  ncclcheck card                     this node's card
  ncclcheck card --show              what is on it, in plain words
  ncclcheck card --show CARD         what is on another one: a card, a file with cards, or - for standard input
  ncclcheck match CARD               on the other node: what the two have in common
exit codes: 0 done, 2 wrong usage, 3 a card or file that cannot be read."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser(
        "card",
        help="print what this node tells about itself, to be pasted on another node",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--show", metavar="CARD", nargs="*", help="say in plain words what is on it (or on these)")
    parser.add_argument("--nccl", metavar="VERSION", type=version, help="predict for this NCCL version")
    parser.add_argument("--python", metavar="PATH", help="the Python that your training uses")
    parser.add_argument("--json", action="store_true", help="print what is on it as JSON (docs/node-json.md)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """Print the card, or what is on one."""
    if options.show is None and not options.json:
        return _print(options)
    shown = cards(options.show) if options.show else (_own(options),)
    if options.json:
        for facts in shown:
            write_json(facts)
    else:
        from ncclcheck.cli.card_text import card_text

        write("\n\n\n".join(map(card_text, shown)))
    return ExitCode.CLEAR


def _own(options: argparse.Namespace) -> Facts:
    from ncclcheck.doctor.card import card
    from ncclcheck.model import Node

    return card(Node("this machine"), nccl=options.nccl, python=options.python)


def _print(options: argparse.Namespace) -> ExitCode:
    from ncclcheck.peer import card

    write(card.write(_own(options)))
    note("On the other node: ncclcheck match 'CARD', or paste the cards of both into: ncclcheck match -")
    return ExitCode.CLEAR


def cards(words: Iterable[str]) -> tuple[Facts, ...]:
    """The cards that a command line names: cards themselves, quoted or not, files, and ``-`` for standard input.

    PeerError for a file that cannot be read, one without a card, and a card that is damaged.
    """
    from ncclcheck.peer import card

    found: list[Facts] = []
    for place, text in _texts(words):
        there = card.read(text)
        if not there:
            step = "A card begins with NCCLCARD1; it is what this prints on the other node: ncclcheck card"
            raise PeerError("there is no card in it", place=place, next_step=step)
        found += there
    return tuple(dict.fromkeys(found))


def _texts(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Where each text comes from, and the text; the words of a card that was not quoted are one text."""
    from ncclcheck.peer import card

    begun: list[str] = []
    for word in words:
        if begun or card.looks_like(word) or word.startswith("NCCLCARD"):
            begun.append(word)
            if card.has_end(word):
                yield "the card", " ".join(begun)
                begun = []
        else:
            yield _file(word)
    if begun:
        yield "the card", " ".join(begun)


def _file(word: str) -> tuple[str, str]:
    if word == "-":
        if sys.stdin.isatty():
            note("Paste the cards, then press Enter and Ctrl-D")
        return "standard input", sys.stdin.buffer.read(_LONGEST).decode(errors="replace")
    try:
        with Path(word).open("rb") as file:
            return word, file.read(_LONGEST).decode(errors="replace")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        step = "Give a card, a file that holds one, or - for standard input"
        raise PeerError(f"cannot be read: {why}", place=word[:80], next_step=step) from error
