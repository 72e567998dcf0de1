"""Every verdict, in real networks with that fault; these tests fail, never skip, where no lab can be built."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ncclcheck.model import Outcome
from ncclcheck.peer.calls import Call
from ncclcheck.peer.listen import listening
from ncclcheck.peer.reach import reach
from tests.peer.networks import FAULTY, FOUR, REJECTED, ROUTED, four_of, left, right, six_of, tried

KEY = "a secret"
A, B = "node-a", "node-b"


@pytest.fixture(scope="module")
def networks():
    """All labs at once, since each of them mostly waits."""
    with ThreadPoolExecutor() as pool:
        faulty = pool.submit(tried, FAULTY, {A: four_of("narrow", 2)})
        routed, four = pool.submit(tried, ROUTED), pool.submit(tried, FOUR)
        return {"faulty": faulty.result(), "routed": routed.result(), "four": four.result()}


@pytest.fixture(scope="module")
def faulty(networks):
    return networks["faulty"]


@pytest.fixture(scope="module")
def routed(networks):
    return networks["routed"]


@pytest.fixture(scope="module")
def four(networks):
    return networks["four"]


def test_it_takes_seconds(networks):
    for one in networks.values():
        assert max(one.seconds.values()) < 8
        assert set(map(tuple, one.failed.values())) == {()}


def answer(cell):
    """Outcome, and whether the callee's kernel saw the call."""
    return cell.outcome, cell.arrived


# ---- two nodes ----


@pytest.mark.parametrize("address_of", [four_of, six_of])
@pytest.mark.parametrize("interface", ["", "plain"])
@pytest.mark.parametrize("nodes", [((A, 1), (B, 2)), ((B, 2), (A, 1))])
def test_joined(faulty, address_of, interface, nodes):
    (caller, me), (_, other) = nodes
    cell = faulty.cell(caller, address_of("plain", other), interface)
    assert answer(cell) == (Outcome.OK, None)
    assert (cell.source, cell.target, cell.mtu, cell.detail) == (address_of("plain", me), "plain", None, "")
    assert 0 < cell.seconds < 1


@pytest.mark.parametrize("interface", ["", "six"])
def test_ipv6_only(faulty, interface):
    assert faulty.cell(A, six_of("six", 2), interface).outcome is Outcome.OK
    assert faulty.cell(B, six_of("six", 1), interface).outcome is Outcome.OK
    assert not [cell for cell in faulty.cells if cell.target == "six" and "." in cell.address]


@pytest.mark.parametrize("interface", ["", "local"])
def test_link_local(faulty, interface):
    assert faulty.cell(A, "fe80::2", interface).outcome is Outcome.OK
    assert faulty.cell(B, "fe80::1", interface).source == "fe80::2"


@pytest.mark.parametrize("address_of", [four_of, six_of])
@pytest.mark.parametrize("interface", ["", "drop"])
def test_dropped_by_the_callee(faulty, address_of, interface):
    cell = faulty.cell(A, address_of("drop", 2), interface)
    assert answer(cell) == (Outcome.DROPPED, False)
    assert cell.source == address_of("drop", 1)
    assert answer(faulty.cell(B, address_of("drop", 1), interface)) == (Outcome.OK, None)


@pytest.mark.parametrize("address_of", [four_of, six_of])
@pytest.mark.parametrize("interface", ["", "oneway"])
def test_one_way_only(faulty, address_of, interface):
    assert answer(faulty.cell(A, address_of("oneway", 2), interface)) == (Outcome.DROPPED, False)
    assert answer(faulty.cell(B, address_of("oneway", 1), interface)) == (Outcome.DROPPED, True)


@pytest.mark.parametrize("interface", ["", "late"])
def test_the_first_answer_gets_lost(faulty, interface):
    cell = faulty.cell(A, four_of("late", 2), interface)
    assert answer(cell) == (Outcome.OK, None)
    assert 0.9 < cell.seconds < 3


def test_the_callee_tells_only_of_calls_that_never_came_about(faulty):
    assert {place[2] for place in faulty.unanswered[A]} == {four_of("oneway", 1), six_of("oneway", 1)}
    assert faulty.unanswered[B] == []


@pytest.mark.parametrize("address_of", [four_of, six_of])
@pytest.mark.parametrize("interface", ["", "reset"])
def test_reset(faulty, address_of, interface):
    cell = faulty.cell(A, address_of("reset", 2), interface)
    assert (cell.outcome, cell.detail) == (Outcome.REFUSED, "a reset came back, though node-b listens there")


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("kind", REJECTED)
def test_rejected(faulty, kind, bound):
    _, named, _, named_six = REJECTED[kind]
    address, address_six = four_of(kind, 2), six_of(kind, 2)
    cell = faulty.cell(A, address, kind if bound else "")
    assert (cell.outcome, cell.detail) == (Outcome.REJECTED, f"{named}, sent by node-b itself ({address})")
    cell = faulty.cell(A, address_six, kind if bound else "")
    if named_six is None:
        assert cell.outcome is Outcome.OK
    else:
        assert (cell.outcome, cell.detail) == (Outcome.REJECTED, f"{named_six}, sent by node-b itself ({address_six})")


@pytest.mark.parametrize("address_of", [four_of, six_of])
@pytest.mark.parametrize("interface", ["", "outdrop"])
def test_dropped_by_the_callers_own_firewall(faulty, address_of, interface):
    cell = faulty.cell(A, address_of("outdrop", 2), interface)
    assert cell.outcome is Outcome.FORBIDDEN
    assert cell.detail == "this node's own kernel lets no packet out, as an output rule of its firewall does"


def test_rejected_by_the_callers_own_firewall(faulty):
    cell = faulty.cell(A, four_of("outadmin", 2))
    assert cell.outcome is Outcome.FORBIDDEN
    assert cell.detail.endswith("as its own firewall does: administratively prohibited (ICMP 3/13)")
    assert faulty.cell(A, six_of("outadmin", 2)).outcome is Outcome.FORBIDDEN


@pytest.mark.parametrize(("address", "asked"), [("10.9.9.2", "ARP"), ("fd09::2", "neighbour discovery")])
def test_not_joined_though_the_subnet_is_the_same(faulty, address, asked):
    cell = faulty.cell(A, address)
    assert cell.outcome is Outcome.NO_NEIGHBOUR
    assert cell.detail == f"{asked} went unanswered for {address}, or for the gateway to it"
    bound = faulty.cell(A, address, "apart")
    assert bound.outcome is Outcome.NO_NEIGHBOUR
    assert f"{asked} on apart" in bound.detail


@pytest.mark.parametrize("address", ["10.8.2.1", "fd08:2::1"])
def test_not_joined_and_no_route(faulty, address):
    assert faulty.cell(A, address).outcome is Outcome.NO_ROUTE


@pytest.mark.parametrize("interface", ["", "twin"])
def test_both_have_the_same_address(faulty, interface):
    cell = faulty.cell(A, "172.17.0.2", interface)
    assert cell.outcome is Outcome.STRANGER
    assert cell.detail == "this node itself has 172.17.0.2, so it never reaches node-b"


@pytest.mark.parametrize("address_of", [four_of, six_of])
def test_only_the_known_port_is_open(faulty, address_of):
    assert faulty.known_port[A] is True
    assert answer(faulty.cell(A, address_of("narrow", 2))) == (Outcome.DROPPED, False)
    assert faulty.cell(B, address_of("narrow", 1)).outcome is Outcome.OK


# ---- a router in between ----


@pytest.mark.parametrize(("source", "address"), [(left("hole"), right("hole")), ("fd00:1::1", "fd00:2::2")])
@pytest.mark.parametrize("interface", ["", "hole"])
def test_large_packets_vanish(routed, source, address, interface):
    there, back = routed.cell(A, address, interface), routed.cell(B, source, interface)
    assert (there.outcome, there.mtu) == (back.outcome, back.mtu) == (Outcome.MTU_TOO_SMALL, 1400)
    assert there.detail == "packets of 1500 bytes vanish towards node-b, those of 1400 pass"
    assert back.detail == "packets of 1500 bytes vanish from node-a, those of 1400 pass"


def test_large_packets_vanish_on_the_way_back(routed):
    cell = routed.cell(A, right("back"))
    assert (cell.outcome, cell.mtu) == (Outcome.MTU_TOO_SMALL, 1400)
    assert cell.detail == "packets of 1500 bytes vanish from node-b, those of 1400 pass"


@pytest.mark.parametrize("interface", ["", "learnt"])
def test_the_path_mtu_is_learnt(routed, interface):
    cell = routed.cell(A, right("learnt"), interface)
    assert (cell.outcome, cell.mtu, cell.detail) == (Outcome.OK, 1400, "")
    assert routed.cell(B, left("learnt"), interface).mtu is None


@pytest.mark.parametrize("interface", ["", "overlay"])
def test_through_a_tunnel(routed, interface):
    assert routed.cell(A, "10.60.0.2", interface).outcome is Outcome.OK
    assert routed.cell(B, "10.60.0.1", interface).outcome is Outcome.OK


def test_nat_in_between(routed):
    cell = routed.cell(A, right("nat"))
    router, own = right("nat", 254), left("nat")
    assert (cell.outcome, cell.source) == (Outcome.WRONG_SOURCE, router)
    assert cell.detail == f"node-b saw {router} instead of {own}: something in between changes it (NAT)"
    assert routed.cell(B, own).outcome is Outcome.NO_ROUTE
    assert routed.cell(B, own, "nat").outcome is Outcome.NO_NEIGHBOUR


def test_rejected_on_the_way(routed):
    cell = routed.cell(A, right("guard"))
    sender = left("guard", 254)
    assert cell.outcome is Outcome.REJECTED
    assert cell.detail == f"host prohibited (ICMP 3/10), sent by {sender}, which is on the way"
    assert routed.cell(B, left("guard")).outcome is Outcome.OK


# ---- four nodes, without privileges ----


@pytest.mark.parametrize("interface", ["", "eth0"])
@pytest.mark.parametrize("number", [2, 3])
def test_four_nodes(four, interface, number):
    assert four.cell(A, f"10.0.0.{number}", interface).outcome is Outcome.OK


@pytest.mark.parametrize("interface", ["", "eth0"])
def test_one_of_four_is_walled_off(four, interface):
    for caller in (A, B):
        assert answer(four.cell(caller, "10.0.0.4", interface)) == (Outcome.DROPPED, False)
    for number in (1, 2, 3):
        assert answer(four.cell("node-d", f"10.0.0.{number}", interface)) == (Outcome.DROPPED, True)


def test_over_an_interface_that_leads_elsewhere(four):
    assert four.cell(A, "10.0.0.3", "eth1").outcome is Outcome.NO_NEIGHBOUR
    # Linux answers ARP for all its addresses on every link (arp_ignore), so this does come through.
    assert four.cell(A, "10.0.0.2", "eth1").source == "10.5.0.1"


def test_ten_ports_are_enough(four):
    cells = [
        cell for cell in four.cells if cell.caller == B and cell.callee in (A, "node-c") and cell.interface != "eth1"
    ]
    assert {cell.outcome for cell in cells} == {Outcome.OK}
    assert len(cells) == 6


def test_no_port_is_free(four):
    cells = [four.cell("node-c", address, bound) for address in ("10.0.0.1", "10.0.0.2") for bound in ("", "eth0")]
    assert {cell.outcome for cell in cells} == {Outcome.FORBIDDEN}
    assert {cell.detail.partition(" (")[0] for cell in cells} == {"no local port is free"}


# ---- strangers, on the loopback interface ----


def calling(port):
    """A call from the loopback interface: a call without an interface would find that the address is its own."""
    return Call("lo", "127.0.0.1", B, "eth0", "127.0.0.1", port)


def called(port):
    """The one cell of a call to that port."""
    (cell,) = reach(A, (calling(port),), KEY, limit=1.0)
    return cell.outcome, cell.detail


@contextlib.contextmanager
def somebody(answer):
    """A listener that treats one caller like this; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)

        def serve():
            guest, _ = server.accept()
            with guest, contextlib.suppress(OSError):
                answer(guest)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def copy_back(guest):
    """Send the caller's own line."""
    guest.sendall(guest.recv(512))


@pytest.mark.parametrize(
    ("behaviour", "outcome", "detail"),
    [
        (lambda guest: guest.recv(512), Outcome.STRANGER, "it closed without an answer"),
        (lambda guest: guest.sendall(b"SSH-2.0-OpenSSH_9.6\r\n"), Outcome.STRANGER, "does not know this session"),
        (lambda guest: guest.sendall(b"x" * 100000), Outcome.STRANGER, "it closed without an answer"),
        (copy_back, Outcome.STRANGER, "does not know this session"),
        (lambda guest: time.sleep(1.5), Outcome.DROPPED, "then nothing more came through"),
    ],
)
def test_somebody_else_answers(behaviour, outcome, detail):
    with somebody(behaviour) as port:
        found = called(port)
    assert found[0] is outcome
    assert detail in found[1]


@contextlib.contextmanager
def doors(host, key=KEY):
    """Our own listeners there; gives their port."""
    with listening(host, ("127.0.0.1",), key) as listeners:
        assert listeners.failed == ()
        yield listeners.ports[0][1]


def test_the_callee_answers():
    with doors(B) as port:
        assert called(port) == (Outcome.OK, "")


def test_another_session():
    with doors(B, "another secret") as port:
        assert called(port)[0] is Outcome.STRANGER


def test_a_third_node_of_the_session():
    with doors("node-c") as port:
        assert called(port) == (Outcome.STRANGER, "node-c answered, which has the same address as node-b")


def test_nobody_listens_at_an_own_address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert called(port) == (Outcome.STRANGER, "this node itself has 127.0.0.1, so it never reaches node-b")


def test_a_call_without_an_interface_never_goes_to_oneself():
    (cell,) = reach(A, (Call("", "", B, "eth0", "127.0.0.1", 1),), KEY)
    assert (cell.outcome, cell.source) == (Outcome.STRANGER, None)


@pytest.mark.parametrize(
    ("call", "outcome"),
    [
        (Call("", "", B, "eth0", "fe80::1%nosuch", 1), Outcome.NO_ROUTE),
        (Call("", "", B, "eth0", "fe80::1%4000", 1), Outcome.NO_ROUTE),
        (Call("nosuch", "127.0.0.1", B, "eth0", "127.0.0.1", 1), Outcome.NO_ROUTE),
        (Call("lo", "192.0.2.1", B, "eth0", "127.0.0.1", 1), Outcome.FORBIDDEN),
    ],
)
def test_what_is_gone_by_now(call, outcome):
    (cell,) = reach(A, (call,), KEY)
    assert cell.outcome is outcome


def test_many_calls_at_once():
    with doors(B) as port:
        cells = list(reach(A, (calling(port),) * 200, KEY))
    assert [cell.outcome for cell in cells] == [Outcome.OK] * 200


def test_cells_come_as_soon_as_they_are_settled_and_the_rest_can_be_left():
    with doors(B) as port, socket.create_server(("127.0.0.1", 0)) as silent:
        calls = (calling(silent.getsockname()[1]), calling(port))
        begin = time.monotonic()
        cells = reach(A, calls, KEY, limit=30)
        assert next(cells).outcome is Outcome.OK
        cells.close()
        assert time.monotonic() - begin < 5


GARBAGE = [
    b"\n",
    b"\0" * 5000,
    b'{"caller": "x"}\n',
    b"[" * 511 + b"\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b'"\\ud800"\n',
]


def test_strangers_who_call_do_no_harm():
    with doors(B) as port, contextlib.ExitStack() as stack:
        for number in range(60):
            stranger = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            stranger.sendall(GARBAGE[number % len(GARBAGE)])
        assert called(port) == (Outcome.OK, "")
        stranger.settimeout(5)
        with contextlib.suppress(ConnectionResetError):
            assert stranger.recv(100) == b""


def test_more_strangers_than_there_is_room_for_only_delay():
    with doors(B) as port, contextlib.ExitStack() as stack:
        for _ in range(420):
            stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        (cell,) = reach(A, (calling(port),), KEY)
        assert cell.outcome is Outcome.OK


def test_an_address_that_cannot_be_listened_on():
    with listening(B, ("127.0.0.1", "192.0.2.1", "fe80::1%nosuch"), KEY) as listeners:
        assert [address for address, _ in listeners.ports] == ["127.0.0.1"]
        assert [address for address, _ in listeners.failed] == ["192.0.2.1", "fe80::1%nosuch"]
        assert listeners.failed[0][1] == os.strerror(99)


def test_nothing_secret_travels():
    heard = []
    with somebody(lambda guest: heard.append(guest.recv(512))) as port:
        called(port)
    assert KEY.encode() not in heard[0]
    assert sorted(json.loads(heard[0])) == ["callee", "caller", "nonce", "proof", "size"]
