"""The proof that training works: a small model over DistributedDataParallel, on all ranks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from .rounds import quantile
from .sweep import NEWS
from .watch import Watch
from .wire import Wire

STEPS = 20
_WARM_UP = 2
_BATCH = 32
_LAYERS = 3


class Training:
    """A model, its data, and the same step with and without the exchange of gradients."""

    def __init__(self, torch: Any, wire: Wire, watch: Watch, device: Any) -> None:
        from torch.nn.parallel import DistributedDataParallel

        self._torch, self._wire, self._watch, self._device = torch, wire, watch, device
        width = _width(watch.asked.sizes[-1])
        linear, bend = torch.nn.Linear, torch.nn.ReLU
        torch.manual_seed(watch.asked.rank)
        model = torch.nn.Sequential(linear(width, width), bend(), linear(width, width), bend(), linear(width, width))
        # Each rank begins with parameters of its own: equal ones at the end prove that DDP exchanged something.
        self._model = DistributedDataParallel(model.to(device))
        self._learn = torch.optim.Adam(self._model.parameters(), lr=1e-3)
        self._given = torch.randn(_BATCH, width, device=device)
        self._wanted = self._given.roll(1, dims=1)

    def run(self) -> bool:
        """Train, and tell how it went; whether all ranks came to the same."""
        times, losses, said = [], [], 0.0
        for number in range(1 - _WARM_UP, STEPS + 1):
            self._watch.stage = f"training over DDP, step {max(1, number)} of {STEPS}"
            alone, together = self._timed(self._without_exchange), self._timed(self._backward)
            losses.append(self._loss)
            whole = together + self._timed(self._learn.step)
            if number < 1:
                continue
            times.append((whole, together - alone))
            if time.monotonic() - said > NEWS:
                said = time.monotonic()
                self._watch.voice.say("step", number=number, steps=STEPS, loss=self._loss, median=whole)
        return self._result(times, losses)

    def _timed(self, work: Callable[[], object]) -> float:
        """Seconds on the slowest rank; it starts when all are ready."""
        self._wire.agree([0.0])
        start = time.perf_counter()
        work()
        if self._device.type == "cuda":
            self._torch.cuda.synchronize(self._device)
        return self._wire.agree([time.perf_counter() - start])[0]

    def _without_exchange(self) -> None:
        with self._model.no_sync():
            self._backward()

    def _backward(self) -> None:
        self._learn.zero_grad()
        loss = (self._model(self._given) - self._wanted).square().mean()
        loss.backward()
        self._loss = float(loss.item())

    def _result(self, times: list[tuple[float, float]], losses: list[float]) -> bool:
        same = self._same()
        step, exchange = (quantile([pair[which] for pair in times], 0.5) for which in (0, 1))
        self._watch.voice.say(
            "ddp", ranks=self._watch.asked.ranks, steps=len(times), step_seconds=step,
            share=max(0.0, exchange / step), same=same,
            first_loss=self._mean(losses[0]), last_loss=self._mean(losses[-1]),
        )  # fmt: skip
        return same

    def _mean(self, value: float) -> float:
        """Over all ranks."""
        told = self._torch.tensor([value], dtype=self._torch.float64, device=self._device)
        self._wire.dist.all_reduce(told)
        return float(told.item()) / self._watch.asked.ranks

    def _same(self) -> bool:
        """Whether all ranks have the same parameters and gradients, to the bit."""
        torch, model = self._torch, self._model
        values = [part for one in model.parameters() for part in (one.detach(), one.grad)]
        bits = torch.cat([value.flatten() for value in values]).view(torch.int32).to(torch.int64)
        places = torch.arange(bits.numel(), device=self._device) % 65521 + 1
        own = (bits * places).sum().reshape(1)
        all_of_them = [torch.zeros_like(own) for _ in range(self._watch.asked.ranks)]
        self._wire.dist.all_gather(all_of_them, own)
        return all(bool((other == own).item()) for other in all_of_them)


def _width(size: int) -> int:
    """Of square layers whose 32-bit parameters come to about this many bytes; no model of more than 200 MB."""
    return max(16, min(4096, math.isqrt(size // (4 * _LAYERS))))
