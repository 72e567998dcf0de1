"""Two nodes as their scan would describe them, with what must not get on a card."""

from __future__ import annotations

from typing import Any

from ncclcheck.model import (
    Address,
    Caller,
    Candidate,
    Choice,
    ConfLine,
    Facts,
    Gid,
    Gpu,
    Hint,
    Interface,
    Library,
    Limit,
    LinkKind,
    Machine,
    NameLookup,
    RdmaDevice,
    RdmaPort,
    Route,
    Setting,
    Trouble,
    Unknown,
)

LIMITS = (
    Limit("memlock", None, "bytes"),
    Limit("memlock_hard", None, "bytes"),
    Limit("nofile", 1048576, "files"),
    Limit("nofile_hard", 1048576, "files"),
    Limit("shm", 67530000384, "bytes"),
    Limit("shm_free", 67412344832, "bytes"),
    Limit("port_first", 32768),
    Limit("port_last", 60999),
    Limit("somaxconn", 4096),
    Limit("tcp_syn_retries", 6),
    Limit("rp_filter", 2),
)


def choice(nccl: str, interface: str, address: str) -> Choice:
    """What NCCL takes, and one that it passes over."""
    taken = Candidate(interface, address, True, "it is the first that fits")
    return Choice(nccl, interface, address, "why", (taken, Candidate("lo", "127.0.0.1", False, "its name")))


LO = Interface("lo", 1, LinkKind.LOOPBACK, True, True, 65536, None, (Address("127.0.0.1", 8), Address("::1", 128)))
ETHERNET = Interface(
    "enp97s0f0",
    2,
    LinkKind.ETHERNET,
    True,
    True,
    9000,
    100000,
    (Address("10.20.31.117", 22), Address("fe80::b26b:25ff:fe3a:91c4", 64)),
    "mlx5_core",
)
MANAGEMENT = Interface(
    "eno1",
    3,
    LinkKind.ETHERNET,
    True,
    True,
    1500,
    10000,
    (Address("192.168.44.117", 24), Address("fe80::3eec:efff:fe5b:17a2", 64)),
    "ixgbe",
)
DOCKER = Interface(
    "docker0",
    4,
    LinkKind.DOCKER,
    True,
    False,
    1500,
    None,
    (Address("172.17.0.1", 16),),
    "bridge",
    members=("veth1a2b",),
)
INNER = Interface(
    "veth1a2b", 7, LinkKind.VETH, True, True, 1500, 10000, (Address("fe80::1", 64),), "veth", master="docker0"
)
ROUTES = (
    Route("0.0.0.0/0", "eno1", "192.168.44.1", 100),
    Route("10.20.28.0/22", "enp97s0f0", None, 101),
    Route("192.168.44.0/24", "eno1", None, 100),
    Route("172.17.0.0/16", "docker0"),
    Route("fe80::/64", "eno1", None, 1024),
    Route("fd00::5/128", "eno1", None, 256),
    Route("10.42.0.7/32", "veth1a2b"),
)
GID = Gid(3, "fe80::b26b:25ff:fe3a:91c4", "RoCE v2", "enp97s0f0")
RDMA = RdmaDevice("mlx5_0", ("enp97s0f0",), (RdmaPort(1, "Ethernet", "ACTIVE", "100 Gb/sec (4X EDR)", (GID,)),))
NAMES = (
    NameLookup("gpu-node-17", "own name", ("127.0.1.1",)),
    NameLookup("10.20.31.117", "reverse", ("gpu-node-17.cluster.example.org",)),
)

ORDINARY = Facts(
    host="gpu-node-17",
    interfaces=(LO, ETHERNET, MANAGEMENT, DOCKER, INNER),
    settings=(
        Setting("NCCL_DEBUG", "INFO", "environment"),
        Setting("NCCL_SOCKET_IFNAME", "enp97s0f0", "/home/alice/.nccl.conf", 2),
        Setting("NCCL_SOCKET_IFNAME", "eno1", "/etc/nccl.conf", 1, wins=False),
        Setting("NCCL_API_KEY", "hunter2", "environment"),
        Setting("LD_PRELOAD", "/home/alice/x.so", "/etc/nccl.conf", 3),
    ),
    conf_troubles=(ConfLine("/etc/nccl.conf", 3, "LD_PRELOAD=x", Trouble.UNKNOWN_NAME, "m", ""),),
    conf_files=("/home/alice/.nccl.conf", "/etc/nccl.conf"),
    library=Library("/home/alice/venv/libnccl.so.2", "2.29.7", "torch's wheel"),
    python="/home/alice/venv/bin/python",
    libraries=(Library("/home/alice/venv/libnccl.so.2", "2.29.7", "torch's wheel"),),
    choice=choice("2.29.7", "enp97s0f0", "10.20.31.117"),
    sockets=choice("2.29.7", "enp97s0f0", "10.20.31.117"),
    unknown=(Unknown("the weather", "a window"),),
    machine=Machine(
        namespace="net:[4026531840]",
        boot="9f3c1a77",
        routes=ROUTES,
        hints=(Hint("Docker", "runtime", ("/.dockerenv exists",)),),
        rdma=(RDMA,),
        limits=LIMITS,
        firewall=True,
        names=NAMES,
        gpus=tuple(Gpu("NVIDIA A100-SXM4-80GB", f"0000:{bus:02x}:00.0", 80 << 30) for bus in range(8)),
        caller=Caller("alice", "/home/alice/.nccl.conf"),
        unknown=(Unknown("the time", "a clock"),),
    ),
)

ON_THE_CARD = Facts(
    host="gpu-node-17",
    interfaces=(
        ETHERNET,
        MANAGEMENT,
        Interface("docker0", 4, LinkKind.DOCKER, True, False, 1500, None, (Address("172.17.0.1", 16),), "bridge"),
    ),
    settings=(
        Setting("NCCL_DEBUG", "INFO", "environment"),
        Setting("NCCL_SOCKET_IFNAME", "enp97s0f0", "~/.nccl.conf", 2),
    ),
    conf_files=("~/.nccl.conf", "/etc/nccl.conf"),
    library=Library("", "2.29.7"),
    choice=Choice("2.29.7", "enp97s0f0", "10.20.31.117", "", (Candidate("enp97s0f0", "10.20.31.117", True, ""),)),
    sockets=Choice("2.29.7", "enp97s0f0", "10.20.31.117", "", (Candidate("enp97s0f0", "10.20.31.117", True, ""),)),
    machine=Machine(
        namespace="net:[4026531840]",
        boot="9f3c1a77",
        routes=ROUTES[:4],
        hints=(Hint("Docker", "runtime", ()),),
        rdma=(RdmaDevice("mlx5_0", ("enp97s0f0",), (RdmaPort(1, "Ethernet", "ACTIVE", "100 Gb/sec (4X EDR)"),)),),
        limits=LIMITS,
        firewall=True,
        names=NAMES,
        gpus=(Gpu("NVIDIA A100-SXM4-80GB", ""),) * 8,
    ),
)


def _dgx_links() -> tuple[Interface, ...]:
    fabric = [
        _link(f"ibp{24 + number * 16}s0", 2 + number, LinkKind.IPOIB, 2044, 400000, f"10.64.{number}.113", 24)
        for number in range(8)
    ]
    storage = [
        _link(f"enp{25 + number * 16}s0f0np0", 10 + number, LinkKind.ETHERNET, 9000, 200000, f"172.2{number}.4.113", 16)
        for number in range(8)
    ]
    rest = [
        _link("eno3", 18, LinkKind.ETHERNET, 1500, 1000, "10.33.1.113", 24),
        _link("bond0", 19, LinkKind.BOND, 9000, 200000, "10.80.0.113", 20),
        _link("vxlan.calico", 20, LinkKind.OTHER, 1450, None, "10.233.71.0", 32),
        DOCKER,
    ]
    return (*fabric, *storage, *rest)


def _link(name: str, index: int, kind: LinkKind, mtu: int, speed: int | None, *address: Any) -> Interface:
    # Every other byte as in real hardware addresses: these are what deflate cannot make shorter.
    local = f"fe80::{0xA288 + index * 37:x}:{0xC2FF - index:x}:fe{index * 83 % 256:02x}:{index * 7919 % 65536:x}"
    found = (Address(*address), Address(local, 64))
    return Interface(name, index, kind, True, True, mtu, speed, found, "mlx5_core")


DGX_SETTINGS = {
    "NCCL_SOCKET_IFNAME": "bond0",
    "NCCL_IB_HCA": "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_6,mlx5_7,mlx5_8,mlx5_9",
    "NCCL_DEBUG": "WARN",
    "NCCL_IB_TIMEOUT": "22",
    "NCCL_IB_QPS_PER_CONNECTION": "4",
    "NCCL_NVLS_ENABLE": "1",
    "NCCL_TOPO_FILE": "/etc/nccl/topo-h100.xml",
    "NCCL_CROSS_NIC": "0",
    "NCCL_IB_PCI_RELAXED_ORDERING": "1",
    "NCCL_IB_PKEY": "0x8001",
}
DGX = Facts(
    host="dgx-h100-113",
    interfaces=_dgx_links(),
    settings=tuple(Setting(name, value, "environment") for name, value in DGX_SETTINGS.items()),
    conf_files=("/etc/nccl.conf",),
    library=Library("", "2.28.9"),
    choice=choice("2.28.9", "bond0", "10.80.0.113"),
    sockets=choice("2.28.9", "bond0", "10.80.0.113"),
    machine=Machine(
        namespace="net:[4026531840]",
        boot="0badf00d",
        routes=(
            Route("0.0.0.0/0", "bond0", "10.80.0.1"),
            *(Route(f"10.64.{number}.0/24", f"ibp{24 + number * 16}s0") for number in range(8)),
            *(Route(f"172.2{number}.0.0/16", f"enp{25 + number * 16}s0f0np0") for number in range(8)),
        ),
        rdma=tuple(
            RdmaDevice(
                f"mlx5_{number}",
                (f"ibp{24 + number * 16}s0",),
                (RdmaPort(1, "InfiniBand", "ACTIVE", "400 Gb/sec (4X NDR)"),),
            )
            for number in range(8)
        ),
        limits=LIMITS,
        firewall=False,
        names=(NameLookup("dgx-h100-113", "own name", ("10.80.0.113",)),),
        gpus=(Gpu("NVIDIA H100 80GB HBM3", ""),) * 8,
    ),
)
