"""Nothing grows too big to be read in one go."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "ncclcheck"
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST_FILE = 300
LONGEST_FUNCTION = 40


def sizes(path: Path) -> dict[str, int]:
    """Lines of each function, without its docstring's lines."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            is_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            doc = (first.end_lineno or 0) - first.lineno + 1 if is_doc else 0
            found[f"{path.relative_to(PACKAGE)}:{node.name}"] = (node.end_lineno or 0) - node.lineno + 1 - doc
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_file_and_functions_are_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE
    assert {name: size for name, size in sizes(path).items() if size > LONGEST_FUNCTION} == {}


def test_most_functions_are_a_few_lines() -> None:
    every = [size for path in FILES for size in sizes(path).values()]
    assert statistics.median(every) < 9
    assert sum(size <= 25 for size in every) / len(every) > 0.95
