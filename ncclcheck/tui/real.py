"""The doctor's use cases as the screens call them; each is imported at its first call, on the worker's thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ncclcheck.model import Applied, Change, Diagnosis, Edit, Facts, Fix, Handshake, Judgement, Node, Probe, SpeedTest
from ncclcheck.speedtest.plan import Side
from ncclcheck.tui.seam import Examiner, Kept, Meeting, Steps, Stopped, Ticks, UseCases
from ncclcheck.tui.setup.real import setup_cases

if TYPE_CHECKING:
    from ncclcheck.doctor.conclude import Conclusion
    from ncclcheck.doctor.foresight import Foresight, Present
    from ncclcheck.doctor.history import Made
    from ncclcheck.doctor.part import Agree
    from ncclcheck.logs.sources import Source
    from ncclcheck.rulebook.own import OwnRule
    from ncclcheck.speedtest.history import Run

SIZE = 64 * 1024 * 1024
"""Bytes a round of the speed test that ends a pairing, as of the one between nodes of ours."""


def use_cases() -> UseCases:
    """All of them."""
    return UseCases(
        scan=_scan,
        probe=_probe,
        read=_read,
        examine=_examine,
        diagnose_probes=_diagnose_probes,
        preview=_preview,
        apply=_apply,
        undo=_undo,
        measure=_measure,
        measure_here=_measure_here,
        keep=_keep,
        judge=_judge,
        history=_history,
        changes=_changes,
        invite=_invite,
        join=_join,
        between=_between,
        match_cards=_match_cards,
        handshake=_handshake,
        setup=setup_cases(),
        keep_rule=_keep_rule,
        foresee=_foresee,
    )


def _scan(node: Node) -> Facts:
    from ncclcheck.doctor.scan import scan

    return scan(node)


def _probe(node: Node) -> Probe:
    from ncclcheck.doctor.probe import probe

    return probe(node)


def _read(paths: Sequence[str]) -> tuple[Source, ...]:
    from ncclcheck.logs.sources import open_sources

    return open_sources(paths)


def _examine(facts: tuple[Facts, ...]) -> Examiner:
    from ncclcheck.doctor.examine import Examination

    return Examination(facts)


def _diagnose_probes(probes: Sequence[Probe], facts: tuple[Facts, ...]) -> Diagnosis:
    from ncclcheck.doctor.diagnose import diagnose_probes

    return diagnose_probes(probes, facts)


def _preview(fix: Fix, node: Node) -> tuple[Edit, ...]:
    from ncclcheck.doctor.fix import preview

    # The same setting may be told twice, as a variable and as a whole file; the variable keeps the file's other lines.
    return preview(replace(fix, files=()) if fix.env else fix, node)


def _apply(edits: tuple[Edit, ...], node: Node) -> tuple[Applied, ...]:
    from ncclcheck.doctor.fix import apply

    return apply(edits, node)


def _undo(applied: tuple[Applied, ...], node: Node) -> None:
    from ncclcheck.doctor.fix import undo

    undo(applied, node)


def _measure(meeting: Meeting) -> Ticks:
    from ncclcheck.doctor.measure import measure

    return measure(
        meeting.nodes,
        address=meeting.address,
        port=meeting.port,
        size=meeting.size,
        interfaces=meeting.interfaces,
    )


def _measure_here(side: Side) -> Ticks:
    from ncclcheck.doctor.measure import measure_here

    return measure_here(side)


def _keep(ticks: Ticks, command: Sequence[str], facts: Facts, label: str) -> Kept:
    from ncclcheck.doctor.speed import kept

    return kept(ticks, command, facts, label)


def _judge(test: SpeedTest, facts: Facts) -> tuple[SpeedTest, Judgement]:
    from ncclcheck.doctor.speed import judged

    return judged(test, facts)


def _history() -> tuple[Run, ...]:
    from ncclcheck.doctor.speed import history

    return history()


def _changes(session: Sequence[tuple[Node, tuple[Applied, ...]]]) -> tuple[Made, ...]:
    from ncclcheck.doctor.history import changes

    return changes(session)


def _invite(agree: Agree, stopped: Stopped) -> Steps:
    from ncclcheck.doctor.meet import Options
    from ncclcheck.doctor.pair import pair

    yield from pair(Options(speed=SIZE, stopped=stopped), agree)


def _join(text: str, agree: Agree) -> Steps:
    from ncclcheck.doctor.join import join
    from ncclcheck.peer.invitation import read

    yield from join(read(tuple(text.split())), agree)


def _between(nodes: Sequence[Node], stopped: Stopped) -> Steps:
    from ncclcheck.doctor.between import between

    yield from between(nodes, stopped=stopped)


def _match_cards(text: str, facts: tuple[Facts, ...]) -> Conclusion:
    from ncclcheck.doctor.card import card
    from ncclcheck.doctor.conclude import conclude, distinct
    from ncclcheck.peer import card as cards

    nodes = cards.read(text)
    if len(nodes) < 2:
        own = tuple(map(cards.of, facts)) or (card(Node("this machine")),)
        nodes = (*own, *nodes)
    return conclude(distinct(nodes))


def _handshake(nodes: Sequence[Node]) -> Handshake:
    from ncclcheck.doctor.handshake import handshake

    return handshake(tuple(nodes))


def _foresee(nodes: tuple[Facts, ...], change: Change, nccl: str, present: Present) -> Foresight:
    from ncclcheck.doctor.foresight import foresee

    return foresee(nodes, (change,), nccl, present)


def _keep_rule(rule: OwnRule) -> Path:
    from ncclcheck.doctor.own_rule import keep

    return keep(rule)[1]
