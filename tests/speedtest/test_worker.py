"""The worker's own parts: what it takes, and whether its check of the payload can fail."""

import argparse
import ast
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ncclcheck.speedtest import worker


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("1000", 1000), ("64K", 65536), ("64k", 65536), ("10M", 10 * 1024**2), ("2G", 2 * 1024**3)],
)
def test_sizes(text, size):
    assert worker.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "M", "1T", "-1", "1.5G", "1 M", "10MB", "٣", "9" * 20])
def test_no_sizes(text):
    with pytest.raises(ValueError, match="not a size"):
        worker.parse_size(text)


PLACES = [
    ("10.0.0.1:5000", ("10.0.0.1", 5000)),
    ("node-a:65535", ("node-a", 65535)),
    ("[::1]:5000", ("::1", 5000)),
    ("[fe80::1%eth1]:5000", ("fe80::1%eth1", 5000)),
]


@pytest.mark.parametrize(("text", "place"), PLACES)
def test_places(text, place):
    assert worker.parse_place(text) == place
    assert worker.show(place) == text


@pytest.mark.parametrize("text", ["", "node-a", ":5000", "::1:5000", "a:0", "a:65536", "a:b", "[]:5", "[a:5", "a:5:6"])
def test_no_places(text):
    with pytest.raises(ValueError, match="not HOST:PORT"):
        worker.parse_place(text)


@settings(deadline=None)
@given(st.text(max_size=30))
def test_any_text_is_a_place_or_refused(text):
    try:
        host, port = worker.parse_place(text)
    except ValueError:
        return
    assert host
    assert 0 < port < 65536


@pytest.mark.parametrize(("text", "seconds"), [("1", 1.0), ("0.5", 0.5), ("7.", 7.0)])
def test_limits(text, seconds):
    assert worker.parse_limit(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0.0", "-1", "nan", "inf", "1e9", "9999999", "٣"])
def test_no_limits(text):
    with pytest.raises(ValueError, match="not a time limit"):
        worker.parse_limit(text)


class TakenStore:
    """A store where somebody is rank 1 already."""

    def add(self, key, amount):
        assert (key, amount) == ("taken/1", 1)
        return 2


def test_a_rank_that_is_taken():
    options = argparse.Namespace(rank=1, place=("10.0.0.11", 5000))
    with pytest.raises(worker.Failure, match=r"^there already is a rank 1 at 10\.0\.0\.11:5000$"):
        worker.meet(TakenStore(), options, {})


BLOCK = worker.pattern(torch, "cpu")
SIZE = 2 * worker.BLOCK + 100


def filled(tag):
    payload = torch.zeros(SIZE, dtype=torch.uint8)
    worker.fill(torch, payload, BLOCK, tag)
    return payload


@settings(deadline=None, max_examples=30)
@given(tag=st.integers(0, 1000), place=st.integers(0, SIZE - 1), bit=st.integers(0, 7))
def test_one_flipped_bit_is_seen(tag, place, bit):
    payload = filled(tag)
    assert worker.intact(torch, payload, BLOCK, tag)
    payload[place] ^= 1 << bit
    assert not worker.intact(torch, payload, BLOCK, tag)


def test_blocks_in_the_wrong_order_are_seen():
    payload = filled(3)
    swapped = torch.cat(
        [payload[worker.BLOCK : 2 * worker.BLOCK], payload[: worker.BLOCK], payload[2 * worker.BLOCK :]]
    )
    assert not worker.intact(torch, swapped, BLOCK, 3)


def test_the_round_before_is_seen():
    assert not worker.intact(torch, filled(2), BLOCK, 4)
    assert not worker.intact(torch, torch.zeros(SIZE, dtype=torch.uint8), BLOCK, 4)


def test_the_pattern_is_the_same_in_every_version():
    assert bytes(BLOCK[:8].tolist()).hex() == "6800d8e7046a09b9"


def test_it_stands_alone():
    tree = ast.parse(Path(worker.__file__).read_text(), feature_version=(3, 8))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in found if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in found if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} - sys.stdlib_module_names == {"torch"}
