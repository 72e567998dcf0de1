"""Files of a /proc or /sys made for a test."""

from __future__ import annotations

from pathlib import Path


def write(path: Path, text: str = "") -> Path:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
