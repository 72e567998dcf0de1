"""What each kind of file says to NCCL: what is right, and every trap with the line as it should be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.model import ConfLine, FileKind, FileLint, Trouble, Unknown
from ncclcheck.node.files.check import check

SCRIPT, SLURM, DOCKER = "run.sh", "job.sbatch", "Dockerfile"
POD, COMPOSE, ENV, CONF = "pod.yaml", "compose.yaml", "train.env", "nccl.conf"
K8S = "apiVersion: v1\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (SCRIPT, "export NCCL_SOCKET_IFNAME==eth1  # ours"),
        (SCRIPT, 'export NCCL_SOCKET_IFNAME="^lo,docker" NCCL_DEBUG=INFO'),
        (SCRIPT, "NCCL_DEBUG=INFO torchrun train.py"),
        (SCRIPT, "NCCL_DEBUG=INFO\nexport NCCL_DEBUG"),
        (SCRIPT, "set -a\nNCCL_DEBUG=INFO"),
        (SCRIPT, "NCCL_SRC=/opt/nccl\nmake -C /opt/nccl"),
        (SCRIPT, "set -o allexport; NCCL_DEBUG=INFO"),
        (SCRIPT, "# NCCL_DEBUG=on"),
        (SCRIPT, "docker run -e NCCL_DEBUG=INFO --env=NCCL_IB_DISABLE=1 -e 'NCCL_SOCKET_IFNAME==eth1' \\\n  image"),
        (SCRIPT, "mpirun -x NCCL_DEBUG=INFO -x NCCL_SOCKET_IFNAME -np 2 ./train"),
        (SCRIPT, "setenv NCCL_DEBUG INFO"),
        (SCRIPT, 'ssh node-b "NCCL_DEBUG=INFO torchrun train.py"'),
        (SCRIPT, 'bash -c "NCCL_DEBUG=INFO torchrun \\\n  train.py"'),
        (SCRIPT, "export GLOO_SOCKET_IFNAME=eth1"),
        (SCRIPT, "echo NCCL_DEBUG is $NCCL_DEBUG; unset NCCL_DEBUG; env | grep NCCL_"),
        (SLURM, "#SBATCH --export=ALL,NCCL_DEBUG=INFO,NCCL_IB_DISABLE=1"),
        (DOCKER, 'FROM x\nENV NCCL_DEBUG=INFO \\\n    NCCL_SOCKET_IFNAME="=eth1"\nENV NCCL_IB_DISABLE 1'),
        (DOCKER, "FROM x\nARG NCCL_VERSION=2.18\n# ENV NCCL_DEBUG=on\nRUN NCCL_DEBUG=INFO ./test && make"),
        (POD, K8S + 'env:\n- name: NCCL_IB_DISABLE\n  value: "1"  # no InfiniBand\n- name: A\n  value: 1'),
        (POD, K8S + "env:\n- name: NCCL_SOCKET_IFNAME\n  value: =eth1\n- name: NCCL_DEBUG\n  valueFrom: x"),
        (POD, K8S + "data:\n  NCCL_DEBUG: INFO # all\n  nccl.conf: |\n    # ours\n    NCCL_DEBUG=INFO"),
        (POD, K8S + 'command: ["bash", "-c", "export NCCL_DEBUG=INFO && torchrun train.py"]'),
        (COMPOSE, "services:\n  a:\n    environment:\n      - NCCL_DEBUG=INFO\n      - NCCL_IB_DISABLE\n"),
        (COMPOSE, "services:\n  a:\n    environment:\n      NCCL_IB_DISABLE: 1\n      NCCL_DEBUG: 'INFO'"),
        (ENV, '# ours\nNCCL_DEBUG=INFO\nHF_TOKEN="secret"'),
    ],
)
def test_what_is_right_is_left_alone(name: str, text: str) -> None:
    found = check(name, text.encode())

    assert (found.troubles, found.unknown, found.kind is None) == ((), (), False)


@pytest.mark.parametrize(
    ("name", "text", "line", "trouble", "corrected"),
    [
        (SCRIPT, 'export NCCL_SOCKET_IFNAME="eth1 # ours"', 1, Trouble.COMMENT, 'export NCCL_SOCKET_IFNAME="eth1"'),
        (SCRIPT, "\nexport NCCL_SOCKET_IFNAME=eth1\r", 2, Trouble.CARRIAGE_RETURN, "export NCCL_SOCKET_IFNAME=eth1"),
        (SCRIPT, "export NCCL_DEBUG=on  # x", 1, Trouble.SILENCED, "export NCCL_DEBUG=INFO  # x"),
        (SCRIPT, "NCCL_DEBUG=INFO", 1, Trouble.NOT_EXPORTED, "export NCCL_DEBUG=INFO"),
        (SCRIPT, "export NCCL_SOCKET_INAME=a1", 1, Trouble.UNKNOWN_NAME, "export NCCL_SOCKET_IFNAME=a1"),
        (SCRIPT, "export NCCL_IB_TIMEOUT=200", 1, Trouble.OUT_OF_RANGE, "export NCCL_IB_TIMEOUT=31"),
        (SCRIPT, "export NCCL_SOCKET_IFNAME=e", 1, Trouble.TOO_SHORT, ""),
        (SCRIPT, "docker run -e NCCL_IB_DISABLE=true x", 1, Trouble.NOT_A_NUMBER, "docker run -e NCCL_IB_DISABLE=1 x"),
        (
            SCRIPT,
            "docker run -e 'NCCL_SOCKET_IFNAME= eth1' x",
            1,
            Trouble.BLANKS,
            "docker run -e 'NCCL_SOCKET_IFNAME=eth1' x",
        ),
        (SCRIPT, "mpirun -x NCCL_DEBUG=true x", 1, Trouble.SILENCED, "mpirun -x NCCL_DEBUG=INFO x"),
        (SCRIPT, "setenv NCCL_DEBUG on", 1, Trouble.SILENCED, "setenv NCCL_DEBUG INFO"),
        (SCRIPT, "bash -c 'export NCCL_DEBUG=on; x'", 1, Trouble.SILENCED, "bash -c 'export NCCL_DEBUG=INFO; x'"),
        (SCRIPT, "export GLOO_SOCKET_IFNAME==eth1", 1, Trouble.MISPLACED_MARK, "export GLOO_SOCKET_IFNAME=eth1"),
        (SCRIPT, "export GLOO_SOCKET_IFNAME=^lo", 1, Trouble.MISPLACED_MARK, ""),
        (
            SCRIPT,
            'echo "NCCL_SOCKET_IFNAME=eth1 # ours" >> /etc/nccl.conf',
            1,
            Trouble.COMMENT,
            'echo "NCCL_SOCKET_IFNAME=eth1" >> /etc/nccl.conf',
        ),
        (
            SCRIPT,
            "cat > /etc/nccl.conf <<'EOF'\nNCCL_SOCKET_IFNAME=eth1  # ours\nEOF\nexport NCCL_DEBUG=INFO",
            2,
            Trouble.COMMENT,
            "NCCL_SOCKET_IFNAME=eth1",
        ),
        (
            SLURM,
            "#SBATCH --export=ALL,NCCL_SOCKET_IFNAME=eth0,eth1",
            1,
            Trouble.SYNTAX,
            "#SBATCH --export=ALL,NCCL_SOCKET_IFNAME=eth0,eth1",
        ),
        (SLURM, "srun --export=NCCL_DEBUG=on,ALL x", 1, Trouble.SILENCED, "srun --export=NCCL_DEBUG=INFO,ALL x"),
        (DOCKER, "ENV NCCL_DEBUG=INFO # ours", 1, Trouble.COMMENT, "ENV NCCL_DEBUG=INFO"),
        (DOCKER, "ENV NCCL_DEBUG INFO # ours", 1, Trouble.COMMENT, "ENV NCCL_DEBUG INFO"),
        (DOCKER, "ENV NCCL_SOCKET_IFNAME = eth1", 1, Trouble.BLANKS, "ENV NCCL_SOCKET_IFNAME=eth1"),
        (
            DOCKER,
            "ENV NCCL_DEBUG_SUBSYS=INIT, NET",
            1,
            Trouble.SYNTAX,
            "ENV NCCL_DEBUG_SUBSYS=INIT, NET",
        ),
        (DOCKER, "ENV A=b \\\n  NCCL_DEBUG='on'", 2, Trouble.SILENCED, "NCCL_DEBUG='INFO'"),
        (DOCKER, "RUN export NCCL_DEBUG=INFO", 1, Trouble.NO_EFFECT, "ENV NCCL_DEBUG=INFO"),
        (POD, K8S + "- name: NCCL_IB_DISABLE\n  value: 1", 3, Trouble.SYNTAX, 'value: "1"'),
        (POD, K8S + "- name: NCCL_IB_DISABLE\n  value: true", 3, Trouble.NOT_A_NUMBER, 'value: "1"'),
        (POD, K8S + "- value: on\n  name: NCCL_DEBUG", 2, Trouble.SILENCED, '- value: "INFO"'),
        (POD, K8S + "- name: NCCL_SOCKET_INAME\n  value: a1", 2, Trouble.UNKNOWN_NAME, "- name: NCCL_SOCKET_IFNAME"),
        (POD, K8S + '- {name: NCCL_DEBUG, value: "on"}', 2, Trouble.SILENCED, '- {name: NCCL_DEBUG, value: "INFO"}'),
        (POD, K8S + "  NCCL_SOCKET_IFNAME: ^docker", 2, Trouble.EXCLUSION, 'NCCL_SOCKET_IFNAME: "^docker,lo"'),
        (
            POD,
            K8S + "data:\n  nccl.conf: |\n    NCCL_DEBUG=INFO # x\n\n    NCCL_IB_DISABLE=1\n  other: 1",
            4,
            Trouble.COMMENT,
            "NCCL_DEBUG=INFO",
        ),
        (POD, K8S + "args:\n- |\n  export NCCL_DEBUG=on", 4, Trouble.SILENCED, "export NCCL_DEBUG=INFO"),
        (POD, K8S + 'args: ["-e", "NCCL_DEBUG=on"]', 2, Trouble.SILENCED, 'args: ["-e", "NCCL_DEBUG=INFO"]'),
        (COMPOSE, '- NCCL_SOCKET_IFNAME="eth1"', 1, Trouble.QUOTES, "- NCCL_SOCKET_IFNAME=eth1"),
        (COMPOSE, '- "NCCL_DEBUG=on"', 1, Trouble.SILENCED, '- "NCCL_DEBUG=INFO"'),
        (COMPOSE, "NCCL_IB_DISABLE: true", 1, Trouble.SYNTAX, 'NCCL_IB_DISABLE: "1"'),
        (ENV, "NCCL_DEBUG='INFO'", 1, Trouble.QUOTES, "NCCL_DEBUG=INFO"),
        (ENV, "NCCL_DEBUG=INFO # x", 1, Trouble.COMMENT, "NCCL_DEBUG=INFO"),
        (CONF, "export NCCL_DEBUG=INFO", 1, Trouble.EXPORT, "NCCL_DEBUG=INFO"),
    ],
)
def test_every_trap_has_the_line_as_it_should_be(
    name: str, text: str, line: int, trouble: Trouble, corrected: str
) -> None:
    found = check(name, text.encode(), "2.29.7")

    assert (line, trouble, corrected) in [(one.line, one.trouble, one.corrected) for one in found.troubles]
    assert {one.line for one in found.troubles} == {line}


@pytest.mark.parametrize(
    ("name", "text", "question"),
    [
        (SCRIPT, "export NCCL_SOCKET_IFNAME=$IFACE", "what NCCL_SOCKET_IFNAME is (line 1)"),
        (SCRIPT, 'export NCCL_DEBUG="${LEVEL:-INFO} # x"', "what NCCL_DEBUG is (line 1)"),
        (SCRIPT, "export NCCL_DEBUG=$(echo on) NCCL_IB_DISABLE=1", "what NCCL_DEBUG is (line 1)"),
        (DOCKER, "ENV NCCL_DEBUG=$LEVEL", "what NCCL_DEBUG is (line 1)"),
        (POD, K8S + "- name: NCCL_DEBUG\n  value: {{ .level }}", "what NCCL_DEBUG is (line 3)"),
        (COMPOSE, "- NCCL_DEBUG=${LEVEL}", "what NCCL_DEBUG is (line 1)"),
    ],
)
def test_what_is_put_in_later_is_not_judged_and_said_to_be_so(name: str, text: str, question: str) -> None:
    found = check(name, text.encode())

    assert found.troubles == ()
    assert found.unknown == (Unknown(question, "the value is put in when the file is used"),)


@pytest.mark.parametrize(
    ("name", "text", "kind", "because"),
    [
        ("/etc/nccl.conf", "", FileKind.CONF, "by its name"),
        ("/home/a/.nccl.conf", "", FileKind.CONF, "by its name"),
        ("a/Dockerfile.gpu", "", FileKind.DOCKERFILE, "by its name"),
        ("gpu.Dockerfile", "", FileKind.DOCKERFILE, "by its name"),
        ("docker-compose.yml", "", FileKind.COMPOSE, "by its name"),
        (".env", "", FileKind.ENV_FILE, "by its name"),
        ("run.sh", "torchrun", FileKind.SHELL, "by its name"),
        ("run.sh", "#!/bin/bash\n#SBATCH -N 2", FileKind.SLURM, "it has #SBATCH lines"),
        ("values.yaml", "a: b", FileKind.YAML, "by its name"),
        ("x.yaml", "apiVersion: v1", FileKind.KUBERNETES, "it has an apiVersion"),
        ("-", "services:\n  a: b", FileKind.COMPOSE, "it has services"),
        ("-", "FROM python:3.11 AS base\nRUN x", FileKind.DOCKERFILE, "it has a FROM line"),
        ("-", "#!/usr/bin/env bash\n", FileKind.SHELL, "it begins with #! and a shell"),
        ("-", "torchrun --nnodes 2 x.py", FileKind.SHELL, "it has shell commands"),
        ("-", "env:\n- name: A", FileKind.YAML, "it has “key:” lines"),
        ("-", "NCCL_DEBUG=INFO", FileKind.CONF, "it has NAME=VALUE lines and nothing else that tells"),
        ("train.py", "import torch", None, "its name says that it is something else"),
        ("-", "hello", None, "neither name nor content tells"),
    ],
)
def test_the_kind_of_a_file_is_told_and_why(name: str, text: str, kind: FileKind | None, because: str) -> None:
    found = check(name, text.encode())

    assert (found.kind, found.because, bool(found.unknown)) == (kind, because, kind is None)


def test_the_user_can_say_the_kind() -> None:
    assert check("notes.txt", b"ENV NCCL_DEBUG=on\n", kind=FileKind.DOCKERFILE) == FileLint(
        "notes.txt",
        FileKind.DOCKERFILE,
        "as asked for",
        settings=1,
        troubles=(
            ConfLine(
                "notes.txt",
                1,
                "ENV NCCL_DEBUG=on",
                Trouble.SILENCED,
                "“on” is no level, and NCCL prints nothing at all, not even warnings",
                "ENV NCCL_DEBUG=INFO",
            ),
        ),
    )


@pytest.mark.parametrize(
    ("text", "nccl", "meanings"),
    [
        (
            "export NCCL_AGG_CHANNEL_SIZE=1",
            None,
            ["NCCL 2.32.3 does not read NCCL_AGG_CHANNEL_SIZE: since 2.19.4 it is gone"],
        ),
        ("export NCCL_IGNORE_NET_MISMATCH=0", None, []),
        (
            "export NCCL_IGNORE_NET_MISMATCH=0",
            "2.18.3",
            ["NCCL 2.18.3 does not read NCCL_IGNORE_NET_MISMATCH: it came with 2.30.3"],
        ),
        (
            'export NCCL_DEBUG_SUBSYS="INIT, NET"',
            None,
            ["up to NCCL 2.29: the blanks are part of the value “INIT, NET”"],
        ),
    ],
)
def test_without_a_version_nothing_is_held_against_a_newer_setting(
    text: str, nccl: str | None, meanings: list[str]
) -> None:
    assert [one.meaning for one in check(SCRIPT, text.encode(), nccl).troubles] == meanings


NAMES = some.sampled_from((SCRIPT, SLURM, DOCKER, POD, COMPOSE, ENV, CONF))
PIECES = some.sampled_from(
    (
        "NCCL_DEBUG",
        "=on",
        ": on",
        "- name: ",
        "value: ",
        "export ",
        "ENV ",
        "'",
        '"',
        "\\",
        "\n",
        " # ",
        "$(",
        "{",
        "\r",
    )
)


@given(NAMES, some.lists(some.one_of(PIECES, some.text(max_size=5)), max_size=14))
def test_no_text_is_an_obstacle(name: str, pieces: list[str]) -> None:
    content = "".join(pieces).encode("utf-8", "surrogatepass")

    found = check(name, content)

    assert all(0 < one.line <= content.count(b"\n") + 1 for one in found.troubles)


GLOO = """
import sys
import torch.distributed
try:
    torch.distributed.init_process_group("gloo", rank=0, world_size=1, init_method=sys.argv[1])
except RuntimeError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize(("value", "fine"), [("lo", True), ("=lo", False), ('"lo"', False), ("lo # x", False)])
def test_the_real_gloo_agrees(value: str, fine: bool, tmp_path: Path) -> None:
    env = {**os.environ, "GLOO_SOCKET_IFNAME": value}
    command = [sys.executable, "-W", "ignore", "-c", GLOO, f"file://{tmp_path}/store"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100, check=False)

    assert (done.returncode == 0, "Unable to find address for" in done.stderr) == (fine, not fine)
    assert (check(ENV, f"GLOO_SOCKET_IFNAME={value}\n".encode()).troubles == ()) is fine
