"""``ncclcheck analyze`` as people call it."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from ncclcheck.cli.main import main
from tests.cases import ROOT

LOGS = ROOT / "fixtures" / "logs"
REFUSED = sorted(map(str, (LOGS / "wrong-interface" / "2.28.9-refused-docker-same-ip").glob("*.log")))
HEALTHY = sorted(map(str, (LOGS / "healthy" / "2.18.6-healthy-2x1").glob("*.log")))
SILENT = sorted(map(str, (LOGS / "unknown" / "2.28.9-rank1-never-starts").glob("*.log")))


@pytest.fixture(autouse=True)
def _no_rules_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (REFUSED, 1, "error[NC101]"),
        (HEALTHY, 0, "HEALTHY"),
        (SILENT, 3, "CANNOT TELL"),
        (["--markdown", *REFUSED], 1, "### NC101: "),
        (["--sarif", *REFUSED], 1, '"version":"2.1.0"'),
        (["--json", *REFUSED], 1, '"cause":"wrong-interface"'),
        (["--ignore", "NC1,NC2", *HEALTHY], 0, "HEALTHY"),
        (["--ignore", "NC8", *HEALTHY], 0, "HEALTHY"),  # These are not loaded for a log, but they are known.
    ],
)
def test_answers_and_exit_codes(arguments: list[str], code: int, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", *arguments]) == code
    out, err = capfd.readouterr()
    assert said in out
    assert err == ""


def test_json_keeps_its_contract(capfd: pytest.CaptureFixture[str]) -> None:
    main(["analyze", "--json", *REFUSED])
    answer = json.loads(capfd.readouterr().out)
    assert list(answer) == ["schema", "verdict", "findings", "job", "unknown", "stats"]
    assert set(answer["findings"][0]) == {
        *("rule", "cause", "severity", "confidence", "title", "explanation", "not_proof_of"),
        *("subject", "evidence", "fixes", "explains"),
    }
    assert answer["job"] == {
        "nccl_versions": ["2.28.9"],
        "hosts": ["node-a", "node-b"],
        "ranks_seen": [0, 1],
        "world_size": 2,
        "stages": {"0": "bootstrap", "1": "bootstrap"},
    }
    assert all(evidence["text"] for finding in answer["findings"] for evidence in finding["evidence"])


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    content = b"".join(Path(name).read_bytes() for name in REFUSED)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content), isatty=lambda: False))
    assert main(["analyze"]) == 1
    assert "-:" in capfd.readouterr().out


@pytest.mark.parametrize("form", [[], ["--json"], ["--sarif"], ["--markdown"]])
def test_no_name_is_left_after_redaction(form: list[str], capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    lines = "".join(Path(name).read_text() for name in REFUSED)
    log.write_text(lines.replace("node-a", "titan.lab").replace("node-b", "rhea.lab"))
    main(["analyze", "--redact", *form, str(log)])
    out = capfd.readouterr().out
    assert "titan" not in out
    assert "rhea" not in out
    assert "host-1" in out
    assert "172.17.0.2" in out, "docker's own range says what is wrong, and tells of nobody"


def test_select_and_ignore(capfd: pytest.CaptureFixture[str]) -> None:
    main(["analyze", "--json", "--select", "NC911", *REFUSED])
    only = json.loads(capfd.readouterr().out)
    main(["analyze", "--json", "--ignore", "wrong-interface", *REFUSED])
    without = json.loads(capfd.readouterr().out)
    assert [finding["rule"] for finding in only["findings"]] == ["NC911"]
    assert "wrong-interface" not in {finding["cause"] for finding in without["findings"]}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--select", "NC999", *REFUSED], 2, "no rule, and no cause, is called NC999"),
        (["--rules", "/nowhere", *REFUSED], 2, "/nowhere: is no folder"),
        (["/nowhere/job.log"], 3, "/nowhere/job.log: cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], code: int, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", *arguments]) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert said in err


def test_two_forms_at_once_are_wrong_usage() -> None:
    with pytest.raises(SystemExit) as raised:
        main(["analyze", "--json", "--sarif", *REFUSED])
    assert raised.value.code == 2


def test_rules_of_ones_own_are_used_and_broken_ones_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    main(["rules", "new", "lost-token", "--folder", str(tmp_path / "mine")])
    (tmp_path / "mine" / "causes" / "NC951-broken.toml").write_text("id = 3\n")
    log = tmp_path / "job.log"
    log.write_text(
        "node-a:10:10 [0] NCCL WARN socketPollConnect: connect to 10.0.0.11<40000> returned Connection refused, "
        "exceeded error retry count (35)\n"
    )
    capfd.readouterr()
    main(["analyze", "--rules", str(tmp_path / "mine"), "--select", "NC950", str(log)])
    out, err = capfd.readouterr()
    assert "error[NC950] node-a: what is wrong" in out
    assert "left out a broken rule: causes/NC951-broken.toml, key id" in err


def test_a_runaway_pattern_of_ones_own_is_stopped_and_reported(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "slow.toml").write_text(
        "[[event]]\nkind = 'slow'\nliteral = 'slow'\npattern = 'slow (?: ?\\w+)+!'\nsample = []\n"
    )
    log = tmp_path / "job.log"
    log.write_text("".join(f"slow {'a' * (5000 + number)}.!\n" for number in range(30)))
    assert main(["analyze", "--rules", str(tmp_path), str(log)]) == 3
    assert "left out a line shape of kind slow" in capfd.readouterr().err


def test_the_reader_may_go_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(text: str) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("ncclcheck.cli.output.write", gone)
    monkeypatch.setattr("sys.stderr", open(os.devnull, "w"))  # noqa: SIM115
    assert main(["analyze", *REFUSED]) == 0
