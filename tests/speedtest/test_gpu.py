"""The speed test over NCCL on a real GPU; by hand where there is one: ``pytest -m gpu tests/speedtest/test_gpu.py``.

One GPU is enough: NCCL takes one rank on it, and refuses a second one in words that a rule knows. The project's own
gate has no GPU and leaves these out.
"""

import pytest

from ncclcheck.doctor.diagnose import diagnose_text
from tests.speedtest.pairs import named, reason, run

pytestmark = pytest.mark.gpu
NCCL = ("--backend", "nccl", "--no-baseline")


def lines(events):
    return [line for event in named(events, "log") for line in event["lines"]]


def test_one_rank_over_nccl_measures_and_brings_nccls_own_lines():
    ((status, events),) = run(("64M", "--ranks", 1, "--patterns", "all-reduce", "--sizes", "8,64M", *NCCL))
    assert status == 0, reason(events)
    results = [(event["size"], event["verified"]) for event in named(events, "result")]
    assert results == [(8, True), (64 * 1024**2, True)]
    assert diagnose_text("\n".join(lines(events))).job.ranks[0].nccl
    assert any("Init COMPLETE" in line for line in lines(events))


def test_training_on_one_rank_over_nccl():
    ((status, events),) = run(("1M", "--ranks", 1, "--workload", "ddp", *NCCL))
    assert status == 0, reason(events)
    (proof,) = named(events, "ddp")
    assert proof["same"]
    assert proof["last_loss"] < proof["first_loss"]


def test_two_ranks_on_one_gpu_are_refused_in_words():
    ended = run(*(("1M", 0, "--limit", 60, *NCCL),) * 2)
    assert [status for status, _ in ended] == [3, 3]
    said = "\n".join(line for _, events in ended for line in lines(events))
    assert "duplicate-gpu" in {finding.cause for finding in diagnose_text(said).findings}
