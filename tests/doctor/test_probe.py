"""The real NCCL against the prediction, on this machine and in a namespace."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ncclcheck.doctor.probe import probe
from ncclcheck.errors import ProbeError
from ncclcheck.model import Node
from tests.doctor.test_scan import LINK_LOCAL, TWO, namespace


def test_a_node_behind_a_prefix_takes_what_was_predicted() -> None:
    seen = probe(namespace(TWO), python=sys.executable, env=(("NCCL_SOCKET_IFNAME", "=docker0,eth1"),))

    assert (seen.agrees, seen.code) == (True, 0)
    assert seen.seen.interface in ("docker0", "eth1")
    assert seen.root is not None
    assert seen.root.startswith(f"{seen.seen.address}:")
    assert any("Bootstrap: Using" in line for line in seen.log)


def test_the_classical_line_of_the_guides_fails_as_predicted(tmp_path: Path) -> None:
    conf = tmp_path / "nccl.conf"
    conf.write_text("NCCL_SOCKET_IFNAME=lo  # Replace with your own network interface name\n")

    seen = probe(Node("here"), python=sys.executable, env=(("NCCL_CONF_FILE", str(conf)),))

    assert (seen.agrees, seen.code, seen.seen.interface, seen.root) == (True, 5, None, None)
    assert any("lo  # Replace with your own network interface name" in line for line in seen.log)


def test_a_link_local_root_carries_its_interface() -> None:
    seen = probe(namespace(LINK_LOCAL), python=sys.executable)

    assert (seen.agrees, seen.code, seen.seen.interface) == (True, 0, "eth1")
    assert seen.root is not None
    assert seen.root.startswith(f"[{seen.seen.address}]:")


def test_a_python_without_nccl_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    bare = tmp_path / "python3"
    bare.write_text(f'#!/bin/sh\nprintf \'["%s", "/nonexistent", []]\\n\' {bare}\n')
    bare.chmod(0o755)

    with pytest.raises(ProbeError) as caught:
        probe(Node("here"), python=str(bare))

    assert (caught.value.place, caught.value.problem) == (str(bare), "no libnccl.so.2 within its reach")
    assert "--python" in caught.value.next_step


def test_a_probe_that_hangs_on_a_far_node_tells_so(tmp_path: Path) -> None:
    library = tmp_path / "lib/libnccl.so.2"
    library.parent.mkdir()
    library.write_bytes(b"\0NCCL version 2.18.3\0")
    slow = tmp_path / "python3"
    slow.write_text(f'#!/bin/sh\n[ "$1" = -c ] || exec sleep 100\nprintf \'["%s", "%s", []]\\n\' {slow} {tmp_path}\n')
    slow.chmod(0o755)

    with pytest.raises(ProbeError) as caught:
        probe(Node("node-b", prefix=("env",)), python=str(slow), limit=1)

    assert caught.value.problem == f"{library}: no answer within 1 s"
