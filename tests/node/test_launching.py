"""The variables by which the processes of a job find each other."""

from __future__ import annotations

import pytest

from ncclcheck.model import FileKind, Setting
from ncclcheck.node.files.check import settings
from ncclcheck.node.launching import launch_troubles

GOOD = ["HOME=/root", "MASTER_ADDR=10.0.0.11", "MASTER_PORT=29500", "RANK=3", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=2"]


def wrong(*lines: str) -> list[tuple[int, str, str]]:
    """What is wrong in the good lines with these behind them, of which the last one counts."""
    found = launch_troubles("env", [*GOOD, *lines])
    return [(one.line, one.text, one.trouble.value) for one in found]


def test_nothing_is_wrong_with_what_works() -> None:
    assert wrong() == []


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ("MASTER_PORT=", "not-a-number"),
        ("MASTER_PORT=29500 ", "not-a-number"),
        ("RANK=first", "not-a-number"),
        ("MASTER_PORT=65536", "out-of-range"),
        ("MASTER_PORT=0", "out-of-range"),
        ("RANK=4", "out-of-range"),
        ("MASTER_ADDR=127.0.0.1", "not-a-choice"),
        ("MASTER_ADDR=::1", "not-a-choice"),
        ("MASTER_ADDR=localhost", "not-a-choice"),
    ],
)
def test_what_cannot_work(line: str, trouble: str) -> None:
    assert wrong(line) == [(7, line, trouble)]


def test_on_a_single_node_its_own_address_is_right() -> None:
    assert wrong("MASTER_ADDR=localhost", "LOCAL_WORLD_SIZE=4") == []
    assert wrong("MASTER_ADDR=localhost", "WORLD_SIZE=2") == [(4, "RANK=3", "out-of-range")]


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        (FileKind.CONF, "NCCL_A=1\nx=2\n# c\nNCCL_A=3\n", [("NCCL_A", "1", 1, True), ("NCCL_A", "3", 4, False)]),
        (FileKind.ENV_FILE, 'NCCL_A="1"\nB=2\n', [("NCCL_A", '"1"', 1, True)]),
        (
            FileKind.SHELL,
            'export NCCL_A="1"\nexport NCCL_B=$X\nexport NCCL_A=2\n',
            [("NCCL_A", "1", 1, False), ("NCCL_A", "2", 3, True)],
        ),
        (FileKind.DOCKERFILE, "FROM x\r\nENV NCCL_A=1\r\n", [("NCCL_A", "1", 2, True)]),
        (FileKind.KUBERNETES, "env:\n- name: NCCL_A\n  value: x\n", [("NCCL_A", "x", 2, True)]),
    ],
    ids=lambda value: value.value if isinstance(value, FileKind) else "",
)
def test_the_settings_of_a_file_and_which_of_them_count(
    kind: FileKind, text: str, found: list[tuple[str, str, int, bool]]
) -> None:
    expected = tuple(Setting(name, value, "f", line, wins) for name, value, line, wins in found)
    assert settings("f", text.encode(), kind) == expected
