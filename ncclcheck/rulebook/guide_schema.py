"""The shape of a guide's file, and the closed lists of what it may name. Unknown keys are errors.

These structures mirror the TOML one to one; ``rules/README.md`` explains them to guides' authors.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

GuideKind = Literal["place", "common", "launcher"]
Ground = Literal["console", "each", "first", "others"]
"""Where a step is done: ``console`` is the provider's site, or its tool on the person's own computer."""
CheckKind = Literal[
    "nodes-joined",
    "shared-network",
    "settled",
    "conf-clean",
    "port-free",
    "handshake",
    "speed",
    "ddp",
    "interfaces",
    "shm",
    "memlock",
    "gpu",
    "rdma-device",
    "name-resolves",
    "not-wsl-nat",
    "open-files",
]

COMMON = "nodes"
"""The name of the one guide of what is the same everywhere."""
COMMON_STEPS = ("join", "network", "settings", "port", "handshake", "speed", "ddp", "command")
"""Its steps, in their order; the engine knows them by these names."""

PLACEHOLDERS: Mapping[str, str] = {
    "host": "this node's host name",
    "interface": "this node's interface on the shared network",
    "address": "this node's address on the shared network",
    "peer_host": "the other node's host name",
    "peer_address": "the other node's address on the shared network",
    "master_addr": "the address of rank 0's node on the shared network",
    "master_port": "a port that is free on rank 0's node",
    "nodes": "how many nodes take part",
    "role": "which node this is: 0 invites, 1 and up join",
    "node_rank": "which node this is, as launchers count: 0 for the first",
    "nproc": "how many processes each node runs: one for each GPU",
    "world_size": "processes on all nodes together",
    "python": "the Python that you train with",
    "script": "your training script",
    "nccl": "the NCCL release that this Python would load",
    "conf_path": "the nccl.conf that NCCL reads here",
    "setting": "the settings that this node needs, as NAME=VALUE words; empty if none",
    "hosts": "the addresses of all nodes on the shared network, by role, with commas between",
    "invitation": "the whole command line to run on the other node",
}
"""What may stand in braces besides the guide's own questions, and where its value comes from."""


@dataclass(frozen=True, slots=True)
class Argument:
    """What a check may be told."""

    kind: type[int] | type[bool]
    """A whole number is at least 1."""
    needed: bool
    words: str


CHECKS: Mapping[CheckKind, Mapping[str, Argument]] = {
    "nodes-joined": {},
    "shared-network": {},
    "settled": {},
    "conf-clean": {},
    "port-free": {},
    "handshake": {},
    "speed": {},
    "ddp": {},
    "interfaces": {"least": Argument(int, needed=True, words="interfaces with an address, besides loopback")},
    "shm": {"mebibytes": Argument(int, needed=True, words="MiB that /dev/shm must hold")},
    "memlock": {"unlimited": Argument(bool, needed=False, words="whether there may be no limit at all")},
    "gpu": {},
    "rdma-device": {},
    "name-resolves": {},
    "not-wsl-nat": {},
    "open-files": {"least": Argument(int, needed=True, words="open files that a process must be allowed")},
}
"""The arguments of each kind of check."""

LOOKED_AT: Mapping[CheckKind, str] = {
    "nodes-joined": "every node has joined",
    "shared-network": "all nodes have an address in one network",
    "settled": "NCCL takes the shared interface on every node, with the settings as they are",
    "conf-clean": "NCCL reads every line of nccl.conf, and every NCCL variable, as it looks",
    "port-free": "nobody listens on the port of rank 0's node",
    "handshake": "NCCL's own way of meeting works between the nodes, in both directions",
    "speed": "data crosses between the nodes, and how fast",
    "ddp": "a small training runs over all nodes, and every node ends with the same weights",
    "interfaces": "at least {least} interfaces besides loopback have an address",
    "shm": "/dev/shm holds at least {mebibytes} MiB",
    "memlock": "memory may be locked without a limit",
    "gpu": "the Python that you train with sees a GPU",
    "rdma-device": "there is an RDMA device (InfiniBand, RoCE or EFA)",
    "name-resolves": "this node's own name leads to an address that others can reach",
    "not-wsl-nat": "this node is not behind WSL's own address translation",
    "open-files": "a process may open at least {least} files",
}
"""What each kind of check looks at, in words that follow “checks that”; placeholders are its arguments."""


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What only the person knows; its answer is a placeholder's value."""

    question: str
    pattern: str
    """What a whole answer must match."""
    example: str


class FileText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file as it should be."""

    path: str
    content: str


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[step.check]]``: really run, on the node where ncclcheck stands."""

    kind: CheckKind
    fails: str
    """What is wrong where it fails, in plain words."""
    remedy: str = ""
    """The rule whose page tells more."""
    step: str = ""
    """The step to go back to."""
    with_: dict[str, int | bool] = msgspec.field(default={}, name="with")


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[step]]``."""

    id: str
    title: str
    where: Ground
    text: str
    commands: tuple[str, ...] = ()
    manifest: str = ""
    file: FileText | None = None
    proves: str = ""
    """What a passed check proves, and what it does not."""
    needs: tuple[str, ...] = ()
    """Steps that come before, of this guide or of the common one."""
    skip: str = ""
    """When somebody may leave it out."""
    undo: str = ""
    ask: dict[str, Question] = {}
    check: tuple[Check, ...] = ()


class Guide(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file in ``rules/guides/``."""

    name: str
    kind: GuideKind
    title: str
    text: str
    step: tuple[Step, ...]
    places: tuple[str, ...] = ()
    """Names of ``rules/places.toml`` whose signs make it apply."""
    read: datetime.date | None = None
    """When the sources were read."""
    sources: tuple[str, ...] = ()
    terms: dict[str, str] = {}
    """Words that are explained where they first stand."""


class CheckTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check's text in another language; checks stand in the order of the English file."""

    fails: str


class QuestionTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question in another language."""

    question: str


class StepTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step's texts in another language; what is left out stays English."""

    id: str
    title: str = ""
    text: str = ""
    proves: str = ""
    skip: str = ""
    undo: str = ""
    ask: dict[str, QuestionTexts] = {}
    check: tuple[CheckTexts, ...] = ()


class GuideTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file in ``rules/guides/LANG/``: a guide's texts in another language."""

    title: str = ""
    text: str = ""
    terms: dict[str, str] = {}
    """These instead of the English ones: the words themselves are others."""
    step: tuple[StepTexts, ...] = ()


STRUCTURES = (Question, FileText, Check, Step, Guide, CheckTexts, QuestionTexts, StepTexts, GuideTexts)
