"""The prediction was wrong: everything that is needed to learn from it, in a file that may be sent to strangers."""

from __future__ import annotations

import getpass
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ncclcheck import __version__
from ncclcheck.doctor.redact import StandIns
from ncclcheck.errors import ProbeError
from ncclcheck.model import Facts, Probe, Setting

_HOME = re.compile(r"/(?:home|Users)/([\w.-]+)")


@dataclass(frozen=True, slots=True)
class Difference:
    """What NCCL took, what was predicted, and all that the prediction rested on."""

    ncclcheck: str
    probe: Probe
    facts: Facts


def difference(probe: Probe, facts: Facts) -> Difference:
    """The report, with stand-ins for the names of hosts and users and for addresses. Pure.

    Of the settings only NCCL's own are kept: an nccl.conf may set any variable.
    """
    machine = replace(facts.machine, names=(), caller=None) if facts.machine else None
    kept = tuple(setting for setting in facts.settings if _is_nccls(setting))
    whole = Difference(__version__, probe, replace(facts, settings=kept, machine=machine))
    stand_ins = StandIns((facts.host, probe.host), _users(whole))
    return stand_ins.value(whole)


def _is_nccls(setting: Setting) -> bool:
    return setting.name.strip().upper().startswith("NCCL_")


def _users(whole: Difference) -> Iterator[str]:
    yield from _HOME.findall(msgspec.json.encode(whole).decode())
    try:
        yield getpass.getuser()
    except (KeyError, OSError):  # a container's user often has no name
        return


def save(report: Difference) -> Path:
    """Write the report to a new file in the current folder, or in that for temporary files; gives its path."""
    content = msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"
    folder = "." if os.access(".", os.W_OK) else None
    try:
        number, path = tempfile.mkstemp(prefix="ncclcheck-difference-", suffix=".json", dir=folder)
        with open(number, "wb") as file:
            file.write(content)
    except OSError as error:
        step = "Run it again in a folder that can be written"
        raise ProbeError(f"the report cannot be written: {error.strerror}", place=".", next_step=step) from error
    return Path(path)
