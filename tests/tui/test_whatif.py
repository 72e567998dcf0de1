"""Trying a setting in the assistant: the answer follows what is typed, and nothing is asked of anybody."""

from __future__ import annotations

from textual.widgets import Input

from tests.tui import fake
from tests.tui.pilots import opened, pressed, settled, text_of


async def test_the_answer_follows_what_is_typed() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        await pressed(pilot, "w")
        assert "node-a: NCCL 2.29.7 will take eth0 172.17.0.2" in text_of(pilot)
        asked = list(doctor.calls)
        await pilot.press("end", *"=eth1")
        await settled(pilot)
        assert "node-a: NCCL 2.29.7 will take eth1 10.0.0.1" in text_of(pilot)
        assert "as things are, it will take eth0 172.17.0.2" in text_of(pilot)
        await pilot.press(*" # x")
        await settled(pilot)
        assert "node-a: NCCL 2.29.7 will find no interface" in text_of(pilot)
        assert "write NCCL_SOCKET_IFNAME==eth1" in text_of(pilot)
        assert doctor.calls == asked
        await pressed(pilot, "escape")
        assert "node-a: NCCL" not in text_of(pilot)


async def test_the_version_counts_and_what_is_wrong_is_said() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "w")
        change, version = pilot.app.screen.query(Input)
        change.value, version.value = "NCCL_SOCKET_IFNAME=nosuch", "2.18.3"
        await settled(pilot)
        assert "node-a: NCCL 2.18.3 will find no interface" in text_of(pilot)
        version.value = "new"
        await settled(pilot)
        assert "? new is no version such as 2.29.7" in text_of(pilot)
        change.value = "NCCL_SOCKET_IFNAME"
        await settled(pilot)
        assert "? NAME=VALUE, NAME= for an empty value, NAME- for not set" in text_of(pilot)


async def test_a_name_is_not_looked_up_while_somebody_types() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "w")
        pilot.app.screen.query(Input).first().value = "NCCL_COMM_ID=node-b:5000"
        await settled(pilot)
        assert "ncclcheck node --what-if NCCL_COMM_ID=node-b:5000" in " ".join(text_of(pilot).split())
