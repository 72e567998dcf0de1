"""NCCL's log while it is written."""

import os
import socket

import pytest

from ncclcheck.speedtest.worker import nccl_log
from ncclcheck.speedtest.worker.nccl_log import flows_of, interface_of, prepare


def test_it_lies_in_memory_and_is_read_as_it_grows():
    env = {}
    log = prepare(env)
    assert (env["NCCL_DEBUG"], env["NCCL_DEBUG_SUBSYS"]) == ("INFO", "INIT,BOOTSTRAP,ENV,NET,GRAPH")
    assert log.more() == []
    # As NCCL does it: it opens the path by itself, and writes a line in pieces.
    with open(env["NCCL_DEBUG_FILE"], "w") as file:
        file.write("one\ntw")
        file.flush()
        assert log.more() == ["one"]
        file.write("o\n\xff")
        file.flush()
        assert log.more() == ["two"]
    assert log.lines == ["one", "two"]


def test_the_users_own_settings_stay(tmp_path):
    env = {"NCCL_DEBUG": "WARN", "NCCL_DEBUG_FILE": f"{tmp_path}/%h.%p.log"}
    log = prepare(env)
    assert env["NCCL_DEBUG"] == "WARN"
    assert env["NCCL_DEBUG_FILE"] == log.place == f"{tmp_path}/%h.%p.log"
    assert log.more() == []
    (tmp_path / f"{socket.gethostname().partition('.')[0]}.{os.getpid()}.log").write_text("said\n")
    assert log.more() == ["said"]


def test_an_endless_log_is_cut(monkeypatch):
    monkeypatch.setattr(nccl_log, "MOST_LINES", 2)
    env = {}
    log = prepare(env)
    with open(env["NCCL_DEBUG_FILE"], "w") as file:
        for number in range(4):
            file.write(f"{number}\n")
            file.flush()
            log.more()
    assert log.lines == ["0", "1"]


@pytest.mark.parametrize(
    ("lines", "use"),
    [
        ((), None),
        (("a:1:2 [0] NCCL INFO Bootstrap : Using eth0:172.17.0.4<0>",), ("eth0", "172.17.0.4")),
        (
            ("a:1:2 [0] NCCL INFO Bootstrap: Using eth0:fe80::42:acff:fe11:4%eth0<0>",),
            ("eth0", "fe80::42:acff:fe11:4%eth0"),
        ),
        (
            (
                "a:1:2 [0] NCCL INFO Bootstrap : Using eth0:172.17.0.4<0>",
                "a:1:2 [0] NCCL INFO NET/Socket : Using [0]eth1:10.0.0.4<0> [1]eth2:10.1.0.4<0>",
            ),
            ("eth1", "10.0.0.4"),
        ),
    ],
)
def test_which_interface_it_took(lines, use):
    assert interface_of(list(lines)) == use


def test_how_many_connections_it_opens():
    assert flows_of(["NET/Socket: Using 2 threads and 8 sockets per thread"]) == 16
    assert flows_of(["nothing"]) == 1
