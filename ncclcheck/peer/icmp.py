"""What a failed call means, by its error and by the ICMP message that the kernel kept with it (pure).

Sources: RFC 792, RFC 1812 (5.2.7.1) and RFC 4443 for types and codes; ip(7) and ipv6(7) for ``struct
sock_extended_err``. The kernel keeps the message of an unfinished call since Linux 5.9; before, the error alone tells.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import struct
from dataclasses import dataclass

from ncclcheck.model import Outcome
from ncclcheck.peer.calls import Call, bare

_EXTENDED = struct.Struct("=I4B2I")
_ORIGIN_LOCAL, _ORIGIN_ICMP6 = 1, 3
_FAMILY = struct.Struct("=H")
_INET, _INET6 = 2, 10

_UNREACHABLE = {
    0: "network unreachable",
    1: "host unreachable",
    2: "protocol unreachable",
    3: "port unreachable",
    4: "packet too big",
    5: "source route failed",
    6: "network unknown",
    7: "host unknown",
    8: "source host isolated",
    9: "network prohibited",
    10: "host prohibited",
    11: "network unreachable for this type of service",
    12: "host unreachable for this type of service",
    13: "administratively prohibited",
    14: "host precedence violation",
    15: "precedence cutoff",
}
_UNREACHABLE6 = {
    0: "no route",
    1: "administratively prohibited",
    2: "beyond scope of the source address",
    3: "address unreachable",
    4: "port unreachable",
    5: "source address failed policy",
    6: "route rejected",
}
_OTHER = {11: "time to live exceeded (packets may go round in circles)", 12: "parameter problem"}
_OTHER6 = {
    2: "packet too big",
    3: "hop limit exceeded (packets may go round in circles)",
    4: "parameter problem",
}
_NOBODY = {(False, 3, 1), (True, 1, 3)}
"""What our own kernel tells us when ARP or neighbour discovery went unanswered: is it IPv6, type, code."""
_PATIENCE = 0.5
"""Seconds. Our kernel asks its neighbours three times, a second apart; a firewall of ours answers at once."""


@dataclass(frozen=True, slots=True)
class Notice:
    """An ICMP message about a call, or what our own kernel says in its stead."""

    origin: int
    kind: int
    code: int
    sender: str

    @property
    def name(self) -> str:
        """``host unreachable (ICMP 3/1)``."""
        six = self.origin == _ORIGIN_ICMP6
        codes, others = (_UNREACHABLE6, _OTHER6) if six else (_UNREACHABLE, _OTHER)
        known = codes.get(self.code) if self.kind == (1 if six else 3) else others.get(self.kind)
        numbers = f"ICMP{'v6' if six else ''} {self.kind}/{self.code}"
        return f"{known} ({numbers})" if known else numbers

    @property
    def nobody_answered(self) -> bool:
        """It is what a kernel says when nobody on the link has an address."""
        return (self.origin == _ORIGIN_ICMP6, self.kind, self.code) in _NOBODY


def notice_of(content: bytes) -> Notice | None:
    """From the control message IP_RECVERR or IPV6_RECVERR: ``sock_extended_err`` and the sender's address."""
    if len(content) < _EXTENDED.size:
        return None
    _, origin, kind, code, _, _, _ = _EXTENDED.unpack_from(content)
    return Notice(origin, kind, code, _address(content[_EXTENDED.size :]))


def _address(stored: bytes) -> str:
    family = _FAMILY.unpack_from(stored)[0] if len(stored) >= 2 else 0
    if family == _INET and len(stored) >= 8:
        return str(ipaddress.IPv4Address(stored[4:8]))
    if family == _INET6 and len(stored) >= 24:
        return str(ipaddress.IPv6Address(stored[8:24]))
    return ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a call, and how we know."""

    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that the kernel gave up."""

    code: int
    """errno."""
    seconds: float
    """Until then; 0 where connect(2) itself failed, so that it is our own kernel that says so."""
    notice: Notice | None = None
    own: bool = False
    """The notice's sender is this node."""


def judged(call: Call, failure: Failure) -> Verdict:
    """What a failed call means."""
    if failure.notice is None:
        return _by_error(call, failure)
    if failure.notice.origin == _ORIGIN_LOCAL or failure.own:
        return _by_ourselves(call, failure.seconds, failure.notice)
    return Verdict(Outcome.REJECTED, f"{failure.notice.name}, sent by {_who(call, failure.notice.sender)}")


def _who(call: Call, sender: str) -> str:
    if sender == bare(call.address):
        return f"{call.callee} itself ({sender})"
    return f"{sender}, which is on the way" if sender else "somebody on the way"


def _by_ourselves(call: Call, seconds: float, notice: Notice) -> Verdict:
    if notice.nobody_answered and seconds >= _PATIENCE:
        return no_neighbour(call)
    return Verdict(Outcome.FORBIDDEN, f"this node itself said no at once, as its own firewall does: {notice.name}")


def no_neighbour(call: Call) -> Verdict:
    """Nobody on the link answered."""
    asked = "neighbour discovery" if ":" in call.address else "ARP"
    where = f" on {call.interface}" if call.interface else ""
    whom = f"{bare(call.address)}, or for the gateway to it"
    return Verdict(Outcome.NO_NEIGHBOUR, f"{asked}{where} went unanswered for {whom}")


_AT_ONCE = {
    errno.ENETUNREACH: Verdict(Outcome.NO_ROUTE),
    errno.EHOSTUNREACH: Verdict(Outcome.NO_ROUTE, "a route of this node says unreachable"),
    errno.EINVAL: Verdict(Outcome.NO_ROUTE, "a route of this node says blackhole, or the address is of another link"),
    errno.ENODEV: Verdict(Outcome.NO_ROUTE, "the interface is gone"),
    errno.ENXIO: Verdict(Outcome.NO_ROUTE, "this node has no such interface"),
    errno.ENETDOWN: Verdict(Outcome.NO_ROUTE, "the interface is down"),
    errno.EACCES: Verdict(Outcome.FORBIDDEN, "a route or rule of this node says prohibit"),
    errno.EPERM: Verdict(Outcome.FORBIDDEN, "this node's own firewall or sandbox does not let it out"),
    errno.EADDRNOTAVAIL: Verdict(
        Outcome.FORBIDDEN, "no local port is free (net.ipv4.ip_local_port_range), or the own address is gone"
    ),
}
_LATER = {
    errno.ENOPROTOOPT: "protocol unreachable",
    errno.ENETUNREACH: "network unreachable",
    errno.EACCES: "administratively prohibited",
    errno.EHOSTUNREACH: "host unreachable",
}


def _by_error(call: Call, failure: Failure) -> Verdict:
    """Without a notice: connect(2) itself failed, or the kernel keeps none."""
    if failure.code == errno.ECONNREFUSED:
        return Verdict(Outcome.REFUSED, f"a reset came back, though {call.callee} listens there")
    if failure.code == errno.ETIMEDOUT:
        return Verdict(Outcome.DROPPED, f"no answer within {failure.seconds:.1f} s")
    if failure.code == errno.EHOSTUNREACH and failure.seconds >= 2:
        return no_neighbour(call)
    if failure.seconds and failure.code in _LATER:
        return Verdict(Outcome.REJECTED, f"{_LATER[failure.code]}, and this kernel does not tell who said so")
    return _AT_ONCE.get(failure.code) or Verdict(Outcome.FORBIDDEN, os.strerror(failure.code))
