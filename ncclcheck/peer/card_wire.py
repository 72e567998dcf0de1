"""What a card holds, as bytes: version 1 of a contract that does not move when the model does (pure).

Arrays of msgpack in the order below, squeezed by deflate (RFC 1951) with the words of ``card_words.py``. Within
version 1 a field may only be added behind the last one of its struct, with a default: older readers pass over it.
"""

from __future__ import annotations

import ipaddress
import zlib
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ncclcheck.errors import PeerError
from ncclcheck.model import Facts, LinkKind
from ncclcheck.peer.card_words import WORDS
from ncclcheck.printable import printable

VERSION = 1
LARGEST = 1 << 16
"""Bytes that a card may unpack to; a node with 256 interfaces has half of that."""
MOST_LINKS, MOST_ROUTES, MOST_ADDRESSES, MOST = 256, 32, 32, 128
"""Of interfaces, of routes, of addresses of one, and of everything else."""
LONGEST = 400
"""Characters of a text."""

Text = Annotated[str, Meta(max_length=LONGEST)]
Count = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
Prefix = Annotated[int, Meta(ge=0, le=128)]
Texts = Annotated[tuple[Text, ...], Meta(max_length=MOST_LINKS)]


class Address(msgspec.Struct, array_like=True, frozen=True):
    """Of an interface."""

    address: Text
    prefix: Prefix
    label: Text | None


class Link(msgspec.Struct, array_like=True, frozen=True):
    """An interface."""

    name: Text
    index: Count
    kind: LinkKind
    up: bool | None
    running: bool | None
    mtu: Count | None
    speed: Count | None
    addresses: Annotated[tuple[Address, ...], Meta(max_length=MOST_ADDRESSES)]
    driver: Text | None
    master: Text | None
    members: Texts


class Setting(msgspec.Struct, array_like=True, frozen=True):
    """One that wins."""

    name: Text
    value: Text
    origin: Text
    line: Count | None


class Library(msgspec.Struct, array_like=True, frozen=True):
    """NCCL."""

    path: Text
    version: Text | None


class Candidate(msgspec.Struct, array_like=True, frozen=True):
    """An address that NCCL takes."""

    interface: Text
    address: Text
    taken: bool
    reason: Text


class Choice(msgspec.Struct, array_like=True, frozen=True):
    """What NCCL takes."""

    nccl: Text
    interface: Text | None
    address: Text | None
    reason: Text
    candidates: Annotated[tuple[Candidate, ...], Meta(max_length=MOST)]
    code: Count


class Route(msgspec.Struct, array_like=True, frozen=True):
    """A line of the routing table."""

    destination: Text
    interface: Text
    gateway: Text | None
    metric: Count


class Hint(msgspec.Struct, array_like=True, frozen=True):
    """Where it runs."""

    name: Text
    role: Text
    evidence: Texts


class RdmaPort(msgspec.Struct, array_like=True, frozen=True):
    """Of an RDMA device."""

    number: Count
    link_layer: Text
    state: Text
    rate: Text


class RdmaDevice(msgspec.Struct, array_like=True, frozen=True):
    """InfiniBand or RoCE."""

    name: Text
    interfaces: Texts
    ports: Annotated[tuple[RdmaPort, ...], Meta(max_length=MOST)]


class Limit(msgspec.Struct, array_like=True, frozen=True):
    """Of a process or the kernel."""

    name: Text
    value: Count | None
    unit: Text


class NameLookup(msgspec.Struct, array_like=True, frozen=True):
    """What a name leads to."""

    name: Text
    role: Text
    found: Texts


class Gpu(msgspec.Struct, array_like=True, frozen=True):
    """A graphics card."""

    name: Text
    pci: Text


class Machine(msgspec.Struct, array_like=True, frozen=True):
    """All that is neither an interface nor a setting."""

    namespace: Text | None
    boot: Text | None
    routes: Annotated[tuple[Route, ...], Meta(max_length=MOST_ROUTES)]
    hints: Annotated[tuple[Hint, ...], Meta(max_length=MOST)]
    rdma: Annotated[tuple[RdmaDevice, ...], Meta(max_length=MOST)]
    limits: Annotated[tuple[Limit, ...], Meta(max_length=MOST)]
    firewall: bool | None
    names: Annotated[tuple[NameLookup, ...], Meta(max_length=MOST)]
    gpus: Annotated[tuple[Gpu, ...], Meta(max_length=MOST)]


class Unknown(msgspec.Struct, array_like=True, frozen=True):
    """What the card leaves out though the node has it."""

    question: Text
    missing: Text


class Card(msgspec.Struct, array_like=True, frozen=True):
    """A node."""

    host: Text
    interfaces: Annotated[tuple[Link, ...], Meta(max_length=MOST_LINKS)]
    settings: Annotated[tuple[Setting, ...], Meta(max_length=MOST)]
    conf_files: Texts
    library: Library | None
    choice: Choice | None
    sockets: Choice | None
    machine: Machine | None
    unknown: Annotated[tuple[Unknown, ...], Meta(max_length=MOST)]


def pack(facts: Facts) -> bytes:
    """Facts that ``card_trim.of`` made, as bytes; ValueError for a value that no node has."""
    card = msgspec.convert(facts, Card, from_attributes=True)
    _check(card)
    plain = msgspec.msgpack.encode(card)
    if len(plain) > LARGEST:
        raise ValueError(f"it would be more than {LARGEST >> 10} KiB")
    return _squeezed(plain)


def _squeezed(plain: bytes) -> bytes:
    # Without a header of zlib's: the card has its own checksum.
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, WORDS)
    return squeeze.compress(plain) + squeeze.flush()


def unpack(packed: bytes, place: str) -> Facts:
    """The facts again; PeerError where the bytes are no card, or one that no node can have."""
    try:
        card = msgspec.msgpack.decode(_unsqueezed(packed, place), type=Card)
        _check(card)
        return msgspec.convert(card, Facts, from_attributes=True)
    except (ValueError, zlib.error, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise PeerError(f"it says what no node can say of itself ({error})", place=place, next_step=_NEW) from error


def _unsqueezed(packed: bytes, place: str) -> bytes:
    unsqueeze = zlib.decompressobj(-15, WORDS)
    plain = unsqueeze.decompress(packed, LARGEST + 1)
    if len(plain) > LARGEST:
        raise PeerError(f"it unpacks to more than {LARGEST >> 10} KiB, and no card does", place=place, next_step=_NEW)
    if not unsqueeze.eof or unsqueeze.unused_data:
        raise ValueError("its end is missing or not its own")
    return plain


_NEW = "Have a new one made there: ncclcheck card"


def _check(card: Card) -> None:
    """ValueError where a text could act on a terminal, or an address is none."""
    for text in _texts(msgspec.to_builtins(card)):
        if printable(text) != text or "\n" in text or "\t" in text:
            raise ValueError(f"a control character in {printable(text)!r}")
    for address in (address for link in card.interfaces for address in link.addresses):
        # Zones and bits beyond the prefix are refused in one go.
        ipaddress.ip_interface(f"{_bare(address.address)}/{address.prefix}")
    for choice in filter(None, (card.choice, card.sockets)):
        for taken in choice.candidates:
            ipaddress.ip_address(taken.address)
        ipaddress.ip_address(choice.address or "::")
    for route in card.machine.routes if card.machine else ():
        ipaddress.ip_network(route.destination)
        ipaddress.ip_address(_bare(route.gateway or "::"))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def _bare(address: str) -> str:
    if "%" in address or "/" in address:
        raise ValueError(f"{address!r} is no address")
    return address
