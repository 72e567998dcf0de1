"""What a machine is beside its interfaces: routes, RDMA devices, limits, names, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from ncclcheck.model.place import Unknown


@dataclass(frozen=True, slots=True)
class Route:
    """A line of the main routing table."""

    destination: str
    """A network such as ``10.0.0.0/24``; ``0.0.0.0/0`` and ``::/0`` are the default routes."""
    interface: str
    gateway: str | None = None
    metric: int = 0

    @property
    def default(self) -> bool:
        """Whether everything that has no route of its own goes this way."""
        return self.destination in ("0.0.0.0/0", "::/0")


@dataclass(frozen=True, slots=True)
class Hint:
    """A sign of where a machine runs; never more than a sign."""

    name: str
    role: str
    """``runtime`` (a container's) or ``provider``."""
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gid:
    """An entry of a port's GID table; the index is what NCCL_IB_GID_INDEX means."""

    index: int
    gid: str
    kind: str
    """``RoCE v1``, ``RoCE v2`` or ``IB``; empty where the kernel does not say."""
    interface: str | None = None


@dataclass(frozen=True, slots=True)
class RdmaPort:
    """A port of an RDMA device."""

    number: int
    link_layer: str
    """``InfiniBand`` or ``Ethernet`` (RoCE)."""
    state: str
    """``ACTIVE``, ``DOWN``, ``INIT`` …"""
    rate: str
    """As the driver says it, ``400 Gb/sec (4X NDR)``."""
    gids: tuple[Gid, ...] = ()


@dataclass(frozen=True, slots=True)
class RdmaDevice:
    """An InfiniBand or RoCE device."""

    name: str
    interfaces: tuple[str, ...]
    """The network interfaces of the same hardware."""
    ports: tuple[RdmaPort, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of this process or of the kernel."""

    name: str
    value: int | None
    """``None``: unlimited. What could not be read is missing, and named as unknown."""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class NameLookup:
    """What a name leads to on this machine."""

    name: str
    role: str
    """``own name``, ``MASTER_ADDR``, or ``reverse`` for an address that was looked up."""
    found: tuple[str, ...]
    """Addresses, or names for ``reverse``; empty where there are none."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU of this machine."""

    name: str
    pci: str
    memory: int | None = None
    """Bytes."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The user who became root with sudo, and what root does not read of his."""

    user: str
    path: str
    """His nccl.conf; it need not exist."""
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Machine:
    """All that is neither an interface nor a setting."""

    namespace: str | None = None
    """The network namespace, ``net:[4026531840]``: two processes with the same one share interfaces."""
    boot: str | None = None
    """Digest of the kernel's boot id: two nodes with the same one are one machine."""
    routes: tuple[Route, ...] = ()
    hints: tuple[Hint, ...] = ()
    rdma: tuple[RdmaDevice, ...] = ()
    limits: tuple[Limit, ...] = ()
    firewall: bool | None = None
    """Whether rules stand between the network and the programs of this machine; ``None`` where nobody may look."""
    names: tuple[NameLookup, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    caller: Caller | None = None
    unknown: tuple[Unknown, ...] = ()
