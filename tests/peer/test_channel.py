"""The channel, and what hostile peers get out of it: one clear line, at once, and nothing else."""

import json
import socket
import struct
import threading
import time
from contextlib import contextmanager

import pytest

from ncclcheck.errors import PeerError
from ncclcheck.peer import messages
from ncclcheck.peer.channel import Role, greet_guest, greet_host, proof

TOKEN = "K7QW3MABCDEFGH2Z"


@contextmanager
def connected():
    """Both ends of a connection over loopback."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), timeout=5) as calling,
        server.accept()[0] as answering,
    ):
        yield answering, calling


def outcome(call, *arguments):
    """What a call gives, or the PeerError that it raises."""
    try:
        return call(*arguments)
    except PeerError as error:
        return error


@contextmanager
def channels(host_token=TOKEN, guest_token=TOKEN):
    """What both sides get from the greeting."""
    with connected() as (answering, calling):
        results = {}
        guest = threading.Thread(target=lambda: results.update(guest=outcome(greet_host, calling, guest_token, 2.0)))
        guest.start()
        host = outcome(greet_guest, answering, host_token, 2.0)
        guest.join()
        yield host, results["guest"]


def test_messages_go_both_ways():
    with channels() as (host, guest):
        host.send(messages.OpenDoors("k"))
        guest.send(messages.Mended("node-b", True, "written"))
        guest.send(messages.CloseDoors())
        assert guest.receive(1) == messages.OpenDoors("k")
        assert host.receive(1) == messages.Mended("node-b", True, "written")
        assert host.receive(1) == messages.CloseDoors()


def test_a_wrong_token_is_refused_on_both_sides_in_one_line():
    with channels(guest_token="A" * 16) as (host, guest):
        assert (host.problem, guest.problem) == ("called with a wrong token", "it refuses: wrong token")


def test_a_host_that_does_not_know_the_token_learns_nothing():
    with connected() as (answering, calling):
        guest = threading.Thread(target=_false_host, args=(answering,))
        guest.start()
        error = outcome(greet_host, calling, TOKEN, 2.0)
        guest.join()
    assert error.problem == "whoever answers there does not know the token"


def _false_host(connection):
    connection.sendall(json.dumps({"ncclcheck": 1, "challenge": "00"}).encode() + b"\n")
    answer = json.loads(connection.makefile().readline())
    # All that it can say is what it heard.
    connection.sendall(json.dumps({"ncclcheck": 1, "proof": answer["proof"]}).encode() + b"\n")


def test_a_recorded_greeting_cannot_be_played_again():
    recorded = {}

    class Recorder:
        """Writes down what the guest says."""

        def __init__(self, connection):
            self._connection = connection

        def sendall(self, content):
            recorded.setdefault("said", b"")
            recorded["said"] += content
            self._connection.sendall(content)

        def __getattr__(self, name):
            return getattr(self._connection, name)

    with connected() as (answering, calling):
        guest = threading.Thread(target=lambda: outcome(greet_host, Recorder(calling), TOKEN, 2.0))
        guest.start()
        assert not isinstance(outcome(greet_guest, answering, TOKEN, 2.0), PeerError)
        guest.join()
    with connected() as (answering, calling):
        calling.sendall(recorded["said"])
        assert outcome(greet_guest, answering, TOKEN, 2.0).problem == "called with a wrong token"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda one, two: (one, one), "a message was changed or repeated on the way"),
        (lambda one, two: (two, one), "a message was changed or repeated on the way"),
        (lambda one, two: (one[:-1] + b"?", two), "a message was changed or repeated on the way"),
        (lambda one, two: (struct.pack(">I", 1 << 30) + one[4:], two), "a message of 1073741824 bytes was announced"),
    ],
    ids=["repeated", "out of order", "changed", "oversized"],
)
def test_frames_that_are_not_the_other_sides_are_refused(spoil, said):
    with channels() as (host, guest):
        frames = []
        sending, guest._connection = guest._connection, _Tap(guest._connection, frames)
        guest.send(messages.CloseDoors())
        guest.send(messages.OpenDoors("k"))
        for frame in spoil(*frames):
            sending.sendall(frame)
        errors = [error for error in (outcome(host.receive, 1) for _ in frames) if isinstance(error, PeerError)]
        assert errors[0].problem == said
        assert errors[0].next_step


class _Tap:
    """Takes what would be sent."""

    def __init__(self, connection, frames):
        self._connection, self._frames = connection, frames

    def sendall(self, content):
        self._frames.append(content)

    def __getattr__(self, name):
        return getattr(self._connection, name)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "is no ncclcheck: it speaks another protocol"),
        (b"\x00\xff" * 20 + b"\n", "is no ncclcheck: it speaks another protocol"),
        (b"[" * 500 + b"\n", "is no ncclcheck: it speaks another protocol"),
        (b'{"ncclcheck": "1"}\n', "is no ncclcheck: it speaks another protocol"),
        (b"x" * 100_000, "is no ncclcheck: its first line has no end"),
        (b'{"ncclcheck": 2, "challenge": "0"}\n', "speaks version 2 of this protocol, and this ncclcheck speaks 1"),
        (b'{"ncclcheck": 1, "challenge": "\\u00e9", "proof": "\\u00e9"}\n', "called with a wrong token"),
        (b'{"ncclcheck": 1}\n', "called with a wrong token"),
    ],
    ids=["http", "garbage", "nested", "text for number", "endless", "from the future", "not ASCII", "empty"],
)
def test_strangers_are_told_apart_at_once(said, problem):
    with connected() as (answering, calling):
        calling.sendall(said)
        began = time.monotonic()
        assert outcome(greet_guest, answering, TOKEN, 2.0).problem == problem
        assert time.monotonic() - began < 1


def test_a_caller_who_dawdles_is_given_up():
    stop = threading.Event()
    with connected() as (answering, calling):
        dawdler = threading.Thread(target=_dawdle, args=(calling, stop))
        dawdler.start()
        began = time.monotonic()
        error = outcome(greet_guest, answering, TOKEN, 0.5)
        took = time.monotonic() - began
        stop.set()
        dawdler.join()
    assert error.problem == "said nothing that counts within the time limit"
    assert 0.4 < took < 1.0


def _dawdle(connection, stop):
    """A byte now and then, so that no single wait is ever too long."""
    while not stop.wait(0.05):
        try:
            connection.sendall(b" ")
        except OSError:
            return


def test_a_caller_who_hangs_up_is_named():
    with connected() as (answering, calling):
        calling.close()
        assert outcome(greet_guest, answering, TOKEN, 1.0).problem == "hung up during the greeting"


def test_a_message_of_the_future_is_refused_as_such():
    with channels() as (host, guest):
        content = b'{"type": "Reboot", "now": true}'
        guest._connection.sendall(struct.pack(">I32s", len(content), guest._mac(Role.GUEST, 0, content)) + content)
        with pytest.raises(PeerError, match="a message that this version cannot read came") as caught:
            host.receive(1)
        assert caught.value.next_step == "Use the same version of ncclcheck on both nodes."


def test_silence_ends_at_the_limit_and_an_end_is_called_one():
    with channels() as (host, guest):
        with pytest.raises(PeerError, match="the other node did not answer in time"):
            host.receive(0.1)
        guest.close()
        with pytest.raises(PeerError, match="the other node has ended the conversation"):
            host.receive(1)


def test_who_is_gone_is_known_without_a_message_and_one_that_waits_is_not_lost():
    with channels() as (host, guest):
        host.must_be_there()
        guest.send(messages.CloseDoors())
        deadline = time.monotonic() + 5
        while not host._connection.recv(1, socket.MSG_PEEK) and time.monotonic() < deadline:
            pass
        host.must_be_there()
        assert host.receive(1) == messages.CloseDoors()
        guest.close()
        while (gone := outcome(host.must_be_there)) is None and time.monotonic() < deadline:
            pass
        assert "has ended the conversation" in str(gone)


def test_proofs_depend_on_the_side_and_on_both_challenges():
    proofs = {proof(token, role, *pair) for token in ("a", "b") for role in Role for pair in (("1", "2"), ("2", "1"))}
    assert len(proofs) == 8
