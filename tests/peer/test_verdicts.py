"""What errors, ICMP messages, greetings and the kernel's table mean: literal in, literal out."""

from __future__ import annotations

import errno
import os
import struct
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.model import Cell, Outcome
from ncclcheck.peer.calls import Call
from ncclcheck.peer.greeting import LONGEST, Answer, Hello, answer_line, answer_of, hello_line, hello_of
from ncclcheck.peer.icmp import Failure, Notice, judged, notice_of
from ncclcheck.peer.reach import settled
from ncclcheck.peer.synqueue import HalfOpen, SynQueue, half_open

CALL = Call("eth1", "10.0.0.1", "node-b", "eth5", "10.0.0.2", 41000)
ICMP, ICMP6, LOCAL = 2, 3, 1


def notice(kind, code, origin=ICMP, sender="10.0.0.2"):
    """An ICMP message."""
    return Notice(origin, kind, code, sender)


@pytest.mark.parametrize(
    ("failure", "outcome", "detail"),
    [
        (Failure(errno.ENETUNREACH, 0.0), Outcome.NO_ROUTE, ""),
        (Failure(errno.EHOSTUNREACH, 0.0), Outcome.NO_ROUTE, "unreachable"),
        (Failure(errno.EINVAL, 0.0), Outcome.NO_ROUTE, "blackhole"),
        (Failure(errno.ENETDOWN, 0.0), Outcome.NO_ROUTE, "down"),
        (Failure(errno.EACCES, 0.0), Outcome.FORBIDDEN, "prohibit"),
        (Failure(errno.EPERM, 0.0), Outcome.FORBIDDEN, "firewall"),
        (Failure(errno.EADDRNOTAVAIL, 0.0), Outcome.FORBIDDEN, "ip_local_port_range"),
        (Failure(errno.EMFILE, 0.0), Outcome.FORBIDDEN, os.strerror(errno.EMFILE)),
        (Failure(errno.ECONNREFUSED, 0.01), Outcome.REFUSED, "a reset came back"),
        (Failure(errno.ETIMEDOUT, 3.5), Outcome.DROPPED, "no answer within 3.5 s"),
        (Failure(errno.ETIMEDOUT, 3.5, notice(3, 1)), Outcome.REJECTED, "host unreachable (ICMP 3/1)"),
        (Failure(errno.EHOSTUNREACH, 0.01, notice(11, 0, sender="10.9.0.1")), Outcome.REJECTED, "round in circles"),
        (Failure(errno.EHOSTUNREACH, 0.01, notice(3, 99)), Outcome.REJECTED, "ICMP 3/99, sent by node-b itself"),
        (Failure(errno.EHOSTUNREACH, 0.01, notice(3, 1, sender="")), Outcome.REJECTED, "sent by somebody on the way"),
        (Failure(errno.EHOSTUNREACH, 3.1, notice(3, 1), own=True), Outcome.NO_NEIGHBOUR, "ARP on eth1"),
        (Failure(errno.EHOSTUNREACH, 0.0, notice(3, 1), own=True), Outcome.FORBIDDEN, "own firewall"),
        (Failure(errno.EHOSTUNREACH, 3.1, notice(1, 3, ICMP6), own=True), Outcome.NO_NEIGHBOUR, "unanswered"),
        (Failure(errno.EHOSTUNREACH, 3.1, notice(1, 1, ICMP6), own=True), Outcome.FORBIDDEN, "(ICMPv6 1/1)"),
        # Before Linux 5.9 no message is kept.
        (Failure(errno.EHOSTUNREACH, 3.1), Outcome.NO_NEIGHBOUR, "unanswered"),
        (Failure(errno.EHOSTUNREACH, 0.01), Outcome.REJECTED, "does not tell who"),
        (Failure(errno.ENOPROTOOPT, 0.01), Outcome.REJECTED, "protocol unreachable"),
    ],
)
def test_failures(failure, outcome, detail):
    verdict = judged(CALL, failure)
    assert verdict.outcome is outcome
    assert detail in verdict.detail


def test_a_message_as_the_kernel_keeps_it():
    # Seen on Linux 6.18 for a rejected connection.
    seen = struct.pack("=I4B2I", errno.EHOSTUNREACH, 2, 3, 1, 0, 0, 0) + struct.pack("=H", 2) + bytes(2)
    assert notice_of(seen + bytes((10, 0, 0, 1)) + bytes(8)) == Notice(2, 3, 1, "10.0.0.1")
    six = struct.pack("=I4B2I", errno.EACCES, 3, 1, 1, 0, 0, 0) + struct.pack("=H", 10) + bytes(6)
    assert notice_of(six + bytes(15) + b"\1" + bytes(4)) == Notice(3, 1, 1, "::1")
    assert notice_of(seen[:10]) is None
    assert notice_of(seen).sender == ""


# ---- greetings ----

HELLO = Hello("node-a", "node-b", "4711", 65536)
ANSWER = Answer("node-b", "10.0.0.1")


def test_both_lines_can_be_read_by_who_knows_the_key():
    line = hello_line(HELLO, "key")
    hello = hello_of(line, "key")
    assert (hello.caller, hello.callee, hello.nonce, hello.size) == ("node-a", "node-b", "4711", 65536)
    answer = answer_of(answer_line(ANSWER, hello, "key"), HELLO, "key")
    assert (answer.host, answer.source) == ("node-b", "10.0.0.1")


def test_a_line_is_short_even_with_the_longest_names():
    hello = Hello("a" * 64, "b" * 64, "0" * 32, 262144)
    assert len(hello_line(hello, "key")) <= LONGEST
    assert len(answer_line(Answer("b" * 64, "f" * 45), hello, "key")) <= LONGEST


def test_who_does_not_know_the_key_can_say_nothing():
    assert hello_of(hello_line(HELLO, "guess"), "key") is None
    assert answer_of(answer_line(ANSWER, HELLO, "guess"), HELLO, "key") is None
    assert answer_of(hello_line(HELLO, "key"), HELLO, "key") is None


@pytest.mark.parametrize("old", [b'"node-b"', b"10.0.0.1"])
def test_a_changed_answer_is_none(old):
    line = answer_line(ANSWER, HELLO, "key")
    assert answer_of(line.replace(old, old[:-2] + b"9" + old[-1:]), HELLO, "key") is None


def test_an_answer_to_another_call_is_none():
    other = Hello("node-a", "node-b", "4712", 65536)
    assert answer_of(answer_line(ANSWER, other, "key"), HELLO, "key") is None


@pytest.mark.parametrize("size", [-1, 262145, 1 << 60])
def test_nobody_is_sent_more_than_a_bit(size):
    assert hello_of(hello_line(Hello("node-a", "node-b", "4711", size), "key"), "key") is None


@given(st.binary(max_size=LONGEST) | st.text(max_size=99).map(lambda text: f'{{"proof": "{text}"}}'.encode()))
def test_no_bytes_are_too_strange(line):
    assert hello_of(line, "key") is None
    assert answer_of(line, HELLO, "key") is None


@pytest.mark.parametrize("proof", [r"\ud800", "ä", "", "0" * 64])
def test_no_proof_is_too_strange(proof):
    line = f'{{"caller":"a","callee":"b","nonce":"1","size":1,"proof":"{proof}"}}'
    assert hello_of(line.encode(), "key") is None


# ---- calls that were never completed ----

TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0200000A:A028 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0200000A:A028 0100000A:C350 03 00000000:00000000 01:00000064 00000000     0        0 0 1 0
   2: 0200000A:A029 0300000A:C351 03 00000000:00000000 01:00000064 00000000     0        0 0 1 0
   3: 0200000A:A028 0100000A:C352 01 00000000:00000000 00:00000000 00000000     0        0 7 1 0
"""
TABLE6 = """  sl  local_address                         remote_address                        st
   0: 000000FD000000000000000002000000:A028 000080FE000000000000000001000000:C353 03 rest
"""
little = pytest.mark.skipif(sys.byteorder != "little", reason="the table was written on a machine of this byte order")


@little
def test_the_kernels_table():
    assert list(half_open(TABLE)) == [
        HalfOpen("10.0.0.1", 50000, "10.0.0.2", 41000),
        HalfOpen("10.0.0.3", 50001, "10.0.0.2", 41001),
    ]
    assert list(half_open(TABLE6)) == [HalfOpen("fe80::1", 50003, "fd00::2", 41000)]
    assert list(half_open("")) == []


@little
def test_what_was_seen_and_never_completed(tmp_path):
    table = tmp_path / "tcp"
    queue = SynQueue(frozenset({41000, 41001}), (table, tmp_path / "absent"))
    table.write_text(TABLE)
    queue.sample()
    table.write_text("nothing any more\n")
    queue.sample()
    queue.complete("10.0.0.1", 50000)
    assert queue.unanswered() == {("10.0.0.3", 50001, "10.0.0.2")}


@little
def test_other_ports_are_none_of_our_business(tmp_path):
    (tmp_path / "tcp").write_text(TABLE)
    queue = SynQueue(frozenset({41000}), (tmp_path / "tcp",))
    queue.sample()
    assert queue.unanswered() == {("10.0.0.1", 50000, "10.0.0.2")}


def dropped(source="10.0.0.1", **more):
    """A call from node-a to node-b that nobody answered."""
    return Cell("node-a", "", "node-b", "eth5", "10.0.0.2", Outcome.DROPPED, source=source, **more)


@pytest.mark.parametrize(
    ("lost", "arrived"),
    [
        ({"node-b": {("10.0.0.1", 50000, "10.0.0.2")}}, True),
        ({"node-b": {("10.0.0.1", 50000, "10.0.0.9")}}, False),
        ({"node-b": set()}, False),
        # A caller that nobody is: it may be this call, behind NAT.
        ({"node-b": {("192.0.2.7", 50000, "10.0.0.2")}}, None),
        ({"node-c": {("10.0.0.1", 50000, "10.0.0.2")}}, None),
        ({}, None),
    ],
)
def test_what_the_callee_saw(lost, arrived):
    (cell,) = settled((dropped(),), lost)
    assert cell.arrived is arrived


def test_another_callers_lost_call_is_not_this_one():
    cells = settled((dropped(), dropped("10.0.0.3")), {"node-b": {("10.0.0.3", 50000, "10.0.0.2")}})
    assert [cell.arrived for cell in cells] == [False, True]


def test_only_what_stayed_unanswered_is_looked_up():
    passed = Cell("node-a", "", "node-b", "eth5", "10.0.0.2", Outcome.OK, source="10.0.0.1")
    broken = dropped(seconds=0.001)
    assert settled((passed, broken), {"node-b": set()}) == (passed, broken)
