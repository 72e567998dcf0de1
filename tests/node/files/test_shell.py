"""Shell lines, as a real shell reads them."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.node.files import shell

SHELL_VALUES = some.text(alphabet="abc =#;$'\"\\ ,^\t", max_size=8)


@given(SHELL_VALUES)
def test_a_value_that_a_shell_puts_in_quotes_is_read_back(value: str) -> None:
    (found,) = shell.read(f"export NCCL_TOPO_FILE={shlex.quote(value)} # x", 1, shell.Exports())

    assert found.value == value


@pytest.mark.parametrize(
    "written",
    [
        "=eth1",
        "eth1  # note",
        "'eth1 # note'",
        '"eth1 # note"',
        "eth1#note",
        "eth1;true",
        "a\\ b",
        '"a\\"b"',
        "'a'\"b\"c",
        "^lo,docker && true",
        '"a\\b"',
        "''",
        "",
    ],
)
def test_a_real_shell_reads_the_same_value(written: str) -> None:
    line = f"export NCCL_TOPO_FILE={written}"
    done = subprocess.run(
        ["sh", "-c", f'{line}\nprintf "%s" "$NCCL_TOPO_FILE"'], capture_output=True, text=True, check=False
    )

    (found,) = shell.read(line, 1, shell.Exports())

    assert (done.returncode, found.value) == (0, done.stdout)
