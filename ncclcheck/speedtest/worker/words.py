"""What a side of the test is told: the words of its command line, and what its launcher set in the environment. Pure.

The command line of ncclcheck takes the same words, so nothing but Python 3.8 and its library is used here.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

ONE_WAY, BOTH_WAYS, ALL_GATHER, ALL_REDUCE = "one way", "both ways", "all gather", "all reduce"
PATTERNS = (ONE_WAY, BOTH_WAYS, ALL_GATHER, ALL_REDUCE)
TRANSFERS, DDP = "transfers", "ddp"
WORKLOADS = (TRANSFERS, DDP)
SMALLEST = 8
"""Bytes of the first size of a sweep, as a latency is measured."""
USUAL_SIZE = {TRANSFERS: 64 * 1024**2, DDP: 10 * 1024**2}
USAGE = "[HOST:PORT] [SIZE[K|M|G] [RANK [DEVICE]]] [options]"
MOST_RANKS = 1024
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}

# Variables for rank, ranks and local rank: torch.distributed.run; Open MPI; MPICH and Intel MPI; srun.
_LAUNCHERS = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
)


@dataclass(frozen=True)
class Asked:
    """One side of a test."""

    place: tuple[str, int]
    """Where the ranks meet: an address of rank 0's machine, and a port."""
    sizes: tuple[int, ...]
    """Bytes, in rising order; the last one is SIZE."""
    rank: int = 0
    ranks: int = 2
    device: int = 0
    patterns: tuple[str, ...] = PATTERNS
    backend: str | None = None
    interface: str | None = None
    limit: float = 300.0
    """Seconds for everything."""
    seconds: float = 20.0
    """To spend on measuring, where the rounds are as uneven as to need it."""
    baseline: bool = True
    workload: str = TRANSFERS
    store: str = ""
    """Prefix in the store that torchrun's agent serves at ``place``; empty where rank 0 serves one."""


def parse_size(text: str) -> int:
    """Bytes; ``10M`` is ten times 1024 squared. Raises ValueError."""
    found = re.fullmatch(r"([1-9][0-9]{0,14})([KMG]?)", text.upper())
    if found is None:
        raise ValueError(f"not a size: {text!r} (a number of bytes, with K, M or G: 100M)")
    return int(found[1]) * _UNITS[found[2]]


def parse_place(text: str) -> tuple[str, int]:
    """Host and port of ``10.0.0.1:5000``, ``node-a:5000`` or ``[fd00::1]:5000``. Raises ValueError."""
    found = re.fullmatch(r"(?:\[([^\[\]]+)\]|([^\[\]:]+)):([0-9]{1,5})", text)
    if found is None or not 0 < int(found[3]) < 65536:
        raise ValueError(f"not HOST:PORT: {text!r} (such as 10.0.0.1:5000 or [fd00::1]:5000)")
    return found[1] or found[2], int(found[3])


def parse_limit(text: str) -> float:
    """Seconds of a time limit. Raises ValueError."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]*)?", text) or float(text) == 0:
        raise ValueError(f"not a time limit in seconds: {text!r}")
    return float(text)


def parse_sizes(text: str) -> tuple[int, ...]:
    """Sizes with commas between them. Raises ValueError."""
    return tuple(parse_size(word) for word in text.split(","))


def parse_patterns(text: str) -> tuple[str, ...]:
    """Patterns with commas between them: ``one-way,all-reduce``, each once and in our order. Raises ValueError."""
    named = [word.replace("-", " ") for word in text.split(",")]
    for name in named:
        if name not in PATTERNS:
            known = ", ".join(pattern.replace(" ", "-") for pattern in PATTERNS)
            raise ValueError(f"no such pattern: {name!r}; there are {known}")
    return tuple(pattern for pattern in PATTERNS if pattern in named)


def show(place: tuple[str, int]) -> str:
    """HOST:PORT as the user wrote it."""
    return "[{}]:{}".format(*place) if ":" in place[0] else "{}:{}".format(*place)


def size_words(size: int) -> str:
    """Bytes as the command line takes them, where they are a round number of a unit: ``64M``."""
    for unit, factor in (("G", 1024**3), ("M", 1024**2), ("K", 1024)):
        if size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)


def bytes_words(size: int) -> str:
    """As ``size_words``, within a sentence: ``8 bytes``, ``64M``."""
    words = size_words(size)
    return f"{words} bytes" if words.isdecimal() else words


def sweep(largest: int, factor: int = 16) -> tuple[int, ...]:
    """From 8 B on, ever ``factor`` times as much, up to the largest."""
    sizes = []
    size = SMALLEST
    while size < largest:
        sizes.append(size)
        size *= factor
    return (*sizes, largest)


def _argument(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def _between(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch("[0-9]{1,9}", text) or not least <= int(text) <= most:
            raise ValueError(f"not a number from {least} to {most}: {text!r}")
        return int(text)

    return parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words and options of one side."""
    add = parser.add_argument
    add("words", metavar="WORD", nargs="*", help="HOST:PORT an address of rank 0's machine and a free port there (not "
        "needed under torchrun); SIZE bytes of the largest message; RANK 0 on the machine that owns HOST (not needed "
        "under torchrun, srun, mpirun); DEVICE the CUDA device")  # fmt: skip
    add("--ranks", type=_argument(_between(1, MOST_RANKS)), metavar="N", help="processes that take part (default 2)")
    add("--patterns", type=_argument(parse_patterns), metavar="A,B", default=PATTERNS,
        help="of one-way, both-ways, all-gather, all-reduce (default: all)")  # fmt: skip
    add("--sizes", type=_argument(parse_sizes), metavar="A,B", help="sizes besides SIZE (default: from 8 bytes on)")
    add("--factor", type=_argument(_between(2, 2**30)), default=16, metavar="F", help="between sizes (default 16)")
    add("--workload", choices=WORKLOADS, default=TRANSFERS, help="ddp: train a small model over DDP instead")
    add("--backend", choices=("nccl", "gloo"), help="default: nccl where the Python sees CUDA devices, else gloo")
    add("--interface", metavar="NAME", help="interface for gloo; NCCL makes its own choice")
    add("--no-baseline", action="store_true", help="leave out what plain TCP does over the same interface")
    add("--limit", type=_argument(parse_limit), default=300.0, metavar="S", help="seconds for everything (default 300)")
    add("--seconds", type=_argument(parse_limit), default=20.0, metavar="S", help="seconds to measure (default 20)")


def asked(options: argparse.Namespace, env: Mapping[str, str]) -> Asked:
    """The side that these words and this environment mean; ValueError where they leave something open."""
    place, size, rank, device = _spoken(options.words)
    told = _launched(env) if rank is None else None
    if rank is None and told is None:
        raise ValueError("which rank is this? Give HOST:PORT SIZE RANK, or start it with torchrun, srun or mpirun")
    ranks = options.ranks or (told[1] if told else 2)
    number = rank if rank is not None else told[0] if told else 0
    _fit(number, ranks, told)
    largest = size or (max(options.sizes) if options.sizes else USUAL_SIZE[options.workload])
    sizes = tuple(sorted({*options.sizes, largest})) if options.sizes else sweep(largest, options.factor)
    meeting, store = (place, "") if place else _meeting(env if told else {})
    return Asked(
        meeting, sizes, number, ranks, device if device is not None else told[2] if told else 0, options.patterns,
        options.backend, options.interface, options.limit, options.seconds, not options.no_baseline,
        options.workload, store,
    )  # fmt: skip


def _fit(rank: int, ranks: int, told: tuple[int, int, int] | None) -> None:
    if told and ranks != told[1]:
        raise ValueError(f"--ranks says {ranks}, and the launcher started {told[1]}")
    if not rank < ranks <= MOST_RANKS:
        raise ValueError(f"there is no rank {rank} of {ranks}; ranks go from 0 to {min(ranks, MOST_RANKS) - 1}")


def _spoken(words: list[str]) -> tuple[tuple[str, int] | None, int | None, int | None, int | None]:
    """Place, size, rank and device, as far as they were given."""
    rest = list(words)
    place = parse_place(rest.pop(0)) if rest and ":" in rest[0] else None
    if len(rest) > 3:
        raise ValueError(f"too many words: {' '.join(words)} (at most HOST:PORT SIZE RANK DEVICE)")
    size = parse_size(rest[0]) if rest else None
    rank, device, *_ = [*(_between(0, 10**9 - 1)(word) for word in rest[1:]), None, None]
    return place, size, rank, device


def _launched(env: Mapping[str, str]) -> tuple[int, int, int] | None:
    """Rank, ranks and local rank by the launcher's variables."""
    for rank, ranks, local in _LAUNCHERS:
        if env.get(rank, "").isdecimal() and env.get(ranks, "").isdecimal():
            own = env.get(local, "")
            return int(env[rank]), int(env[ranks]), int(own) if own.isdecimal() else 0
    return None


def _meeting(env: Mapping[str, str]) -> tuple[tuple[str, int], str]:
    """Where torchrun says the ranks meet, and whether its agent serves the store (torch 1.13, rendezvous.py)."""
    if not (env.get("MASTER_ADDR") and env.get("MASTER_PORT", "").isdecimal()):
        raise ValueError(
            "where do the ranks meet? Give HOST:PORT, an address of rank 0's machine and a free port there"
        )
    served = env.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    attempt = env.get("TORCHELASTIC_RESTART_COUNT", "0")
    return (env["MASTER_ADDR"], int(env["MASTER_PORT"])), f"ncclcheck/{attempt}" if served else ""
