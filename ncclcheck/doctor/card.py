"""What does this node tell other nodes about itself?"""

from __future__ import annotations

from dataclasses import replace

from ncclcheck.doctor.remote import ask
from ncclcheck.doctor.scan import scan
from ncclcheck.model import Facts, Node, Setting
from ncclcheck.node.environment import ENVIRONMENT
from ncclcheck.node.probing import environment_with
from ncclcheck.node.undecodable import shown
from ncclcheck.peer.card_trim import PREFIXES, of

_LIMIT = 60.0


def card(node: Node, *, nccl: str | None = None, python: str | None = None) -> Facts:
    """The part of a node's facts that is on its card; ``nccl`` is the version to predict for."""
    if node.prefix:
        asked = [word for flag, value in (("--nccl", nccl), ("--python", python)) if value for word in (flag, value)]
        return ask(node, ["card", "--json", *asked], Facts, _LIMIT)
    facts = scan(node, nccl=nccl, python=python)
    return of(replace(facts, settings=facts.settings + _beside(node, facts)))


def _beside(node: Node, facts: Facts) -> tuple[Setting, ...]:
    """The job's variables that NCCL itself does not read, but Gloo and PyTorch do."""
    known = {one.name for one in facts.settings if one.origin == ENVIRONMENT}
    env = environment_with(node.env)
    names = [name for name in sorted(env) if name.startswith(PREFIXES) and name not in known]
    return tuple(Setting(shown(name), shown(env[name]), ENVIRONMENT) for name in names)
