"""The page that is kept: what was done, changed and measured, with strangers' words as text."""

from __future__ import annotations

from dataclasses import replace

from ncclcheck.doctor.setup.state import Remedy
from ncclcheck.doctor.setup.steps import Again, Ready
from ncclcheck.doctor.setup.summary import summary
from ncclcheck.doctor.steps import Ended, MadeFix, Shook, Trained, WentFast
from tests.doctor.setups import DROPPED, SETTLED, WRITTEN, after, fresh, measured, met, shaken, trained

EVIL = "no`de|<img src=x>@everyone"


def all_of_it(nodes=None):
    """Everything went well in the end."""
    return (
        *met(nodes or SETTLED),
        Shook(shaken(), proposed=False),
        WentFast(measured()),
        Trained(trained()),
        Ended(True),
        Ready(),
    )


def test_it_says_what_was_done_changed_and_measured_and_how_to_start():
    made = MadeFix("node-a", True, "/etc/nccl.conf written", (WRITTEN,))
    page = summary(after(fresh(script="my train.py"), *met(), made, *all_of_it()[2:]))
    assert page.startswith("# 2 nodes, ready to train\n")
    assert "| one way | 1000000 | 1 | 8 |" in page
    assert "Node 1: node-b uses ens5 (10.0.0.2)" in page
    assert "Ranks meet at 10.0.0.1, port 29501" in page
    assert "20 steps on 2 ranks" in page
    assert "--node_rank 1 " in page
    assert page.count("'my train.py'") == 2
    assert "- /etc/nccl.conf, 2026-11-30T12:00:00Z; it is new" in page
    assert "ncclcheck setup --undo" in page


def test_a_firewall_that_was_found_missing_is_in_it_though_it_is_mended():
    setup = after(fresh(), *met(SETTLED, DROPPED), Ended(False), Again(), *all_of_it())
    assert setup.done
    page = summary(setup)
    assert "(NC805)" in page
    assert "sudo iptables -I INPUT -s 10.0.0.1 -p tcp -j ACCEPT" in page


def test_before_the_end_it_says_what_is_missing():
    page = summary(after(fresh(), *met(SETTLED, DROPPED), Ended(False)))
    assert page.startswith("# Not ready yet: Find the network")
    assert "Measured" not in page
    assert "Start your own training\n" not in page


def test_names_from_other_nodes_stay_text():
    nodes = {"node-a": SETTLED["node-a"], EVIL: SETTLED["node-b"]}
    cells = (f"node-a > {EVIL} ens5 10.0.0.2 ok", f"{EVIL} > node-a eth1 10.0.0.1 ok")
    setup = after(
        fresh(), *met(nodes, tuple(one.replace("<img src=x>", "<img>") for one in cells)), *all_of_it(nodes)[3:]
    )
    page = summary(setup)
    assert "no\\`de\\|\\<img" in page
    assert "@everyone" not in page
    assert "<img src=x>@" not in page


def test_a_remedy_cannot_break_out_of_its_block():
    setup = after(fresh(), *all_of_it())
    fix = after(fresh(), *met(SETTLED, DROPPED), Ended(False)).stage("network").remedy.fixes[0]
    evil = Remedy("wrong", title="x", fixes=(replace(fix, commands=("echo ```\n# Owned",)),))
    page = summary(replace(setup, hits=(evil,)))
    assert "\n# Owned" not in page
