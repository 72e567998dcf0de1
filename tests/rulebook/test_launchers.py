"""Fixes in the launcher's own words, by the traces that the launcher leaves."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest

from ncclcheck.doctor.diagnose import diagnose_text
from ncclcheck.model import Confidence, Finding, Fix, Risk, Scope, Severity
from ncclcheck.rulebook.launchers import in_launchers_words
from ncclcheck.rulebook.load import load_launchers

_FINDING = Finding("NC1", "x", Severity.ERROR, Confidence.LIKELY, "title", "", "", (), (), (), ())

NODE_B = (
    "node-b:7:7 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.2<0>",
    "node-b:7:7 [0] NCCL INFO NET/Socket : Using [0]eth0:172.17.0.2<0> [1]eth1:10.0.0.12<0>",
    "node-b:7:7 [0] NCCL INFO socketPollConnect: connect to 172.17.0.2<4000> returned Connection refused, "
    "retrying (18/34) after sleep for 1800 msec",
)
TRACES = (
    ("[1,1]<stdout>:", "mpirun", "mpirun -x NCCL_SOCKET_IFNAME='=eth1' …"),
    ("(RayWorkerWrapper pid=19, ip=10.0.0.8) ", "Ray", "ray job submit --runtime-env-json="),
    ("W0306 00:02:25.387000 473 torch/distributed/run.py:793] ", "torchrun", "NCCL_SOCKET_IFNAME='=eth1' torchrun …"),
)


def commands(text: str) -> tuple[str, ...]:
    """What is to be typed for the first finding's first fix."""
    return diagnose_text(text).findings[0].fixes[0].typed


@pytest.mark.parametrize(("trace", "name", "command"), TRACES, ids=[name for _, name, _ in TRACES])
def test_the_launchers_own_way(trace: str, name: str, command: str) -> None:
    text = "\n".join(trace + line for line in NODE_B)
    assert diagnose_text(text).job.launcher == name
    assert any(line.startswith(command) for line in commands(text))


def test_no_launcher_no_guess() -> None:
    text = "\n".join(NODE_B)
    assert diagnose_text(text).job.launcher is None
    assert commands(text) == ()


def test_every_launcher_has_its_words_and_the_one_that_was_seen_comes_first() -> None:
    text = "\n".join(f"[1,1]<stdout>:{line}" for line in NODE_B)
    launches = diagnose_text(text).findings[0].fixes[0].launches
    assert [launch.launcher for launch in launches if launch.seen] == ["mpirun"]
    assert launches[0].seen
    assert {launch.launcher for launch in launches} >= {"torchrun", "Slurm", "mpirun", "Docker", "Kubernetes", "Ray"}


def test_several_settings_are_told_at_once_wherever_one_command_takes_them() -> None:
    fix = Fix("set both", Scope.ALL_NODES, Risk.SAFE, env=(("NCCL_A", "=eth1"), ("NCCL_B", "x y")))
    (worded,) = in_launchers_words(replace(_FINDING, fixes=(fix,)), load_launchers()).fixes
    lines = {launch.launcher: launch.lines for launch in worded.launches}
    assert lines["torchrun"] == ("NCCL_A='=eth1' NCCL_B='x y' torchrun …",)
    assert lines["mpirun"] == ("mpirun -x NCCL_A='=eth1' -x NCCL_B='x y' …",)
    assert lines["Docker"] == ("docker run -e NCCL_A='=eth1' -e NCCL_B='x y' …",)
    assert lines["Slurm"] == ("export NCCL_A='=eth1' NCCL_B='x y'", "srun --export=ALL …")
    assert lines["Kubernetes"][1:] == ('- {name: NCCL_A, value: "=eth1"}', '- {name: NCCL_B, value: "x y"}')
    *_, word, _ = shlex.split(lines["Ray"][0])
    assert json.loads(word.partition("=")[2]) == {"env_vars": {"NCCL_A": "=eth1", "NCCL_B": "x y"}}


def test_a_name_from_a_log_stays_one_word() -> None:
    text = "\n".join(f"(Worker pid=1, ip=10.0.0.8) {line}" for line in NODE_B).replace("eth1", "e';id;'")
    (command,) = commands(text)
    *_, word, dots = shlex.split(command)
    assert json.loads(word.partition("=")[2]) == {"env_vars": {"NCCL_SOCKET_IFNAME": "=e';id;'"}}
    assert dots == "…"
