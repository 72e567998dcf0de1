"""The table of nccl-tests, and the picture."""

from __future__ import annotations

import builtins
import csv
import io
import sys
from xml.etree import ElementTree

import pytest

from ncclcheck.errors import NcclcheckError
from ncclcheck.model import Baseline, Judgement, Pattern, Rating, Speed, SpeedTest
from ncclcheck.speedtest import plot
from ncclcheck.speedtest.table import COLUMNS, csv_text

TEST = SpeedTest(
    "gloo",
    "eth1",
    (
        Speed(Pattern.ONE_WAY, 1 << 20, (0.001, 0.002, 0.004), True),
        Speed(Pattern.BOTH_WAYS, 8, (0.00005,), True),
        Speed(Pattern.ALL_GATHER, 4000, (0.001,), True, 4),
        Speed(Pattern.ALL_REDUCE, 4000, (0.001,), False, 4),
        Speed(Pattern.ALL_REDUCE, 8000, (), True, 4),
    ),
    ranks=4,
    baseline=Baseline("sockets", 1, 10**9, 1.0, "eth1"),
)


def test_the_columns_of_nccl_tests():
    assert csv_text(TEST).split("\n") == [
        "pattern,size,count,type,redop,root,time(us),algbw(GB/s),busbw(GB/s),#wrong",
        "one way,1048576,1048576,uint8,none,-1,2000.00,0.524288,0.524288,0",
        "both ways,8,8,uint8,none,-1,50.00,0.00016,0.00016,0",
        # nccl-tests 2.19.6 at 4 ranks: 4000 bytes are 1000 of each rank; busbw is 3/4 and 3/2 of algbw.
        "all gather,4000,1000,uint8,none,-1,1000.00,0.004,0.003,0",
        "all reduce,4000,1000,int32,sum,-1,1000.00,0.004,0.006,1",
        "",
    ]


def test_a_spreadsheet_reads_it():
    rows = list(csv.DictReader(io.StringIO(csv_text(TEST))))
    assert tuple(rows[0]) == COLUMNS
    assert [float(row["busbw(GB/s)"]) for row in rows] == pytest.approx(
        [speed.busbw for speed in TEST.speeds if speed.seconds]
    )
    assert csv_text(SpeedTest("gloo", None)) == ",".join(COLUMNS) + "\n"


WORD = Judgement(Rating.HEALTHY, 0.5, 1.18, "eth1", "fine")


def test_a_picture_with_all_that_was_possible(tmp_path):
    path = tmp_path / "speed.svg"
    plot.save(TEST, str(path), WORD)
    ElementTree.parse(path)
    drawn = path.read_text(encoding="utf-8")
    words = (
        "one way",
        "both ways",
        "all gather",
        "all reduce",
        "link: 1.18 GB/s",
        "plain TCP: 1 GB/s",
        "gloo over eth1",
    )
    # matplotlib draws letters as paths, and leaves the text beside them.
    assert [word for word in words if f"<!-- {word}" not in drawn] == []


@pytest.mark.parametrize("test", [TEST, SpeedTest("", None, failure="refused")])
def test_a_png(tmp_path, test):
    path = tmp_path / "speed.PNG"
    plot.save(test, str(path))
    assert path.read_bytes().startswith(b"\x89PNG\r\n")
    assert "matplotlib.pyplot" not in sys.modules


def test_without_matplotlib(tmp_path, monkeypatch):
    real = builtins.__import__

    def missing(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(NcclcheckError) as caught:
        plot.save(TEST, str(tmp_path / "speed.png"))
    assert "needs matplotlib" in caught.value.problem
    assert "ncclcheck[plot]" in caught.value.next_step


@pytest.mark.parametrize(
    ("name", "problem"), [("speed.pdf", "neither PNG nor SVG"), ("no/folder/speed.png", "cannot be written")]
)
def test_a_file_that_cannot_be(tmp_path, name, problem):
    with pytest.raises(NcclcheckError, match=problem):
        plot.save(TEST, str(tmp_path / name))


def test_only_the_plot_loads_matplotlib():
    import subprocess

    code = "import sys, ncclcheck.speedtest.plot, ncclcheck.speedtest.table; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "False\n"
