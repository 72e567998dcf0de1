"""What is this node, and what will NCCL do on it?"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import replace

from ncclcheck.doctor.remote import ask
from ncclcheck.model import Choice, Facts, Interface, Library, Node, Unknown
from ncclcheck.node import interfaces, libnccl, machine, names, places, selection
from ncclcheck.node.environment import conf_files, file_troubles, here, settings, winning
from ncclcheck.node.later import Later
from ncclcheck.node.lint import lint_files, lint_settings
from ncclcheck.node.probing import environment_with
from ncclcheck.node.resolve import first_address
from ncclcheck.node.undecodable import shown
from ncclcheck.node.version import NEWEST, numbers, since
from ncclcheck.rulebook.library import builtin_folder

_LIMIT = 60.0


def scan(node: Node, *, nccl: str | None = None, python: str | None = None) -> Facts:
    """Interfaces, settings, NCCL's library and its choice; ``nccl`` is the version to predict for."""
    if node.prefix:
        asked = [word for flag, value in (("--nccl", nccl), ("--python", python)) if value for word in (flag, value)]
        return ask(node, ["node", "--json", *asked], Facts, _LIMIT)
    env, host = environment_with(node.env), socket.gethostname()
    chosen = Later(lambda: libnccl.choose_all(python, env))
    own = names.ask(host, env)
    links, unasked = interfaces.read()
    around = machine.read(env, host, places.load(builtin_folder() / "places.toml"))
    interpreter, libraries = chosen.answer()
    library = next(iter(libraries), None)
    version = nccl or (library.version if library else None) or NEWEST
    predicted = _predicted(env, version, links)
    looked_up, late = names.answers((*own, *_back(predicted.choice)))
    return replace(
        predicted,
        host=host,
        library=library,
        libraries=libraries,
        python=interpreter.python if interpreter else None,
        unknown=unasked + predicted.unknown + _unknown_version(nccl, library, version),
        machine=replace(around, names=looked_up, unknown=around.unknown + late),
    )


def _predicted(env: Mapping[str, str], version: str, links: tuple[Interface, ...]) -> Facts:
    """Settings and choice of an NCCL version here."""
    sources = here(env)
    files, unreadable = conf_files(sources, version)
    found = settings(env, files, version)
    values = winning(found)
    return Facts(
        host="",
        interfaces=links,
        settings=tuple(replace(one, name=shown(one.name), value=shown(one.value)) for one in found),
        conf_troubles=lint_files(files, version) + lint_settings(found, version) + file_troubles(sources, version),
        conf_files=tuple(file.path for file in files),
        choice=selection.bootstrap(links, values, version, first_address) if links else None,
        sockets=selection.sockets(links, values, version, first_address) if links else None,
        unknown=unreadable,
    )


def _back(choice: Choice | None) -> tuple[names.Question, ...]:
    """The name of the address that other nodes will call; loopback's is known."""
    address = choice.address if choice else None
    return (names.ask_back(address),) if address and not address.startswith(("127.", "fe80:")) else ()


def _unknown_version(nccl: str | None, library: Library | None, version: str) -> tuple[Unknown, ...]:
    if since(version, *numbers(NEWEST)) and numbers(version) != numbers(NEWEST):
        missing = f"a measurement: NCCL {NEWEST} is the newest release that ncclcheck was tried on"
        return (Unknown(f"whether NCCL {version} still chooses in the same way", missing),)
    if nccl or (library and library.version):
        return ()
    missing = f"a libnccl.so.2 within reach of the chosen Python; NCCL {version} is taken for granted instead"
    return (Unknown("which NCCL version will run here", missing),)
