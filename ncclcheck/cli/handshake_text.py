"""A handshake in words. Pure."""

from __future__ import annotations

from ncclcheck.model import Contact, Handshake, Leg
from ncclcheck.peer.bootstrap_wire import Ticket, ticket_text


def invitation(ticket: Ticket, world_size: int, limit: float) -> str:
    """What to run on the other machines, for people."""
    more = f" --ranks {world_size}" if world_size != 2 else ""
    commands = [f"  ncclcheck handshake {ticket_text(ticket)} {rank}{more}" for rank in range(1, world_size)]
    where = "on the other machine" if world_size == 2 else "on the other machines, one command each"
    head = f"NCCL {ticket.nccl}'s root listens on {ticket.root}. Within {limit:g} s, run {where}:"
    return "\n".join([head, *commands])


def handshake_text(result: Handshake, world_size: int, rank: int | None = None) -> str:
    """The conclusion, the connections that were seen, what to do, and NCCL's own lines.

    ``rank`` is whose connections these are; ``None`` where they are those of all ranks.
    """
    failed = first_problem(result.contacts)
    parts = [
        _conclusion(result, world_size, rank),
        "\n".join(f"  {contact_text(contact, world_size)}" for contact in result.contacts),
        advice(failed, world_size) if failed else "",
        "\n".join(["NCCL's own lines, of the root:", *(f"  {line}" for line in result.log)]) if result.log else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _conclusion(result: Handshake, world_size: int, rank: int | None) -> str:
    failed = first_problem(result.contacts)
    whose = f"between {world_size} ranks" if rank is None else f"as seen from rank {rank} of {world_size}"
    if result.failure:
        return f"There was no handshake: {result.failure}"
    if failed:
        return f"NCCL {result.nccl}'s handshake FAILED, {whose}: {failed.problem}."
    return f"NCCL {result.nccl}'s handshake passed, {whose}: with the root at {result.root} both ways, and in the ring."


def first_problem(contacts: tuple[Contact, ...]) -> Contact | None:
    """The failure that comes first in NCCL's order, for it is the likeliest cause of the others."""
    order = list(Leg)
    return min((one for one in contacts if one.problem), key=lambda one: order.index(one.leg), default=None)


def contact_text(contact: Contact, world_size: int) -> str:
    """One connection on one line."""
    ends = {
        Leg.TO_ROOT: f"rank {contact.rank} to the root",
        Leg.FROM_ROOT: f"the root to rank {contact.rank}",
        Leg.RING: f"rank {contact.rank} to rank {(contact.rank + 1) % world_size}",
    }
    outcome = f"FAILED: {contact.problem}" if contact.seconds is None else f"ok after {contact.seconds:.3f} s"
    return f"{ends[contact.leg]:<18}  {contact.address:<21}  {outcome}"


def advice(failed: Contact, world_size: int) -> str:
    """What that failure means, and what to do about it."""
    address = failed.address.rpartition(":")[0]
    host = failed.host or f"the machine of rank {failed.rank}"
    next_rank = (failed.rank + 1) % world_size
    return _ADVICE[failed.leg].format(address=address, host=host, rank=failed.rank, next=next_rank)


_ADVICE = {
    Leg.TO_ROOT: """\
The root listens on the address that NCCL chose on its machine. If {host} has no way to {address}, NCCL chose the
wrong interface there: see ncclcheck node; NCCL_SOCKET_IFNAME names another one. If it has one, a firewall is likely,
or the first ncclcheck has ended. NCCL's ports are any of net.ipv4.ip_local_port_range; all must be open for TCP.""",
    Leg.FROM_ROOT: """\
The root calls {host} at {address} once rank {next} has reported to it. If rank {next} did, the root's machine has no
way to {address}: NCCL takes the wrong interface on {host} (see ncclcheck node; NCCL_SOCKET_IFNAME names another one),
or a firewall is between. NCCL's ports are any of net.ipv4.ip_local_port_range; all must be open for TCP, both ways.""",
    Leg.RING: """\
The ranks call each other directly, at the address that NCCL takes on each machine. Either rank {next} or the one
before rank {rank} has the wrong interface (see ncclcheck node on each; NCCL_SOCKET_IFNAME names another one), or a
firewall is between. NCCL's ports are any of net.ipv4.ip_local_port_range; all must be open for TCP, both ways.""",
}
