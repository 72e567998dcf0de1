"""What the files that start a job say about NCCL's settings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ncclcheck.model.node import ConfLine
from ncclcheck.model.place import Unknown


class FileKind(Enum):
    """Which rules a file's settings are written by."""

    CONF = "nccl.conf"
    SHELL = "shell script"
    SLURM = "Slurm script"
    DOCKERFILE = "Dockerfile"
    KUBERNETES = "Kubernetes manifest"
    COMPOSE = "docker compose file"
    YAML = "YAML file"
    ENV_FILE = "env file"


@dataclass(frozen=True, slots=True)
class FileLint:
    """The NCCL settings in one file."""

    path: str
    """As given; ``-`` for standard input."""
    kind: FileKind | None
    """``None`` where it could not be told or read."""
    because: str
    """How the kind is known."""
    settings: int = 0
    """How many settings were found in it."""
    troubles: tuple[ConfLine, ...] = ()
    unknown: tuple[Unknown, ...] = ()
