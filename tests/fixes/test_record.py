"""The record of what was applied."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncclcheck.errors import ApplyError
from ncclcheck.fixes import record
from ncclcheck.model import Applied


def change(name: str) -> Applied:
    return Applied(path=name, backup=None, time="2026-11-30T12:00:00Z", digest="d")


def test_batches_are_kept_in_order_and_forgotten(tmp_path: Path) -> None:
    path = record.path_in({"XDG_STATE_HOME": str(tmp_path)})
    assert (path, record.load(path)) == (str(tmp_path / "ncclcheck/applied.json"), ())

    record.push(path, (change("/a"), change("/b")))
    record.push(path, (change("/c"),))
    assert record.load(path) == ((change("/a"), change("/b")), (change("/c"),))

    record.forget(path, (change("/c"),))
    record.forget(path, (change("/nowhere"),))
    assert record.load(path) == ((change("/a"), change("/b")),)


def test_a_relative_state_folder_does_not_count() -> None:
    assert record.path_in({"XDG_STATE_HOME": "here"}) == record.path_in({})


def test_a_damaged_record_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "applied.json"
    path.write_text("{")

    with pytest.raises(ApplyError, match="the record is damaged"):
        record.load(str(path))


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ApplyError) as caught:
        record.push(str(tmp_path / "file/ncclcheck/applied.json"), (change("/a"),))

    assert caught.value.place == str(tmp_path / "file/ncclcheck/applied.json")
