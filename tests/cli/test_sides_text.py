"""What was found out between nodes, in words: literal values in, text out."""

import pytest

from ncclcheck.cli.pair_text import step_text
from ncclcheck.cli.sides_text import conclusion_text, headline, matrix_table
from ncclcheck.doctor.conclude import conclude, distinct
from ncclcheck.doctor.steps import Ended, Joined, Knocking, MadeFix, NoWay, Planned, Shook, Trying, Turned, Waiting
from ncclcheck.model import Cell, Contact, Edit, Facts, Handshake, Leg, Match, Outcome, Use, Verdict
from ncclcheck.peer.invitation import Invitation
from ncclcheck.peer.saying import cell_word, uses
from ncclcheck.rulebook.sketch import cells, nodes

SKETCH = {
    "node-a": ("eth0 172.17.0.2/16", "eth1 10.0.0.11/24"),
    "node-b": ("eth0 172.17.0.2/16", "ens5 10.0.0.12/24"),
}
PASSED = (
    "node-a > node-b ens5 10.0.0.12 ok",
    "node-b > node-a eth1 10.0.0.11 ok",
    "node-a > node-b eth0 172.17.0.2 somebody-else icmp:this node itself has 172.17.0.2",
    "node-b > node-a eth0 172.17.0.2 somebody-else icmp:this node itself has 172.17.0.2",
)
A, B = Use("node-a", "eth1", "10.0.0.11"), Use("node-b", "ens5", "10.0.0.12")


def test_the_conclusion_stands_on_top_then_networks_matrix_findings():
    text = conclusion_text(conclude(nodes(SKETCH), cells(PASSED)[0]))
    blocks = text.split("\n\n")
    assert blocks[0] == (
        "Use eth1 on node-a and ens5 on node-b: they share 10.0.0.0/24, and connections passed in every direction."
    )
    assert blocks[1] == (
        "Networks that they share\n"
        "  10.0.0.0/24  node-a  eth1  10.0.0.11  MTU 1500\n"
        "               node-b  ens5  10.0.0.12  MTU 1500"
    )
    assert "node-a calls node-b at  as NCCL does\n" in text
    assert "    eth0 172.17.0.2: this node itself has 172.17.0.2\n" in text
    assert text.index("PROBLEM: 2 found.") > text.index("Who reaches whom")
    assert "error[NC801] NCCL takes eth0 (172.17.0.2) on node-a" in text
    assert "export NCCL_SOCKET_IFNAME='=ens5'" in text


def test_cards_alone_are_no_proof():
    settled = {"node-a": ("eth1 10.0.0.11/24",), "node-b": ("eth1 10.0.0.12/24",)}
    text = conclusion_text(conclude(nodes(settled)))
    assert text.startswith("Use eth1 on both nodes (not proved): they share 10.0.0.0/24 by their addresses")
    assert "CANNOT TELL: nothing wrong found by what the nodes are." in text
    assert "would settle it: connections between them: ncclcheck pair, on one of the nodes" in text


def test_a_proved_match_is_healthy():
    known = conclude(
        nodes({"a": ("eth1 10.0.0.11/24",), "b": ("eth1 10.0.0.12/24",)}),
        cells(("a > b eth1 10.0.0.12 ok", "b > a eth1 10.0.0.11 ok"))[0],
    )
    assert known.diagnosis.verdict is Verdict.HEALTHY
    assert known.settled
    assert "HEALTHY: the nodes reach each other over these interfaces, in every direction." in conclusion_text(known)


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ((A, B), "eth1 on node-a and ens5 on node-b"),
        ((A, Use("node-b", "eth1", "10.0.0.12")), "eth1 on both nodes"),
        ((A, Use("b", "eth1", "10.0.0.2"), Use("c", "eth1", "10.0.0.3")), "eth1 on all 3 nodes"),
        ((A, B, Use("c", "eth1", "10.0.0.3")), "eth1 on node-a, ens5 on node-b and eth1 on c"),
    ],
)
def test_interfaces_in_a_sentence(use, said):
    assert uses(use) == said


def test_where_nothing_fits_the_reason_is_the_headline():
    assert headline(Match(("a", "b"), (), because="they share nothing")) == (
        "No interfaces to recommend: they share nothing."
    )


@pytest.mark.parametrize(
    ("cell", "word"),
    [
        (Cell("a", "", "b", "eth1", "10.0.0.2", Outcome.OK, 0.000123), "ok 0.12 ms"),
        (Cell("a", "", "b", "eth1", "10.0.0.2", Outcome.OK, 1.2), "ok 1.2 s"),
        (Cell("a", "", "b", "eth1", "10.0.0.2", Outcome.OK), "ok"),
        (Cell("a", "", "b", "eth1", "10.0.0.2", Outcome.STRANGER), "not it"),
        (Cell("a", "", "b", "eth1", "10.0.0.2", Outcome.DROPPED), "dropped"),
        (Cell("a", "", "b", "eth1", "10.0.0.2", Outcome.MTU_TOO_SMALL), "MTU!"),
        (Cell("a", "", "b", "eth1", "10.0.0.2", Outcome.WRONG_SOURCE, 0.1), "ok (NAT?)"),
    ],
)
def test_a_cell_in_a_word(cell, word):
    assert cell_word(cell) == word


def test_many_interfaces_leave_the_table_narrow_and_say_so():
    tried = tuple(Cell("a", f"eth{number}", "b", "eth0", "10.0.0.2", Outcome.DROPPED) for number in range(9))
    lines = matrix_table("a", "b", tried)
    assert lines[0].split("  ")[0] == "a calls b at"
    assert lines[-1] == "(4 more interfaces of a: --json has them)"
    assert max(map(len, lines)) <= 110


def test_two_nodes_of_one_name_are_told_apart():
    assert [node.host for node in distinct((Facts("gpu", ()), Facts("gpu", ()), Facts("b", ())))] == [
        "gpu",
        "gpu-2",
        "b",
    ]


HANDSHAKE = Handshake(
    "2.29.7", "node-a", "10.0.0.11:4000", (Contact(Leg.TO_ROOT, 0, "node-a", "10.0.0.11:4000", 0.001),)
)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Waiting(Invitation(41235, "T" * 16, ("10.0.0.11",))), f"    ncclcheck join 41235-{'T' * 16} 10.0.0.11\n"),
        (Waiting(Invitation(1, "T" * 16, ("10.0.0.11",)), (("fe80::1", "busy"),)), "(not waiting at fe80::1: busy)"),
        (Turned("10.0.0.9", "called with a wrong token"), "10.0.0.9 called with a wrong token; it was turned away"),
        (Knocking("10.0.0.9", "Connection refused", 3.04), "10.0.0.9: Connection refused (3.0 s)"),
        (Joined(Facts("node-b", ()), "10.0.0.11"), "node-b takes part, and was met at 10.0.0.11"),
        (Joined(Facts("node-b", ()), ""), "node-b takes part"),
        (Trying(Cell("a", "", "b", "eth1", "10.0.0.2", Outcome.OK)), ""),
        (Shook(HANDSHAKE, True), "NCCL's own handshake, with the proposed interfaces:"),
        (Shook(HANDSHAKE, False), "NCCL's own handshake, with the settings as they are:"),
        (
            Planned("node-a", (Edit("/etc/nccl.conf", None, b"NCCL_SOCKET_IFNAME==eth1\n"),)),
            "+NCCL_SOCKET_IFNAME==eth1",
        ),
        (MadeFix("node-b", False, "its user said no; nothing was written"), "node-b: NOT changed: its user said no"),
        (MadeFix("node-b", True, "/etc/nccl.conf written"), "node-b: /etc/nccl.conf written"),
        (Ended(True, (A, B)), "Verified: use eth1 on node-a and ens5 on node-b. NCCL's own handshake passes"),
        (Ended(False), "NOT verified: NCCL's own handshake does not pass"),
    ],
)
def test_steps_in_words(step, said):
    assert said in step_text(step)


def test_no_way_says_what_was_tried_from_where_and_gives_the_card():
    tried = (Knocking("10.0.0.11", "no answer within 4 s", 4.0),)
    text = step_text(NoWay(tried, ("eth0 192.168.7.2",), "NCCLCARD1 …"))
    assert "  10.0.0.11: no answer within 4 s\nTried from: eth0 192.168.7.2\n" in text
    assert text.endswith("NCCLCARD1 …")
