"""What NCCL would choose on this machine if a variable had another value (pure).

A change is one of a job's environment, so it wins over every nccl.conf; a variable that is taken away lets the value
of a file through. For another NCCL version take the facts of a scan for that version: it reads files differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ncclcheck.model import Change, Facts, Setting, WhatIf
from ncclcheck.node import selection
from ncclcheck.node.environment import ENVIRONMENT, winning
from ncclcheck.node.lint import lint_settings
from ncclcheck.node.subnet import Resolver, literal, peer_of
from ncclcheck.node.unusual import unusual

_CHANGE = re.compile(r"([A-Za-z_]\w*)(?:=(.*)|-)", re.DOTALL)


def change(text: str) -> Change | None:
    """``NAME=VALUE`` (which may be empty) or ``NAME-`` (unset); ``None`` for anything else."""
    found = _CHANGE.fullmatch(text)
    return Change(found[1], found[2]) if found and "\0" not in text else None


def what_if(facts: Facts, changes: Sequence[Change], nccl: str, resolve: Resolver = literal) -> WhatIf:
    """The choice with these changes, and what is to be said about them."""
    settings = settings_with(facts.settings, changes)
    values, links = winning(settings), facts.interfaces
    choice = selection.bootstrap(links, values, nccl, resolve) if links else None
    sockets = selection.sockets(links, values, nccl, resolve) if links else None
    names = {one.name for one in changes}
    concerned = [setting for setting in settings if setting.name in names]
    remarks = unusual(replace(facts, choice=choice, sockets=sockets, settings=settings))
    return WhatIf(
        changes=tuple(changes),
        choice=choice,
        sockets=sockets,
        troubles=lint_settings(concerned, nccl),
        remarks=(*_of_changes(facts.settings, changes), *remarks),
    )


def rests_on_a_name(facts: Facts, changes: Sequence[Change]) -> bool:
    """Whether the answer depends on what a host name in NCCL_COMM_ID leads to, which a resolver has to say."""
    values = winning(settings_with(facts.settings, changes))
    comm_id = values.get(selection.COMM_ID, "")
    return peer_of(comm_id, literal) is None and peer_of(comm_id, lambda name: "0.0.0.0") is not None


def settings_with(settings: Iterable[Setting], changes: Iterable[Change]) -> tuple[Setting, ...]:
    """The settings with these variables in place of the environment's, and which of them win then."""
    return tuple(_changed(settings, {one.name: one.value for one in changes}))


def _changed(settings: Iterable[Setting], values: dict[str, str | None]) -> Iterator[Setting]:
    seen: set[str] = set()
    added = [Setting(name, value, ENVIRONMENT) for name, value in values.items() if value is not None]
    kept = [one for one in settings if one.origin != ENVIRONMENT or one.name not in values]
    for setting in (*added, *kept):
        first = setting.name not in seen
        seen.add(setting.name)
        yield replace(setting, wins=first if setting.name in values else setting.wins)


def _of_changes(settings: Iterable[Setting], changes: Iterable[Change]) -> Iterator[str]:
    present = {setting.name: setting for setting in settings if setting.wins}
    for one in changes:
        if one.name in ("NCCL_CONF_FILE", "HOME"):
            yield f"{one.name} decides which nccl.conf is read; this answer still rests on the files read now"
        setting = present.get(one.name)
        if one.value is None and setting is None:
            yield f"{one.name} is not set anyway"
        elif one.value is not None and setting is not None and setting.value == one.value:
            yield f"{one.name} has that value already, from {setting.origin}"
