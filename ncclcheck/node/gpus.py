"""The GPUs: through NVML where nvidia-ml-py is installed (extra ``gpu``), else what the driver says in /proc."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from ncclcheck.model import Gpu, Unknown
from ncclcheck.node.later import Later

_LIMIT = 2.0
"""Seconds: a driver that has to wake the GPUs first takes longer."""
_SHORT_LIMIT = 0.3
"""Where /proc has the names already, and only their memory is to be gained."""
_LINE = re.compile(r"^(Model|Bus Location):\s*(.+?)\s*$", re.MULTILINE)


def read(proc: Path) -> tuple[tuple[Gpu, ...], tuple[Unknown, ...]]:
    """The GPUs; none where no NVIDIA driver is loaded."""
    folder = proc / "driver/nvidia"
    if not folder.is_dir():
        return (), ()
    found = _by_driver(folder / "gpus")
    better = Later(_by_nvml).within(_SHORT_LIMIT if found else _LIMIT)
    if better or found:
        return better or found, ()
    return (), (Unknown("the GPUs", "an answer of the driver; nvidia-smi says what is wrong with it"),)


def _by_driver(folder: Path) -> tuple[Gpu, ...]:
    try:
        texts = [(path / "information").read_text(errors="replace") for path in sorted(folder.iterdir())]
    except OSError:
        return ()
    told = (dict(_LINE.findall(text)) for text in texts)
    return tuple(Gpu(one.get("Model", "?"), one.get("Bus Location", "?")) for one in told)


def _by_nvml() -> tuple[Gpu, ...]:
    try:
        nvml: Any = importlib.import_module("pynvml")
    except ImportError:
        return ()
    try:
        nvml.nvmlInit()
        handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
        return tuple(_gpu(nvml, handle) for handle in handles)
    except nvml.NVMLError:
        return ()


def _gpu(nvml: Any, handle: Any) -> Gpu:
    name, pci = nvml.nvmlDeviceGetName(handle), nvml.nvmlDeviceGetPciInfo(handle).busId
    return Gpu(_text(name), _text(pci), int(nvml.nvmlDeviceGetMemoryInfo(handle).total))


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
