"""The program on a node of the lab, with a small speed test: run in a terminal, not imported."""

from __future__ import annotations

from dataclasses import replace

from ncclcheck.doctor.setup.begin import SetupOptions
from ncclcheck.doctor.setup.person import Person
from ncclcheck.tui.app import Doctor
from ncclcheck.tui.real import use_cases
from ncclcheck.tui.setup.seam import Way

SKIPS = (
    ("limits", "of the machine that runs the tests, and not of the lab's nodes"),
    ("ddp", "takes long, and is tried elsewhere"),
)


def main() -> None:
    """As the command does it; what stands about this machine says nothing of the lab."""
    real = use_cases()

    def go(asked: SetupOptions, person: Person) -> Way:
        small = asked if asked.resume else replace(asked, place="linux", size=1 << 20, skips=SKIPS)
        return real.setup.go(small, person)

    Doctor(cases=replace(real, setup=replace(real.setup, go=go))).run()


if __name__ == "__main__":
    main()
