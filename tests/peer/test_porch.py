"""Waiting and knocking over loopback: whoever knows the token comes in, whatever strangers do meanwhile."""

import socket
import threading
import time

import pytest

from ncclcheck.errors import PeerError
from ncclcheck.peer import knock as knocking
from ncclcheck.peer.invitation import Invitation, new_token
from ncclcheck.peer.knock import Door, Knocked, knock
from ncclcheck.peer.messages import CloseDoors
from ncclcheck.peer.porch import Guest, Stranger, waiting


def test_a_guest_comes_in_and_is_known_by_the_address_that_he_called():
    token = new_token()
    with waiting(("127.0.0.1", "127.0.0.2"), token) as porch:
        assert porch.addresses == ("127.0.0.1", "127.0.0.2")
        (door,) = knock(Invitation(porch.port, token, ("127.0.0.2",)), ())
        guest = porch.next(3.0)
        assert isinstance(guest, Guest)
        assert guest.address == door.address == "127.0.0.2"
        guest.channel.close()
        door.channel.close()


def test_several_addresses_bring_one_guest():
    token, addresses = new_token(), ("127.0.0.1", "127.0.0.2", "127.0.0.3")
    with waiting(addresses, token) as porch:
        results = list(knock(Invitation(porch.port, token, addresses), ()))
        assert isinstance(results[-1], Door)
        assert sum(isinstance(result, Door) for result in results) == 1
        results[-1].channel.send(CloseDoors())
        heard = []
        while len(heard) < 1:
            guest = porch.next(3.0)
            heard += [guest.channel.receive(1)] if guest.address == results[-1].address else []
            guest.channel.close()
        results[-1].channel.close()
    assert heard == [CloseDoors()]


def test_strangers_are_told_and_keep_nobody_waiting():
    token = new_token()
    with waiting(("127.0.0.1",), token) as porch:
        # Thirty who connect and say nothing, and one who says the wrong thing.
        silent = [socket.create_connection(("127.0.0.1", porch.port)) for _ in range(30)]
        with socket.create_connection(("127.0.0.1", porch.port)) as rude:
            rude.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert porch.next(3.0) == Stranger("127.0.0.1", "is no ncclcheck: it speaks another protocol")
        began = time.monotonic()
        (door,) = knock(Invitation(porch.port, token, ("127.0.0.1",)), ())
        guest = porch.next(3.0)
        assert isinstance(guest, Guest)
        assert time.monotonic() - began < 1
        guest.channel.close()
        door.channel.close()
        began = time.monotonic()
    # Closing does not wait for those who dawdle.
    assert time.monotonic() - began < 1
    for one in silent:
        one.close()


def test_a_wrong_token_is_turned_away_on_both_sides():
    with waiting(("127.0.0.1",), new_token()) as porch:
        (knocked,) = knock(Invitation(porch.port, new_token(), ("127.0.0.1",)), ())
        assert isinstance(knocked, Knocked)
        assert knocked.problem == "it refuses: wrong token"
        assert porch.next(3.0) == Stranger("127.0.0.1", "called with a wrong token")


def test_the_port_is_closed_when_nobody_is_expected_any_more():
    with waiting(("127.0.0.1",), new_token()) as porch:
        port = porch.port
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_an_address_that_is_not_ours_is_named_and_the_others_count():
    with waiting(("192.0.2.7", "127.0.0.1"), new_token()) as porch:
        assert porch.addresses == ("127.0.0.1",)
        assert porch.failed == (("192.0.2.7", "Cannot assign requested address"),)
    with pytest.raises(PeerError, match="there is no address to wait at") as caught, waiting(("192.0.2.7",), "T"):
        pass
    assert "--address" in caught.value.next_step


def test_a_port_that_is_taken_says_so():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(PeerError, match="Address already in use"), waiting(("127.0.0.1",), "T", port):
            pass


def test_somebody_who_starts_late_is_waited_for():
    token, port = new_token(), _free_port()
    came = threading.Event()

    def late():
        time.sleep(1.0)
        with waiting(("127.0.0.1",), token, port) as porch:
            guest = porch.next(5.0)
            came.set()
            guest.channel.close()

    owner = threading.Thread(target=late)
    owner.start()
    results = list(knock(Invitation(port, token, ("127.0.0.1",)), ()))
    owner.join()
    assert isinstance(results[-1], Door)
    results[-1].channel.close()
    assert came.is_set()


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def test_where_nothing_answers_every_address_is_accounted_for(monkeypatch):
    monkeypatch.setattr(knocking, "CONNECT_LIMIT", 0.3)
    results = list(knock(Invitation(_free_port(), new_token(), ("127.0.0.1", "127.0.0.2")), (), patience=0.2))
    assert {(result.address, result.problem) for result in results} == {
        ("127.0.0.1", "Connection refused"),
        ("127.0.0.2", "Connection refused"),
    }


def test_link_local_candidates_are_tried_on_every_interface():
    results = list(knock(Invitation(_free_port(), new_token(), ("fe80::11",)), ("lo", "nosuch0"), patience=0.0))
    assert {result.address for result in results} == {"fe80::11%lo", "fe80::11%nosuch0"}
