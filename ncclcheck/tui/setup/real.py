"""The use case of the setup as the screens call it; all of it is imported at its first call, on the worker's thread."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from ncclcheck.errors import NcclcheckError
from ncclcheck.tui.setup.seam import SetupCases, Way

if TYPE_CHECKING:
    from ncclcheck.doctor.setup.begin import SetupOptions
    from ncclcheck.doctor.setup.offer import Offered
    from ncclcheck.doctor.setup.person import Person
    from ncclcheck.doctor.setup.state import Setup
    from ncclcheck.model import Applied


def setup_cases() -> SetupCases:
    """All of them."""
    return SetupCases(_offered, _go, _undo, _keep, _page, _terms)


def _offered() -> Offered:
    from ncclcheck.doctor.setup.offer import offered

    return offered()


def _go(asked: SetupOptions, person: Person) -> Way:
    from ncclcheck.doctor.setup.way import setup

    yield from setup(asked, person)


def _undo() -> tuple[Applied, ...]:
    from ncclcheck.doctor.setup.begin import SetupOptions
    from ncclcheck.doctor.setup.way import undo_kept

    return undo_kept(SetupOptions())


def _keep(setup: Setup) -> str:
    """Beside the setup itself, and for nobody else to read."""
    from ncclcheck.doctor.setup.kept import path_in
    from ncclcheck.doctor.setup.summary import summary

    path = path_in(os.environ, socket.gethostname()).with_suffix(".md")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(summary(setup))
    except OSError as error:
        raise NcclcheckError(f"the summary cannot be written: {error.strerror}", place=str(path)) from error
    return str(path)


@cache
def _page(rule: str) -> str:
    from ncclcheck.rulebook.explain import found, page
    from ncclcheck.rulebook.load import load
    from ncclcheck.rulebook.vocabulary import vocabulary

    book = load()
    return page(found(rule, book.rules), vocabulary(book.events).causes)


@cache
def _terms() -> Mapping[str, str]:
    from ncclcheck.rulebook.guides import load_guides

    return load_guides().common.terms
