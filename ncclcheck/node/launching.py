"""The variables by which the processes of a job find each other, in a list of an environment (pure).

Source: PyTorch's documentation of torch.distributed, "Environment variable initialization"; torchrun sets
LOCAL_WORLD_SIZE beside them.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence

from ncclcheck.model import ConfLine, Trouble

_NAMES = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
_NUMBERS = _NAMES[1:]
_LARGEST_PORT = 65535


def launch_troubles(path: str, lines: Sequence[str]) -> Iterator[ConfLine]:
    """What cannot work in these variables."""
    found: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines, start=1):
        name, equals, value = line.partition("=")
        if equals and name in _NAMES:
            found[name] = (number, value)
    for name, trouble, meaning in _wrong({name: value for name, (_, value) in found.items()}):
        number, value = found[name]
        text = f"{name}={value}"
        # What it should be, nobody can know from here.
        yield ConfLine(path, number, text, trouble, meaning, text)


def _wrong(values: Mapping[str, str]) -> Iterator[tuple[str, Trouble, str]]:
    for name in values:
        if name in _NUMBERS and not values[name].isdecimal():
            yield name, Trouble.NOT_A_NUMBER, f"{name} has to be a number"
    sizes = {name: int(values[name]) for name in _NUMBERS if values.get(name, "").isdecimal()}
    if "RANK" in sizes and sizes["RANK"] >= sizes.get("WORLD_SIZE", sizes["RANK"] + 1):
        yield "RANK", Trouble.OUT_OF_RANGE, f"of {sizes['WORLD_SIZE']} ranks the last one is {sizes['WORLD_SIZE'] - 1}"
    if sizes.get("MASTER_PORT", 1) not in range(1, _LARGEST_PORT + 1):
        yield "MASTER_PORT", Trouble.OUT_OF_RANGE, f"a port is at most {_LARGEST_PORT}"
    several = sizes.get("WORLD_SIZE", 0) > sizes.get("LOCAL_WORLD_SIZE", sizes.get("WORLD_SIZE", 0))
    if several and _is_own(values.get("MASTER_ADDR", "")):
        meaning = "this address is each machine itself, and the ranks of other nodes would wait for themselves"
        yield "MASTER_ADDR", Trouble.NOT_A_CHOICE, meaning


def _is_own(name: str) -> bool:
    """Whether a name or address is the machine that looks it up."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
