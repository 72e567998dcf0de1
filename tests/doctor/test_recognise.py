"""What a pasted text is taken for, and that every way in gives the same answer."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import pytest

from ncclcheck.cli import main
from ncclcheck.doctor.diagnose import diagnose_text
from ncclcheck.doctor.lint import lint
from ncclcheck.doctor.recognise import LONGEST, Kind, recognise
from ncclcheck.model import Address, Facts, FileKind, Interface, LinkKind
from ncclcheck.peer import card

IP = """\
root@node-a:~# ip a
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
2: eth0@if5: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default
    link/ether 02:42:ac:11:00:02 brd ff:ff:ff:ff:ff:ff link-netnsid 0
    inet 172.17.0.2/16 brd 172.17.255.255 scope global eth0
3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP group default
    inet 10.0.0.11/24 brd 10.0.0.255 scope global eth1
"""
IFCONFIG = """\
eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500
        inet 172.17.0.4  netmask 255.255.0.0  broadcast 172.17.255.255
        ether 02:42:ac:11:00:04  txqueuelen 0  (Ethernet)
        RX packets 12  bytes 1016 (1016.0 B)
"""
_LINKS = [
    {"ifindex": 1, "ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "mtu": 65536, "addr_info": []},
    {
        "ifindex": 2,
        "ifname": "eth0",
        "flags": ["BROADCAST", "UP", "LOWER_UP"],
        "mtu": 1500,
        "addr_info": [{"family": "inet", "local": "172.17.0.2", "prefixlen": 16, "scope": "global"}],
    },
    {"ifindex": 3, "ifname": "eth1", "operstate": "UP", "addr_info": [{"local": "10.0.0.11", "prefixlen": 24}]},
]
ROUTES = """\
default via 172.17.0.1 dev eth0
10.0.0.0/24 dev eth1 proto kernel scope link src 10.0.0.11 metric 100
172.17.0.0/16 dev eth0 proto kernel scope link src 172.17.0.2
"""
ENV = """\
SHELL=/bin/bash
PWD=/root
NCCL_SOCKET_IFNAME=eth1
MASTER_ADDR=10.0.0.11
WORLD_SIZE=16
_=/usr/bin/env
"""
DECLARED = 'declare -x HOME="/root"\ndeclare -x NCCL_DEBUG="INFO"\ndeclare -x PATH="/usr/bin"\n'
CONF = "# site settings\nNCCL_DEBUG=WARN\nNCCL_SOCKET_IFNAME==eth1\n"
SCRIPT = """\
#!/bin/bash
set -e
export NCCL_SOCKET_IFNAME=eth1
torchrun --nnodes 2 \\
    --master_addr 10.0.0.1 \\
  train.py
"""
EXPORTS = "export NCCL_SOCKET_IFNAME=eth0\nexport NCCL_DEBUG=INFO\n"
SLURM = "#!/bin/bash\n#SBATCH --nodes=2\nexport NCCL_DEBUG=INFO\nsrun python train.py\n"
DOCKERFILE = "FROM nvidia/cuda:12.9\nENV NCCL_SOCKET_IFNAME=eth0\nRUN pip install torch\n"
MANIFEST = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - env:\n    - name: NCCL_DEBUG\n      value: INFO\n"
COMPOSE = "services:\n  train:\n    environment:\n      NCCL_DEBUG: INFO\n"
LOG = "node-a:1:1 [0] NCCL INFO Bootstrap : Using eth0:172.17.0.2<0>\n"
HERE = Facts(
    "gpu-box",
    (
        Interface("lo", 1, LinkKind.LOOPBACK, True, True, 65536, None, (Address("127.0.0.1", 8),)),
        Interface("eth0", 2, LinkKind.ETHERNET, True, True, 1500, None, (Address("172.17.0.2", 16),)),
        Interface("eth1", 3, LinkKind.ETHERNET, True, True, 9000, None, (Address("10.0.0.11", 24),)),
    ),
)
CASES = {
    "ip": (IP, Kind.INTERFACES, None),
    "ifconfig": (IFCONFIG, Kind.INTERFACES, None),
    "json": (json.dumps(_LINKS), Kind.INTERFACES, None),
    "json between prompts": (f"$ ip -j a\n{json.dumps(_LINKS, indent=1)}\n$", Kind.INTERFACES, None),
    "routes": (ROUTES, Kind.ROUTES, None),
    "env": (ENV, Kind.SETTINGS, FileKind.ENV_FILE),
    "env without a setting": ("HOME=/root\nPATH=/bin\nLANG=C\n", Kind.SETTINGS, FileKind.ENV_FILE),
    "env, filtered": ("node-a$ env | grep NCCL\nNCCL_DEBUG=INFO\n", Kind.SETTINGS, FileKind.ENV_FILE),
    "declare": (DECLARED, Kind.SETTINGS, FileKind.SHELL),
    "conf": (CONF, Kind.SETTINGS, FileKind.CONF),
    "one setting": ("NCCL_IB_DISABLE=1", Kind.SETTINGS, FileKind.CONF),
    "script": (SCRIPT, Kind.SETTINGS, FileKind.SHELL),
    "exports": (EXPORTS, Kind.SETTINGS, FileKind.SHELL),
    "docker run": ("docker run --rm -e NCCL_SOCKET_IFNAME=eth0 image", Kind.SETTINGS, FileKind.SHELL),
    "Slurm": (SLURM, Kind.SETTINGS, FileKind.SLURM),
    "Dockerfile": (DOCKERFILE, Kind.SETTINGS, FileKind.DOCKERFILE),
    "Kubernetes": (MANIFEST, Kind.SETTINGS, FileKind.KUBERNETES),
    "compose": (COMPOSE, Kind.SETTINGS, FileKind.COMPOSE),
    "interfaces and settings": (IP + ENV, Kind.INTERFACES, FileKind.ENV_FILE),
    "interfaces and a conf": (IP + CONF, Kind.INTERFACES, FileKind.CONF),
    "card": (card.write(HERE), Kind.CARDS, None),
    "invitation": ("ncclcheck join 41317-ABCDEFGHIJKLMNOP 10.0.0.1", Kind.INVITATION, None),
    "log": (LOG, Kind.LOG, None),
    "log that shows its script": (SCRIPT + LOG, Kind.LOG, None),
    "log with interfaces": (IP + LOG, Kind.LOG, None),
    "traceback that shows settings": (EXPORTS + "Traceback (most recent call last):\n", Kind.LOG, None),
    "settings among much else": (EXPORTS + "it hung again\n" * 20, Kind.LOG, None),
    "prose about a setting": (
        "Please try NCCL_IB_DISABLE=1 and tell us\nwhat you see then, thank you.",
        Kind.LOG,
        None,
    ),
    "other JSON": ('[{"ifname": 7}]', Kind.LOG, None),
    "broken JSON": ('[{"ifname": "eth0"', Kind.LOG, None),
    "deep JSON": ('[{"ifname":' + "[" * 100_000, Kind.LOG, None),
    "routes without addresses": ("default via 172.17.0.1 dev eth0\n", Kind.LOG, None),
    "bytes": ("\x00\x1b[31m\ud800\u202e[rank9]\n" * 99, Kind.LOG, None),
    "nothing": ("", Kind.LOG, None),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_text_is_taken_for(name: str) -> None:
    text, kind, file = CASES[name]
    found = recognise(text)
    assert (found.kind, found.file) == (kind, file)
    assert found.words.startswith(kind.value) or kind is Kind.SETTINGS


@pytest.mark.parametrize(
    "text",
    [
        "NCCL_DEBUG=" + "A" * LONGEST,
        "A=" * LONGEST,
        "\n".join(f"V{number}=1" for number in range(40_000)),
        "1: <" * 60_000,
        '[{"a":' * 40_000,
        "default dev " * 20_000,
        LOG * 500_000,
    ],
    ids=["long", "equals", "variables", "brackets", "json", "routes", "50 MB"],
)
def test_a_hostile_text_is_told_at_once(text: str) -> None:
    began = time.perf_counter()
    recognise(text)
    assert time.perf_counter() - began < 3.0


def test_every_way_of_writing_the_interfaces_says_the_same() -> None:
    told = [diagnose_text(text).job.nodes[0] for text in (IP, json.dumps(_LINKS))]
    assert [(one.choice.interface, one.choice.address) for one in told if one.choice] == [("eth0", "172.17.0.2")] * 2
    routed = diagnose_text(ROUTES).job.nodes[0]
    assert [(link.name, link.addresses) for link in routed.interfaces] == [
        ("eth0", (Address("172.17.0.2", 16),)),
        ("eth1", (Address("10.0.0.11", 24),)),
    ]
    assert routed.choice is None


def test_settings_beside_their_interfaces_decide_what_nccl_takes() -> None:
    (node,) = diagnose_text(IP + ENV).job.nodes
    assert node.host == "node-a"
    assert node.choice is not None
    assert node.choice.interface == "eth1"


def test_settings_are_tried_on_the_node_that_is_known() -> None:
    found = diagnose_text(ENV, facts=(HERE,))
    (note,) = (one for one in found.findings if one.rule == "NC902")
    assert "NCCL would take eth1 (10.0.0.11) on gpu-box" in note.title
    assert [where.line for where in note.evidence] == [3]


def test_a_text_without_a_setting_says_nothing_of_the_node_that_is_known() -> None:
    titles = [one.title for one in diagnose_text("HOME=/root\nPATH=/bin\n", facts=(HERE,)).findings]
    assert len(titles) == 1
    assert titles[0].startswith("Settings, not a log: none of NCCL's")


WRONG = 'HOME=/root\nPATH=/bin\nNCCL_IB_DISABLE="1"\nMASTER_ADDR=localhost\nWORLD_SIZE=4\nLOCAL_WORLD_SIZE=2\nRANK=4\n'


@pytest.mark.parametrize(
    "text", [WRONG, 'NCCL_IB_DISABLE="1"\n', 'ENV NCCL_IB_DISABLE ="1"\nFROM x\n', SCRIPT], ids=str
)
def test_pasted_piped_and_linted_settings_are_wrong_in_the_same_lines(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pasted = {where.line for one in diagnose_text(text).findings if one.rule == "NC119" for where in one.evidence}
    _pipe(text, monkeypatch)
    main.main(["analyze", "--json"])
    answer = json.loads(capsys.readouterr().out)
    piped = {place["line"] for one in answer["findings"] if one["rule"] == "NC119" for place in one["evidence"]}
    _pipe(text, monkeypatch)
    (linted,) = lint(["-"])
    assert pasted == piped == {trouble.line for trouble in linted.troubles}
    if text is WRONG:
        assert pasted == {3, 4, 7}


def test_a_file_is_read_for_what_it_is_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nccl.conf"
    path.write_text('NCCL_IB_DISABLE="1"\n')
    main.main(["analyze", str(path)])
    assert "the quotes are part of the value" in capsys.readouterr().out.replace("\n  ", " ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LOG, "it is a log, and no file with settings: ncclcheck analyze - reads it"),
        (IP, "it is a list of interfaces, and no file with settings: ncclcheck analyze - reads it"),
        (card.write(HERE), "it is what nodes tell about themselves, and no file with settings: ncclcheck match - "),
    ],
    ids=["log", "ip", "card"],
)
def test_lint_says_who_reads_what_it_does_not(text: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _pipe(text, monkeypatch)
    (linted,) = lint(["-"])
    assert linted.kind is None
    assert linted.unknown[0].missing.startswith(words)


class _Piped(io.StringIO):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.buffer = io.BytesIO(text.encode("utf-8", "surrogatepass"))


def _pipe(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", _Piped(text))
