"""What a check compares a rule file with: all shapes, all rules, all words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ncclcheck.logs.attempts import ConnectLines
from ncclcheck.logs.events import Shape, Shapes
from ncclcheck.logs.job import read_job
from ncclcheck.logs.sources import pasted
from ncclcheck.model import Finding
from ncclcheck.rulebook.diagnose import findings
from ncclcheck.rulebook.load import load_connects
from ncclcheck.rulebook.schema import JobSample, RuleSpec
from ncclcheck.rulebook.sketch import sketched_job
from ncclcheck.rulebook.vocabulary import Vocabulary


@dataclass(frozen=True)
class Book:
    """All rule files that could be read."""

    shapes: tuple[Shape, ...]
    rules: Mapping[Path, RuleSpec]
    words: Vocabulary

    @cached_property
    def gated(self) -> Shapes:
        """The shapes behind one gate."""
        return Shapes(self.shapes)

    @cached_property
    def connects(self) -> tuple[ConnectLines, ...]:
        """The line numbers of NCCL's connects."""
        return load_connects()

    def run(self, rule: RuleSpec, sample: JobSample) -> tuple[Finding, ...]:
        """What the one rule finds in a sample, by the whole line from text to findings.

        Raises RuleError where its nodes or cells mean nothing.
        """
        if sample.nodes:
            return findings(sketched_job(sample.nodes, sample.cells), (rule,))
        logs = sample.logs or {"sample": sample.log}
        sources = [pasted(text.strip("\n"), name) for name, text in logs.items()]
        return findings(read_job(sources, self.gated, self.connects).job, (rule,))
