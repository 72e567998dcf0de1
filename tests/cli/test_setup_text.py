"""A whole guide on paper: everything of it is there, commands can be copied, and strangers' words stay words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ncclcheck.cli.setup_text import guide_text
from ncclcheck.rulebook.guide_schema import Guide
from ncclcheck.rulebook.guides import load_guides
from tests.rulebook.small_guides import small

VALUES = {
    "host": "node-a",
    "peer_host": "node-b",
    "interface": "ens7",
    "conf_path": "/etc/nccl.conf",
    "setting": "",
    "nodes": "2",
    "script": "my train.py",
}
TEXT = """\
Machines of a cloud
===================

   An overlay joins 2 machines.

   overlay: a network that is laid over another one

   Read on 2026-11-30: https://example.com/networks

   What stands between < and > is not known yet:

   <NODE_RANK>: which node this is, as launchers count: 0 for the first

1. Make the overlay
   (on the provider's site, or with its tool on your own computer)

   Each node needs an address. Look: `cloud list node-b`.

   node: a machine
   You may leave it out: You have one.
   Only you know: Which project? For example 12. Put it where <PROJECT> stands.

       cloud make <PROJECT>
       cloud list

   To take it back: `cloud remove`

The nodes
=========

   Now look.

2. Do join
   (on every node)

   This is join.

3. Do network
   (on every node)

   This is network.

4. Write the file on node-a
   (on every node)

   It names the interface.

   The file /etc/nccl.conf, as it should be:

       NCCL_SOCKET_IFNAME=ens7

   ncclcheck checks that: at least 2 interfaces besides loopback have an
     address.
   If not: There is one network only. Go back to step 1, “Make the overlay”.
     More: `ncclcheck explain NC802`
   What a passed check proves: NCCL reads it. That the peer has one is not
     proved.

5. Look again
   (on the first node, the one of rank 0)

   Nothing to do.

6. Do settings
   (on every node)
"""
END = """\
11. Do command
   (on every node)

   This is command.

The launcher
============

   It starts them.

   Read on 2026-11-30: https://example.com/run

12. Start it
   (on every node)

   On every node.

       run --rank <NODE_RANK> 'my train.py'
"""


@pytest.fixture
def three(tmp_path: Path) -> tuple[Guide, Guide, Guide]:
    """A place, what is common, a launcher."""
    return small(tmp_path)[1]


def test_the_page(three: tuple[Guide, Guide, Guide]) -> None:
    page = guide_text(*three, VALUES)
    assert page.startswith(TEXT)
    assert page.endswith(END)


def test_an_answer_is_put_where_it_was_asked_for(three: tuple[Guide, Guide, Guide]) -> None:
    page = guide_text(*three, {**VALUES, "project": "77", "node_rank": "1"})
    assert "Only you know: Which project? For example 12. Your answer: 77." in page
    assert "       cloud make 77\n" in page
    assert "<" not in page


@pytest.mark.parametrize("hostile", ["a\n# b", "$(x)", "`x`", "'; x; '", "<img src=x>"])
def test_strangers_words_stay_words(three: tuple[Guide, Guide, Guide], hostile: str) -> None:
    plain = guide_text(*three, {**VALUES, "peer_host": "there", "host": "here"})
    page = guide_text(*three, {**VALUES, "peer_host": hostile, "host": hostile})
    assert [line[:3] for line in page.splitlines()] == [line[:3] for line in plain.splitlines()]
    assert _commands(page) == _commands(plain)


def test_every_guide_that_comes_along_can_be_printed() -> None:
    guides = load_guides()
    for place in guides.places:
        page = guide_text(place, guides.common, guides.launchers[0], {})
        assert max(map(len, _prose(page)), default=0) <= 80
        steps = sum(len(guide.step) for guide in (place, guides.common, guides.launchers[0]))
        assert re.findall(r"^(\d+)\. ", page, re.MULTILINE) == [str(number) for number in range(1, steps + 1)]


def _commands(page: str) -> list[str]:
    """What stands alone, to be copied."""
    return [line for line in page.splitlines() if line.startswith(" " * 7)]


def _prose(page: str) -> list[str]:
    """The lines that are wrapped: neither code nor an address that cannot be."""
    return [line for line in page.splitlines() if not line.startswith(" " * 7) and "://" not in line]
