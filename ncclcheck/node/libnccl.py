"""The libnccl.so.2 that a Python would load, found without loading it or importing torch.

The order is the dynamic linker's (ld.so(8)): LD_PRELOAD; then what torch's wheel carries, found by its RPATH;
LD_LIBRARY_PATH; the environment's own lib folder (conda); the linker's cache and the usual folders.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ncclcheck.model import Library
from ncclcheck.node.interpreter import Interpreter, ask_if_it_runs, candidates, named

_NAME = "libnccl.so.2"
_VERSION = re.compile(rb"NCCL version (\d+\.\d+\.\d+)[^\0\n]{0,40}")
_CACHED = re.compile(rb"\0(/[^\0]{1,4000}/libnccl\.so\.2)\0")
_CACHE = Path("/etc/ld.so.cache")
_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/cuda/lib64",
)


def choose(python: str | None, env: Mapping[str, str]) -> tuple[Interpreter | None, Library | None]:
    """The training's Python and its NCCL: the one asked for, else the first likely one that has an NCCL."""
    interpreter, libraries = choose_all(python, env)
    return interpreter, next(iter(libraries), None)


def choose_all(python: str | None, env: Mapping[str, str]) -> tuple[Interpreter | None, tuple[Library, ...]]:
    """As ``choose``, with every NCCL within the reach of that Python."""
    if python:
        asked = named(python, env)
        return asked, find_all(asked, env)
    fallback: Interpreter | None = None
    for path, why in candidates(env):
        interpreter = ask_if_it_runs(path, env, why)
        libraries = find_all(interpreter, env) if interpreter else ()
        if libraries:
            return interpreter, libraries
        fallback = fallback or interpreter
    return fallback, ()


def find(interpreter: Interpreter, env: Mapping[str, str]) -> Library | None:
    """The library that this interpreter would load first; ``None`` where there is none."""
    return next(iter(find_all(interpreter, env)), None)


def find_all(interpreter: Interpreter, env: Mapping[str, str]) -> tuple[Library, ...]:
    """Every different libnccl within its reach, the one that it would load first."""
    found: dict[Path, Library] = {}
    for path, why in _places(interpreter, env):
        if path.is_file():
            found.setdefault(path.resolve(), Library(str(path), version_in(path), why))
    return tuple(found.values())


def _places(interpreter: Interpreter, env: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    for preloaded in re.split(r"[ :]+", env.get("LD_PRELOAD", "")):
        if "libnccl" in preloaded:
            yield Path(preloaded), "LD_PRELOAD"
    for folder in map(Path, interpreter.paths):
        yield folder / "nvidia/nccl/lib" / _NAME, "the nvidia-nccl wheel, which torch's wheel loads"
        for path in sorted(folder.glob(f"nvidia/*/lib/{_NAME}")):
            yield path, "a wheel of NVIDIA's, which torch's wheel loads"
        yield folder / "torch/lib" / _NAME, "torch's wheel"
    for text in env.get("LD_LIBRARY_PATH", "").split(":"):
        if text:
            yield Path(text) / _NAME, "LD_LIBRARY_PATH"
    yield Path(interpreter.prefix) / "lib" / _NAME, "the environment's own lib folder (conda)"
    for path in in_cache(_CACHE):
        yield path, "the linker's cache"
    yield from ((Path(folder) / _NAME, "a folder of the system") for folder in _FOLDERS)


def in_cache(cache: Path) -> Iterator[Path]:
    """The paths that the linker's cache (ld.so.cache) holds for libnccl.so.2."""
    try:
        content = cache.read_bytes()
    except OSError:
        return
    yield from (Path(found.decode(errors="replace")) for found in _CACHED.findall(content))


def version_in(library: Path) -> str | None:
    """The version that stands as text in the binary ("NCCL version 2.29.7+cuda12.9"); ``None`` if there is none."""
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found = _VERSION.search(content)
            return found[1].decode() if found else None
    except (OSError, ValueError):
        return None
