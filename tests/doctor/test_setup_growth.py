"""How a setup grows: each step by its checks, a failure in its remedy, and nothing that stays true by itself."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from ncclcheck.doctor.setup.begin import SetupOptions, begun, by_hand, questions, skippable
from ncclcheck.doctor.setup.checks import answer
from ncclcheck.doctor.setup.evidence import Evidence
from ncclcheck.doctor.setup.state import State
from ncclcheck.doctor.setup.steps import Again, Answered, Broke, Looked, Missed, Prepared, Ready, Skipped, Undone
from ncclcheck.doctor.setup.values import values
from ncclcheck.doctor.steps import Ended, Knocking, MadeFix, NoWay, Shook, Trained, WentFast
from ncclcheck.errors import NcclcheckError, RuleError
from ncclcheck.model import Address, ConfLine, Hint, Interface, LinkKind, NameLookup, RdmaDevice, RdmaPort, Trouble
from ncclcheck.rulebook.guide_schema import CHECKS, Check
from ncclcheck.rulebook.guides import load_guides
from tests.doctor.setups import (
    DROPPED,
    INVITED,
    SETTLED,
    WRITTEN,
    after,
    facts,
    fresh,
    measured,
    met,
    shaken,
    states,
    trained,
)

MADE = (MadeFix("node-a", True, "written", (WRITTEN,)), MadeFix("node-b", True, "written"))


def test_the_story_of_two_newcomers():
    setup = fresh()
    assert set(states(setup).values()) == {"waiting"}
    setup = after(setup, *met())
    assert setup.invite == f"ncclcheck setup --join 41235-{'A' * 16} 10.0.0.1 fd00::1"
    known = {"join": "done", "network": "done", "port": "done"}
    assert states(setup) | known == states(setup)
    assert states(setup)["settings"] == "running"
    # As it was, it did not pass; that is what the fix is for, and no alarm.
    setup = after(setup, Shook(shaken("refused"), proposed=False), Shook(shaken(), proposed=True))
    assert states(setup)["handshake"] == "waiting"
    setup = after(setup, MADE[0])
    assert states(setup)["settings"] == "running"
    setup = after(setup, MADE[1])
    assert (states(setup)["settings"], states(setup)["handshake"]) == ("done", "running")
    setup = after(setup, Shook(shaken(), proposed=False), WentFast(measured()), Trained(trained()), Ended(True))
    assert setup.proved
    assert not setup.done
    setup = after(setup, Ready())
    assert setup.done
    assert setup.applied == (WRITTEN,)
    assert setup.hits == ()
    assert [(one.host, one.rank) for one in setup.commands] == [("node-a", 0), ("node-b", 1)]
    assert "--node_rank 1" in setup.commands[1].command
    assert "NCCL_SOCKET_IFNAME" not in setup.commands[0].command


def test_on_the_node_that_joins_it_is_the_same_story():
    setup = after(fresh(1), *met(role=1), *MADE, Shook(shaken(), proposed=False))
    assert setup.evidence.own_name == "node-b"
    known = values(setup)
    assert (known["interface"], known["address"], known["node_rank"]) == ("ens5", "10.0.0.2", "1")
    assert (known["peer_host"], known["master_addr"], known["master_port"]) == ("node-a", "10.0.0.1", "29501")
    assert known["hosts"] == "10.0.0.1,10.0.0.2"
    assert known["setting"] == ""


def test_a_dropped_path_lands_in_its_finding_with_the_rule_that_is_missing_and_hides_what_follows():
    setup = after(fresh(), *met(cells=DROPPED), Shook(shaken("timeout"), proposed=False), Ended(False))
    assert states(setup) == {
        "join": "done",
        "network": "failed",
        "settings": "waiting",
        "port": "done",
        "handshake": "waiting",
        "speed": "waiting",
        "ddp": "waiting",
        "command": "waiting",
    }
    remedy = setup.stage("network").remedy
    assert remedy.rule == "NC805"
    assert any("iptables -I INPUT -s 10.0.0.1" in command for fix in remedy.fixes for command in fix.commands)
    # What is in order again is not wrong any more, and is not forgotten either.
    setup = after(setup, Again(), *met(SETTLED), Shook(shaken(), proposed=False))
    assert states(setup)["network"] == "done"
    assert setup.stage("network").remedy is None
    assert [one.rule for one in setup.hits if one.rule == "NC805"]


def test_a_refused_fix_fails_with_the_setting_and_the_setting_goes_into_the_command():
    said = MadeFix("node-b", False, "its user said no; nothing was written")
    setup = after(fresh(), *met(), MADE[0], said, Ended(False))
    remedy = setup.stage("settings").remedy
    assert (remedy.rule, remedy.seen) == ("NC801", "node-b: its user said no; nothing was written")
    assert remedy.fixes[0].env == (("NCCL_SOCKET_IFNAME", "=ens5"),)
    assert values(setup, "node-b")["setting"] == "NCCL_SOCKET_IFNAME==ens5"
    assert values(setup, "node-a")["setting"] == ""


@pytest.mark.parametrize(
    ("step", "name", "seen"),
    [
        (WentFast(measured("rank 1 is gone")), "speed", "rank 1 is gone"),
        (Trained(trained(same=False)), "ddp", "did not end with the same weights"),
        (Missed("nobody joined in time"), "join", "nobody joined in time"),
        (NoWay((Knocking("10.0.0.9", "no answer", 4.0),), ("eth0 10.0.0.2",), "card"), "join", "10.0.0.9"),
    ],
)
def test_each_failure_is_a_failed_step_with_what_was_seen(step, name, seen):
    stage = after(fresh(), *(met(SETTLED) if name != "join" else ()), step).stage(name)
    assert stage.state is State.FAILED
    assert stage.remedy.problem
    assert seen in stage.remedy.seen


def test_the_log_of_a_failed_test_names_the_cause():
    log = ("node-a:1:1 [0] NCCL INFO Call to connect returned Connection refused, retrying",) * 20
    refused = replace(measured("connecting: refused"), log=log)
    remedy = after(fresh(), *met(SETTLED), WentFast(refused)).stage("speed").remedy
    assert remedy.title
    assert remedy.rule.startswith("NC")


def test_lines_that_nccl_misreads_fail_the_settings_at_once():
    trouble = ConfLine("/etc/nccl.conf", 1, "A=1 # b", Trouble.COMMENT, "the comment is part of it", "A=1")
    dirty = replace(facts(), conf_troubles=(trouble,))
    stage = after(fresh(), Looked(dirty, None, "/etc/nccl.conf")).stage("settings")
    assert stage.state is State.FAILED
    assert stage.remedy.fixes[0].commands == ("ncclcheck fix --repair --apply",)
    assert "line 1" in stage.remedy.seen


def test_a_conversation_that_broke_off_begins_again_and_keeps_only_the_bandwidth():
    setup = after(fresh(), *met(SETTLED), Shook(shaken(), proposed=False), WentFast(measured()), Broke("gone"))
    assert states(setup) == dict.fromkeys(states(setup), "waiting") | {"join": "running"}
    assert (setup.evidence.earlier, len(setup.evidence.before)) == (measured(), 2)
    assert setup.evidence.known is None


def test_from_a_step_on_nothing_counts():
    setup = after(fresh(), Skipped("nodes/ddp", "no torch"), *met(SETTLED), WentFast(measured()), Broke("gone"))
    assert setup.stage("ddp").state is State.SKIPPED
    again = after(setup, Again("speed"))
    assert again.evidence.earlier is None
    assert again.stage("ddp").state is State.WAITING
    # The step before is as it was.
    assert after(setup, Again("ddp")).evidence.earlier == measured()


def test_taking_back_means_looking_again():
    setup = after(fresh(), *met(), *MADE, Undone((WRITTEN,)))
    assert setup.applied == ()
    assert states(setup)["settings"] == "waiting"


def test_what_may_be_left_out_fails_nothing_once_all_is_proved():
    setup = after(fresh(place="docker"), Skipped("docker/gpu", "no GPU in the lab"))
    assert "docker/rdma" in [one.id for one in setup.failed]
    setup = after(setup, *met(SETTLED), Shook(shaken(), proposed=False), WentFast(measured()), Trained(trained()))
    assert after(setup, Ended(True), Ready()).done


# How it begins -------------------------------------------------------------------------------------------------------


def test_the_place_is_guessed_and_says_why():
    here = facts(hints=(Hint("Docker", "runtime", ("/.dockerenv exists",)),))
    setup = begun(SetupOptions(), load_guides(), here)
    assert (setup.choices.place, setup.choices.why) == ("docker", ("/.dockerenv exists",))
    assert begun(SetupOptions(), load_guides(), facts()).choices.place == "linux"
    assert begun(SetupOptions(place="vast"), load_guides(), here).choices.why == ()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (SetupOptions(place="mars"), "there is no guide mars"),
        (SetupOptions(launcher="rocket"), "there is no guide rocket"),
        (SetupOptions(role=1), "which node is to be joined"),
        (SetupOptions(role=0, invitation=INVITED), "the first node invites"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_next_step(asked, said):
    with pytest.raises((NcclcheckError, RuleError), match=said) as refused:
        begun(asked, load_guides(), facts())
    assert refused.value.next_step


def test_what_is_done_once_is_the_first_nodes():
    first, second = fresh(place="vast"), fresh(1, "vast")
    assert "vast/overlay" in [one.id for one in first.stages]
    assert "vast/overlay" not in [one.id for one in second.stages]
    assert [one.id for one in second.stages if one.id.startswith("nodes/")] == [
        one.id for one in first.stages if one.id.startswith("nodes/")
    ]


def test_only_the_person_knows_and_only_once():
    setup = fresh(place="vast")
    assert any(one.step.ask for one in setup.plan)
    assert questions(setup) == (), "whoever has a shell here has chosen and rented"
    overlay = next(one for one in setup.plan if one.id == "vast/overlay")
    here = replace(overlay, step=msgspec.structs.replace(overlay.step, where="each"))
    setup = replace(setup, plan=tuple(here if one is overlay else one for one in setup.plan))
    assert questions(setup) == (here,)
    setup = after(setup, *(Answered(name, "12345") for name in here.step.ask))
    assert questions(setup) == ()
    stages = by_hand(setup, before=True)
    setup = after(setup, Prepared((stages[0].id,), tuple((one.id, "later") for one in stages[1:])))
    assert by_hand(setup, before=True) == ()
    assert setup.stage(stages[0].id).state is State.DONE
    assert setup.stage(stages[1].id).reason == "later"


def test_without_the_network_nothing_can_be_proved():
    with pytest.raises(NcclcheckError, match="cannot be left out"):
        skippable(fresh(), "network")
    with pytest.raises(NcclcheckError, match="no such step"):
        skippable(fresh(), "lunch")
    assert skippable(fresh(), "ddp").id == "nodes/ddp"


def test_the_line_for_the_other_node_hands_on_what_was_chosen_as_words_of_a_shell():
    setup = after(fresh(nodes=3, launcher="mpirun", script="it's mine.py", size=1 << 20), *met())
    assert setup.invite.startswith(
        "ncclcheck setup --nodes 3 --launcher mpirun --script 'it'\"'\"'s mine.py' --size 1M --join "
    )


# Checks of one node --------------------------------------------------------------------------------------------------

WSL = Hint("WSL", "runtime", ("…",))
NAT = Interface("eth0", 2, LinkKind.ETHERNET, True, True, 1500, None, (Address("172.29.5.2", 20),))
CARD = RdmaDevice("mlx5_0", ("ib0",), (RdmaPort(1, "InfiniBand", "ACTIVE", "400 Gb/sec"),))
DOWN = RdmaDevice("mlx5_0", ("ib0",), (RdmaPort(1, "InfiniBand", "DOWN", "400 Gb/sec"),))


@pytest.mark.parametrize(
    ("kind", "given", "machine", "passed", "said"),
    [
        ("interfaces", {"least": 2}, {}, True, "eth0, eth1"),
        ("interfaces", {"least": 3}, {}, False, "eth0, eth1"),
        ("shm", {"mebibytes": 1024}, {}, True, "/dev/shm"),
        ("shm", {"mebibytes": 4096}, {}, False, "2147483648 bytes"),
        ("shm", {"mebibytes": 1}, {"limits": ()}, None, "does not tell"),
        ("open-files", {"least": 65536}, {}, True, "65536 files"),
        ("open-files", {"least": 65537}, {}, False, "65537"),
        ("memlock", {"unlimited": True}, {}, True, "without a limit"),
        ("memlock", {}, {"limits": ()}, None, "does not tell"),
        ("rdma-device", {}, {"rdma": (CARD,)}, True, "mlx5_0 is ACTIVE"),
        ("rdma-device", {}, {"rdma": (DOWN,)}, False, "mlx5_0 is DOWN"),
        ("rdma-device", {}, {}, False, "no RDMA device"),
        ("name-resolves", {}, {}, True, "10.0.0.1"),
        ("name-resolves", {}, {"names": (NameLookup("a", "own name", ("127.0.1.1",)),)}, False, "127.0.1.1"),
        ("name-resolves", {}, {"names": (NameLookup("a", "own name", ()),)}, False, "nothing"),
        ("name-resolves", {}, {"names": ()}, None, "no answer"),
        ("not-wsl-nat", {}, {}, True, "not WSL"),
        ("not-wsl-nat", {}, {"hints": (WSL,)}, True, "10.0.0.1"),
        ("conf-clean", {}, {}, True, "as it looks"),
    ],
)
def test_a_check_of_this_node(kind, given, machine, passed, said):
    found = answer(Check(kind=kind, fails="…", with_=given), Evidence(0, 2, facts(**machine)))
    assert found.passed is passed
    assert said in found.said


def test_behind_wsls_own_translation_nobody_can_call():
    here = replace(facts(hints=(WSL,)), interfaces=(NAT,))
    assert answer(Check(kind="not-wsl-nat", fails="…"), Evidence(0, 2, here)).passed is False


@pytest.mark.parametrize(("devices", "passed"), [(8, True), (0, False), (None, None)])
def test_gpus_are_those_that_the_trainings_python_sees(devices, passed):
    assert answer(Check(kind="gpu", fails="…"), Evidence(0, 2, facts(), devices)).passed is passed


@pytest.mark.parametrize("kind", CHECKS)
def test_what_was_not_looked_at_has_no_answer(kind):
    assert answer(Check(kind=kind, fails="…", with_={"least": 1, "mebibytes": 1}), Evidence(0, 2)) is None
