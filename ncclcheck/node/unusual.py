"""What is not wrong in itself, but often is the reason why nodes do not find each other (pure)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from ncclcheck.model import Choice, Facts, Interface, LinkKind
from ncclcheck.node.remarks import remarks
from ncclcheck.node.version import since

_DOCKER_RANGE = ipaddress.ip_network("172.17.0.0/16")

_LOCAL_KINDS = {
    LinkKind.LOOPBACK: "the loopback interface: no other machine can call it",
    LinkKind.DOCKER: "a bridge of Docker's: other machines cannot call it",
    LinkKind.VIRBR: "libvirt's bridge for virtual machines: other machines cannot call it",
    LinkKind.WIRELESS: "wireless: slow, and often closed between its guests",
}


def unusual(facts: Facts) -> tuple[str, ...]:
    """Remarks on this node, the most likely trouble first."""
    return (
        *_of_choice(facts),
        *_of_out_of_band(facts),
        *_of_sockets(facts.sockets),
        *_of_settings(facts),
        *_of_links(facts),
        *remarks(facts),
    )


def _of_choice(facts: Facts) -> Iterator[str]:
    choice = facts.choice
    if choice is None or choice.interface is None or choice.address is None:
        return
    link = interface_of(facts, choice.interface)
    if link and link.kind in _LOCAL_KINDS:
        yield f"{choice.interface} is {_LOCAL_KINDS[link.kind]}"
    elif choice.interface.startswith("lo") and choice.address.startswith("127."):
        yield f"{choice.interface} is {_LOCAL_KINDS[LinkKind.LOOPBACK]}"
    else:
        yield from _of_address(choice.interface, choice.address)
    if link and link.running is False:
        yield f"{choice.interface} is down or has no carrier, and NCCL before 2.28 takes it all the same"


def _of_address(interface: str, text: str) -> Iterator[str]:
    address = ipaddress.ip_address(text.partition("%")[0])
    if address in _DOCKER_RANGE:
        yield (
            f"{text} on {interface} lies in 172.17.0.0/16, which Docker uses on every host by default:"
            " inside a container such an address is usually seen by this host alone"
        )
    elif address.is_link_local:
        yield f"{text} on {interface} is link-local: only machines on the very same wire can call it"


def _of_out_of_band(facts: Facts) -> Iterator[str]:
    values = {setting.name: setting.value for setting in facts.settings if setting.wins}
    choice = facts.choice
    # NCCL reads the number with strtoll: 1, 01 and "1  # on" switch it on.
    if choice and since(choice.nccl, 2, 23) and re.match(r"\s*[+-]?0*[1-9]", values.get("NCCL_OOB_NET_ENABLE", "")):
        device = values.get("NCCL_OOB_NET_IFNAME") or "the first network device"
        yield (
            f"NCCL_OOB_NET_ENABLE is on: a part of the start-up goes over {device}, yet the ranks still find"
            f" each other by TCP over {choice.interface}"
        )


def _of_sockets(sockets: Choice | None) -> Iterator[str]:
    taken = [candidate for candidate in sockets.candidates if candidate.taken] if sockets else []
    if len(taken) > 1:
        names = ", ".join(f"{candidate.interface} ({candidate.address})" for candidate in taken)
        yield f"without InfiniBand, data will go over all of {names}: each of them must reach the other nodes"


def _of_settings(facts: Facts) -> Iterator[str]:
    winners = {setting.name: setting for setting in facts.settings if setting.wins}
    for setting in facts.settings:
        winner = winners.get(setting.name)
        if (
            not setting.wins
            and winner is not None
            and winner.value != setting.value
            and winner.origin != setting.origin
        ):
            value = winner.value or "an empty value"
            yield f"{setting.name} in {setting.origin} does not count: {winner.origin} has {value}"


def _of_links(facts: Facts) -> Iterator[str]:
    mtus = {link.mtu for link in facts.interfaces if _carries_traffic(link)}
    if len(mtus) > 1:
        shown = ", ".join(f"{link.name} {link.mtu}" for link in facts.interfaces if _carries_traffic(link))
        yield f"interfaces differ in MTU ({shown}): both ends of a path must have the same"


def _carries_traffic(link: Interface) -> bool:
    local = (LinkKind.LOOPBACK, LinkKind.DOCKER, LinkKind.VIRBR)
    return bool(link.addresses) and link.running is not False and link.kind not in local and link.mtu is not None


def interface_of(facts: Facts, name: str) -> Interface | None:
    """The interface of that name; a label such as ``eth0:1`` belongs to eth0."""
    names = {link.name: link for link in facts.interfaces}
    return names.get(name) or names.get(name.partition(":")[0])
