"""What the Pilot tests share: an app on the fake, waiting for its workers, and the text on the screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.events import Paste
from textual.pilot import Pilot

from ncclcheck.model import Node
from ncclcheck.tui.app import Doctor
from tests.tui import fake

SMALL = (80, 24)
LARGE = (140, 45)


@asynccontextmanager
async def opened(
    doctor: fake.Doctor, nodes: tuple[Node, ...] = fake.LAB, size: tuple[int, int] = SMALL
) -> AsyncIterator[Pilot[None]]:
    """The app, after it looked at its nodes unless the scan is held."""
    app = Doctor(nodes, cases=doctor.cases())
    async with app.run_test(size=size) as pilot:
        if not doctor.held:
            await settled(pilot)
        yield pilot


async def settled(pilot: Pilot[None]) -> None:
    """Wait for the workers and for everything that they set off."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.pause()


async def pressed(pilot: Pilot[None], *keys: str) -> None:
    """Press keys one after the other, each time waiting until all is quiet."""
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


async def typed(pilot: Pilot[None], *keys: str) -> None:
    """Press keys as fast as somebody who knows them, and wait at the end only."""
    await pilot.press(*keys)
    await settled(pilot)


async def until(pilot: Pilot[None], happened: Callable[[], bool]) -> None:
    """Wait for a condition; the time limit of the test ends a wait that never ends."""
    while not happened():
        await pilot.pause(0.01)


async def paste(pilot: Pilot[None], text: str) -> None:
    """What a terminal does with a bracketed paste."""
    pilot.app.post_message(Paste(text))
    await settled(pilot)


def text_of(pilot: Pilot[None]) -> str:
    """The uppermost screen as text."""
    return "\n".join(strip.text.rstrip() for strip in pilot.app.screen._compositor.render_strips())


def doctor_of(pilot: Pilot[None]) -> Doctor:
    """The app, typed."""
    assert isinstance(pilot.app, Doctor)
    return pilot.app
