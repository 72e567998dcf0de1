"""A few small guides, for tests of what guides are made into."""

from __future__ import annotations

from pathlib import Path

from ncclcheck.rulebook.guide_schema import COMMON_STEPS, Guide
from ncclcheck.rulebook.guides import Guides, load_guides

CLOUD = """
name = "cloud"
kind = "place"
title = "Machines of a cloud"
places = ["AWS"]
read = 2026-11-30
sources = ["https://example.com/networks"]
text = "An overlay joins {nodes} machines."

[terms]
overlay = "a network that is laid over another one"

[[step]]
id = "make"
title = "Make the overlay"
where = "console"
text = "Each node needs an address. Look: `cloud list {peer_host}`."
commands = ["cloud make {project}", "env {setting} cloud list"]
skip = "You have one."
undo = "`cloud remove`"

[step.ask]
project = { question = "Which project?", pattern = '\\d+', example = "12" }

[[step]]
id = "write"
title = "Write the file on {host}"
where = "each"
text = "It names the interface."
needs = ["network"]
file = { path = "{conf_path}", content = "NCCL_SOCKET_IFNAME={interface}\\n" }
proves = "NCCL reads it. That the peer has one is not proved."

[[step.check]]
kind = "interfaces"
with = { least = 2 }
fails = "There is one network only."
remedy = "NC802"
step = "make"

[[step]]
id = "look"
title = "Look again"
where = "first"
text = "Nothing to do."
"""
LAUNCHER = """
name = "run"
kind = "launcher"
title = "The launcher"
read = 2026-11-30
sources = ["https://example.com/run"]
text = "It starts them."

[[step]]
id = "start"
title = "Start it"
where = "each"
text = "On every node."
commands = ["run --rank {node_rank} {script}"]
"""


def common() -> str:
    """The guide of what is the same everywhere, with nothing said."""
    head = 'name = "nodes"\nkind = "common"\ntitle = "The nodes"\ntext = "Now look."\n'
    step = '\n[[step]]\nid = "{0}"\ntitle = "Do {0}"\nwhere = "each"\ntext = "This is {0}."\n'
    return head + '\n[terms]\nnode = "a machine"\n' + "".join(step.format(name) for name in COMMON_STEPS)


def write_guides(folder: Path, **more: str) -> Path:
    """A folder of rules with these guides, and more by name."""
    room = folder / "guides"
    room.mkdir(parents=True, exist_ok=True)
    for name, text in {"cloud": CLOUD, "run": LAUNCHER, "nodes": common(), **more}.items():
        (room / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def small(folder: Path) -> tuple[Guides, tuple[Guide, Guide, Guide]]:
    """These guides, and the three that make a row."""
    guides = load_guides(write_guides(folder))
    return guides, (guides.place("cloud"), guides.common, guides.launcher("run"))
