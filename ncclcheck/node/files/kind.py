"""What kind of file somebody hands to us, by its name and its content (pure)."""

from __future__ import annotations

import re

from ncclcheck.model import FileKind

_BY_NAME: tuple[tuple[str, FileKind], ...] = (
    (r"[\w.-]*nccl[\w.-]*\.conf", FileKind.CONF),
    (r"(?:.*[._-])?(?:Dockerfile|Containerfile)(?:[._-].*)?|.*\.dockerfile", FileKind.DOCKERFILE),
    (r".*compose.*\.ya?ml", FileKind.COMPOSE),
    (r".*\.(?:sbatch|slurm)", FileKind.SLURM),
    (r"(?:.*\.)?env(?:\.[\w-]+)?", FileKind.ENV_FILE),
)
_BY_CONTENT: tuple[tuple[str, str, FileKind], ...] = (
    (r"^#SBATCH\b", "it has #SBATCH lines", FileKind.SLURM),
    (r"^#!.*\b(?:ba|da|z|k|c|tc)?sh\b", "it begins with #! and a shell", FileKind.SHELL),
    (r"^\s*FROM\s+\S+(?:\s+AS\s+\S+)?\s*$", "it has a FROM line", FileKind.DOCKERFILE),
    (r"^apiVersion:\s*\S", "it has an apiVersion", FileKind.KUBERNETES),
    (r"^services:\s*$", "it has services", FileKind.COMPOSE),
)
_LATER: tuple[tuple[str, str, FileKind], ...] = (
    (
        r"^\s*(?:export|setenv|set|source)\s|\b(?:torchrun|mpirun|mpiexec|srun|docker\s+run|deepspeed)\s",
        "it has shell commands",
        FileKind.SHELL,
    ),
    (r"^\s*(?:-\s+)?[\w.\"']+:(?:\s|$)", "it has “key:” lines", FileKind.YAML),
    (r"^\s*\w+\s*=", "it has NAME=VALUE lines and nothing else that tells", FileKind.CONF),
)


def kind_of(name: str, text: str) -> tuple[FileKind | None, str]:
    """The kind, and how it is known; ``None`` for a file that is nothing of what can be read."""
    base = name.rpartition("/")[2]
    for pattern, kind in _BY_NAME:
        if re.fullmatch(pattern, base, re.IGNORECASE):
            return kind, "by its name"
    if re.search(r"\.(?:py|json|toml|md|log|txt~?)$", base) and not base.endswith(".txt"):
        return None, "its name says that it is something else"
    for pattern, because, kind in (*_BY_CONTENT, *_by_suffix(base), *_LATER):
        if re.search(pattern, text, re.MULTILINE):
            return kind, because
    return None, "neither name nor content tells"


def _by_suffix(base: str) -> tuple[tuple[str, str, FileKind], ...]:
    if re.search(r"\.(?:ba|z|c)?sh$", base):
        return (("", "by its name", FileKind.SHELL),)
    return (("", "by its name", FileKind.YAML),) if re.search(r"\.ya?ml$", base) else ()
