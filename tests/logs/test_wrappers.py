"""What launchers and collectors put in front of a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.logs.wrappers import Peeled, peel

LINE = "node-a:10:11 [0] NCCL INFO Bootstrap: Using eth1:10.0.0.11<0>"


@pytest.mark.parametrize(
    ("wrapper", "rank", "host"),
    [
        ("", None, None),
        ("> ", None, None),
        ("> > ", None, None),
        ("[rank3]: ", 3, None),
        ("[default3]:", None, None),
        ("[trainer0|1]: ", None, None),
        ("[1,3]<stdout>:", 3, None),
        ("[1,12]<stderr>: ", 12, None),
        ("(head, rank=3, pid=77) ", 3, None),
        ("(RayTrainWorker pid=812, ip=10.0.0.12) ", None, "10.0.0.12"),
        ("(VllmWorkerProcess pid=812) ", None, None),
        ("[node-b:4411]:", None, "node-b"),
        ("node-a: ", None, "node-a"),
        ("3: ", 3, None),
        ("trainer-1  | ", None, None),
        ("2026-01-02T10:11:12.123456789Z stdout F ", None, None),
        ("2026-01-02T10:11:12Z ", None, None),
        ("2026-01-02 10:11:12,123 ", None, None),
        ("stderr: ", None, None),
        ("\x1b[32m[rank1]: \x1b[0m", 1, None),
        ("2026-01-02T10:11:12Z [rank3]: > ", 3, None),
        ("[1,3]<stdout>:[rank3]: (main pid=5) ", 3, None),
    ],
)
def test_peels_wrappers_in_any_nesting(wrapper: str, rank: int | None, host: str | None) -> None:
    assert peel(wrapper + LINE) == Peeled(LINE, rank, host)


@pytest.mark.parametrize(
    "line",
    [LINE, "[0] NCCL INFO x", "eth0: flags=4163<UP> mtu 1500", "10:11:12 started", "", " ", "3", "comm 0x1 rank 3"],
)
def test_leaves_what_is_no_wrapper(line: str) -> None:
    assert peel(line) == Peeled(line)


@pytest.mark.parametrize("line", [f"**{LINE}**", f"│ {LINE} │", f"> **{LINE}**", f"  │ [rank1]: {LINE}   │"])
def test_peels_both_ends(line: str) -> None:
    assert peel(line).text == LINE


@pytest.mark.parametrize("key", ["log", "message", "msg", "textPayload"])
def test_takes_the_line_out_of_json(key: str) -> None:
    assert peel(f'{{"{key}": "[rank1]: {LINE}\\n", "stream": "stdout"}}') == Peeled(LINE, 1)


@given(some.text(max_size=200))
def test_never_makes_a_line_longer_nor_raises(line: str) -> None:
    peeled = peel(line)
    assert peeled.text in line or "\x1b" in line or line.lstrip().startswith('{"')
