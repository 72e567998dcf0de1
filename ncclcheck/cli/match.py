"""``ncclcheck match``: what nodes have in common, by their cards alone; no connection is needed."""

from __future__ import annotations

import argparse

from ncclcheck.cli.card import cards
from ncclcheck.cli.diagnostics import ExitCode, note
from ncclcheck.cli.output import write, write_json
from ncclcheck.model import Node, Verdict

_DESCRIPTION = """\
Compares the cards of two or more nodes: the networks they share, the interface for each, addresses that both have,
MTU, versions, settings and names that differ. One card alone is compared with this node. Nothing is sent anywhere."""

_EPILOG = """\
  ncclcheck match CARD                          this node and another one; CARD is what `ncclcheck card` printed there
  ncclcheck match a.card b.card                 cards in files
  ncclcheck card | ssh node-b ncclcheck match -
exit codes: 0 nothing wrong by the cards, 1 problems found, 2 wrong usage, 3 a card that cannot be read."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser(
        "match",
        help="compare the cards of several nodes: shared networks, the interface for each, the fix for each",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cards", metavar="CARD", nargs="*", default=["-"], help="cards, files with cards, or -")
    parser.add_argument("--python", metavar="PATH", help="the Python that your training uses on this node")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """Compare and show."""
    from ncclcheck.cli.sides_json import conclusion_json
    from ncclcheck.cli.sides_text import conclusion_text
    from ncclcheck.doctor.card import card
    from ncclcheck.doctor.conclude import conclude, distinct

    nodes = cards(options.cards)
    if len(nodes) == 1:
        note(f"One card, of {nodes[0].host}: compared with this node.")
        nodes = (card(Node("this machine"), python=options.python), *nodes)
    known = conclude(distinct(nodes))
    write_json(conclusion_json(known)) if options.json else write(conclusion_text(known))
    return (
        ExitCode.PROBLEM if known.diagnosis.verdict is Verdict.PROBLEM or not known.sides.match.use else ExitCode.CLEAR
    )
