"""Whether the check of the payload can fail."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ncclcheck.speedtest.worker.payload import BLOCK, Content, noise

CONTENT = Content(torch, torch.device("cpu"))
WORDS = 2 * BLOCK // 4 + 25
SIZE = 4 * WORDS - 1


def filled(number, rank=0):
    words = torch.zeros(WORDS, dtype=torch.int32)
    CONTENT.fill(words, number, rank)
    return words


def as_bytes(words, size=SIZE):
    return words.view(torch.uint8)[:size].clone()


@settings(deadline=None, max_examples=30)
@given(number=st.integers(0, 10**6), rank=st.integers(0, 1023), place=st.integers(0, SIZE - 1), bit=st.integers(0, 7))
def test_one_flipped_bit_is_seen(number, rank, place, bit):
    payload = as_bytes(filled(number, rank))
    assert CONTENT.arrived(payload, number, rank)
    payload[place] ^= 1 << bit
    assert not CONTENT.arrived(payload, number, rank)


def test_blocks_in_the_wrong_order_are_seen():
    payload = as_bytes(filled(3))
    swapped = torch.cat([payload[BLOCK : 2 * BLOCK], payload[:BLOCK], payload[2 * BLOCK :]])
    assert not CONTENT.arrived(swapped, 3, 0)


@pytest.mark.parametrize("size", [1, 3, 8, SIZE])
def test_rounds_and_ranks_are_told_apart(size):
    payload = as_bytes(filled(2, 1), size)
    assert CONTENT.arrived(payload, 2, 1)
    assert not CONTENT.arrived(payload, 3, 1)
    assert not CONTENT.arrived(payload, 2, 0)
    assert not CONTENT.arrived(torch.zeros(size, dtype=torch.uint8), 2, 1)


@pytest.mark.parametrize("ranks", [1, 2, 1024])
def test_a_sum_of_all_ranks_is_known_again(ranks):
    total = torch.zeros(WORDS, dtype=torch.int64)
    for rank in range(ranks):
        total += filled(7, rank)
    assert int(total.max()) < 2**31
    right = total.to(torch.int32)
    assert CONTENT.summed(right.view(torch.uint8), 7, ranks)
    right[WORDS - 1] += 1
    assert not CONTENT.summed(right.view(torch.uint8), 7, ranks)


def test_the_noise_is_the_same_in_every_version():
    assert noise()[:8].hex() == "6800d8e7046a09b9"
