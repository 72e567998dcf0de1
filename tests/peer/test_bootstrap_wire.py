"""The bytes of NCCL's bootstrap, by version."""

from __future__ import annotations

import socket
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.errors import PeerError
from ncclcheck.peer import bootstrap_wire as wire
from ncclcheck.peer.bootstrap_wire import SocketAddress, Ticket, read_ticket, ticket_of, ticket_text

# The begin of an id that NCCL 2.32.3 made on 192.0.2.2 (NCCL-FACTS 1.7).
MEASURED = bytes.fromhex("6b3c30665014e83c0200ac93c0000202").ljust(128, b"\0")
ROOT = SocketAddress("192.0.2.2", 44179)
CALLBACK, RING = SocketAddress("10.0.0.12", 4000), SocketAddress("10.0.0.12", 4001)
SIX = SocketAddress("fe80::1", 4000, 7)


def ticket(nccl: str) -> Ticket:
    return Ticket(nccl, 0x0102030405060708 if nccl > "2.15.9" else 0, ROOT)


def test_a_measured_id() -> None:
    assert ticket_of(MEASURED, "2.32.3") == Ticket("2.32.3", 0x3CE8145066303C6B, ROOT)


def test_before_2_16_an_id_has_no_magic() -> None:
    assert ticket_of(MEASURED[8:].ljust(128, b"\0"), "2.15.5") == Ticket("2.15.5", 0, ROOT)


@pytest.mark.parametrize(("unique_id", "nccl"), [(bytes(128), "2.29.7"), (b"", "2.18.3"), (MEASURED, "2.7.8")])
def test_no_ticket_without_a_root_that_we_can_talk_to(unique_id: bytes, nccl: str) -> None:
    with pytest.raises(PeerError):
        ticket_of(unique_id, nccl)


def test_a_socket_address_is_the_kernels_own() -> None:
    four, six = wire.sockaddr(CALLBACK), wire.sockaddr(SIX)

    assert (len(four), len(six)) == (28, 28)
    assert four[:8] == struct.pack("=H", socket.AF_INET) + struct.pack("!H", 4000) + socket.inet_aton("10.0.0.12")
    assert six[:2] == struct.pack("=H", socket.AF_INET6)
    assert six[8:24] == socket.inet_pton(socket.AF_INET6, "fe80::1")
    assert (wire.socket_address(four), wire.socket_address(six)) == (CALLBACK, SIX)


@pytest.mark.parametrize("stored", [bytes(28), b"\1" + bytes(27), wire.sockaddr(CALLBACK)[:27]])
def test_what_is_no_socket_address(stored: bytes) -> None:
    assert wire.socket_address(stored) is None


@pytest.mark.parametrize(
    ("nccl", "numbers", "payload"),
    [
        ("2.13.4", (1, 2), 64),
        ("2.15.5", (1, 2), 64),
        ("2.16.2", (1, 2), 64),
        ("2.22.3", (1, 2), 64),
        ("2.23.4", (1, 2, 0, 1), 172),
        ("2.28.9", (1, 2, 0, 1), 172),
        ("2.29.2", (1, 2, 0, 1, 0), 176),
        ("2.32.3", (1, 2, 0, 1, 0), 176),
        ("3.0.1", (1, 2, 0, 1, 0), 176),
    ],
)
def test_a_report(nccl: str, numbers: tuple[int, ...], payload: int) -> None:
    sent = wire.report(ticket(nccl), 1, 2, CALLBACK, RING)

    head = len(wire.greeting(ticket(nccl)))
    assert head == (0 if nccl in ("2.13.4", "2.15.5") else 12)
    assert (struct.unpack_from("<i", sent, head), len(sent)) == ((payload,), head + 4 + payload)
    assert struct.unpack_from(f"<{len(numbers)}i", sent, head + 4) == numbers
    addresses = sent[head + 4 + 4 * len(numbers) :]
    assert (wire.socket_address(addresses), wire.socket_address(addresses[28:])) == (CALLBACK, RING)


def test_every_connection_begins_with_magic_and_type() -> None:
    assert wire.greeting(ticket("2.16.2")) == bytes([8, 7, 6, 5, 4, 3, 2, 1, 1, 0, 0, 0])


@pytest.mark.parametrize(("nccl", "length"), [("2.15.5", 32), ("2.16.2", 44), ("2.22.3", 44), ("2.23.4", 144)])
def test_an_answer(nccl: str, length: int) -> None:
    message = wire.answer(ticket(nccl), RING)

    assert (len(message), wire.answer_length(ticket(nccl))) == (length, length)
    assert wire.fault(ticket(nccl), message) == ""
    assert wire.next_rank(ticket(nccl), message) == RING


@pytest.mark.parametrize(
    ("position", "value", "fault"),
    [
        (0, 9, "with a wrong magic"),
        (8, 2, "for another purpose than NCCL's bootstrap"),
        (12, 28, "with a message of 28 bytes, which is not what NCCL 2.29.7 sends"),
        (16, 1, "without the address of a next rank"),
    ],
)
def test_the_faults_of_an_answer(position: int, value: int, fault: str) -> None:
    message = bytearray(wire.answer(ticket("2.29.7"), RING))
    message[position] = value

    assert wire.fault(ticket("2.29.7"), bytes(message)) == fault


def test_an_answer_without_an_address_names_no_next_rank() -> None:
    with pytest.raises(PeerError):
        wire.next_rank(ticket("2.29.7"), bytes(144))


addresses = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)).map(str)
tickets = st.builds(
    lambda version, magic, address, port, scope: Ticket(
        ".".join(map(str, version)), magic, SocketAddress(address, port, scope if ":" in address else 0)
    ),
    st.tuples(st.just(2), st.integers(8, 99), st.integers(0, 20)),
    st.integers(0, 2**64 - 1),
    addresses,
    st.integers(0, 65535),
    st.integers(0, 2**32 - 1),
)


@given(tickets)
def test_a_ticket_survives_being_copied(one: Ticket) -> None:
    text = ticket_text(one)

    assert read_ticket(f" {text}\n") == read_ticket(text.lower()) == one
    assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-")


@given(tickets, st.data())
def test_a_ticket_with_a_wrong_letter_is_refused(one: Ticket, chance: st.DataObject) -> None:
    text = ticket_text(one)
    place = chance.draw(st.integers(0, len(text) - 2))
    letter = chance.draw(st.sampled_from([letter for letter in "ABCXYZ2345670189.-" if letter != text[place]]))

    # The checksum has 16 bits, so that one in 65536 comes through: let that be another ticket, but never a crash.
    with suppress(PeerError):
        assert read_ticket(text[:place] + letter + text[place + 1 :]) != one


def test_a_mistyped_ticket_is_refused() -> None:
    text = ticket_text(ticket("2.29.7"))

    for wrong in (text.replace("2.29.7", "2.27.9"), text[:-9] + ("B" if text[-9] == "A" else "A") + text[-8:]):
        with pytest.raises(PeerError, match="is not a ticket"):
            read_ticket(wrong)


@pytest.mark.parametrize("cut", range(1, 38, 4))
def test_a_part_of_a_ticket_is_refused(cut: int) -> None:
    with pytest.raises(PeerError, match="is not a ticket, or a part of it is missing"):
        read_ticket(ticket_text(ticket("2.29.7"))[:-cut])


@pytest.mark.parametrize("text", ["", "-", "2.29.7", "2.29.7-", "garbage", "2.29.7-Ä", "x" * 1000, "2.29.7-AAAAAAAA"])
def test_garbage_is_no_ticket(text: str) -> None:
    with pytest.raises(PeerError) as caught:
        read_ticket(text)
    assert len(caught.value.problem) < 200


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (CALLBACK, "10.0.0.12:4000"),
        (SocketAddress("fd00::1", 80), "[fd00::1]:80"),
        (SIX, "[fe80::1%7]:4000"),
    ],
)
def test_how_an_address_is_shown(place: SocketAddress, text: str) -> None:
    assert str(place) == text
