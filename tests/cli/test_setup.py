"""``ncclcheck setup``: what it takes, says and gives back; the way itself is tried in tests/doctor/test_setup.py."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys

import pytest

from ncclcheck.cli import setup as command
from ncclcheck.cli.main import main
from ncclcheck.cli.setup_json import lines
from ncclcheck.cli.setup_person import UNASKED, AtTerminal, Unattended
from ncclcheck.cli.setup_told import closed_text, told
from ncclcheck.doctor.setup.person import Leave, Repeat, Skip, TakeBack
from ncclcheck.doctor.setup.state import Stage
from ncclcheck.doctor.setup.steps import Broke, Closed, Missed, Opened, Ready
from ncclcheck.doctor.steps import Concluded, Ended, Shook, Trained, Waiting, WentFast
from ncclcheck.rulebook.guide_schema import Question
from tests.doctor.setups import DROPPED, INVITED, SETTLED, after, fresh, measured, met, shaken, trained

WELL = (*met(SETTLED), Shook(shaken(), proposed=False), WentFast(measured()), Trained(trained()), Ended(True), Ready())


@pytest.fixture(autouse=True)
def _own_state(monkeypatch, tmp_path):
    """No setup of whoever runs the tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_without_anything_run_the_whole_guide_is_printed(capsys):
    assert main(["setup", "--print", "--provider", "autodl", "--launcher", "mpirun", "--nodes", "4"]) == 0
    out = capsys.readouterr().out
    assert "AutoDL" in out
    assert "mpirun" in out
    assert "--ranks 4" in out
    assert "<INTERFACE>" in out
    assert "{" not in out.replace("{print", "")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--provider", "mars", "--print"], 3, "there is no guide mars"),
        (["--launcher", "rocket", "--print"], 3, "there is no guide rocket"),
        (["--role", "1"], 3, "Run ncclcheck setup on the first node"),
        (["--join", "nonsense"], 3, "this is no invitation"),
        (["--resume"], 3, "no setup was begun on this machine"),
        (["--undo"], 3, "no setup was begun on this machine"),
        (["--summary", "x", "--print", "--resume"], 2, "not allowed with"),
        (["--skip", "speed"], 2, "is not STEP=REASON"),
        (["--skip", "speed= "], 2, "is not STEP=REASON"),
        (["--size", "much"], 2, "not a size"),
        (["--nodes", "1"], 2, "a number of nodes from 2 to 64"),
    ],
)
def test_what_does_not_fit_is_said_in_a_line(words, code, said, capsys):
    try:
        found = main(["setup", *words])
    except SystemExit as left:
        found = left.code
    error = capsys.readouterr().err
    assert (found, said in error) == (code, True), error
    assert "Traceback" not in error


def test_nobody_comes_and_nothing_can_be_told(tmp_path):
    """The real command, alone: what it shows first is the line for the other node."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "ncclcheck", "setup", "--provider", "linux", "--limit", "0.5",
         "--summary", str(tmp_path / "page.md")],
        capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "\n    ncclcheck setup --join " in done.stdout
    assert "nobody joined in time" in done.stdout
    assert "ncclcheck setup --resume" in done.stdout
    assert (tmp_path / "page.md").read_text().startswith("# Not ready yet")


def test_exit_codes():
    setup = fresh()
    assert command.exit_code(after(setup, *WELL)) == 0
    assert command.exit_code(after(setup, *met(SETTLED, DROPPED), Ended(False))) == 1
    assert command.exit_code(after(setup, Missed("nobody"))) == 3


# What is said --------------------------------------------------------------------------------------------------------


def said(setup, *steps):
    """All that is told of these steps."""
    texts = []
    for step in steps:
        now = after(setup, step)
        texts.append(told(setup, step, now))
        setup = now
    return "\n".join(text for text in texts if text), setup


def test_the_line_for_the_other_node_stands_alone():
    text, _ = said(fresh(script="x.py"), Waiting(INVITED, (("fe80::1%eth0", "no route"),)))
    assert f"\n    ncclcheck setup --script x.py --join 41235-{'A' * 16} 10.0.0.1 fd00::1\n" in text
    assert "(not waiting at fe80::1%eth0: no route)" in text


def test_a_step_is_told_once_with_its_number_and_what_was_seen():
    setup = fresh()
    text, now = said(setup, *WELL)
    assert text.count("Measure the bandwidth: done") == 1
    assert f"[{len(setup.stages)}/{len(setup.stages)}] Start your own training: done" in text
    assert "one way 1 GB/s (8 Gbit/s), over eth1 with gloo" in text
    end = closed_text(Closed(now))
    assert "On node-b (node 1):" in end
    assert "--node_rank 1 " in end


def test_a_failure_says_what_is_wrong_and_what_to_do():
    text, now = said(fresh(), *met(SETTLED, DROPPED), Ended(False))
    assert "Find the network that the nodes share: FAILED" in text
    assert "sudo iptables -I INPUT -s 10.0.0.1 -p tcp -j ACCEPT" in text
    assert "ncclcheck explain NC805" in text
    assert "See NCCL's own handshake: FAILED" not in text
    assert closed_text(Closed(now)).endswith("ncclcheck setup --resume")


def test_what_broke_off_says_how_the_other_side_comes_back():
    text, _ = said(after(fresh(), *met(SETTLED)), Broke("the other node has ended the conversation"))
    assert text.startswith("the other node has ended the conversation. Waiting for it to come back")


def test_json_has_a_line_for_each_step_that_changed_and_all_of_it_at_the_end():
    setup = fresh()
    for step in (Opened(setup), *WELL):
        now = after(setup, step)
        found = list(lines(setup, step, now))
        json.dumps(found)
        if isinstance(step, Waiting):
            assert found[0]["invite"].startswith("ncclcheck setup --join")
        if isinstance(step, Concluded):
            assert (found[1]["id"], found[1]["state"]) == ("nodes/network", "done")
        setup = now
    (closed,) = lines(setup, Closed(setup), setup)
    assert (closed["step"], closed["done"], len(closed["commands"])) == ("closed", True, 2)


# Who is asked --------------------------------------------------------------------------------------------------------

STAGES = (Stage("vast/cli", "Get the tool"), Stage("vast/overlay", "Make an overlay network"))
CLUSTER = Question("Which cluster?", r"\d+", "12345")


def typing(*typed):
    """A terminal at which this is typed; then its end."""
    left = list(typed)
    return AtTerminal(lambda edits, fix: False, lambda: left.pop(0) if left else "")


def test_without_a_terminal_nothing_is_asked():
    nobody = Unattended(lambda edits, fix: True)
    assert nobody.agree((), None)
    assert nobody.answer("script", CLUSTER) == ""
    assert nobody.prepared(STAGES) == (("vast/cli", UNASKED), ("vast/overlay", UNASKED))
    assert nobody.wish(fresh()) == Leave()
    assert not nobody.gone()


def test_at_a_terminal_an_answer_is_asked_for_until_it_fits(capsys):
    assert typing("the third\n", "  777 \n").answer("cluster_id", CLUSTER) == "777"
    assert capsys.readouterr().err.count("Which cluster?") == 2
    assert typing("\n").answer("cluster_id", CLUSTER) == ""
    assert typing().answer("cluster_id", CLUSTER) == ""


def test_what_is_done_by_hand_is_one_question(capsys):
    assert typing("\n").prepared(STAGES) == ()
    assert typing("is there already\n").prepared(STAGES) == tuple((one.id, "is there already") for one in STAGES)
    assert "2. Make an overlay network" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "wish"),
    [
        (["\n"], Repeat()),
        (["s speed another job runs\n"], Skip("speed", "another job runs")),
        (["u\n"], TakeBack()),
        (["q\n"], Leave()),
        ([], Leave()),
        (["what?\n", "s speed\n", "\n"], Repeat()),
    ],
)
def test_after_a_failure_a_letter_says_what_to_do(typed, wish):
    assert typing(*typed).wish(fresh()) == wish


def test_the_arguments_of_a_line_for_another_node_are_read_back():
    words = after(fresh(nodes=3, launcher="mpirun", script="it's.py", size=1 << 20), Waiting(INVITED)).invite
    parser = argparse.ArgumentParser()
    command.add(parser.add_subparsers())
    asked = command._asked(parser.parse_args(shlex.split(words)[1:]))
    assert (asked.nodes, asked.launcher, asked.script, asked.size) == (3, "mpirun", "it's.py", 1 << 20)
    assert asked.invitation == INVITED
