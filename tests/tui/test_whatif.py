"""Trying a setting in the assistant: the answer follows what is typed, and nothing is asked of anybody."""

from __future__ import annotations

from textual.widgets import Input

from tests.tui import fake
from tests.tui.pilots import LARGE, opened, pressed, text_of, until


async def test_the_answer_follows_what_is_typed() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        await pressed(pilot, "w")
        await until(pilot, lambda: "node-a: NCCL 2.29.7 will take eth0 172.17.0.2 (as it does now)" in text_of(pilot))
        asked = list(doctor.calls)
        await pilot.press("end", *"=eth1")
        await until(pilot, lambda: "node-a: NCCL 2.29.7 will take eth1 10.0.0.1" in text_of(pilot))
        assert "will take eth1 10.0.0.1 (now: eth0 172.17.0.2)" in text_of(pilot)
        await pilot.press(*" # x")
        await until(pilot, lambda: "node-a: NCCL 2.29.7 will find no interface" in text_of(pilot))
        assert "write NCCL_SOCKET_IFNAME==eth1" in text_of(pilot)
        assert doctor.calls == asked
        await pressed(pilot, "escape")
        assert "node-a: NCCL" not in text_of(pilot)


async def test_the_version_counts_and_what_is_wrong_is_said() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "w")
        change, version = pilot.app.screen.query(Input)
        change.value, version.value = "NCCL_SOCKET_IFNAME=nosuch", "2.18.3"
        await until(pilot, lambda: "node-a: NCCL 2.18.3 will find no interface" in text_of(pilot))
        version.value = "new"
        await until(pilot, lambda: "? new is no version such as 2.29.7" in text_of(pilot))
        change.value = "NCCL_SOCKET_IFNAME"
        await until(pilot, lambda: "? NAME=VALUE, NAME= for an empty value, NAME- for not set" in text_of(pilot))


async def test_a_name_is_not_looked_up_while_somebody_types() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "w")
        pilot.app.screen.query(Input).first().value = "NCCL_COMM_ID=node-b:5000"
        await until(pilot, lambda: "node-a: cannot be told here" in text_of(pilot))
        assert "a look-up of the name: ncclcheck node --what-if" in " ".join(text_of(pilot).split())


async def test_it_says_which_findings_would_go_and_come() -> None:
    async with opened(fake.Doctor(), size=LARGE) as pilot:
        await pressed(pilot, "p", "w")
        field = pilot.app.screen.query(Input).first()
        for value, words in (
            ("NCCL_SOCKET_IFNAME==eth1", "✓ would go: NC101 NCCL uses eth0 (172.17.0.2)"),
            ("NCCL_SOCKET_IFNAME==eth1", "? do the nodes reach each other over it?"),
            ("NCCL_SOCKET_IFNAME==eth0", "! would stay: NC101 NCCL uses eth0 (172.17.0.2)"),
            ("NCCL_SOCKET_IFNAME=nosuch", "✗ would come: NC103 NCCL found no interface on node-a to use"),
        ):
            field.value = value
            await until(pilot, lambda words=words: words in text_of(pilot))


async def test_only_the_last_of_many_keys_is_answered() -> None:
    doctor = fake.Doctor()
    cases, asked = doctor.cases(), []
    from dataclasses import replace

    def foresee(*question: object) -> object:
        asked.append(question[1])
        return cases.foresee(*question)  # type: ignore[arg-type]

    doctor.cases = lambda: replace(cases, foresee=foresee)  # type: ignore[method-assign,arg-type,assignment]
    async with opened(doctor) as pilot:
        await pressed(pilot, "w")
        await until(pilot, lambda: bool(asked))
        first = len(asked)
        for letter in "=eth1":
            pilot.app.screen.query(Input).first().insert_text_at_cursor(letter)
        await until(pilot, lambda: "will take eth1" in text_of(pilot))
        assert len(asked) - first < len("=eth1")
