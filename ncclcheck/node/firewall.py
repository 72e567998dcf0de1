"""Whether rules stand between the network and this machine's programs: nftables by netlink, old iptables by /proc."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ncclcheck.model import Unknown

_INPUT = 1
"""NF_INET_LOCAL_IN (linux/netfilter.h)."""
_DROP = 0
"""NF_DROP."""


@dataclass(frozen=True, slots=True)
class Ruleset:
    """The chains and rules of nftables, which iptables-nft writes as well."""

    chains: tuple[Any, ...]
    rules: tuple[Any, ...]


def ask_kernel() -> Ruleset:
    """The ruleset of this network namespace; PermissionError without CAP_NET_ADMIN."""
    from pyroute2.netlink.exceptions import NetlinkError
    from pyroute2.nftables.main import NFTables

    try:
        with NFTables() as tables:
            return Ruleset(tuple(tables.get_chains()), tuple(tables.get_rules()))
    except NetlinkError as error:
        raise OSError(error.code, str(error)) from error


def read(proc: Path, ask: Callable[[], Ruleset] = ask_kernel) -> tuple[bool | None, tuple[Unknown, ...]]:
    """Whether something filters what comes in; ``None`` where that could not be learned."""
    try:
        legacy = "filter" in (proc / "net/ip_tables_names").read_text().split()
    except OSError:
        legacy = False
    try:
        return legacy or filters(ask()), ()
    except (ImportError, OSError):
        if legacy:
            return True, ()
        return None, (Unknown("whether a firewall filters what comes in", "root: sudo nft list ruleset"),)


def filters(ruleset: Ruleset) -> bool:
    """Whether a chain for incoming packets drops them by default, or has a rule."""
    incoming = {_key(chain) for chain in ruleset.chains if _hook(chain) == _INPUT}
    dropping = any(chain.get_attr("NFTA_CHAIN_POLICY") == _DROP for chain in ruleset.chains if _hook(chain) == _INPUT)
    return dropping or any(
        (rule.get_attr("NFTA_RULE_TABLE"), rule.get_attr("NFTA_RULE_CHAIN")) in incoming for rule in ruleset.rules
    )


def _key(chain: Any) -> tuple[str, str]:
    return chain.get_attr("NFTA_CHAIN_TABLE"), chain.get_attr("NFTA_CHAIN_NAME")


def _hook(chain: Any) -> int | None:
    hook = chain.get_attr("NFTA_CHAIN_HOOK")
    number = hook.get_attr("NFTA_HOOK_HOOKNUM") if hook else None
    return None if number is None else int(number)
