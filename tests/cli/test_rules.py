"""``ncclcheck rules`` and ``ncclcheck explain``."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncclcheck.cli.main import main
from tests.cases import ROOT

LOG = str(ROOT / "fixtures/logs/wrong-interface/2.28.9-refused-docker-same-ip/node-b-rank1.log")


@pytest.fixture(autouse=True)
def _no_rules_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def said(arguments: list[str], capfd: pytest.CaptureFixture[str], code: int = 0) -> str:
    """What a command prints."""
    assert main(arguments) == code
    out, err = capfd.readouterr()
    return out + err


def test_the_rules_that_come_along_are_sound(capfd: pytest.CaptureFixture[str]) -> None:
    assert said(["rules", "check"], capfd).endswith(" 0 faults\n")


def test_check_exits_with_one_for_faults(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "causes").mkdir()
    (tmp_path / "causes" / "NC950-x.toml").write_text("")
    assert said(["rules", "check", str(tmp_path)], capfd, 1) == (
        "causes/NC950-x.toml: Object missing required field `id`\n  add: id = …\n"
        "0 line shapes, 0 rules, 0 guides, 1 faults\n"
    )


def test_list(capfd: pytest.CaptureFixture[str]) -> None:
    assert said(["rules", "list", "--select", "NC101"], capfd) == (
        "NC101  error    wrong-interface           wrong-interface\n"
    )


def test_show_is_the_file(capfd: pytest.CaptureFixture[str]) -> None:
    assert (
        said(["rules", "show", "NC101"], capfd)
        == (ROOT / "rules" / "causes" / "NC101-wrong-interface.toml").read_text()
    )


def test_try_tells_rules_events_and_strangers(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "b.log"
    log.write_text(Path(LOG).read_text() + "node-b:1:1 [0] NCCL WARN never heard of 1\n" * 2)
    text = said(["rules", "try", str(log)], capfd)
    assert "  NC101  error" in text
    assert "  connect.retry  (" in text
    first = text.partition("NCCL lines that nothing knows")[2].splitlines()[1]
    assert first.startswith("       2  WARN never heard of 1  (")


def test_new_goes_to_the_users_folder(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "config" / "ncclcheck" / "rules" / "causes" / "NC950-lost-token.toml"
    assert said(["rules", "new", "lost-token"], capfd).startswith(f"{path}\n")
    assert path.is_file()


@pytest.mark.parametrize("name", ["Lost Token", "../x", ""])
def test_new_refuses_what_is_no_name(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert "is no name for a rule" in said(["rules", "new", name], capfd, 3)


def test_explain(capfd: pytest.CaptureFixture[str]) -> None:
    assert said(["explain", "NC101"], capfd) == (ROOT / "docs" / "rules" / "NC101.md").read_text()


def test_explain_leads_to_the_nearest(capfd: pytest.CaptureFixture[str]) -> None:
    assert said(["explain", "NC704x"], capfd, 3) == "ncclcheck: there is no rule NC704x\n  did you mean NC704?\n"


def test_a_line_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    line = "node-a:1:1 [0] misc/socket.cc:71 NCCL WARN socketProgress: Connection closed by remote peer node-b<4000>"
    assert main(["explain", line]) == 0
    said = capsys.readouterr().out
    assert "socketProgress: Connection closed by remote peer %s" in said
    assert "meaning: " in said


def test_a_line_that_is_not_nccls_is_said_to_be_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "the quick brown fox"]) == 3
    assert "No message of NCCL's" in capsys.readouterr().out
