"""What is this node, and what will NCCL do on it?"""

from __future__ import annotations

import socket
from dataclasses import replace

from ncclcheck.doctor.remote import ask
from ncclcheck.model import Facts, Library, Node, Unknown
from ncclcheck.node import interfaces, libnccl, selection
from ncclcheck.node.environment import conf_files, file_troubles, here, settings, winning
from ncclcheck.node.lint import lint_files, lint_settings
from ncclcheck.node.probing import environment_with
from ncclcheck.node.resolve import first_address
from ncclcheck.node.undecodable import shown
from ncclcheck.node.version import NEWEST, numbers, since

_LIMIT = 60.0


def scan(node: Node, *, nccl: str | None = None, python: str | None = None) -> Facts:
    """Interfaces, settings, NCCL's library and its choice; ``nccl`` is the version to predict for."""
    if node.prefix:
        asked = [word for flag, value in (("--nccl", nccl), ("--python", python)) if value for word in (flag, value)]
        return ask(node, ["node", "--json", *asked], Facts, _LIMIT)
    env = environment_with(node.env)
    interpreter, library = libnccl.choose(python, env)
    version = nccl or (library.version if library else None) or NEWEST
    sources = here(env)
    files, unreadable = conf_files(sources, version)
    links, unasked = interfaces.read()
    found = settings(env, files, version)
    values = winning(found)
    return Facts(
        host=socket.gethostname(),
        interfaces=links,
        settings=tuple(replace(one, name=shown(one.name), value=shown(one.value)) for one in found),
        conf_troubles=lint_files(files, version) + lint_settings(found, version) + file_troubles(sources, version),
        conf_files=tuple(file.path for file in files),
        library=library,
        python=interpreter.python if interpreter else None,
        choice=selection.bootstrap(links, values, version, first_address) if links else None,
        sockets=selection.sockets(links, values, version, first_address) if links else None,
        unknown=unasked + unreadable + _unknown_version(nccl, library, version),
    )


def _unknown_version(nccl: str | None, library: Library | None, version: str) -> tuple[Unknown, ...]:
    if since(version, *numbers(NEWEST)) and numbers(version) != numbers(NEWEST):
        missing = f"a measurement: NCCL {NEWEST} is the newest release that ncclcheck was tried on"
        return (Unknown(f"whether NCCL {version} still chooses in the same way", missing),)
    if nccl or (library and library.version):
        return ()
    missing = f"a libnccl.so.2 within reach of the chosen Python; NCCL {version} is taken for granted instead"
    return (Unknown("which NCCL version will run here", missing),)
