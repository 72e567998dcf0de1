"""This machine's own address on an interface, on the nodes of a lab."""

import os
import socket
import subprocess
import sys

import pytest

from ncclcheck.lab import LabLink, LabNode, Layout, built
from ncclcheck.speedtest.worker.local import address_of

ASK = "import sys; from ncclcheck.speedtest.worker.local import address_of; print(address_of(*sys.argv[1:]))"
LAYOUT = Layout("one", "", (LabNode("n", (LabLink("eth0", "a", "10.1.0.1/24"), LabLink("eth1", "b", "fd00::7/64"))),))


def test_the_addresses_of_a_node():
    with built(LAYOUT) as (node,):
        env = {**os.environ, **dict(node.env), "PYTHONPATH": os.getcwd()}
        found = {
            name: subprocess.run(
                [*node.prefix, sys.executable, "-c", ASK, name, "10.9.9.9"],
                env=env,
                capture_output=True,
                text=True,
                timeout=20,
                check=True,
            ).stdout.strip()
            for name in ("eth0", "eth1", "lo", "eth7")
        }
    assert found["eth0"] == "10.1.0.1"
    assert found["eth1"] == "fd00::7"
    assert (found["lo"], found["eth7"]) == ("127.0.0.1", "10.9.9.9")


@pytest.mark.parametrize(("own", "address"), [("10.0.0.5", "10.0.0.5"), ("127.0.1.1", "10.9.9.9"), (None, "10.9.9.9")])
def test_without_an_interface_the_machines_name_counts_unless_nobody_could_reach_it(monkeypatch, own, address):
    def resolved(name):
        if name == "10.9.9.9":
            return name
        if own is None:
            raise socket.gaierror("unknown")
        return own

    monkeypatch.setattr(socket, "gethostbyname", resolved)
    monkeypatch.setattr(socket, "gethostname", lambda: "node-a")
    assert address_of(None, "10.9.9.9") == address
