"""This machine's own address on an interface."""

from __future__ import annotations

import socket
import struct
import sys

_SIOCGIFADDR = 0x8915


def address_of(interface: str | None, host: str) -> str:
    """The one that gloo takes: on the interface, else the one of this machine's own name.

    ``host``, where the ranks met, stands in for what nobody knows or nobody else could reach.
    """
    if interface and sys.platform == "linux":
        return _ipv4(interface) or _ipv6(interface) or _numeric(host)
    own = _numeric(socket.gethostname())
    # Debian's installer gives a machine's name the address 127.0.1.1.
    return _numeric(host) if interface or own.startswith("127.") or not own[:1].isdigit() else own


def _numeric(name: str) -> str:
    """The name's IPv4 address; the name itself where there is none."""
    try:
        return socket.gethostbyname(name)
    except OSError:
        return name


def _ipv4(interface: str) -> str | None:
    """By ioctl, netdevice(7)."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        try:
            told = fcntl.ioctl(end.fileno(), _SIOCGIFADDR, struct.pack("256s", interface.encode()[:15]))
        except OSError:
            return None
    return socket.inet_ntoa(told[20:24])


def _ipv6(interface: str) -> str | None:
    """From /proc/net/if_inet6, whose fourth column is the scope (20: link-local, which is the last resort)."""
    try:
        with open("/proc/net/if_inet6", encoding="ascii") as file:
            rows = [line.split() for line in file]
    except OSError:
        return None
    found = sorted((scope == "20", digits) for digits, _, _, scope, _, name in rows if name == interface)
    if not found:
        return None
    link_local, digits = found[0]
    address = socket.inet_ntop(socket.AF_INET6, bytes.fromhex(digits))
    return f"{address}%{interface}" if link_local else address
