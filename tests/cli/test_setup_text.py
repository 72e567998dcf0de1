"""A whole guide on paper: everything of it is there, commands can be copied, and strangers' words stay words."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ncclcheck.cli.setup_text import guide_markdown, guide_text
from ncclcheck.rulebook.guide_schema import PLACEHOLDERS, Guide
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


def test_markdown(three: tuple[Guide, Guide, Guide]) -> None:
    page = guide_markdown(*three, VALUES)
    assert page.startswith("# Machines of a cloud\n\nAn overlay joins 2 machines.\n\n- **overlay**: a network")
    assert "Read on 2026-11-30: <https://example.com/networks>\n" in page
    assert "\n\n## 1. Make the overlay\n\n(on the provider's site, or with its tool on your own computer)\n\n" in page
    assert "Each node needs an address. Look: `cloud list node-b`.\n" in page
    assert "\n```sh\ncloud make <PROJECT>\ncloud list\n```\n" in page
    assert "\n```text\nNCCL_SOCKET_IFNAME=ens7\n```\n" in page
    assert "Go back to step 1, “Make the overlay”. More: `ncclcheck explain NC802`\n" in page


@pytest.mark.parametrize("hostile", ["<img src=x>", "[a](https://x)", "@all", "a`b", "```", "a\n# b", "$(x)", "*b*"])
def test_strangers_words_stay_words(three: tuple[Guide, Guide, Guide], hostile: str) -> None:
    plain = guide_markdown(*three, {**VALUES, "peer_host": "there", "host": "here"})
    page = guide_markdown(*three, {**VALUES, "peer_host": hostile, "host": hostile})
    assert _outline(page) == _outline(plain)
    outside = "".join(line for line in page.splitlines() if line.startswith("## 4."))
    assert not re.search(r"(?<!\\)(?:<img|\]|\*b|`)|@all", outside)
    assert "\n# b" not in guide_text(*three, {**VALUES, "peer_host": hostile, "host": hostile})


def _outline(page: str) -> list[str]:
    """How the lines of a page begin."""
    return [line[:3] for line in page.splitlines()]


def test_every_guide_that_comes_along_can_be_printed_and_copied() -> None:
    guides = load_guides()
    for place in guides.places:
        page = guide_text(place, guides.common, guides.launchers[0], {})
        assert max(map(len, _prose(page)), default=0) <= 80
        markdown = guide_markdown(place, guides.common, guides.launchers[0], {})
        assert markdown.count("\n## ") == sum(len(g.step) for g in (place, guides.common, guides.launchers[0]))
    known = {name: "x1" for name in PLACEHOLDERS}
    asked = {
        name: asked.example
        for launcher in guides.launchers
        for step in launcher.step
        for name, asked in step.ask.items()
    }
    for launcher in guides.launchers:
        page = guide_markdown(guides.place("linux"), guides.common, launcher, {**known, **asked})
        for script in page.split("\n```sh\n")[1:]:
            command = script.partition("\n```")[0]
            done = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True, check=False)
            assert done.stderr == "", command


def _prose(page: str) -> list[str]:
    """The lines that are wrapped: neither code nor an address that cannot be."""
    return [line for line in page.splitlines() if not line.startswith(" " * 7) and "://" not in line]
