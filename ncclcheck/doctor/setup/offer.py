"""What can be chosen before a setup begins: where the nodes are, what starts the training, what was left half done.
[effects]
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass

from ncclcheck.doctor.setup.begin import SetupOptions
from ncclcheck.doctor.setup.kept import Kept, path_in, read
from ncclcheck.doctor.setup.look import look
from ncclcheck.doctor.setup.state import LAUNCHER
from ncclcheck.errors import NcclcheckError
from ncclcheck.rulebook.guide_schema import Guide
from ncclcheck.rulebook.guides import guess, load_guides


@dataclass(frozen=True, slots=True)
class Offered:
    """The choices, each with the usual one first."""

    places: tuple[tuple[Guide, tuple[str, ...]], ...]
    """With the signs of it that are here."""
    launchers: tuple[Guide, ...]
    kept: Kept | None = None
    """The last setup of this machine, where there is one that can be read."""


def offered(asked: SetupOptions | None = None) -> Offered:
    """The choices on this node; RuleError where a guide of the user's own is broken."""
    asked = asked or SetupOptions()
    guides = load_guides(lang=asked.lang)
    machine = look(asked.python, gpus=False).facts.machine
    likely = guess(guides, machine.hints if machine else ())
    named = {guide.name for guide, _ in likely}
    others = sorted((guide for guide in guides.places if guide.name not in named), key=lambda guide: guide.title)
    launchers = sorted(guides.launchers, key=lambda guide: (guide.name != LAUNCHER, guide.title))
    return Offered((*likely, *((guide, ()) for guide in others)), tuple(launchers), _kept(asked.folder))


def _kept(folder: str) -> Kept | None:
    try:
        return read(path_in(os.environ, socket.gethostname(), folder))
    except NcclcheckError:
        return None
