"""The guides' command lines, run with programs that only tell how they were called."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rulebook.guide_words import commands, content

STUB = """#!{python}
import os, subprocess, sys
name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
if name in ("mpirun", "srun"):
    # As far as the words after their own: Open MPI hands on nothing of the environment, srun all of it.
    passed = {{"PATH": os.environ["PATH"]}} if name == "mpirun" else dict(os.environ)
    passed |= {{"OMPI_COMM_WORLD_RANK": "1", "SLURM_NODEID": "1", "SLURM_PROCID": "9", "SLURM_LOCALID": "1"}}
    passed |= {{"SLURM_NTASKS": "16"}}
    sys.exit(subprocess.run(words[words.index("bash"):], env=passed).returncode)
if name == "scontrol":
    print("node-1", "node-2", sep="\\n")
else:
    shown = ("NCCL_SOCKET_IFNAME", "RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    print(name, *words, *(f"{{key}}={{os.environ[key]}}" for key in shown if key in os.environ))
"""
NAMES = ("python", "mpirun", "srun", "scontrol", "ray", "deepspeed")
START = {
    "torchrun": "python -m torch.distributed.run --nnodes 2 --node_rank 0 --nproc_per_node 8 --master_addr 10.0.0.11 "
    "--master_port 29500 train.py",
    "launch": "python -m torch.distributed.launch --use_env --nproc_per_node=8 --nnodes=2 --node_rank=0 "
    "--master_addr=10.0.0.11 --master_port=29500 train.py",
    "mpirun": "python -m torch.distributed.run --nnodes 2 --node_rank 1 --nproc_per_node 8 --master_addr 10.0.0.11 "
    "--master_port 29500 train.py",
    "srun": "python train.py",
    "accelerate": "python -m accelerate.commands.launch --multi_gpu --num_machines 2 --machine_rank 0 "
    "--num_processes 16 --main_process_ip 10.0.0.11 --main_process_port 29500 train.py",
    "deepspeed": "deepspeed --hostfile hostfile --no_ssh --node_rank 0 --master_addr 10.0.0.11 --master_port 29500 "
    "train.py",
    "tcp": "python train.py 0",
}
"""What runs on a node in the end, with 2 nodes of 8 GPUs."""


@pytest.fixture
def stubs(tmp_path: Path) -> Path:
    """A folder with programs that tell how they were called."""
    for name in NAMES:
        file = tmp_path / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(STUB.format(python=sys.executable))
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return tmp_path


def ran(folder: Path, command: str, **env: str) -> list[str]:
    """The lines that a command printed."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={"PATH": path, **env},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def told(folder: Path, where: str, setting: str = "NCCL_SOCKET_IFNAME==ens7") -> list[str]:
    """What a step's last command makes of our two nodes, with a Python that only tells."""
    return ran(folder, commands(where, python=str(folder / "bin/python"), setting=setting)[-1])


@pytest.mark.parametrize("name", START)
def test_the_setting_reaches_the_workers(name: str, stubs: Path) -> None:
    (line,) = told(stubs, f"{name}/start")
    assert line.startswith(f"{START[name]} NCCL_SOCKET_IFNAME==ens7")


@pytest.mark.parametrize("name", START)
def test_without_a_setting_the_command_is_still_one(name: str, stubs: Path) -> None:
    (line,) = told(stubs, f"{name}/start", setting="")
    assert line.startswith(START[name])
    assert "NCCL_SOCKET_IFNAME" not in line


def test_srun_makes_the_ranks_that_torch_wants(stubs: Path) -> None:
    (line,) = told(stubs, "srun/start")
    assert line.endswith("RANK=9 LOCAL_RANK=1 WORLD_SIZE=16 MASTER_ADDR=10.0.0.11 MASTER_PORT=29500")


def test_ray_gets_the_setting_on_every_node(stubs: Path) -> None:
    head = "ray start --head --node-ip-address=10.0.0.11 --port=29500 NCCL_SOCKET_IFNAME==ens7"
    worker = "ray start --address=10.0.0.11:29500 --node-ip-address=10.0.0.11 NCCL_SOCKET_IFNAME==ens7"
    assert told(stubs, "ray/head") == [head]
    assert told(stubs, "ray/workers") == [worker]


def test_deepspeeds_list_has_a_line_for_each_node(stubs: Path) -> None:
    assert told(stubs, "deepspeed/hosts") == []
    assert (stubs / "hostfile").read_text() == "10.0.0.11 slots=8\n10.0.0.12 slots=8\n"


def test_the_job_file_of_slurm_starts_one_torchrun_on_each_node(stubs: Path) -> None:
    script = content("slurm/script", python=str(stubs / "bin/python"))
    job = {"SLURM_JOB_NODELIST": "node-[1-2]", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_ID": "1234567"}
    (line,) = ran(stubs, script, **job)
    assert line == (
        "python -m torch.distributed.run --nnodes 2 --node_rank 1 --nproc_per_node 8 --master_addr node-1 "
        "--master_port 24567 train.py MASTER_ADDR=node-1 MASTER_PORT=24567"
    )
    assert script.startswith("#!/bin/bash\n#SBATCH ")
    assert "--ntasks-per-node=1\n" in script


def test_the_lines_for_a_script_without_launcher_are_python() -> None:
    compile(content("tcp/start"), "train.py", "exec")
