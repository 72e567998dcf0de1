"""The way through a setup with a person who wishes this and that; the pairing itself is played."""

from __future__ import annotations

import json

import pytest

from ncclcheck.doctor.setup import way as use_case
from ncclcheck.doctor.setup.begin import SetupOptions
from ncclcheck.doctor.setup.person import Leave, Repeat, Skip, TakeBack
from ncclcheck.doctor.setup.state import State
from ncclcheck.doctor.setup.steps import Again, Answered, Broke, Closed, Looked, Missed, Opened, Prepared, Undone
from ncclcheck.doctor.setup.way import setup
from ncclcheck.doctor.steps import Ended, MadeFix, Shook, Trained, WentFast
from ncclcheck.errors import ApplyError, NcclcheckError, PeerError
from tests.doctor.setups import DROPPED, INVITED, SETTLED, WRITTEN, facts, measured, met, shaken, trained

WELL = (*met(SETTLED), Shook(shaken(), proposed=False), WentFast(measured()), Trained(trained()), Ended(True))
BLOCKED = (*met(SETTLED, DROPPED), Ended(False))
BROKEN = PeerError("the other node has ended the conversation", next_step="Start again.")


class Played:
    """A person with a list of wishes, and pairings with a list of courses, each steps or an error at their end."""

    def __init__(self, *courses, wishes=()):
        self.courses, self.wishes = list(courses), list(wishes)
        self.asked, self.questions, self.prepared_for, self.left = [], [], [], False

    def pair(self, options, agree):
        self.asked.append(options)
        for step in self.courses.pop(0):
            if isinstance(step, Exception):
                raise step
            yield step

    def agree(self, edits, fix):
        return True

    def answer(self, name, question):
        self.questions.append(name)
        return "mine.py" if name == "script" else ""

    def prepared(self, stages):
        self.prepared_for.append([stage.id for stage in stages])
        return ()

    def wish(self, now):
        return self.wishes.pop(0) if self.wishes else Leave()

    def gone(self):
        return self.left


@pytest.fixture
def go(monkeypatch, tmp_path):
    """Go through it; every step, and what was kept."""

    def run(played, **asked):
        monkeypatch.setattr(use_case, "pair", played.pair)
        monkeypatch.setattr(use_case, "look", lambda python, gpus: Looked(facts(nodes=SETTLED), 0, "/etc/nccl.conf"))
        options = SetupOptions(**{"place": "linux", "folder": str(tmp_path), **asked})
        return list(setup(options, played))

    return run


def kept(folder):
    """The file."""
    return json.loads(next(folder.glob("setup-*.json")).read_text())


def test_the_whole_way_asks_for_the_script_alone(go, tmp_path):
    played = Played(WELL)
    steps = go(played)
    assert isinstance(steps[0], Opened)
    assert isinstance(steps[-1], Closed)
    assert steps[-1].setup.done
    assert Answered("script", "mine.py") in steps
    assert (played.questions, played.prepared_for) == (["script"], [])
    assert (played.asked[0].speed, played.asked[0].train, played.asked[0].unverified) == (256 * 1024**2, True, False)
    assert kept(tmp_path)["stages"][-1]["state"] == "done"


def test_what_no_check_can_tell_is_asked_in_one_question(go):
    played = Played(WELL)
    steps = go(played, place="vast", script="x.py")
    assert len(played.prepared_for) == 1
    assert Prepared(tuple(played.prepared_for[0])) in steps
    assert "script" not in played.questions


def test_after_a_failure_repeat_goes_on_with_the_same_invitation(go):
    played = Played(BLOCKED, WELL, wishes=[Repeat()])
    steps = go(played)
    assert Again() in steps
    assert steps[-1].setup.done
    assert [(one.port, one.token) for one in played.asked] == [(0, ""), (INVITED.port, INVITED.token)]


def test_without_a_wish_it_closes_and_can_be_taken_up_again(go, tmp_path):
    steps = go(Played(BLOCKED))
    assert not steps[-1].setup.done
    assert steps[-1].setup.commands == ()
    assert kept(tmp_path)["invitation"]["token"] == INVITED.token
    played = Played(WELL)
    resumed = go(played, resume=True, place="ignored")
    assert resumed[0].resumed
    assert resumed[0].setup.state("network") is State.WAITING
    assert (played.asked[0].token, played.questions) == (INVITED.token, [])
    assert resumed[-1].setup.done
    assert "NC805" in [one.rule for one in resumed[-1].setup.hits]


def test_a_step_that_failed_can_be_left_out_with_a_reason(go):
    slow = (
        *met(SETTLED),
        Shook(shaken(), proposed=False),
        WentFast(measured("timeout")),
        Trained(trained()),
        Ended(True),
    )
    steps = go(Played(slow, wishes=[Skip("speed", "another job runs")]))
    stage = steps[-1].setup.stage("speed")
    assert (stage.state, stage.reason, steps[-1].setup.done) == (State.SKIPPED, "another job runs", True)


def test_steps_left_out_beforehand_are_not_asked_of_the_pairing(go):
    played = Played((*met(SETTLED), Shook(shaken("x"), proposed=False), Ended(False)))
    skips = tuple((name, "no") for name in ("settings", "handshake", "speed", "ddp"))
    assert go(played, skips=skips)[-1].setup.done
    one = played.asked[0]
    assert (one.mend, one.speed, one.train, one.unverified, one.rendezvous) == (False, 0, False, True, True)


def test_the_network_cannot_be_left_out(go):
    with pytest.raises(NcclcheckError, match="cannot be left out"):
        go(Played(WELL), skips=(("network", "lazy"),))


@pytest.mark.parametrize("error", [None, ApplyError("has been changed since", place="/etc/nccl.conf")])
def test_what_was_written_is_taken_back_and_everything_is_open_again(go, monkeypatch, error):
    taken = []

    def undo(applied, node):
        taken.append(applied)
        if error:
            raise error

    monkeypatch.setattr("ncclcheck.doctor.fix.undo", undo)
    blocked = (*BLOCKED[:-1], MadeFix("node-a", True, "written", (WRITTEN,)), Ended(False))
    steps = go(Played(blocked, wishes=[TakeBack()]))
    (undone,) = (step for step in steps if isinstance(step, Undone))
    assert taken == [(WRITTEN,)]
    if error:
        assert "has been changed since" in undone.problem
        assert steps[-1].setup.applied == (WRITTEN,)
    else:
        assert undone == Undone((WRITTEN,))
        assert steps[-1].setup.applied == ()
        assert steps[-1].setup.state("network") is State.WAITING


def test_who_went_away_in_the_middle_is_waited_for_and_the_bandwidth_is_kept(go):
    played = Played((*WELL[:6], BROKEN), WELL)
    steps = go(played)
    assert Broke("the other node has ended the conversation") in steps
    assert steps[-1].setup.done
    assert (played.asked[1].earlier, len(played.asked[1].measured)) == (measured(), 2)
    assert played.asked[1].token == INVITED.token


def test_a_conversation_that_always_breaks_off_ends(go):
    steps = go(Played(*[(*met(SETTLED), BROKEN)] * 5))
    assert sum(isinstance(step, Broke) for step in steps) == 5
    assert "5 times" in next(step.problem for step in steps if isinstance(step, Missed))
    assert steps[-1].setup.state("join") is State.FAILED


def test_nobody_came(go):
    steps = go(Played((WELL[0], PeerError("nobody joined in time", next_step="Exchange cards."))))
    assert Missed("nobody joined in time. Exchange cards.") in steps
    assert steps[-1].setup.evidence.missed


def test_a_person_who_goes_ends_the_waiting(go):
    played = Played((WELL[0], PeerError("the waiting was ended")))
    played.left = True
    with pytest.raises(PeerError, match="ended"):
        go(played)


def test_from_a_step_on_it_is_measured_again(go):
    go(Played(WELL))
    played = Played(WELL)
    go(played, resume=True, again="speed")
    assert played.asked[0].earlier is None
    played = Played(WELL)
    go(played, resume=True)
    assert played.asked[0].earlier == measured()
