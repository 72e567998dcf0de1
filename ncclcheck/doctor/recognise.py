"""What a text is that somebody pasted or piped: a log, or something that says more when it is read as what it is.

Pure. A text that nothing else claims is a log, and every text is read as a log besides: a wrong guess costs a title.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ncclcheck.logs.marks import is_log
from ncclcheck.logs.pasted import InterfaceReader
from ncclcheck.model import FileKind, Where
from ncclcheck.peer import card, invitation

LONGEST = 1 << 18
"""Characters of a text that may be something else than a log; the largest manifest has some ten thousand."""
_MOST_CARDS = 1 << 20
"""Characters of a text in which cards are looked for; a card has one or two thousand."""

_SETTING = re.compile(r"(?:^|[\s\"'{,-])(?:(?i:NCCL_\w+)|GLOO_SOCKET_IFNAME)[\"']?\s*[=:,]", re.MULTILINE)
_SETENV = re.compile(r"^\s*setenv\s+NCCL_\w+\s", re.MULTILINE)
_NAMED = re.compile(r"^\s*(?:-\s+)?[\"']?name[\"']?:\s*[\"']?NCCL_\w+", re.MULTILINE)
_VARIABLE = re.compile(r"(?:declare -x |export )?([A-Za-z_]\w*)=")
_SHELLS = (
    "PATH",
    "HOME",
    "PWD",
    "OLDPWD",
    "SHELL",
    "SHLVL",
    "USER",
    "LOGNAME",
    "HOSTNAME",
    "TERM",
    "LANG",
    "LS_COLORS",
)
_JOBS = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
_USUAL = frozenset((*_SHELLS, *_JOBS))
"""Variables by which an environment shows itself; two of them are enough."""
_PROMPT = re.compile(r"^\S{0,80}[#$>]\s*(?:sudo )?(?:env|printenv)\b", re.MULTILINE)
_PROMPTED = re.compile(r"\S{0,80}[#$>](?:\s|$)")
_DECLARED = re.compile(r"^declare -x \w", re.MULTILINE)
_OF_A_FILE = re.compile(
    r"\s*(?:#|//|-\s|[\]})]|(?:export|declare -x|set|setenv|source|unset|alias|readonly)\s|[\"']?[\w.-]+[\"']?\s*[:=]"
    r"|(?:ENV|FROM|RUN|COPY|ADD|CMD|ENTRYPOINT|WORKDIR|ARG|LABEL|USER|EXPOSE|if|then|fi|else|for|do|done|cd|exec|module)\b"
    r"|(?:torchrun|mpirun|mpiexec|srun|docker|deepspeed|python\d?|accelerate)\s)"
)
_OF_A_LIST = re.compile(
    r"\s*(?:\d+:|link/|inet6? |valid_lft|ether |[RT]X |collisions|loop |UP |device )|\S+: flags=|.*<.*UP"
)
_FILES = {
    FileKind.ENV_FILE: "environment variables",
    FileKind.CONF: "settings as in nccl.conf",
    FileKind.SHELL: "shell commands",
    FileKind.SLURM: "a Slurm script",
    FileKind.DOCKERFILE: "a Dockerfile",
    FileKind.KUBERNETES: "a Kubernetes manifest",
    FileKind.COMPOSE: "a docker compose file",
    FileKind.YAML: "a YAML file",
}


class Kind(Enum):
    """What a text can be."""

    LOG = "a log"
    CARDS = "what nodes tell about themselves"
    INVITATION = "an invitation"
    INTERFACES = "a list of interfaces"
    ROUTES = "a list of routes"
    SETTINGS = "settings"


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a text was taken for."""

    kind: Kind
    words: str
    """The same for people."""
    file: FileKind | None = None
    """By which rules the settings in it are written."""
    sure: bool = True
    """False for a text that is taken for a log because nothing tells what it is."""


_UNTOLD = Recognised(Kind.LOG, Kind.LOG.value, sure=False)


def recognise(text: str) -> Recognised:
    """What the text is."""
    if invitation.looks_like(text):
        return _of(Kind.INVITATION)
    if len(text) <= _MOST_CARDS and card.looks_like(text):
        return _of(Kind.CARDS)
    if is_log(text):
        return _of(Kind.LOG)
    return _UNTOLD if len(text) > LONGEST else _of_a_node(text)


def _of_a_node(text: str) -> Recognised:
    lines = [line for line in text.split("\n") if line.strip()]
    file = _settings(text, lines)
    if _lists_interfaces(text, lines):
        words = f"{Kind.INTERFACES.value} and {_FILES[file]}" if file else Kind.INTERFACES.value
        return Recognised(Kind.INTERFACES, words, file)
    if file:
        return Recognised(Kind.SETTINGS, _FILES[file], file)
    return _of(Kind.ROUTES) if _lists_routes(text) else _UNTOLD


def _of(kind: Kind) -> Recognised:
    return Recognised(kind, kind.value)


def _lists_interfaces(text: str, lines: Sequence[str]) -> bool:
    reader = InterfaceReader()
    for line in lines:
        reader.take(Where("", 1), line)
    if reader.facts():
        return True
    if '"ifname"' not in text:
        return False
    from ncclcheck.logs.pasted_lists import interfaces_in_json

    return interfaces_in_json(text, "") is not None


def _lists_routes(text: str) -> bool:
    if " dev " not in text:
        return False
    from ncclcheck.logs.pasted_lists import routes_in

    return routes_in(text, "") is not None


def _settings(text: str, lines: Sequence[str]) -> FileKind | None:
    """By which rules the settings in a text are written; None where there are none, or few among much else."""
    names = {found[1] for line in lines if (found := _VARIABLE.match(line))}
    environment = len(names & _USUAL) > 1 or (_PROMPT.search(text) is not None and bool(names))
    if not environment and not any(shape.search(text) for shape in (_SETTING, _SETENV, _NAMED)):
        return None
    others = [line for line in lines if not (_OF_A_LIST.match(line) or _PROMPTED.match(line))]
    fitting = sum(_OF_A_FILE.match(line) is not None or _continues(before) for before, line in _pairs(others))
    if 3 * fitting < 2 * len(others):
        return None
    if _DECLARED.search(text):
        return FileKind.SHELL
    from ncclcheck.node.files.kind import kind_of

    return FileKind.ENV_FILE if environment and not _is_script(text) else kind_of("", "\n".join(others))[0]


def _pairs(lines: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(("", *lines), lines, strict=False))


def _continues(line: str) -> bool:
    return line.rstrip().endswith("\\")


def _is_script(text: str) -> bool:
    return re.search(r"^(?:#!|#SBATCH|export\s|FROM\s|apiVersion:|services:)", text, re.MULTILINE) is not None
