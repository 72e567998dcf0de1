"""Findings in the assistant: word for word what the command line says, in the words of the launcher that is wanted."""

from __future__ import annotations

import pytest
from textual.widgets import OptionList

from ncclcheck.cli.report_text import findings_text
from ncclcheck.doctor.finding_text import Room
from ncclcheck.model import Diagnosis, Node, Verdict
from ncclcheck.rulebook.launchers import in_launchers_words
from ncclcheck.rulebook.load import load_launchers
from ncclcheck.tui import findings_content
from ncclcheck.tui.screens.fix import FixDialog
from ncclcheck.tui.screens.log import LogPlace
from ncclcheck.tui.screens.open import OpenDialog
from ncclcheck.tui.screens.place import Dialog, Place
from ncclcheck.tui.text.document import pasted
from tests.cli.answers import ANSWER
from tests.tui import fake
from tests.tui.pilots import LARGE, doctor_of, opened, paste, pressed, text_of

LOG = "\n".join(fake.LOG).replace("{host}", "node-a")


@pytest.fixture(autouse=True)
def _state_folder(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def worded(seen: str | None = None) -> fake.Doctor:
    """A doctor whose finding knows every launcher."""
    return fake.Doctor(finding=in_launchers_words(fake.FINDING, load_launchers(), seen))


@pytest.mark.parametrize("width", [60, 80, 110])
def test_it_is_what_the_command_line_says(width: int) -> None:
    text, room = pasted(LOG, "pasted", "pasted text"), Room(width, width, key="L")
    found = fake.Doctor().diagnosis("pasted").findings[0]
    said = findings_content.finding(found, text, width).plain
    answer = Diagnosis(Verdict.PROBLEM, (found,), (), ANSWER.job, 4, 1, 0.0)
    assert said in findings_text(answer, {where: text.text_at(where) for where in found.evidence}, room)
    assert "^^^^ ^^^^^^^^^^" in said


async def test_the_telling_part_is_underlined_where_it_stands() -> None:
    async with opened(worded(), size=LARGE) as pilot:
        await pressed(pilot, "p", "2", "tab", "z")
        lines = text_of(pilot).split("\n")
        at = next(number for number, line in enumerate(lines) if "^^^^" in line)
        start, end = lines[at].index("^"), lines[at].rindex("^") + 1
        assert lines[at - 1][start:end] == "eth0:172.17.0.2"


async def test_it_is_laid_out_anew_where_the_width_changes() -> None:
    async with opened(worded(), size=(80, 30)) as pilot:
        await pressed(pilot, "p", "2", "tab", "z")
        for width in (60, 100):
            await pilot.resize_terminal(width, 40)
            await pilot.pause()
            await pilot.pause()
            shown = text_of(pilot)
            assert ("that is up. Here that is eth0" in shown) is (width == 100)
            assert "^^^^ ^^^^^^^^^^" in shown


async def test_one_key_tells_it_for_each_launcher_in_turn() -> None:
    async with opened(worded("srun"), size=(180, 60)) as pilot:
        await pressed(pilot, "p", "2")
        assert "or with Slurm, which started this job:" in text_of(pilot)
        seen = []
        for _ in range(7):
            await pressed(pilot, "L")
            lines = text_of(pilot).split("\n")
            seen.append(next(line for line in lines if "  or " in line and ":" in line.split("  or ")[1]))
        assert [line.split(" or ")[1].split(":")[0] for line in seen] == [
            "with mpirun",
            "with Ray",
            "with DeepSpeed",
            "with Kubernetes",
            "with Docker",
            "with torchrun",
            "in the environment of every process of the job",
        ]
        await pressed(pilot, "L")
        assert "or with Slurm, which started this job:" in text_of(pilot)


async def test_the_choice_counts_for_the_copy_and_in_the_dialog() -> None:
    async with opened(worded(), size=LARGE) as pilot:
        await pressed(pilot, "p", "L", "c")
        assert "or with mpirun:\n    mpirun -x NCCL_SOCKET_IFNAME='=eth1' …" in pilot.app.clipboard
        await pressed(pilot, "f", "right", "L")
        assert "with Ray:" in text_of(pilot)


async def test_without_a_finding_there_is_no_launcher_to_choose() -> None:
    async with opened(worded()) as pilot:
        await pressed(pilot, "L")
        assert doctor_of(pilot).snapshot.launcher == ""


# Enter ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "screen"),
    [
        (("p", "2", "enter"), FixDialog),
        (("p", "2", "tab", "enter"), FixDialog),
        (("p", "2", "tab", "tab", "enter"), FixDialog),
        (("p", "enter"), FixDialog),
        (("p", "4", "i", "enter"), FixDialog),
    ],
)
async def test_enter_takes_the_next_best_step_from_everywhere(
    keys: tuple[str, ...], screen: type[Dialog[None]]
) -> None:
    async with opened(worded()) as pilot:
        await pressed(pilot, *keys)
        assert isinstance(pilot.app.screen, screen)


async def test_enter_asks_nccl_where_nothing_is_known_yet() -> None:
    doctor = worded()
    async with opened(doctor) as pilot:
        await pressed(pilot, "2", "enter")
        assert doctor.calls[-1] == "diagnose_probes"
        assert isinstance(pilot.app.screen, LogPlace)


async def test_enter_on_a_finding_without_a_fix_goes_along_its_evidence() -> None:
    async with opened(worded()) as pilot:
        await pressed(pilot, "p", "2", "down", "enter")
        assert isinstance(pilot.app.screen, LogPlace)


async def test_enter_leads_to_what_is_missing_where_it_cannot_tell() -> None:
    async with opened(worded()) as pilot:
        await paste(pilot, "hello\nworld")
        assert "? Cannot tell yet: what does NCCL do? (missing: a log with NCCL_DEBUG=INFO)" in text_of(pilot)
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, OpenDialog)


@pytest.mark.parametrize(("nodes", "action", "place"), [(fake.LAB, "speed", "speeds"), (fake.HERE, "peers", "peers")])
async def test_a_probe_that_shows_nothing_leads_to_a_test_between_nodes(
    nodes: tuple[Node, ...], action: str, place: str
) -> None:
    async with opened(fake.Doctor(fixed=True), nodes) as pilot:
        await pressed(pilot, "p")
        menu = pilot.app.screen.query_one(OptionList)
        assert menu.highlighted_option is not None
        assert menu.highlighted_option.id == action
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, Place)
        assert place == pilot.app.screen.MODE
