"""Begins a rule: a file with all keys that a rule needs, to be filled in."""

from __future__ import annotations

import re
from pathlib import Path

from ncclcheck.errors import RuleError
from ncclcheck.rulebook.library import builtin_folder
from ncclcheck.rulebook.load import rule_files

_FIRST = 950
"""Ids from here on belong to users."""
_DRAFT = '''\
id = "{id}"
name = "{name}"
# One of rules/causes.toml: what is wrong with the set-up.
cause = "rank-died"
severity = "error"
# certain only where nothing else can have printed these lines
confidence = "possible"
title = "{{host}}: what is wrong, in one line, with the names filled in"
explanation = """
Why it happens, and how these lines show it."""
not_proof_of = "What these lines do not prove."

# Several [[match]] are alternatives. rules/README.md explains subjects and conditions.
[[match]]
subject = "event"
where = {{ kind = "connect.failed" }}

[[fix]]
title = "What to do"
scope = "this-node"
risk = "manual"
commands = ["ncclcheck node"]

# A genuine log on which the rule must speak …
[[sample]]
log = """
node-a:10:10 [0] NCCL WARN socketPollConnect: connect to 10.0.0.11<40000> returned Connection refused, \
exceeded error retry count (35)
"""
# … and one that looks alike, on which it must stay silent.
[[sample]]
match = false
log = """
node-a:10:10 [0] NCCL INFO socketPollConnect: connect to 10.0.0.11<40000> returned Connection refused, \
retrying (3/34) after sleep for 300 msec
"""
'''


def begin(name: str, folder: Path) -> Path:
    """Write the draft of a rule into the folder, with the next id that is free; raises RuleError where it can't."""
    require_name(name)
    path = folder / "causes" / f"{free_id(folder)}-{name}.toml"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(_DRAFT.format(id=path.name.partition("-")[0], name=name))
    except OSError as error:
        raise RuleError(
            f"cannot be written: {error.strerror}", place=str(path), next_step="name another --folder"
        ) from error
    return path


def require_name(name: str) -> None:
    """Raises RuleError for what is no name of a rule."""
    if not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name):
        raise RuleError(
            f"{name!r} is no name for a rule", next_step="small letters and hyphens, such as stale-lockfile"
        )


def free_id(folder: Path) -> str:
    """The first id that neither a built-in rule nor one of the folder has; raises RuleError where there is none."""
    taken = {path.name.partition("-")[0] for path in rule_files((builtin_folder(), folder))}
    free = (f"NC{number}" for number in range(_FIRST, 1000))
    found = next((rule for rule in free if rule not in taken), None)
    if found is None:
        raise RuleError("all ids from NC950 to NC999 are taken", place=str(folder), next_step="name another --folder")
    return found
