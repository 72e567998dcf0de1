"""Sources → job: who said what, how far each came, and whom it called in vain."""

from __future__ import annotations

import pytest

from ncclcheck.doctor.diagnose import rulebook
from ncclcheck.logs.job import read_job
from ncclcheck.logs.sources import pasted
from ncclcheck.model import Attempt, Job, Process, Stage, Where
from ncclcheck.rulebook.load import load_connects
from tests.yardstick import in_time

CONNECTS = load_connects()
REFUSED = "socketPollConnect: connect to 10.0.0.1<4000> returned Connection refused"
START = "ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 30 commId 0x2 - Init START"


def job_of(*texts: str) -> Job:
    """The job that some logs tell of."""
    sources = [pasted(text.strip("\n"), f"{number}.log") for number, text in enumerate(texts)]
    return read_job(sources, rulebook().shapes, CONNECTS).job


def stages(job: Job) -> list[tuple[str | None, tuple[int, ...], str]]:
    """Host, rank numbers and stage of each process."""
    return [(rank.host, rank.numbers, rank.stage.name) for rank in job.ranks]


def test_processes_are_told_apart_by_host_and_pid() -> None:
    job = job_of(
        """
node-a:1:1 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>
node-b:1:1 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.2<0>
node-a:2:2 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>
node-a:1:9 [0] NCCL INFO Using network Socket
"""
    )
    assert stages(job) == [
        ("node-a", (), "BOOTSTRAP"),
        ("node-b", (), "INTERFACE"),
        ("node-a", (), "INTERFACE"),
    ]


def test_one_process_in_two_logs_is_one() -> None:
    line = "node-a:1:1 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>"
    assert len(job_of(line, line).ranks) == 1


def test_text_without_prefix_belongs_to_the_launchers_rank() -> None:
    job = job_of(
        """
[rank1]: node-a:1:1 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>
[rank0]: node-b:2:2 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.2<0>
[rank1]: RuntimeError: CUDA out of memory. Tried to allocate 20.00 GiB
"""
    )
    owner = next(rank for rank in job.ranks if any(event.kind == "gpu.oom" for event in rank.events))
    assert owner.host == "node-a"


@pytest.mark.parametrize(("version", "stage"), [("2.18.6+cuda12.4", Stage.RING), ("2.28.9+cuda13.0", Stage.BOOTSTRAP)])
def test_what_init_start_proves_depends_on_the_version(version: str, stage: Stage) -> None:
    job = job_of(
        f"""
node-a:1:1 [0] NCCL INFO NCCL version {version}
node-a:1:1 [0] NCCL INFO {START}
"""
    )
    assert [(rank.stage, rank.numbers, rank.world_size) for rank in job.ranks] == [(stage, (0,), 2)]


def test_retries_of_one_call_are_added_up() -> None:
    job = job_of(
        f"""
node-b:1:5 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.2<0>
node-b:1:5 [0] NCCL INFO {REFUSED}, retrying (1/34) after sleep for 100 msec
node-b:1:5 [0] NCCL INFO {REFUSED}, retrying (2/34) after sleep for 200 msec
"""
    )
    assert job.attempts == (
        Attempt(
            process=Process("0.log", "node-b", 1),
            address="10.0.0.1",
            port=4000,
            result="refused",
            count=2,
            gave_up=False,
            link="bootstrap",
            limit=34,
            recovered=False,
            evidence=(Where("0.log", 2), Where("0.log", 3)),
        ),
    )


@pytest.mark.parametrize(
    ("version", "line", "link"),
    [("2.27.7", 262, "callback"), ("2.27.7", 608, "root"), ("2.27.7", 554, "ring"), ("2.23.4", 589, "root")],
)
def test_the_chain_under_a_failure_tells_which_connection_it_was(version: str, line: int, link: str) -> None:
    job = job_of(
        f"""
node-b:1:5 [0] NCCL INFO NCCL version {version}+cuda12.4
node-b:1:5 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.2<0>
node-b:1:5 [0] misc/socket.cc:1 NCCL WARN {REFUSED}, exceeded error retry count after 35 attempts
node-b:1:5 [0] NCCL INFO misc/socket.cc:2 -> 6
node-b:1:5 [0] NCCL INFO bootstrap.cc:{line} -> 6
"""
    )
    assert [(attempt.link, attempt.gave_up) for attempt in job.attempts] == [(link, True)]


def test_who_went_on_afterwards_was_only_early() -> None:
    job = job_of(
        f"""
node-b:1:5 [0] NCCL INFO NCCL version 2.28.9+cuda13.0
node-b:1:5 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.2<0>
node-b:1:5 [0] NCCL INFO {REFUSED}, retrying (1/34) after sleep for 100 msec
node-b:1:5 [0] NCCL INFO Bootstrap timings total 0.013302
"""
    )
    assert [attempt.recovered for attempt in job.attempts] == [True]


NUMBER = "9" * 5000
FORGED = [
    f"node-a:1:1 [0] NCCL INFO comm 0x1 rank {NUMBER} nranks {NUMBER} cudaDev 0 busId 30 - Init COMPLETE",
    "node-a:1:1 [0] NCCL INFO comm 0x1 rank 1 nranks 999999999 cudaDev 0 busId 30 - Init COMPLETE",
    f"NCCL INFO socketPollConnect: connect to 10.0.0.1<{NUMBER}> returned Connection refused, retrying (1/{NUMBER})",
    f"eth0 UP 10.0.0.1/{NUMBER}",
    f"2: eth0: <UP> mtu {NUMBER} inet 10.0.0.1/99 scope global eth0",
    f"[1,{NUMBER}]<stdout>: NCCL INFO x",
    f"{NUMBER}: NCCL INFO Using network Socket",
    '{"log": ' * 3000,
    "\x1b[" * 3000,
    "\x1b]" + "x" * 60000,
    "node-a:1:1 [0] NCCL INFO " * 2000,
    "[0] NCCL INFO Bootstrap: Using " + "[0]" * 20000,
    "inet " + ":" * 65000,
    "inet6 " + "a:" * 32000,
    "> " * 32000,
    "NCCL WARN " * 6000,
    "eth0:1.1.1.1<0>" * 4000,
    " " * 65000,
    "(" * 65000,
]


@pytest.mark.parametrize("line", FORGED, ids=[line[:30] + str(len(line)) for line in FORGED])
def test_no_line_brings_reading_down(line: str) -> None:
    job = in_time(lambda: job_of(f"{line}\n{line}"), 2)
    assert job.world_size is None or job.world_size <= 1_000_000
