"""The other ranks, as far as the store at HOST:PORT tells of them.

Whether something is there is asked by counters: torch 1.13 has no other question that does not wait for the answer.
"""

from __future__ import annotations

import json
from typing import Any


class Company:
    """What the ranks tell each other beside the test itself. Every thread needs one of its own: a store blocks.

    Every method raises RuntimeError where the store is gone, which torch's own errors are.
    """

    def __init__(self, store: Any, rank: int, ranks: int, owner: bool) -> None:
        self._store, self.rank, self.ranks = store, rank, ranks
        self.owner = owner
        """The store lives in this process, so it may end only after the others have read what they must know."""

    def hello(self, words: dict[str, Any]) -> None:
        """Say who is here."""
        self.tell(f"hello/{self.rank}", words)
        self._store.add("here", 1)

    def hello_of(self, rank: int) -> dict[str, Any] | None:
        """What another one said; ``None`` where it is not there yet."""
        return self.told(f"hello/{rank}")

    def here(self) -> int:
        """How many have said hello."""
        return self.count("here")

    def tell(self, key: str, words: dict[str, Any]) -> None:
        """Leave something for the others."""
        self._store.set(key, json.dumps(words))
        self._store.add(f"{key} is there", 1)

    def told(self, key: str) -> dict[str, Any] | None:
        """What somebody left; ``None`` where nobody did yet."""
        if not self.count(f"{key} is there"):
            return None
        words = json.loads(self._store.get(key))
        return words if isinstance(words, dict) else None

    def count(self, key: str, more: int = 0) -> int:
        """A counter, which begins at nought, after adding to it."""
        return int(self._store.add(key, more))

    def beat(self) -> None:
        """Give a sign of life."""
        self.count(f"alive/{self.rank}", 1)

    def neighbour(self) -> int:
        """The rank whose signs of life this one watches."""
        return (self.rank + 1) % self.ranks

    def beats(self) -> int:
        """Signs of life of the neighbour so far."""
        return self.count(f"alive/{self.neighbour()}")

    def fail(self, words: dict[str, Any], stage: str) -> None:
        """Tell all others why it ends; the first one's ``rank`` and ``reason`` count."""
        if self.count("failed", 1) == 1:
            self.tell("failure", {**words, "stage": stage})

    def failure(self) -> dict[str, Any] | None:
        """Why another rank failed, once one did."""
        found = self.told("failure")
        return found if found and found["rank"] != self.rank else None
