"""A paste from any place is read for what it is, asks nothing, and holds nothing up."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input

from ncclcheck.doctor import diagnose
from ncclcheck.model import Address, Facts, Interface, LinkKind
from ncclcheck.tui.app import Doctor
from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.real import use_cases
from ncclcheck.tui.screens.join import JoinDialog
from ncclcheck.tui.screens.log import LogPlace
from ncclcheck.tui.screens.open import OpenDialog
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.terminal.driver import PasteArrives
from tests.cases import ROOT
from tests.doctor.test_recognise import CONF, DOCKERFILE, ENV, IP, MANIFEST, ROUTES, SCRIPT, SLURM
from tests.tui import fake
from tests.tui.pilots import LARGE, doctor_of, opened, paste, pressed, settled, text_of, until
from tests.yardstick import within

ORDINARY = sorted((ROOT / "fixtures" / "logs" / "wrong-interface" / "2.28.9-refused-2x4").glob("*.log"))
HERE = Facts(
    "gpu-box",
    (
        Interface("eth0", 2, LinkKind.ETHERNET, True, True, 1500, None, (Address("172.17.0.2", 16),)),
        Interface("eth1", 3, LinkKind.ETHERNET, True, True, 9000, None, (Address("10.0.0.11", 24),)),
    ),
)


def real() -> UseCases:
    """The real ones, on a node that does not change from machine to machine."""
    return replace(use_cases(), scan=lambda _: HERE)


async def read(pilot: Pilot[None], text: str) -> str:
    """What is to be seen after a paste."""
    await paste(pilot, text)
    assert isinstance(pilot.app.screen, LogPlace)
    return text_of(pilot)


READ = {
    "interfaces": (IP, "pasted: a list of interfaces", "NCCL would take eth0"),
    "routes": (ROUTES, "pasted: a list of routes", "eth1 10.0.0.11/24"),
    "environment": (ENV, "pasted: environment variables", "take eth1 (10.0.0.11) on gpu-box"),
    "conf": (CONF + 'NCCL_IB_DISABLE="1"\n', "pasted: settings as in nccl.conf", "the quotes are part of the value"),
    "script": (SCRIPT, "pasted: shell commands", "NCCL_SOCKET_IFNAME=eth1"),
    "Slurm": (SLURM, "pasted: a Slurm script", "NCCL_DEBUG=INFO"),
    "Dockerfile": (DOCKERFILE, "pasted: a Dockerfile", "NCCL_SOCKET_IFNAME=eth0"),
    "Kubernetes": (MANIFEST, "pasted: a Kubernetes manifest", "NCCL_DEBUG=INFO"),
    "log": ("node-a:1:1 [0] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>", "pasted: a log", "Cannot tell yet"),
}


async def test_a_paste_is_shown_as_what_it_was_taken_for_with_what_was_found_beside_it() -> None:
    app = Doctor(fake.HERE, cases=real())
    async with app.run_test(size=(140, 45)) as pilot:
        await settled(pilot)
        for text, title, words in READ.values():
            shown = await read(pilot, text)
            assert title in shown
            assert words in " ".join(shown.replace("│", " ").split())


async def test_a_setting_that_is_wrong_is_marked_in_its_line() -> None:
    app = Doctor(fake.HERE, cases=real())
    async with app.run_test(size=LARGE) as pilot:
        await settled(pilot)
        shown = await read(pilot, 'HOME=/root\nPATH=/bin\nNCCL_IB_DISABLE="1"\n')
        assert "!     3 NCCL_IB_DISABLE" in shown.replace("▸", "").replace("  !", "!")


async def test_it_is_taken_from_every_place_and_dialog_unless_it_is_nothing() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        for number, key in enumerate(("1", "2", "3", "4", "5", "6", "7", "o", "w", "question_mark"), start=1):
            await pressed(pilot, key)
            for nothing in ("", " \r\n\t"):
                await paste(pilot, nothing)
            await paste(pilot, "\n".join(fake.LOG))
            assert isinstance(pilot.app.screen, LogPlace), key
            assert doctor.calls.count("diagnose_text") == number, key


async def test_an_invitation_is_shown_and_not_followed() -> None:
    async with opened(fake.Doctor(), fake.HERE) as pilot:
        await paste(pilot, "ncclcheck join 41317-ABCDEFGHIJKLMNOP 10.0.0.1")
        assert isinstance(pilot.app.screen, JoinDialog)


async def test_one_line_goes_into_a_field_and_more_never_does() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "o")
        pilot.app.post_message(Paste("/var/log/job.log"))
        await settled(pilot)
        assert isinstance(pilot.app.screen, OpenDialog)
        assert pilot.app.screen.query_one(Input).value == "/var/log/job.log"
        await paste(pilot, "x" * 5000)
        assert isinstance(pilot.app.screen, LogPlace), "no path is so long"


async def test_it_is_said_that_a_large_one_is_on_its_way() -> None:
    async with opened(fake.Doctor()) as pilot:
        for size in (2 << 20, 7 << 20):
            pilot.app.post_message(PasteArrives(size))
            await settled(pilot)
        assert "taking in the pasted text" in text_of(pilot)
        assert "7 MiB" in text_of(pilot)
        await paste(pilot, "\n".join(fake.LOG))
        assert "taking in" not in text_of(pilot)
        assert not doctor_of(pilot).snapshot.running_in(Activity.DIAGNOSE)


async def test_an_ordinary_log_is_diagnosed_within_a_second_of_the_paste() -> None:
    lines = [line for log in ORDINARY for line in log.read_text().splitlines()]
    text = "\n".join((lines * (2000 // len(lines) + 1))[:2000])
    app = Doctor(fake.HERE, cases=real())
    late = []
    async with app.run_test(size=LARGE) as pilot:
        await settled(pilot)
        for _ in range(3):
            # The first paste of all loads the rules as well.
            diagnose.of_logs.cache_clear()
            before, began = app.snapshot.diagnosis, time.perf_counter()
            app.post_message(Paste(text))
            await until(pilot, lambda before=before: app.snapshot.diagnosis not in (None, before))  # type: ignore[misc]
            await pilot.pause()
            assert "NCCL uses" in text_of(pilot)
            seconds = time.perf_counter() - began
            await settled(pilot)
            if within(1.0, seconds):
                return
            late.append(seconds)
    pytest.fail(f"the verdict came after {late} s")
