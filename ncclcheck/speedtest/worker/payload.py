"""Content that tells whether it arrived: every block of every round and rank is different."""

from __future__ import annotations

import random
from typing import Any

BLOCK = 1024**2
"""Bytes that are filled and checked at once."""
_WORDS = BLOCK // 4
# Noise and key have twenty bits each, so that the sum over 1024 ranks still fits into 32.
_RANGE = 1 << 20


def noise() -> bytearray:
    """One block of seeded noise; Python's generator gives the same bytes in every version, torch's need not."""
    return bytearray(random.Random(20).getrandbits(8 * BLOCK).to_bytes(BLOCK, "little"))


def key(number: int, rank: int, block: int) -> int:
    """What is added to the noise in this block of this rank's payload of this round: the odd steps avoid repetition."""
    return (number * 7919 + rank * 104729 + block * 611953) % _RANGE


class Content:
    """Writes payloads and knows them again."""

    def __init__(self, torch: Any, device: Any) -> None:
        self._torch = torch
        self._block = (torch.frombuffer(noise(), dtype=torch.int32) & (_RANGE - 1)).to(device)
        self._wanted = torch.zeros(_WORDS, dtype=torch.int32, device=device)

    def fill(self, payload: Any, number: int, rank: int) -> None:
        """Write this rank's payload of this round into whole 32-bit words."""
        for block, part in enumerate(payload.split(_WORDS)):
            self._torch.add(self._block[: part.numel()], key(number, rank, block), out=part)

    def arrived(self, payload: Any, number: int, rank: int) -> bool:
        """Whether these bytes are what that rank's ``fill`` wrote."""
        return self._all_right(payload, 1, lambda block: key(number, rank, block))

    def summed(self, payload: Any, number: int, ranks: int) -> bool:
        """Whether these bytes are the sum of all ranks' payloads."""
        return self._all_right(payload, ranks, lambda block: sum(key(number, rank, block) for rank in range(ranks)))

    def _all_right(self, payload: Any, times: int, added: Any) -> bool:
        torch = self._torch
        for block, part in enumerate(payload.split(BLOCK)):
            words = -(-part.numel() // 4)
            wanted = self._wanted[:words]
            torch.mul(self._block[:words], times, out=wanted).add_(added(block))
            if not torch.equal(wanted.view(torch.uint8)[: part.numel()], part):
                return False
        return True
