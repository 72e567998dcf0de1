"""What a probe saw, for people."""

from __future__ import annotations

from collections.abc import Sequence

from ncclcheck.model import Choice, Diagnosis, Probe, Verdict, Where


def probe_text(seen: Probe, diagnosis: Diagnosis, remarks: Sequence[str] = (), report: str = "") -> str:
    """Which NCCL ran, its own lines, its choice, the prediction beside it, and what is wrong or unusual.

    ``report`` is the file with all that is needed to learn from a difference.
    """
    from ncclcheck.cli.report_text import findings_text

    parts = [
        f"NCCL {seen.nccl} ({seen.library}), run by {seen.python}",
        "\n".join(f"  {number:3}  {line}" for number, line in enumerate(seen.log, start=1)),
        _comparison(seen),
        _REPORT.format(path=report) if report else "",
        findings_text(diagnosis, _texts(seen)) if diagnosis.verdict is Verdict.PROBLEM else "",
        "\n".join(f"Note: {remark}." for remark in remarks),
    ]
    return "\n\n".join(part for part in parts if part)


def _texts(seen: Probe) -> dict[Where, str]:
    return {Where(seen.host, number): line for number, line in enumerate(seen.log, start=1)}


def _comparison(seen: Probe) -> str:
    lines = [f"NCCL took:  {_place(seen.seen)}"]
    if seen.root:
        lines.append(f"Root:       {seen.root} (what the other ranks will be told to call)")
    if seen.predicted is None:
        return "\n".join([*lines, "Predicted:  nothing; the interfaces of this machine could not be read"])
    lines.append(f"Predicted:  {_place(seen.predicted)}")
    if seen.agrees:
        return "\n".join([*lines, f"Why:        {seen.predicted.reason}"])
    return "\n".join([*lines, _DIFFERENCE])


_DIFFERENCE = """\
THE PREDICTION WAS WRONG. Trust what NCCL took, not what ncclcheck says about this machine elsewhere."""


_REPORT = """\
Please send us {path}: it holds all that is needed to learn from this (interfaces, settings, versions,
NCCL's lines). Names of hosts and users, and addresses, are replaced in it; look into it before you send it."""


def _place(choice: Choice) -> str:
    if choice.interface is None:
        return f"no interface (code {choice.code})"
    return f"{choice.interface}, {choice.address}"
