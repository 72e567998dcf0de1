"""RDMA devices of a /sys made for it."""

from __future__ import annotations

from pathlib import Path

from ncclcheck.model import Gid, RdmaDevice, RdmaPort
from ncclcheck.node import rdma
from tests.node.files_made import write

LINK_LOCAL = "fe80:0000:0000:0000:0ac0:ebff:fe00:0001"


def test_rdma_devices_with_their_ports_and_tables(tmp_path: Path) -> None:
    port = tmp_path / "mlx5_10/ports/1"
    for name, text in (("link_layer", "Ethernet"), ("state", "4: ACTIVE"), ("rate", "100 Gb/sec (4X EDR)")):
        write(port / name, text + "\n")
    for index, gid, kind in (
        (0, LINK_LOCAL, "IB/RoCE v1"),
        (1, "0000:0000:0000:0000:0000:0000:0000:0000", ""),
        (10, "0000:0000:0000:0000:0000:ffff:0a00:0005", "RoCE v2"),
    ):
        write(port / f"gids/{index}", gid + "\n")
        if kind:
            write(port / f"gid_attrs/types/{index}", kind + "\n")
            write(port / f"gid_attrs/ndevs/{index}", "eth1\n")
    (tmp_path / "mlx5_10/device/net/eth1").mkdir(parents=True)
    write(tmp_path / "mlx5_2/ports/1/link_layer", "InfiniBand\n")
    write(tmp_path / "mlx5_2/ports/1/state", "1: DOWN\n")
    write(tmp_path / "mlx5_2/ports/1/gids/0", "fe80:0000:0000:0000:0ac0:ebff:fe00:0002\n")
    write(tmp_path / "mlx5_2/ports/1/gid_attrs/types/0", "IB/RoCE v1\n")

    assert rdma.read(tmp_path) == (
        RdmaDevice(
            "mlx5_2",
            (),
            (RdmaPort(1, "InfiniBand", "DOWN", "", (Gid(0, "fe80:0000:0000:0000:0ac0:ebff:fe00:0002", "IB"),)),),
        ),
        RdmaDevice(
            "mlx5_10",
            ("eth1",),
            (
                RdmaPort(
                    1,
                    "Ethernet",
                    "ACTIVE",
                    "100 Gb/sec (4X EDR)",
                    (
                        Gid(0, LINK_LOCAL, "RoCE v1", "eth1"),
                        Gid(10, "0000:0000:0000:0000:0000:ffff:0a00:0005", "RoCE v2", "eth1"),
                    ),
                ),
            ),
        ),
    )


def test_without_infiniband_there_is_no_rdma_device(tmp_path: Path) -> None:
    assert rdma.read(tmp_path / "infiniband") == ()
