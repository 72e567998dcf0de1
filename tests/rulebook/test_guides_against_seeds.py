"""Two providers' public guides, point by point: where ours says it, or what ours says instead and why.

Seed V is vast.ai's “Multi-Node training using Torch + NCCL”, seed A is AutoDL's “Multi-Node Multi-GPU Parallelism”.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from ncclcheck.node.conf import entries
from ncclcheck.node.lint import lint
from ncclcheck.rulebook.guide_fill import fill_block
from tests.rulebook.guide_words import GUIDES, everything, said, samples


@dataclass(frozen=True, slots=True)
class Point:
    """A statement of a seed, and the words in which our guide says it."""

    statement: str
    where: str
    """``guide`` or ``guide/step``."""
    phrase: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A statement of a seed that is wrong or will not last, and what our guide says instead."""

    why: str
    quote: str
    """The seed's own words."""
    never: str
    """A pattern of such words, which none of our guides may hold."""
    where: str
    phrase: str


POINTS = (
    # V: what the provider does
    Point("V: RoCE or InfiniBand by a cluster request", "vast/rdma", "submit a cluster request"),
    Point("V: at present A100, H100 and H200 machines", "vast/rdma", "A100, H100 and H200"),
    Point("V: private networks for Docker templates only", "vast", "works with Docker templates, and not with VM"),
    Point("V: by default instances are isolated and behind a NAT", "vast", "each stands behind a NAT"),
    Point("V: overlays join instances of one physical cluster", "vast", "only machines of one physical cluster"),
    Point("V: all ports are open within an overlay", "vast", "where every port is open"),
    Point("V: get the newest command-line tool first", "vast/tool", "pip install --upgrade vastai"),
    Point("V: list the clusters that have offers", "vast/cluster", "search offers --raw 'cluster_id!=None' | grep"),
    Point("V: with your own filters", "vast/cluster", "the filters that you would use for one instance"),
    Point("V: see the offers of one cluster", "vast/cluster", "search offers 'cluster_id={cluster_id}'"),
    Point("V: create the overlay in that cluster", "vast/overlay", "vastai create overlay {cluster_id} {network}"),
    Point("V: rent with --env and -n NETWORK", "vast/instances", "--env '-n {network}'"),
    # V: the network seen from inside
    Point("V: ip a, from the package iproute2", "vast/look", "apt-get install -y iproute2 ip a"),
    Point("V: lo and two more interfaces", "vast/look", "two interfaces besides lo"),
    Point("V: eth1 is a bridge to the outside", "vast/look", "a bridge to the outside"),
    Point("V: unless networks were added or removed", "vast/look", "unless you changed networks later"),
    # V: the meeting
    Point("V: ranks are unique and count from 0", "nodes", "they count from 0, over all nodes"),
    Point("V: the rendezvous is at rank 0's node", "nodes/port", "Rank 0's node listens at one port"),
    Point("V: at its address in the shared network", "nodes/port", "{master_port} was found free on {master_addr}"),
    Point("V: init_process_group, backend nccl", "tcp/start", 'backend="nccl"'),
    Point("V: init_method tcp://address:port", "tcp/start", 'init_method="tcp://{master_addr}:{master_port}"'),
    Point("V: NCCL_SOCKET_IFNAME may be needed", "nodes/settings", "NCCL_SOCKET_IFNAME=={interface}"),
    Point("V: because NCCL does not see what is joined", "nodes/network", "does not try whether the other nodes reach"),
    Point("V: channels come with the first operation", "tcp/start", "NCCL connects at the first operation"),
    Point("V: NCCL_DEBUG=INFO tells more", "nodes/command", "NCCL_DEBUG=INFO"),
    Point("V: operations return before the data is there", "tcp/start", "Operations return before the data is there"),
    # V: the test
    Point("V: script HOST:PORT SIZE RANK", "nodes/speed", "speedtest {master_addr}:{master_port} 10G {node_rank}"),
    Point("V: warm up before the clock starts", "nodes/speed", "Each size is warmed up first"),
    Point("V: the same on the second node, with rank 1", "nodes/speed", "only the last number differs: it is the rank"),
    Point("V: the first one waits for the second", "nodes/speed", "Both sides wait for each other"),
    # A: what the provider does
    Point("A: internal addresses only for A100 now", "autodl", "no longer enables internal addresses for GPUs other"),
    Point("A: because others gain nothing from more nodes", "autodl", "slower on several nodes than on one"),
    # A: the network seen from inside
    Point("A: ifconfig, from the package net-tools", "autodl/look", "apt-get install -y net-tools ifconfig"),
    Point("A: the Docker bridge is there too", "autodl/look", "Docker's bridge, which is 172.17.0.4 or the like"),
    Point("A: the name differs between instances", "autodl/look", "the name differs between instances"),
    Point("A: look for the independent address", "autodl/look", "See the independent address"),
    # A: the test
    Point(
        "A: torch.distributed.launch on each node", "launch/test", "torch.distributed.launch --nproc_per_node={nproc}"
    ),
    Point("A: nnodes is the number of instances", "launch/test", "--nnodes={nodes}"),
    Point("A: node_rank 0 on the master, 1 on the worker", "launch/test", "--node_rank={node_rank}"),
    Point("A: master_addr is the master's address", "launch/test", "--master_addr={master_addr}"),
    Point("A: a DDP script ends the test", "launch/test", "speedtest.pyz --workload ddp"),
    # A: when it fails
    Point("A: refused again and again", "autodl/conf", "Call to connect returned Connection refused, retrying"),
    Point("A: because Docker's bridge was taken", "autodl/conf", "With no setting NCCL takes Docker's bridge"),
    Point("A: the variable may not get through", "nodes/settings", "a launcher can leave them out, or set others"),
    Point("A: so write /etc/nccl.conf", "autodl/conf", "/etc/nccl.conf"),
    Point("A: which needs no variable any more", "autodl/conf", "reaches every process of the instance"),
    Point("A: NCCL_DEBUG=WARN in it", "autodl/conf", "NCCL_DEBUG=WARN"),
)

FAULTS = (
    Fault(
        "V says which name the overlay has; elsewhere, as at A, it is the other one",
        "you may need to set the NCCL_SOCKET_IFNAME=eth0 environment variable",
        r"NCCL_SOCKET_IFNAME==?(?:eth|en|ib|bond)\w*\d",
        "vast/look",
        "Elsewhere these names stand for the opposite, so go by what answers",
    ),
    Fault(
        "A says which name the shared network has; elsewhere, as at V, it is the other one",
        "The network interface name is usually eth1.",
        r"(?i)usually eth\d",
        "autodl/look",
        "At other providers eth1 is the wrong one, so go by what answers",
    ),
    Fault(
        "the same rule, as V words it",
        "eth0 should be the interface to the overlay network between your instances",
        r"(?i)eth\d (?:should be|is) the (?:interface to the )?overlay",
        "nodes/network",
        "A name tells nothing",
    ),
    Fault(
        "NCCL takes a comment behind a value for a part of the value, and finds no interface",
        "NCCL_SOCKET_IFNAME=eth1  # Replace with your own network interface name",
        r"NCCL_\w+=\S+[ \t]+#",
        "autodl/conf",
        "NCCL takes that comment for a part of the name, and finds no interface",
    ),
    Fault(
        "ports below 1024 belong to root",
        "port is a free port number chosen between 1000 and 65535",
        r"between 1000 and|above 1000",
        "nodes/port",
        "Any free port from 1024 to 65535",
    ),
    Fault(
        "a port that is free here need not be free there, and a dead job may hold it",
        "The master_port does not need to be changed. --master_port=55568",
        r"--(?:master|main_process)_port[= ]\d|:5000\b",
        "launch/test",
        "one that was found free, not the same one for every job",
    ),
    Fault(
        "links are sold in Gbit/s of 1e9 bits",
        "unidirectional bandwidth {size / (end - start) / sizes['m']} MiB/s",
        r"MiB/s",
        "nodes/speed",
        "GB/s are 1,000,000,000 bytes a second, and Gbit/s eight times that",
    ),
    Fault(
        "one sample has no spread, and the clock runs while the other side is not ready",
        "start = time.time() if rank: dist.send(v, 0)",
        r"time\.time\(\)",
        "nodes/speed",
        "measured in several rounds, from the moment when all are ready",
    ),
    Fault(
        "a sum that is printed and compared with nothing proves nothing",
        'print(f"checksum {checksum}")',
        r"(?i)checksum",
        "nodes/speed",
        "Every byte is compared with what was sent",
    ),
    Fault(
        "a script fetched in the clear is whatever somebody on the way makes of it",
        "wget http://gpuhub-public.ks3-cn-beijing.ksyun.com/debug/ddp.py",
        r"wget|curl|http://",
        "launch/test",
        "over a connection that anybody can change",
    ),
    Fault(
        "PyTorch has announced that torch.distributed.launch will go",
        "python -m torch.distributed.launch \\\n --nproc_per_node=1",
        r"^python -m torch\.distributed\.launch",
        "launch",
        "PyTorch has announced that it will go",
    ),
    Fault(
        "a variable that is exported in one shell is not there in the next",
        "export NCCL_SOCKET_IFNAME=eth1",
        r"export NCCL_SOCKET_IFNAME",
        "launch/test",
        "env {setting} {python} -m torch.distributed.launch",
    ),
)


@pytest.mark.parametrize("point", POINTS, ids=[point.statement for point in POINTS])
def test_what_a_seed_says_stands_in_our_guide(point: Point) -> None:
    assert point.phrase in said(point.where)


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.why for fault in FAULTS])
def test_what_a_seed_says_wrongly_stands_nowhere(fault: Fault) -> None:
    pattern = re.compile(fault.never, re.MULTILINE)
    assert pattern.search(fault.quote), "the pattern does not find the seed's own words"
    assert [where for where, text in everything() if pattern.search(text)] == []
    assert fault.phrase in said(fault.where)


def test_the_limit_to_a100_comes_before_anything_costs_time() -> None:
    autodl = GUIDES["autodl"]
    assert "other than A100" in autodl.text.strip().splitlines()[0]
    assert autodl.step[0].id == "a100"


def test_the_seeds_conf_is_broken_and_ours_is_read_as_it_looks() -> None:
    theirs = b"NCCL_SOCKET_IFNAME=eth1  # Replace with your own network interface name\nNCCL_DEBUG=WARN\n"
    conf = next(step.file for step in GUIDES["autodl"].step if step.id == "conf")
    assert conf is not None
    ours = fill_block(conf.content, samples(GUIDES["autodl"])).encode()
    for nccl in ("2.13.4", "2.18.6", "2.23.4", "2.29.7", "2.32.3"):
        assert [line.line for line in lint(theirs, conf.path, nccl)] == [1]
        assert lint(ours, conf.path, nccl) == ()
        read = {entry.name: entry.value for entry in entries(ours, nccl) if not entry.name.startswith("#")}
        assert read == {"NCCL_SOCKET_IFNAME": "=ens7", "NCCL_DEBUG": "WARN"}
