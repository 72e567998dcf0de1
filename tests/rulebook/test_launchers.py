"""Fixes in the launcher's own words, by the traces that the launcher leaves."""

from __future__ import annotations

import json
import shlex

import pytest

from ncclcheck.doctor.diagnose import diagnose_text

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
    """The commands of the first finding's first fix."""
    return diagnose_text(text).findings[0].fixes[0].commands


@pytest.mark.parametrize(("trace", "name", "command"), TRACES, ids=[name for _, name, _ in TRACES])
def test_the_launchers_own_way(trace: str, name: str, command: str) -> None:
    text = "\n".join(trace + line for line in NODE_B)
    assert diagnose_text(text).job.launcher == name
    assert any(line.startswith(command) for line in commands(text))


def test_no_launcher_no_guess() -> None:
    text = "\n".join(NODE_B)
    assert diagnose_text(text).job.launcher is None
    assert commands(text) == ()


def test_a_name_from_a_log_stays_one_word() -> None:
    text = "\n".join(f"(Worker pid=1, ip=10.0.0.8) {line}" for line in NODE_B).replace("eth1", "e';id;'")
    (command,) = commands(text)
    *_, word, dots = shlex.split(command)
    assert json.loads(word.partition("=")[2]) == {"env_vars": {"NCCL_SOCKET_IFNAME": "=e';id;'"}}
    assert dots == "…"
