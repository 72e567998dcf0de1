"""The GPUs, by NVML or by the driver alone."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from ncclcheck.model import Gpu
from ncclcheck.node import gpus
from tests.node.files_made import write


class NvmlError(Exception):
    pass


def nvml(*, broken: bool = False) -> types.ModuleType:
    """A pynvml with one GPU."""
    module = types.ModuleType("pynvml")

    def start() -> None:
        if broken:
            raise NvmlError

    parts = {
        "NVMLError": NvmlError,
        "nvmlInit": start,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetName": lambda handle: b"NVIDIA H200",
        "nvmlDeviceGetPciInfo": lambda handle: types.SimpleNamespace(busId="0000:19:00.0"),
        "nvmlDeviceGetMemoryInfo": lambda handle: types.SimpleNamespace(total=150 << 30),
    }
    vars(module).update(parts)
    return module


def test_gpus_by_nvml_by_the_driver_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml())
    assert gpus.read(tmp_path) == ((), ())

    (tmp_path / "driver/nvidia").mkdir(parents=True)
    assert gpus.read(tmp_path) == ((Gpu("NVIDIA H200", "0000:19:00.0", 150 << 30),), ())

    monkeypatch.setitem(sys.modules, "pynvml", nvml(broken=True))
    assert [one.question for one in gpus.read(tmp_path)[1]] == ["the GPUs"]

    monkeypatch.setitem(sys.modules, "pynvml", None)
    write(
        tmp_path / "driver/nvidia/gpus/0000:19:00.0/information",
        "Model: \t\t NVIDIA H200\nBus Location: \t 0000:19:00.0\n",
    )
    assert gpus.read(tmp_path) == ((Gpu("NVIDIA H200", "0000:19:00.0"),), ())
