"""A prediction that was wrong, as a report that may be sent to strangers."""

from __future__ import annotations

import stat
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.main import main
from ncclcheck.doctor.difference import Difference, difference, save
from ncclcheck.errors import ProbeError
from ncclcheck.model import (
    Address,
    Caller,
    Choice,
    Facts,
    Interface,
    LinkKind,
    Machine,
    NameLookup,
    Probe,
    Setting,
)

CHOICE = Choice("2.29.7", "eth1", "10.7.8.9", "line")
PROBE = Probe(
    "gpu-alice-1",
    "2.29.7",
    0,
    CHOICE,
    replace(CHOICE, interface="eth0", address="10.7.9.4"),
    ("gpu-alice-1:1:1 [0] NCCL INFO Bootstrap: Using eth1:10.7.8.9<0>",),
    "10.7.8.9:4000",
    "/home/alice/venv/bin/python",
    "/home/alice/venv/libnccl.so.2",
)
FACTS = Facts(
    "gpu-alice-1",
    (Interface("eth1", 2, LinkKind.ETHERNET, True, True, 1500, None, (Address("10.7.8.9", 24),)),),
    settings=(
        Setting("NCCL_DEBUG", "INFO", "/home/alice/.nccl.conf", line=1),
        Setting("TOKEN", "hunter2", "/etc/nccl.conf"),
    ),
    machine=Machine(
        names=(NameLookup("gpu-alice-1", "own name", ("10.7.8.9",)),),
        caller=Caller("alice", "/home/alice/.nccl.conf", (("NCCL_DEBUG", "x"),)),
    ),
)


def test_the_report_has_what_is_needed_and_no_secret() -> None:
    text = msgspec.json.encode(difference(PROBE, FACTS)).decode()

    for secret in ("alice", "10.7.8.9", "10.7.9.4", "hunter2", "TOKEN"):
        assert secret not in text
    report = msgspec.json.decode(text, type=Difference)
    (address,) = report.facts.interfaces[0].addresses
    assert (report.probe.seen.address, report.probe.seen.interface) == (address.address, "eth1")
    assert report.probe.predicted != report.probe.seen
    assert [setting.name for setting in report.facts.settings] == ["NCCL_DEBUG"]


def test_it_is_written_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    path = save(difference(PROBE, FACTS))

    assert (path.resolve().parent, stat.S_IMODE(path.stat().st_mode)) == (tmp_path, 0o600)
    assert msgspec.json.decode(path.read_bytes(), type=Difference) == difference(PROBE, FACTS)


def test_without_room_for_it_there_is_an_error_with_a_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))

    with pytest.raises(ProbeError, match="the report cannot be written"):
        save(difference(PROBE, FACTS))


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_the_command_writes_it_and_says_where(
    flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ncclcheck.cli.probe.probe", lambda node, **asked: PROBE)

    code = main(["probe", "--python", sys.executable, *flags])

    (path,) = tmp_path.iterdir()
    said = capsys.readouterr()
    assert (code, path.name in said.out + said.err) == (ExitCode.PROBLEM, True)
    assert ("THE PREDICTION WAS WRONG" in said.out, flags != []) in ((True, False), (False, True))
