"""An answer with all of its parts, and with text that means harm, for the golden files of every form.

``python -m tests.cli.answers`` writes the golden files anew.
"""

from __future__ import annotations

import json
from pathlib import Path

from ncclcheck.cli.report_json import diagnosis_json
from ncclcheck.cli.report_markdown import diagnosis_markdown
from ncclcheck.cli.report_sarif import diagnosis_sarif
from ncclcheck.cli.report_text import findings_text
from ncclcheck.doctor.redact import redacted
from ncclcheck.model import (
    Confidence,
    Diagnosis,
    FileContent,
    Finding,
    Fix,
    Job,
    Process,
    Rank,
    Risk,
    Scope,
    Severity,
    Stage,
    Unknown,
    Verdict,
    Where,
)

GOLDEN = Path(__file__).parent / "golden"
LOG = "logs of alice/node-b.log"
FIRST, SECOND = Where(LOG, 3), Where(LOG, 14)
TEXTS = {
    FIRST: "node-b:10:11 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.2<0>",
    SECOND: "alice@node-b:~$ ``` <img src=x> @everyone | 10.0.0.12 \x1b[31m https://example.com/#1",
}


def _rank(host: str, number: int, stage: Stage) -> Rank:
    return Rank(
        process=Process(LOG, host, 10 + number),
        host=host,
        numbers=(number,),
        world_size=2,
        nccl="2.28.9",
        stage=stage,
        bootstrap=None,
        sockets=(),
        network=None,
        settings=(),
        device=None,
        events=(),
        last=SECOND,
    )


FIX = Fix(
    title="On every node, let NCCL use eth1",
    scope=Scope.ALL_NODES,
    risk=Risk.SAFE,
    env=(("NCCL_SOCKET_IFNAME", "=eth1"),),
    commands=("ip -br addr show eth1",),
    files=(FileContent("/home/alice/.nccl.conf", "NCCL_SOCKET_IFNAME==eth1\n"),),
)
ANSWER = Diagnosis(
    verdict=Verdict.PROBLEM,
    findings=(
        Finding(
            rule="NC101",
            cause="wrong-interface",
            severity=Severity.ERROR,
            confidence=Confidence.CERTAIN,
            title="NCCL uses eth0 (172.17.0.2) on node-b, *not* <b>shared</b> `x` @everyone",
            explanation="node-b announced 172.17.0.2; node-a has 10.0.0.11 and node-b 10.0.0.12.",
            not_proof_of="It does not prove that eth1 is reachable.",
            subject=(("interface", "eth0"), ("address", "172.17.0.2"), ("host", "node-b")),
            ranks=(1,),
            evidence=(FIRST, SECOND),
            fixes=(FIX,),
            explains=("NC201",),
        ),
        Finding(
            rule="NC911",
            cause="none",
            severity=Severity.INFO,
            confidence=Confidence.CERTAIN,
            title="Harmless: libibverbs is not installed (node-b)",
            explanation="NCCL looks for it and goes on without it.",
            not_proof_of="",
            subject=(),
            ranks=(),
            evidence=(FIRST,),
            fixes=(),
        ),
    ),
    unknown=(Unknown("did rank 0 start?", "the log of rank 0"),),
    job=Job(ranks=(_rank("node-a", 0, Stage.INTERFACE), _rank("node-b", 1, Stage.BOOTSTRAP)), world_size=2),
    lines=14,
    bytes=900,
    seconds=0.0123,
)


def forms() -> dict[str, str]:
    """File names with the answer in each form, plain and redacted."""
    found = {}
    for suffix, (answer, texts) in (("", (ANSWER, TEXTS)), ("-redacted", redacted(ANSWER, TEXTS))):
        found[f"answer{suffix}.txt"] = findings_text(answer, texts) + "\n"
        found[f"answer{suffix}.md"] = diagnosis_markdown(answer, texts) + "\n"
        found[f"answer{suffix}.json"] = _json(diagnosis_json(answer, texts))
        found[f"answer{suffix}.sarif"] = _json(diagnosis_sarif(answer, texts))
    return found


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    for name, text in forms().items():
        (GOLDEN / name).write_text(text, encoding="utf-8")
