"""``ncclcheck pair`` and ``join`` on terminals, as two people at two nodes see them."""

import io
import sys

import pexpect
import pytest

from ncclcheck.lab import OVERLAY_FIRST, built
from tests.doctor.paired import environment, finished, shell

NCCLCHECK = (sys.executable, "-m", "ncclcheck")


def typed(node, *words):
    """A command of ncclcheck on a terminal of its own."""
    command, *arguments = [*node.prefix, *NCCLCHECK, *words]
    return pexpect.spawn(command, arguments, env=environment(node), encoding="utf-8", timeout=40, dimensions=(40, 160))


def test_two_people_are_asked_each_on_their_own_screen():
    """One says yes and one says no: what is written where, and what both screens say in the end."""
    with built(OVERLAY_FIRST) as nodes:
        first = typed(nodes[0], "pair")
        first.logfile_read = io.StringIO()
        first.expect(r"ncclcheck join ([^\r\n]+)\r\n")
        second = typed(nodes[1], "join", *first.match[1].split())
        for terminal, answer in ((first, "y"), (second, "n")):
            terminal.expect("would change:")
            terminal.expect("Write this\\?")
            terminal.sendline(answer)
        for terminal in (first, second):
            terminal.expect("node-b: NOT changed: its user said no; nothing was written")
            terminal.expect("NOT verified")
            terminal.expect(pexpect.EOF)
            terminal.close()
        written = [shell(node, "cat /etc/nccl.conf") for node in nodes]
    assert written == [
        "NCCL_SOCKET_IFNAME==eth0\nNCCL_DEBUG=WARN\n",
        "NCCL_SOCKET_IFNAME=eth1\nNCCL_DEBUG=WARN\n",
    ]
    assert (first.exitstatus, second.exitstatus) == (1, 1)
    screen = first.logfile_read.getvalue()
    assert screen.index("Use eth0 on both nodes") < screen.index("PROBLEM") < screen.index("Write this?")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("join",), "the following arguments are required"),
        (("join", "hello"), "this is no invitation"),
        (("pair", "--nodes", "1"), "is not a number of nodes from 2 to 64"),
        (("pair", "--port", "70000"), "is not a port"),
        (("pair", "--limit", "0"), "not a time limit"),
        (("pair", "--address", "192.0.2.7"), "there is no address to wait at"),
        (("match", "no-such-file"), "cannot be read"),
    ],
)
def test_wrong_words_are_answered_with_a_sentence(words, said):
    with built(OVERLAY_FIRST) as nodes:
        done = finished(nodes[0], *NCCLCHECK, *words)
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
