"""The node card: what is on it, what it survives, and that nothing else comes of a broken one than a word about it."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from dataclasses import replace

import msgspec
import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncclcheck.errors import PeerError
from ncclcheck.model import (
    Address,
    Choice,
    Facts,
    Interface,
    Limit,
    LinkKind,
    Machine,
    NameLookup,
    Route,
    Setting,
    Unknown,
)
from ncclcheck.peer import card, card_wire
from ncclcheck.peer.card_trim import LEFT_OUT
from ncclcheck.peer.card_words import WORDS
from tests.peer.card_nodes import DGX, ON_THE_CARD, ORDINARY

SMALL = Facts(
    "node-a",
    (Interface("eth1", 3, LinkKind.ETHERNET, True, True, 1500, None, (Address("10.0.0.11", 24),)),),
    machine=Machine(routes=(Route("0.0.0.0/0", "eth1", "10.0.0.1"),)),
)
FIRST_CARD = """\
NCCLCARD1 node-a:
TME4Y7RJVG5ISE5R7ABWZVKKLDKBQSQ4HBYGBQUEBFAHFZUBAMJ5DYWJCAPIKDBA
GVAAYAA
END-D2SVFFVM"""
"""Made by the first release that had cards: it must be read for ever."""

CARD = card.write(ORDINARY)


def sealed(packed: bytes, host: str = "x") -> str:
    """A card of any bytes, with the right checksum."""
    check = base64.b32encode(hashlib.sha256(packed).digest()[:5]).decode()
    return f"NCCLCARD1 {host}:\n{base64.b32encode(packed).decode().rstrip('=')}\nEND-{check}"


def squeezed(plain: bytes) -> bytes:
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, WORDS)
    return squeeze.compress(plain) + squeeze.flush()


def forged(*fields: object) -> str:
    """A card of values that the writer would not write."""
    return sealed(squeezed(msgspec.msgpack.encode(fields)))


def problem(text: str) -> str:
    """What the reader has against a text."""
    with pytest.raises(PeerError) as caught:
        card.read(text)
    assert caught.value.next_step
    return caught.value.problem


def test_what_is_on_a_card() -> None:
    assert card.of(ORDINARY) == ON_THE_CARD
    assert card.of(ON_THE_CARD) == ON_THE_CARD


@pytest.mark.parametrize("facts", [ORDINARY, DGX, SMALL, Facts("", ()), Facts("a", (), machine=Machine())])
def test_it_comes_back_as_it_went(facts: Facts) -> None:
    assert card.read(card.write(facts)) == (card.of(facts),)


def test_it_is_short() -> None:
    assert len(CARD) < 700
    assert len(card.write(DGX)) < 1700


def test_it_has_nothing_that_anything_gives_a_meaning() -> None:
    first, *payload, last = CARD.split("\n")
    assert first == "NCCLCARD1 gpu-node-17:"
    assert all(re.fullmatch("[A-Z2-7]{1,64}", line) for line in payload)
    assert re.fullmatch("END-[A-Z2-7]{8}", last)


@pytest.mark.parametrize(
    ("host", "shown"),
    [("Node_7.example.org", "node-7-example-org"), ("", "node"), ("ÄÖ\x1b[2J", "2j"), ("a" * 99, "a" * 40)],
)
def test_the_host_is_shown_as_a_plain_word(host: str, shown: str) -> None:
    text = card.write(Facts(host, ()))
    assert text.startswith(f"NCCLCARD1 {shown}:\n")
    assert len(card.read(text)) == 1


def test_version_one_stands_still() -> None:
    assert card.read(FIRST_CARD) == (SMALL,)
    assert hashlib.sha256(WORDS).hexdigest() == "a0df79f837d0ccbd758b45bf6312abf75f76a93a06a93609a02a6d604db5790b"


def test_a_field_that_came_later_is_passed_over() -> None:
    assert card.read(forged("a", [], [], [], None, None, None, None, [], "later")) == (Facts("a", ()),)


# What it survives.


def wrapped(text: str, width: int, begin: str = "") -> str:
    """Broken hard at a column, wherever that is."""
    pieces = [line[at : at + width] for line in text.split("\n") for at in range(0, len(line), width)]
    return "\n".join(begin + piece for piece in pieces)


MANGLED = {
    "one line": CARD.replace("\n", " "),
    "no breaks at all": CARD.replace("\n", ""),
    "quoted": wrapped(CARD, 70, "> "),
    "quoted twice and wrapped": wrapped(CARD, 30, ">> "),
    "in a box": "\n".join(f"| {line:<64} |" for line in CARD.split("\n")),
    "fenced": f"```\n{CARD}\n```",
    "in backticks": f"`{CARD}`",
    "in quotes": f"ncclcheck match '{CARD}'",
    "in typographic quotes": f"“{CARD}”",
    "Windows": CARD.replace("\n", "\r\n"),
    "old Macintosh": CARD.replace("\n", "\r"),
    "no-break spaces": CARD.replace("\n", "\xa0\n\xa0").replace(" ", "\xa0"),
    "zero-width": "\u200b".join(CARD),
    "byte order mark": "\ufeff" + CARD,
    "indented": wrapped(CARD, 50, "        "),
    "trailing blanks": CARD.replace("\n", "   \t\n"),
    "blank lines": CARD.replace("\n", "\n\n\n"),
    "chatter": f"Hi Bob, THIS IS MY CARD (all 2 of it):\n\n{CARD}\n\nREGARDS, Alice. END-of-mail, NCCL 2.29",
    "coloured": "\n".join(f"\x1b[1;32m{line}\x1b[0m\x1b[K" for line in CARD.split("\n")),
    "a link of a terminal": f"\x1b]8;;https://a.example/B22\x07{CARD}\x1b]8;;\x1b\\",
    "as JSON": msgspec.json.encode(CARD).decode(),
    "as HTML": "<pre>&gt; " + CARD.replace("\n", "<br>\n&gt; ") + "</pre>",
    "a real dash": CARD.replace("END-", "END–"),
    "a list": wrapped(CARD, 64, "- "),
    "bold": f"**{CARD}**",
    "first word bold": CARD.replace("NCCLCARD1", "**NCCLCARD1**"),
    "UTF-16 read as bytes": CARD.encode("utf-16-le").decode("latin-1"),
    "srun -l": "\n".join(f"13: {line}" for line in CARD.split("\n")),
}


@pytest.mark.parametrize("text", MANGLED.values(), ids=MANGLED)
def test_it_survives(text: str) -> None:
    assert card.looks_like(text)
    assert card.read(text) == (ON_THE_CARD,)


@pytest.mark.parametrize("begin", ["", "> ", "  | "])
def test_it_survives_a_break_at_any_column(begin: str) -> None:
    for width in range(1, 90):
        text = wrapped(CARD, width, begin)
        assert (width, card.read(text), card.has_end(text)) == (width, (ON_THE_CARD,), True)


@pytest.mark.parametrize("columns", [20, 37, 64, 65])
def test_it_survives_being_copied_from_a_terminal(columns: int) -> None:
    screen = pyte.Screen(columns, 80)
    pyte.Stream(screen).feed(f"user@host:~$ ncclcheck card\r\n{CARD}\n".replace("\n", "\r\n") + "user@host:~$ ")

    assert card.read("\n".join(screen.display)) == (ON_THE_CARD,)


def test_several_in_one_text_each_once_in_their_order() -> None:
    text = f"a:\n{card.write(DGX)} and b: {CARD}\n{FIRST_CARD}\nonce more\n> {wrapped(CARD, 40, '> ')}"

    assert card.read(text) == (card.of(DGX), ON_THE_CARD, SMALL)


LAUNCHERS = {"srun": "{}: ", "pdsh": "node-{}: ", "mpirun": "[1,{}]<stdout>:", "compose": "node{}-1  | "}


@pytest.mark.parametrize("label", LAUNCHERS.values(), ids=LAUNCHERS)
def test_lines_of_several_nodes_are_sorted_out_by_their_labels(label: str) -> None:
    cards = [CARD.split("\n"), card.write(DGX).split("\n"), FIRST_CARD.split("\n")]
    lines = [
        label.format(number + 2) + lines[at]
        for at in range(40)
        for number, lines in enumerate(cards)
        if at < len(lines)
    ]

    assert set(card.read("\n".join(lines))) == {ON_THE_CARD, card.of(DGX), SMALL}


@pytest.mark.parametrize(
    "talk",
    [
        "What begins with NCCLCARD1 and goes on to END-… is the card: paste ALL of it.\n",
        "It begins with NCCLCARD1 node-a: and so ON.\n",
        "NCCLCARD1, that is the first word: then comes the REST.\n",
    ],
)
def test_talk_about_cards_is_no_card(talk: str) -> None:
    assert card.read(talk + CARD) == card.read(CARD + talk) == (ON_THE_CARD,)


def test_where_there_is_none() -> None:
    for text in ("", "no card here, NCCL INFO ABCDEFGH234567", "NCCLCARD1 is a word", "A" * 1000, "END-AAAAAAAA"):
        assert (card.looks_like(text), card.read(text)) == (False, ())


# What is no card.


def test_one_that_is_cut_off() -> None:
    lines = CARD.split("\n")
    for count in range(1, len(lines)):
        assert "cut off" in problem("\n".join(lines[:count]))
    assert "cut off" in problem(CARD[:-1])
    assert "cut off" in problem("\n".join(lines[:-1]) + "\n" + FIRST_CARD)


def test_any_other_character_is_noticed() -> None:
    start, end = len("NCCLCARD1 gpu-node-17:\n"), len(CARD)
    for at in range(start, end, 7):
        if CARD[at] in "\n-":
            continue
        text = CARD[:at] + ("A" if CARD[at] != "A" else "B") + CARD[at + 1 :]
        assert problem(text)
        assert problem(CARD[:at] + CARD[at + 1 :])


def test_a_damaged_one_without_blanks_is_not_taken_for_a_labelled_line() -> None:
    assert "checksum" in problem(CARD.replace("\n", "").replace(" ", "").replace("Q", "B"))


def test_two_lines_that_changed_places_are_noticed() -> None:
    first, one, two, *rest = CARD.split("\n")
    assert "checksum" in problem("\n".join([first, two, one, *rest]))


def test_one_without_its_first_word_is_not_passed_over() -> None:
    for text in (CARD[CARD.index("\n") :], CARD.replace("NCCLCARD1", "NCCLCRD1"), CARD.replace(":", "")):
        assert "first word" in problem(text)
        assert "first word" in problem(f"{FIRST_CARD}\n{text}")


def test_the_error_names_the_card() -> None:
    with pytest.raises(PeerError) as caught:
        card.read(f"{FIRST_CARD}\n{CARD[:-1]}")
    assert caught.value.place == "the card of gpu-node-17"


def test_one_of_a_newer_release() -> None:
    assert problem(CARD.replace("NCCLCARD1", "NCCLCARD2")) == (
        "made by a newer ncclcheck (card version 2); this one reads version 1"
    )


def test_one_that_would_fill_the_memory() -> None:
    assert "more than 64 KiB" in problem(sealed(squeezed(bytes(64 << 20))))
    assert "checksum" in problem(f"NCCLCARD1 a:{'A' * (1 << 20)}END-AAAAAAAA")
    assert "more than 1024 cards" in problem(f"{CARD}\n" * 1025)


LINK = ["eth0", 2, "ethernet", True, True, 1500, None, [["10.0.0.1", 24, None]], None, None, []]
PLACE = [None, None, [["10.0.0.0/24", "eth0", None, 0]], [], [], [], None, [], []]


def link(at: int, value: object) -> str:
    return forged("a", [[*LINK[:at], value, *LINK[at + 1 :]]], [], [], None, None, None, None, [])


def route(at: int, value: object) -> str:
    changed = ["10.0.0.0/24", "eth0", None, 0]
    changed[at] = value  # type: ignore[call-overload]
    return forged("a", [], [], [], None, None, None, [*PLACE[:2], [changed], *PLACE[3:]], [])


def chosen(choice: list[object]) -> str:
    return forged("a", [], [], [], None, choice, None, None, [])


FORGED = {
    "host acts on the terminal": forged("a\x1b[2J", [], [], [], None, None, None, None, []),
    "host of two lines": forged("a\nb", [], [], [], None, None, None, None, []),
    "host without end": forged("a" * 401, [], [], [], None, None, None, None, []),
    "host is a number": forged(1, [], [], [], None, None, None, None, []),
    "interface turns the text round": link(0, "\u202e0hte"),
    "unknown kind": link(2, "teapot"),
    "mtu is text": link(5, "1500"),
    "index is too large": link(1, (1 << 64) - 1),
    "no address": link(7, [["10.0.0.256", 24, None]]),
    "an address with a zone": link(7, [["fe80::1%eth0", 64, None]]),
    "an address with a prefix": link(7, [["10.0.0.1/8", 24, None]]),
    "a name for an address": link(7, [["localhost", 24, None]]),
    "prefix of the other family": link(7, [["10.0.0.1", 33, None]]),
    "prefix below zero": link(7, [["10.0.0.1", -1, None]]),
    "prefix of no family": link(7, [["::1", 129, None]]),
    "too many addresses": link(7, [["10.0.0.1", 24, None]] * 33),
    "too many interfaces": forged("a", [LINK] * 257, [], [], None, None, None, None, []),
    "no network": route(0, "10.0.0.0/33"),
    "a network with bits beyond": route(0, "10.0.0.1/24"),
    "no gateway": route(2, "router"),
    "chosen address": chosen(["2.29", "eth0", "somewhere", "", [], 0]),
    "candidate": chosen(["2.29", "eth0", None, "", [["eth0", "", True, ""]], 0]),
    "too few fields": forged("a"),
    "no array": sealed(squeezed(b"\x81\xa1a\x01")),
    "no text": sealed(squeezed(b"\x99\xa1\xff\x90\x90\x90\xc0\xc0\xc0\xc0\x90")),
    "nested without end": sealed(squeezed(b"\x9a\xa1a\x90\x90\x90\xc0\xc0\xc0\xc0\x90" + b"\x91" * 60000)),
    "not squeezed": sealed(b"\xff\xff\xff\xff"),
    "empty": sealed(squeezed(b"")),
    "something behind it": sealed(squeezed(msgspec.msgpack.encode(["a"])) + b"more"),
    "its end is missing": sealed(squeezed(msgspec.msgpack.encode(["a" * 99]))[:-2]),
}


@pytest.mark.parametrize("text", FORGED.values(), ids=FORGED)
def test_one_that_no_node_can_have_made(text: str) -> None:
    assert problem(text).startswith("it says what no node can say of itself")


def test_the_forgers_would_be_believed_without_their_mistakes() -> None:
    right = [link(0, "eth0"), route(3, 7), chosen(["2.29", "eth0", "fe80::1%eth0", "", [["e", "::1", True, ""]], 0])]
    assert [len(card.read(text)) for text in right] == [1, 1, 1]


# What is trimmed.


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        (Setting("NCCL_IB_PKEY", "0x8001", "environment"), "0x8001"),
        (Setting("MASTER_ADDR", "10.0.0.1", "environment"), "10.0.0.1"),
        (Setting("NCCL_DEBUG_FILE", "/home/al.ice/x/%h.log", "environment"), "~/x/%h.log"),
        (Setting("NCCL_DEBUG_FILE", "/mnt/home/alice/x:/root/y", "environment"), "~/x:~/y"),
        (Setting("NCCL_DEBUG_FILE", "/var/home.d/rootless", "environment"), "/var/home.d/rootless"),
        (Setting("NCCL_A", "a\tb\n\x1b\udcff", "environment"), r"a\x09b\x0a\x1b\xdcff"),
        (Setting("NCCL_A", "x" * 200, "environment"), "x" * 200),
        (Setting("NCCL_A_TOKEN", "1", "environment"), None),
        (Setting("GLOO_Passphrase", "1", "environment"), None),
        (Setting("NCCL_PROXY", "http://me:pw@host/", "environment"), None),
        (Setting("AWS_REGION", "1", "/etc/nccl.conf", 1), None),
        (Setting("NCCL_A", "hidden", "environment", wins=False), None),
    ],
)
def test_settings(setting: Setting, shown: str | None) -> None:
    found = card.of(Facts("a", (), (setting,)))

    assert [one.value for one in found.settings] == ([] if shown is None else [shown])
    assert found.unknown == ()


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/alice/.nccl.conf", "~/.nccl.conf"),
        ("/root/.nccl.conf", "~/.nccl.conf"),
        ("/fsx/people/alice/.nccl.conf", "~/.nccl.conf"),
        ("/Users/alice/nccl/x.conf", "~/nccl/x.conf"),
        ("/etc/nccl.conf", "/etc/nccl.conf"),
    ],
)
def test_no_path_names_a_user(path: str, shown: str) -> None:
    found = card.of(Facts("a", (), (Setting("NCCL_DEBUG", "INFO", path, 1),), conf_files=(path,)))

    assert (found.conf_files, found.settings[0].origin) == ((shown,), shown)


def test_what_is_too_much_is_left_out_and_said_to_be() -> None:
    addresses = tuple(Address(f"10.0.0.{number}", 32) for number in range(33))
    bare = tuple(Interface(f"e{number}", number, LinkKind.ETHERNET, True, True, 1, 1) for number in range(256))
    routes = tuple(Route(f"10.{number}.0.0/16", "d") for number in range(40))
    facts = Facts(
        "a",
        (*bare, replace(bare[0], name="d", addresses=addresses)),
        (Setting("NCCL_A", "x" * 201, "environment"),),
        machine=Machine(routes=(*routes, Route("10.99.0.0/16", "d", "10.0.0.1"), Route("0.0.0.0/0", "d", "10.0.0.1"))),
    )

    found = card.of(facts)

    assert found.machine is not None
    assert (len(found.interfaces), found.interfaces[0].name, len(found.interfaces[0].addresses)) == (256, "d", 32)
    assert (len(found.machine.routes), [route.destination for route in found.machine.routes[:3]]) == (
        32,
        ["0.0.0.0/0", "10.99.0.0/16", "10.0.0.0/16"],
    )
    assert [one.question for one in found.unknown] == [
        "interfaces beyond the first 256",
        "addresses of d beyond the first 32",
        "routes beyond the first 32",
        "the value of NCCL_A",
    ]
    assert {one.missing for one in found.unknown} == {LEFT_OUT}
    assert card.read(card.write(facts)) == (found,) == (card.of(found),)


def test_a_containers_link_is_kept_where_it_is_this_nodes_own_or_taken() -> None:
    own = Interface("eth0", 2, LinkKind.VETH, True, True, 1500, None, (Address("172.17.0.2", 16),))
    inner = Interface("cali1", 3, LinkKind.VETH, True, True, 1500, None, (Address("fe80::1", 64),))
    taken = Choice("2.29.7", "cali1", "fe80::1%cali1", "why")

    assert card.of(Facts("a", (own, inner))).interfaces == (own,)
    assert card.of(Facts("a", (own, inner), choice=taken)).interfaces == (own, inner)


def test_what_cannot_be_on_a_card_is_an_error_with_a_place() -> None:
    with pytest.raises(PeerError, match="no card can be made of it") as caught:
        card.write(Facts("a", (replace(SMALL.interfaces[0], addresses=(Address("nowhere", 24),)),)))
    assert caught.value.place == "a"


# And whatever else may come.


TEXTS = st.text(max_size=12)
LINKS = st.builds(
    Interface,
    name=TEXTS,
    index=st.integers(0, 9),
    kind=st.sampled_from(LinkKind),
    up=st.booleans() | st.none(),
    running=st.booleans() | st.none(),
    mtu=st.integers(0, 1 << 32) | st.none(),
    speed=st.integers(-1, 800000) | st.none(),
    addresses=st.lists(st.builds(Address, st.ip_addresses().map(str), st.integers(0, 32), TEXTS)).map(tuple),
    driver=TEXTS | st.none(),
    members=st.lists(TEXTS).map(tuple),
)
VALUES = st.text(max_size=12) | st.sampled_from(["/home/a/b", "/root", "x" * 201, "\x1b" * 60, "/home/a/home/b"])
SETTINGS = st.builds(
    Setting, st.sampled_from(["NCCL_A", "NCCL_KEY", "X"]), VALUES, VALUES, st.integers(0, 9), st.booleans()
)
MACHINES = st.builds(
    Machine,
    namespace=TEXTS,
    routes=st.lists(st.builds(Route, st.sampled_from(["0.0.0.0/0", "ff00::/8", "::1/128"]), TEXTS)).map(tuple),
    limits=st.lists(st.builds(Limit, TEXTS, st.integers(0, 1 << 62) | st.none())).map(tuple),
    firewall=st.booleans() | st.none(),
    names=st.lists(st.builds(NameLookup, TEXTS, TEXTS, st.lists(TEXTS).map(tuple))).map(tuple),
)
FACTS = st.builds(
    Facts,
    host=TEXTS,
    interfaces=st.lists(LINKS, max_size=5).map(tuple),
    settings=st.lists(SETTINGS, max_size=5).map(tuple),
    conf_files=st.lists(VALUES, max_size=3).map(tuple),
    unknown=st.lists(st.builds(Unknown, TEXTS, TEXTS), max_size=2).map(tuple),
    machine=MACHINES | st.none(),
)


@given(FACTS)
@settings(max_examples=150, deadline=None)
def test_any_node_comes_back(facts: Facts) -> None:
    trimmed = card.of(facts)
    if any(setting.value.count("\x1b") for setting in facts.settings):
        assert "\x1b" not in str(msgspec.to_builtins(trimmed))
    assert (card.of(trimmed), card.read(card.write(facts))) == (trimmed, (trimmed,))


def answer(text: str) -> tuple[Facts, ...] | None:
    """The cards, or ``None`` for a PeerError; anything else that is raised fails the test."""
    try:
        return card.read(text)
    except PeerError:
        return None


@given(st.lists(st.sampled_from(["NCCLCARD1", "NCCLCARD", "a:", "END-", "END-AAAAAAAA", ":", "\n", "> "]) | TEXTS))
@settings(max_examples=200, deadline=None)
def test_any_text_gives_no_card(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert answer(text) in (None, ())
    assert card.looks_like(text) in (True, False)


@given(st.integers(0, len(CARD) - 1), TEXTS, st.integers(0, 5))
@settings(max_examples=300, deadline=None)
def test_a_changed_card_is_right_or_refused(at: int, put: str, drop: int) -> None:
    assert answer(CARD[:at] + put + CARD[at + drop :]) in (None, (), (ON_THE_CARD,))


@given(st.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_bytes_with_a_right_checksum(packed: bytes) -> None:
    answer(sealed(packed))
    answer(sealed(squeezed(packed)))


PLAIN = zlib.decompressobj(-15, WORDS).decompress(card_wire.pack(ON_THE_CARD))


@given(st.lists(st.tuples(st.integers(0, len(PLAIN) - 1), st.integers(0, 255)), min_size=1, max_size=4))
@settings(max_examples=300, deadline=None)
def test_any_forgery_is_refused_or_gives_a_node_that_can_be_written_again(changes: list[tuple[int, int]]) -> None:
    plain = bytearray(PLAIN)
    for at, value in changes:
        plain[at] = value
    for facts in answer(sealed(squeezed(bytes(plain)))) or ():
        assert card.read(card.write(facts)) == (card.of(facts),)
