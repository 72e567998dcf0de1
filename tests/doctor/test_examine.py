"""A text that comes in parts means the same as one that is there at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ncclcheck.doctor.diagnose import diagnose
from ncclcheck.doctor.examine import Examination
from ncclcheck.logs.sources import open_sources, read
from ncclcheck.model import Diagnosis
from tests.cases import ROOT

LOGS = ROOT / "fixtures" / "logs"
CASES = ("wrong-interface/2.28.9-refused-2x4", "wrong-interface/quoted-and-coloured", "wrong-interface/json-lines")


def timeless(diagnosis: Diagnosis) -> Diagnosis:
    """Without what differs from run to run."""
    return replace(diagnosis, seconds=0.0)


@pytest.mark.parametrize("case", CASES)
def test_read_at_once_it_is_the_same(case: str) -> None:
    sources = open_sources([str(LOGS / case)])
    examination = Examination()
    for source in sources:
        assert list(examination.read(read(source)))
    size = sum(source.size for source in sources)
    assert timeless(examination.diagnosis(size)) == timeless(diagnose([str(LOGS / case)]))


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_line_by_line_it_is_the_same(tmp_path: Path, step: int) -> None:
    log = tmp_path / "job.log"
    log.write_text("".join(path.read_text() for path in sorted((LOGS / CASES[0]).glob("*.log"))))
    (source,) = open_sources([str(log)])
    lines = list(read(source))
    examination = Examination()
    assert list(examination.read(lines[:10])) == [10]
    early = examination.diagnosis(0)
    assert (early.lines, early.findings) == (10, examination.diagnosis(0).findings)
    for begin in range(10, len(lines), step):
        examination.take(lines[begin : begin + step])
        if step == 7:
            examination.diagnosis(0)  # Looking changes nothing.
    whole = examination.diagnosis(source.size)
    assert timeless(whole) == timeless(diagnose([str(log)]))
    assert whole.findings != early.findings


def test_it_tells_how_far_it_is() -> None:
    (first, *_) = open_sources([str(LOGS / CASES[0])])
    lines = list(read(first)) * 100
    told = list(Examination().read(lines))
    assert told[0] == 500
    assert told[-1] == len(lines)
