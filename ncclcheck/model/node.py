"""What a machine is, and what NCCL will do on it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ncclcheck.model.machine import Machine
from ncclcheck.model.place import Unknown, Where


class LinkKind(Enum):
    """What an interface is, by what the kernel says of it, never by its name alone."""

    LOOPBACK = "loopback"
    ETHERNET = "ethernet"
    WIRELESS = "wireless"
    BRIDGE = "bridge"
    DOCKER = "docker"
    VIRBR = "virbr"
    VETH = "veth"
    TUNNEL = "tunnel"
    IPOIB = "ipoib"
    BOND = "bond"
    VLAN = "vlan"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Address:
    """An address of an interface."""

    address: str
    prefix: int
    """Prefix length in bits."""
    label: str | None = None
    """IPv4 label where it differs from the interface's name, such as ``eth0:1``."""

    @property
    def family(self) -> int:
        """4 or 6."""
        return 6 if ":" in self.address else 4


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface; ``None`` where the kernel does not tell or we could not ask."""

    name: str
    index: int
    kind: LinkKind
    up: bool | None
    running: bool | None
    """IFF_RUNNING: NCCL from 2.28 takes only such interfaces."""
    mtu: int | None
    speed: int | None
    """Mbit/s as the driver reports it; ``None`` for virtual links, whose speed nobody knows."""
    addresses: tuple[Address, ...] = ()
    """In the order of getifaddrs: the first IPv4 address is the one that NCCL takes."""
    driver: str | None = None
    speed_unknown: str = ""
    """Why there is no speed."""
    master: str | None = None
    """The bridge or bond that it belongs to."""
    members: tuple[str, ...] = ()
    """The interfaces of a bridge or bond."""


@dataclass(frozen=True, slots=True)
class Setting:
    """An NCCL variable and where its value comes from."""

    name: str
    value: str
    origin: str
    """``environment`` or the path of the file."""
    line: int | None = None
    wins: bool = True
    """False where an earlier origin hides it."""


class Trouble(Enum):
    """What can be wrong with a line of nccl.conf or a setting."""

    COMMENT = "comment"
    BLANKS = "blanks"
    QUOTES = "quotes"
    EXPORT = "export"
    CARRIAGE_RETURN = "carriage-return"
    BYTE_ORDER_MARK = "byte-order-mark"
    SECOND_LINE = "second-line"
    NO_EQUALS = "no-equals"
    EXCLUSION = "exclusion"
    SILENCED = "silenced"
    UNKNOWN_NAME = "unknown-name"
    MISPLACED_MARK = "misplaced-mark"
    WILDCARD = "wildcard"
    TOO_SHORT = "too-short"
    NOT_A_NUMBER = "not-a-number"
    NOT_A_CHOICE = "not-a-choice"
    OUT_OF_RANGE = "out-of-range"
    OTHER_VERSION = "other-version"
    EMPTY = "empty"
    NO_EFFECT = "no-effect"
    TILDE = "tilde"
    REPLACED_FILE = "replaced-file"
    MISSING_FILE = "missing-file"
    NOT_EXPORTED = "not-exported"
    SYNTAX = "syntax"


@dataclass(frozen=True, slots=True)
class ConfLine:
    """A line of an nccl.conf, or a variable, that does not do what its author meant."""

    path: str
    """``environment`` for a variable of the process."""
    line: int
    """Counted from 1; 0 for a variable."""
    text: str
    trouble: Trouble
    meaning: str
    """What NCCL makes of it."""
    corrected: str
    """The line as it should be; empty where it should go."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An address that NCCL looks at when it chooses, and what became of it."""

    interface: str
    address: str
    taken: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The interface that NCCL takes, predicted or seen."""

    nccl: str
    """Version it is valid for."""
    interface: str | None
    address: str | None
    reason: str
    candidates: tuple[Candidate, ...] = ()
    code: int = 0
    """What ncclGetUniqueId returns: 0, or 2, 3, 4, 5 (NCCL's ncclResult_t)."""


@dataclass(frozen=True, slots=True)
class Change:
    """Another value for a variable of the job's environment."""

    name: str
    value: str | None
    """``None``: not set."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What NCCL would do with some variables changed."""

    changes: tuple[Change, ...]
    choice: Choice | None
    """``None`` where the interfaces are not known."""
    sockets: Choice | None
    troubles: tuple[ConfLine, ...] = ()
    """What NCCL would make of the new values that their author did not mean."""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Library:
    """A libnccl.so.2, found without loading it."""

    path: str
    version: str | None
    why: str = ""
    """How it is reached: torch's wheel, LD_LIBRARY_PATH, the linker's cache …"""


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """What NCCL finds, or found, in a process that runs."""

    pid: int
    command: str
    user: str
    nccl: str
    """The version by which its files were read."""
    own_root: bool
    """It has other files than we have: it runs in a container, or we do."""
    own_network: bool
    """It has other interfaces than we have."""
    settings: tuple[Setting, ...]
    """Its variables as it was started, and the files; what it set itself since then cannot be seen."""
    conf_troubles: tuple[ConfLine, ...] = ()
    conf_files: tuple[str, ...] = ()
    libraries: tuple[Library, ...] = ()
    """In its memory."""
    choice: Choice | None = None
    """What NCCL takes in it; ``None`` where its interfaces are not the ones that we see."""
    unknown: tuple[Unknown, ...] = ()


@dataclass(frozen=True, slots=True)
class Processes:
    """Several processes of a job, side by side."""

    processes: tuple[RunningProcess, ...]
    differing: tuple[str, ...]
    """Names whose values are not the same in all of them."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What one node is."""

    host: str
    interfaces: tuple[Interface, ...]
    settings: tuple[Setting, ...] = ()
    conf_troubles: tuple[ConfLine, ...] = ()
    conf_files: tuple[str, ...] = ()
    """The nccl.conf files that NCCL would read here and that exist, in the order of precedence."""
    library: Library | None = None
    python: str | None = None
    """The interpreter that the library belongs to."""
    libraries: tuple[Library, ...] = ()
    """Every libnccl within its reach, the one that it loads first."""
    choice: Choice | None = None
    """The bootstrap interface."""
    sockets: Choice | None = None
    """The interfaces of the data network, which are the candidates taken."""
    places: tuple[Where, ...] = ()
    """The lines it was read from, where it was pasted."""
    unknown: tuple[Unknown, ...] = ()
    """What the prediction rests on and could not be learned."""
    machine: Machine | None = None


@dataclass(frozen=True, slots=True)
class Probe:
    """What the real NCCL of an interpreter did on a node, without a GPU (``ncclGetUniqueId``)."""

    host: str
    nccl: str
    code: int
    """ncclResult_t."""
    seen: Choice
    predicted: Choice | None
    log: tuple[str, ...]
    """NCCL's own lines."""
    root: str | None
    """Address and port of the root in the unique id, ``10.0.0.1:5000``."""
    python: str | None = None
    """The interpreter that ran it."""
    library: str | None = None
    """Path of its libnccl.so.2."""

    @property
    def agrees(self) -> bool | None:
        """Whether the prediction was right; ``None`` where there was none."""
        if self.predicted is None:
            return None
        return (self.seen.interface, self.seen.address) == (self.predicted.interface, self.predicted.address)


@dataclass(frozen=True, slots=True)
class Node:
    """A machine on which commands can be run: this one, or one that a command prefix leads to."""

    name: str
    prefix: tuple[str, ...] = ()
    """Words put in front of a command line; empty for this machine."""
    env: tuple[tuple[str, str], ...] = ()
    """Variables that every command on it gets."""
