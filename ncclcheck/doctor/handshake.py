"""Do the nodes reach each other as NCCL will? Its own bootstrap, with the real root and ranks that we play."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

from ncclcheck.doctor.leading import leading
from ncclcheck.doctor.remote import ask
from ncclcheck.errors import PeerError, ProbeError
from ncclcheck.model import Choice, Contact, Handshake, Leg, Node
from ncclcheck.node import interfaces, libnccl, selection
from ncclcheck.node.environment import conf_files, here, settings, winning
from ncclcheck.node.probing import environment_with
from ncclcheck.node.resolve import first_address
from ncclcheck.node.root import Root, serving
from ncclcheck.peer.bootstrap_wire import Ticket, ticket_of
from ncclcheck.peer.rank import Limits, play

Env = tuple[tuple[str, str], ...]

ANSWER = 5.0
"""Seconds that the root gets to call a rank back, once all have reported."""
COMING = 120.0
"""Seconds that people get to start the other ranks."""
_START = 30.0
"""Seconds that a far ncclcheck may take besides the handshake itself."""
_SKEW = 5.0
"""Seconds between the starts of several far ones."""


@contextmanager
def serve_root(env: Env = (), python: str | None = None, limit: float = 20.0) -> Iterator[Root]:
    """NCCL's root on this node, by the training's Python and with these variables besides; ProbeError without NCCL."""
    variables = environment_with(env)
    interpreter, library = libnccl.choose(python, variables)
    if interpreter is None or library is None:
        raise ProbeError(
            "no libnccl.so.2 within its reach",
            place=interpreter.python if interpreter else "",
            next_step="Name the Python that your training uses with --python, "
            "or serve the root from another node that has NCCL",
        )
    with serving(interpreter.python, library.path, variables, limit) as root:
        yield root


def chosen_here(nccl: str, env: Env = ()) -> Choice:
    """The interface that a rank of this NCCL would take on this node, with these variables besides."""
    variables, (links, _) = environment_with(env), interfaces.read()
    files, _ = conf_files(here(variables), nccl)
    return selection.bootstrap(links, winning(settings(variables, files, nccl)), nccl, first_address)


def play_here(
    ticket: Ticket,
    rank: int,
    world_size: int,
    *,
    env: Env = (),
    address: str | None = None,
    limits: Limits | None = None,
    ends: int | None = None,
) -> tuple[Contact, ...]:
    """Play a rank on this node, on the address that NCCL would take or on the one given.

    Raises PeerError where NCCL would find no interface, or where the address is none of this node's.
    """
    host = socket.gethostname()
    if address is None:
        choice = chosen_here(ticket.nccl, env)
        if choice.address is None:
            next_step = "See ncclcheck node: NCCL_SOCKET_IFNAME must name an interface of this node"
            raise PeerError(f"NCCL would find no interface: {choice.reason}", place=host, next_step=next_step)
        address = choice.address
    return play(ticket, rank, world_size, host, address, limits=limits, ends=ends)


def lead(
    world_size: int,
    tell: Callable[[Ticket], None],
    *,
    env: Env = (),
    python: str | None = None,
    limit: float = COMING,
    ends: int | None = None,
) -> Handshake:
    """The first node's part: the root, and rank 0. ``tell`` gets what the other ranks need, as soon as it is known.

    ``limit`` is in seconds and for the others to come; they are waited for no longer once ``ends`` is readable. Rank 0
    listens where NCCL itself chose, for it chooses once only. Raises ProbeError where no root can be run.
    """
    host = socket.gethostname()
    with serve_root(env, python) as root:
        if root.code:
            log = root.log()
            return Handshake(root.nccl, host, root.address, (), log, _refusal(root.code, log))
        ticket = ticket_of(root.unique_id, root.nccl)
        tell(ticket)
        contacts = play(ticket, 0, world_size, host, _bare(root.address), limits=Limits(others=limit), ends=ends)
        _linger(contacts[-1], world_size, limit, ends)
        return Handshake(root.nccl, host, root.address, contacts, root.log())


def _linger(last: Contact, world_size: int, limit: float, ends: int | None) -> None:
    """Let the root go on where it may still be busy with other ranks: what NCCL says of them is worth waiting for."""
    if ends is not None:
        select.select([ends], [], [], limit)
    elif world_size > 2 or (last.leg is Leg.RING and last.problem):
        time.sleep(ANSWER)


def _bare(place: str) -> str:
    """``[fe80::1%eth1]:5000`` as ``fe80::1%eth1``, ``10.0.0.1:5000`` as ``10.0.0.1``."""
    return place.rpartition(":")[0].strip("[]")


def _refusal(code: int, log: tuple[str, ...]) -> str:
    """Why NCCL gave no root, by its last warning."""
    warnings = [line.partition("NCCL WARN ")[2] for line in log if "NCCL WARN " in line]
    return f"NCCL starts no root: {warnings[-1] if warnings else 'it does not say why'} (code {code})"


def join(
    ticket: Ticket, rank: int, world_size: int, *, env: Env = (), address: str | None = None, limit: float | None = None
) -> Handshake:
    """Another node's part: one rank. ``limit`` is in seconds and for the root to call back.

    Of two ranks the other one has reported already, so that the root answers at once; of more, some may yet have to
    come.
    """
    limits = Limits(others=limit or (ANSWER if world_size == 2 else COMING))
    result = Handshake(ticket.nccl, "", str(ticket.root), ())
    try:
        return replace(result, contacts=play_here(ticket, rank, world_size, env=env, address=address, limits=limits))
    except PeerError as error:
        return replace(result, failure=str(error))


def handshake(
    nodes: tuple[Node, ...], *, env: tuple[Env, ...] = (), python: str | None = None, limit: float = ANSWER
) -> Handshake:
    """NCCL's bootstrap between these nodes, the root on the first one, one rank on each.

    ``env`` has variables for each node besides its own, so that a setting can be proved before it is written; ``limit``
    is in seconds and for the root to call a rank back. Never raises for what can go wrong on a node: ``failure`` tells.
    """
    extra = env or ((),) * len(nodes)
    size = str(len(nodes))
    words = ["--ranks", size, *(["--python", python] if python else []), *_words(extra[0])]
    try:
        with leading(nodes[0], [*words, "--limit", f"{limit + _START:g}"]) as first:
            ticket = first.ticket(_START)
            others = _play_elsewhere(nodes, ticket, extra, limit) if ticket else ()
            result = first.result(limit + _START)
    except ProbeError as error:
        return Handshake("", nodes[0].name, "", (), failure=str(error))
    failures = [one.failure for one in (result, *others) if one.failure]
    contacts = tuple(contact for one in (result, *others) for contact in one.contacts)
    return replace(result, contacts=contacts, failure="; ".join(failures))


def _words(env: Env) -> list[str]:
    return [word for name, value in env for word in ("--env", f"{name}={value}")]


def _play_elsewhere(nodes: tuple[Node, ...], ticket: str, env: tuple[Env, ...], limit: float) -> tuple[Handshake, ...]:
    """All ranks but the first, at once."""
    wait = limit if len(nodes) == 2 else limit + _SKEW
    common = ["--ranks", str(len(nodes)), "--limit", f"{wait:g}"]

    def play_rank(rank: int) -> Handshake:
        return _ask(nodes[rank], [ticket, str(rank), *common, *_words(env[rank])], 2 * wait + _START)

    with ThreadPoolExecutor(len(nodes)) as pool:
        return tuple(pool.map(play_rank, range(1, len(nodes))))


def _ask(node: Node, words: list[str], limit: float) -> Handshake:
    try:
        return ask(node, ["handshake", "--json", *words], Handshake, limit, error=ProbeError)
    except ProbeError as error:
        return Handshake("", "", "", (), failure=str(error))
