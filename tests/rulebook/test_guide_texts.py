"""The guides that come with the program: true to NCCL and to our own commands, and plain to read."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from torch.distributed import launch, run

from ncclcheck.cli.main import build_parser
from ncclcheck.node.files.check import check as lint_file
from ncclcheck.rulebook.guide_check import guide_flaws, shelf
from ncclcheck.rulebook.guide_fill import fill_command
from ncclcheck.rulebook.guide_schema import CHECKS, COMMON, Guide
from ncclcheck.rulebook.library import builtin_folder
from ncclcheck.speedtest.worker import words
from tests.rulebook.guide_words import GUIDES, STEPS, commands, content, copied, everything, prose, samples, values

PLACES = (
    *("vast", "autodl", "runpod", "lambda", "aws", "azure", "gcp", "linux", "wsl", "vpn"),
    *("slurm", "kubernetes", "docker", "compose"),
)
LAUNCHERS = ("torchrun", "launch", "mpirun", "srun", "ray", "accelerate", "deepspeed", "tcp")
PAGE = Path(__file__).parents[2] / "docs" / "guides.md"


# What is there ------------------------------------------------------------------------------------------------------


def test_every_place_and_launcher_has_its_guide() -> None:
    by_kind = {kind: {name for name, guide in GUIDES.items() if guide.kind == kind} for kind in ("place", "launcher")}
    assert by_kind == {"place": set(PLACES), "launcher": set(LAUNCHERS)}


def test_rules_check_finds_nothing_and_looks_at_everything() -> None:
    folder = builtin_folder()
    rules = frozenset(path.name.partition("-")[0] for path in (folder / "causes").glob("*.toml"))
    guides = {folder / "guides" / f"{name}.toml": guide for name, guide in GUIDES.items()}
    known = shelf(guides, rules)
    assert known.yaml
    assert known.parses is not None
    assert [(path.name, flaw) for path, guide in guides.items() for flaw in guide_flaws(path, guide, known)] == []


def test_every_kind_of_check_is_used() -> None:
    assert {one.kind for step in STEPS.values() for one in step.check} == CHECKS.keys()


def test_a_checked_step_says_what_that_proves() -> None:
    assert [where for where, step in STEPS.items() if step.check and not step.proves] == []


@pytest.mark.parametrize("name", [*PLACES, *LAUNCHERS])
def test_the_page_names_each_guide_with_its_date_and_sources(name: str) -> None:
    guide = GUIDES[name]
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{name}` |"))
    assert guide.title in row
    assert str(guide.read) in row
    assert all(source in row for source in guide.sources)


# Plain to read ------------------------------------------------------------------------------------------------------

HARD = (
    *("interface", "rank", "rendezvous", "world size", "bandwidth", "overlay", "NAT", "RDMA", "handshake", "port"),
    *("security group", "sidecar", "pod", "plugin", "bridge", "VPC", "VPN", "ruleset", "shared memory", "EFA", "DDP"),
)
LONGEST_SENTENCE = 28


def holds(text: str, term: str) -> bool:
    """Whether a text uses a word, in one or in many."""
    return re.search(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", text, 0 if term.isupper() else re.I) is not None


@pytest.mark.parametrize("guide", GUIDES.values(), ids=GUIDES)
def test_a_hard_word_is_explained_in_its_guide_or_before(guide: Guide) -> None:
    explained = {*guide.terms, *(GUIDES[COMMON].terms if guide.kind == "launcher" else ())}
    text = " ".join(text for _, text in prose(guide))
    assert [term for term in HARD if holds(text, term) and term not in explained] == []


def test_a_word_means_the_same_in_guides_that_follow_each_other() -> None:
    common = GUIDES[COMMON].terms
    told = {
        (guide.name, term)
        for guide in GUIDES.values()
        for term in guide.terms.keys() & common.keys()
        if guide.terms[term] != common[term]
    }
    assert told == set()


@pytest.mark.parametrize("guide", GUIDES.values(), ids=GUIDES)
def test_sentences_are_short(guide: Guide) -> None:
    sentences = [one for _, text in prose(guide) for one in re.split(r"(?<=[.!?:;])\s", text)]
    assert [one for one in sentences if len(one.split()) > LONGEST_SENTENCE] == []


# True to NCCL -------------------------------------------------------------------------------------------------------

A_NAME = re.compile(r"\b(?:eth|ens|eno|enp|enP|ib|ibs|ibp|bond|wlp|wlan|docker|virbr|br|veth|tailscale|wg|tun)\d\w*")


def test_nobody_is_told_an_interface_by_name() -> None:
    named = [where for where, step in STEPS.items() for text in copied(step) if A_NAME.search(text)]
    assert named == []
    assert A_NAME.search("NCCL_SOCKET_IFNAME=eth0")


HIDING = re.compile(
    r"NCCL_(?:IB|P2P|SHM)_DISABLE|IFNAME==?lo\b|IFNAME=\^docker|ufw disable|iptables -F|NCCL_IB_GID_INDEX|TIMEOUT"
)


def test_no_advice_that_only_hides_a_fault() -> None:
    assert [where for where, text in everything() if HIDING.search(text)] == []


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        *((where, "nccl.conf") for where in ("nodes/settings", "autodl/conf")),
        ("slurm/script", "train.sbatch"),
        *((where, "compose.yaml") for where in ("compose/file", "compose/rdma")),
        ("kubernetes/manifest", "job.yaml"),
    ],
)
def test_our_own_linter_finds_nothing_in_files_and_manifests(where: str, kind: str) -> None:
    for nccl in ("2.13.4", "2.21.5", "2.29.7", "2.32.3"):
        linted = lint_file(kind, content(where).encode(), nccl)
        assert linted.kind is not None
        assert linted.troubles == ()


def test_every_command_and_file_of_ours_is_linted_as_a_script() -> None:
    lines = "\n".join(line for where in STEPS for line in commands(where))
    assert lint_file("all.sh", lines.encode()).troubles == ()
    assert lint_file("all.sh", b"NCCL_SOCKET_IFNAME='eth1 # x' python train.py\n").troubles


# True to our own commands -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", STEPS)
def test_bash_reads_every_command(where: str) -> None:
    for command in commands(where):
        done = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True, timeout=10, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def ours() -> list[str]:
    """Each command line of ours that a guide shows, in its commands or between backquotes."""
    filled = [line for where in STEPS for line in commands(where)]
    quoted = [line for _, text in everything() for line in re.findall(r"`(ncclcheck [^`]+)`", text)]
    # What needs a log is named in prose without one.
    return [line for line in (*filled, *quoted) if "ncclcheck" in line and line != "ncclcheck analyze"]


def test_every_command_of_ours_exists() -> None:
    parser = build_parser()
    lines = [line for line in ours() if " setup --join" not in line]
    assert len(lines) >= 8
    for line in lines:
        split = shlex.split(fill_command(line, samples(GUIDES[COMMON])))
        parser.parse_args(split[split.index("ncclcheck") + 1 :])


def test_the_seeds_words_start_our_speed_test() -> None:
    (line,) = re.findall(r"`ncclcheck speedtest ([^`]+)`", STEPS["nodes/speed"].text)
    options = build_parser(("speedtest",)).parse_args(["speedtest", *fill_command(line, values("nodes/speed")).split()])
    asked = words.asked(options, {})
    assert (asked.place, asked.sizes[-1], asked.rank, asked.ranks) == (("10.0.0.11", 29500), 10 * 1024**3, 0, 2)


@pytest.mark.parametrize("where", ["nodes/ddp", "launch/test", "launch/start", "torchrun/start"])
def test_torch_takes_the_launchers_words(where: str, recwarn: pytest.WarningsRecorder) -> None:
    split = shlex.split(commands(where)[-1])
    module = split[split.index("-m") + 1]
    parse = launch.parse_args if module.endswith("launch") else run.parse_args
    options = parse(split[split.index(module) + 1 :])
    assert (options.nnodes, options.nproc_per_node, options.node_rank) == ("2", "8", 0)
    assert (options.master_addr, options.master_port) == ("10.0.0.11", 29500)
    if options.training_script == "speedtest.pyz":
        assert options.training_script_args == ["--workload", "ddp"]


# Containers ---------------------------------------------------------------------------------------------------------


def test_pods_are_on_the_machines_network_without_sidecar_and_with_room() -> None:
    service, job = yaml.safe_load_all(content("kubernetes/manifest"))
    template = job["spec"]["template"]
    pod = template["spec"]
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["selector"] == {"job-name": job["metadata"]["name"]}
    assert pod["subdomain"] == service["metadata"]["name"]
    assert (pod["hostNetwork"], pod["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")
    assert job["spec"]["completionMode"] == "Indexed"
    assert job["spec"]["completions"] == job["spec"]["parallelism"] == 2
    assert template["metadata"]["annotations"] == {
        "sidecar.istio.io/inject": "false",
        "linkerd.io/inject": "disabled",
    }
    (volume,) = pod["volumes"]
    (container,) = pod["containers"]
    assert volume["emptyDir"]["medium"] == "Memory"
    assert container["volumeMounts"] == [{"name": volume["name"], "mountPath": "/dev/shm"}]


def test_compose_and_docker_say_the_same() -> None:
    service = yaml.safe_load(content("compose/file"))["services"]["train"]
    card = yaml.safe_load(content("compose/rdma"))["services"]["train"]
    (plain,), (with_card,) = (commands(f"docker/{name}") for name in ("run", "rdma"))
    assert (service["network_mode"], service["shm_size"], service["ulimits"]) == ("host", "8gb", {"memlock": -1})
    assert "ports" not in service
    for option in ("--network host", "--shm-size 8g", "--ulimit memlock=-1"):
        assert option in plain
        assert option in with_card
    assert "/dev/infiniband" not in plain
    assert "--device /dev/infiniband --cap-add IPC_LOCK" in with_card
    assert (card["devices"], card["cap_add"]) == (["/dev/infiniband:/dev/infiniband"], ["IPC_LOCK"])


def test_amazons_group_is_open_to_itself_in_both_directions() -> None:
    incoming, outgoing = commands("aws/group")
    same = "--group-id sg-0123456789abcdef0 --protocol -1 --source-group sg-0123456789abcdef0"
    assert incoming == f"aws ec2 authorize-security-group-ingress {same}"
    assert outgoing == f"aws ec2 authorize-security-group-egress {same}"
