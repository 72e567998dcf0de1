"""The ways from a line to a rule of one's own, each a generator of outcomes: try a pattern, keep the rule.

Runs on a worker thread. Raises RuleError for a rule that does not pass its check.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from ncclcheck.model import Where
from ncclcheck.tui import wording
from ncclcheck.tui.outcomes import Activity, Diagnosed, Doing
from ncclcheck.tui.rule_trial import Draft, Proposed, RuleKept, Trial, Tried
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.text import reading
from ncclcheck.tui.text.document import Document
from ncclcheck.tui.text.known import known_of
from ncclcheck.tui.text.reading import Outcomes
from ncclcheck.tui.text.scan import Scan
from ncclcheck.tui.text.sieve import Sieve

_TELL = 0.25
"""Seconds between two words about a search that goes on."""
_LONGEST_TITLE = 80
_NO_PLACEHOLDERS = str.maketrans("{}", "()")
_NOWHERE = Where("", 1)


def propose(where: Where, line: str, text: Document) -> Outcomes:
    """A pattern for lines like this one, and what it finds."""
    from ncclcheck.rulebook.propose import message_of, name_for, pattern_for

    message = message_of(line)
    shown = wording.line(message).translate(_NO_PLACEHOLDERS)
    title = "{host}: " + (shown if len(shown) <= _LONGEST_TITLE else shown[:_LONGEST_TITLE] + " …")
    draft = Draft(where, line, pattern_for(message), title, name_for(message))
    yield Proposed(draft)
    yield from try_pattern(draft.pattern, line, text)


def try_pattern(pattern: str, line: str, text: Document) -> Outcomes:
    """Which lines of the whole log the pattern for this one means."""
    from ncclcheck.rulebook.propose import TOO_LONG, refusal

    refused = refusal(pattern, line)
    if refused:
        yield Tried(Trial(pattern, refused))
        return
    scan, told = Scan(text, lambda _: _sieve(pattern, line)), time.monotonic()
    try:
        for _ in _throughout(scan, text):
            if time.monotonic() > told + _TELL:
                told = time.monotonic()
                yield Tried(_found(pattern, scan, text, ended=False))
    except TimeoutError:
        yield Tried(Trial(pattern, TOO_LONG))
        return
    yield Tried(_found(pattern, scan, text, ended=True))


def _throughout(scan: Scan, text: Document) -> Iterator[None]:
    """Step by step to the end; where the index has not come so far, it is driven on."""
    while True:
        yield from scan.run()
        if not any(not part.begun and part.grow() for part in text.texts):
            return


def _found(pattern: str, scan: Scan, text: Document, *, ended: bool) -> Trial:
    kept = scan.kept(text)
    places = (kept.row(row).where for row in range(min(kept.height, 2)))
    # A heading, which has no line number, is a row as well.
    first = next((where for where in places if where.line), None)
    return Trial(pattern, count=scan.total, first=first, ended=ended)


def _sieve(pattern: str, line: str) -> Sieve:
    """As rules look at a line: its fixed words first, then the pattern on what the program says in it."""
    from ncclcheck.logs.events import Shape
    from ncclcheck.logs.records import records
    from ncclcheck.rulebook.propose import literal_of

    shape = Shape("trial", literal_of(pattern, line), pattern)
    return Sieve(
        find=lambda text, at: text.find(shape.literal, at),
        accepts=lambda found: any(shape.matches(record.text) for record in records(_NOWHERE, found)),
    )


def keep(cases: UseCases, draft: Draft) -> Outcomes:
    """Check the rule and write it."""
    from ncclcheck.rulebook.own import OwnRule

    yield Doing(Activity.RULE, f"checking the rule {draft.name}")
    path = cases.keep_rule(OwnRule(draft.name, draft.title, draft.pattern, draft.line))
    yield RuleKept(str(path))


def diagnose_again(cases: UseCases, now: Snapshot) -> Outcomes:
    """Diagnose what is shown with the rules as they are now."""
    yield Doing(Activity.DIAGNOSE, "diagnosing with the new rule")
    if now.of_nodes:
        yield Diagnosed(cases.diagnose_probes(now.probes, now.facts), now.document, of_nodes=True)
    else:
        ours = () if now.document.paths else now.facts
        yield from reading.diagnose(cases, now.document, known_of(now.document, ours))
