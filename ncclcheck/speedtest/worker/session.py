"""One side of the test from its first word to its last."""

from __future__ import annotations

import argparse
import os
import socket
import sys
import time
import warnings
from datetime import timedelta
from typing import Any

from . import baseline
from .company import Company
from .ddp import Training
from .local import address_of
from .nccl_log import flows_of, interface_of, prepare
from .rendezvous import Rendezvous
from .sweep import Sweep, patterns_of
from .voice import Failure, Voice, in_words
from .watch import DAMAGED, NO_TORCH, Watch
from .wire import Wire
from .words import DDP, USAGE, Asked, add_arguments, asked, show

PROTOCOL = 2
_BASELINE = 2.0
"""Seconds of it, where the limit leaves as much."""


def main(words: list[str]) -> int:
    """Exit code of this side."""
    parser = argparse.ArgumentParser(
        prog="speedtest", usage=f"%(prog)s {USAGE}", description="Measures the bandwidth between machines."
    )
    add_arguments(parser)
    parser.add_argument("--attached", action="store_true", help="end when the process that started this one ends")
    # torch.distributed.launch says it besides the variable, with a hyphen since torch 2.0.
    parser.add_argument("--local-rank", "--local_rank", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    try:
        mine = asked(options, os.environ)
    except ValueError as error:
        parser.error(str(error))
    log = prepare(os.environ)
    watch = Watch(mine, Voice(mine.rank), log, options.attached)
    watch.start()
    return _load(watch)


def _load(watch: Watch) -> int:
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    # What torch will call by another name some day is nothing to the user of this test.
    warnings.simplefilter("ignore")
    try:
        import torch
        from torch import distributed as dist
    except (ImportError, OSError) as error:
        # OSError: a library of CUDA's is missing.
        watch.fail(f"this Python ({sys.executable}) has no torch that can be loaded: {error}", code=NO_TORCH)
    try:
        verified = _run(torch, dist, watch)
    except Failure as failure:
        watch.fail(str(failure), told=failure.told)
    except (RuntimeError, MemoryError) as error:
        watch.give_way()
        watch.fail(f"{watch.stage}: {in_words(str(error) or 'there is not enough memory for this SIZE here')}")
    if not verified:
        watch.fail(_WRONG[watch.asked.workload == DDP], code=DAMAGED)
    watch.voice.say("finished")
    return 0


_WRONG = {
    False: "what arrived is not what was sent: some payload was damaged on the way",
    True: "after training the ranks do not have the same parameters: gradients were damaged on the way",
}


def choose(torch: Any, mine: Asked) -> tuple[str, str | None, Any]:
    """Backend, interface (where we know it) and device."""
    visible = torch.cuda.device_count() if torch.cuda.is_available() else 0
    names = [name for _, name in socket.if_nameindex()]
    if mine.interface and mine.interface not in names:
        raise Failure(f"there is no interface {mine.interface} on this machine; it has {', '.join(names)}")
    if mine.interface:
        os.environ["GLOO_SOCKET_IFNAME"] = mine.interface
    if (mine.backend or ("nccl" if visible else "gloo")) == "gloo":
        return "gloo", os.environ.get("GLOO_SOCKET_IFNAME"), torch.device("cpu")
    if not 0 <= mine.device < visible:
        raise Failure(f"there is no CUDA device {mine.device} for NCCL; this Python sees {visible} of them")
    torch.cuda.set_device(mine.device)
    return "nccl", None, torch.device("cuda", mine.device)


def _run(torch: Any, dist: Any, watch: Watch) -> bool:
    """The whole test on this side; whether every payload was right."""
    mine, say = watch.asked, watch.voice.say
    backend, interface, device = choose(torch, mine)
    say("started", backend=backend, interface=interface, torch=str(torch.__version__), ranks=mine.ranks)
    if watch.log.place:
        say("note", text=f"NCCL's log goes to {watch.log.place}, as NCCL_DEBUG_FILE says")
    # Filling and checking payloads must not take the processors that move them; gloo has threads of its own.
    torch.set_num_threads(1)
    watch.stage = f"waiting for rank 0 at {show(mine.place)}"
    rendezvous = Rendezvous(dist, watch, _hello(torch, mine, backend))
    watch.stage = f"connecting over {backend}" + (f" on {interface}" if interface else "")
    left = timedelta(seconds=max(1.0, watch.left()))
    dist.init_process_group(backend, store=rendezvous.store, rank=mine.rank, world_size=mine.ranks, timeout=left)
    wire = Wire(torch, dist, mine, device)
    wire.agree([1.0])
    say("connected", ranks=mine.ranks)
    verified = _measure(torch, wire, watch, rendezvous.company, interface)
    watch.stage = "closing"
    _part(dist, watch, rendezvous.company)
    return verified


def _hello(torch: Any, mine: Asked, backend: str) -> dict[str, Any]:
    """What must be the same on all sides, by the names that a person knows it by."""
    version = ".".join(str(torch.__version__).split("+")[0].split(".")[:2])
    told = {"the test's version": PROTOCOL, "--ranks": mine.ranks, "torch": version, "backend": backend}
    if backend == "nccl":
        nccl = torch.cuda.nccl.version()
        told["NCCL"] = ".".join(map(str, nccl)) if isinstance(nccl, tuple) else str(nccl)
    wanted = {"SIZE": mine.sizes[-1], "--sizes": list(mine.sizes), "--patterns": list(mine.patterns)}
    return {**told, **wanted, "--workload": mine.workload, "baseline": mine.baseline}


def _measure(torch: Any, wire: Wire, watch: Watch, company: Company, interface: str | None) -> bool:
    if watch.asked.baseline and watch.asked.ranks > 1:
        watch.stage = "measuring plain TCP"
        watch.tell_log()
        _baseline(watch, company, interface)
        wire.agree([1.0])
    if watch.asked.workload == DDP:
        return Training(torch, wire, watch, wire.device).run()
    if not patterns_of(watch.asked):
        raise Failure("one rank alone has nobody to send to; of the patterns, all-gather and all-reduce work alone")
    return Sweep(wire, watch).run()


def _baseline(watch: Watch, company: Company, interface: str | None) -> None:
    """Plain TCP from rank 1 to rank 0, over what the backend uses; it never fails the test."""
    used = interface_of(watch.log.lines)
    name = used[0] if used else interface
    if company.rank == 0:
        address = used[1] if used else address_of(name, watch.asked.place[0])
        _serve(watch, company, address, name)
    elif company.rank == 1:
        _call(watch, company, name)


def _serve(watch: Watch, company: Company, address: str, name: str | None) -> None:
    flows = flows_of(watch.log.lines)
    tool = _common(watch, company)
    try:
        with baseline.serve(address, name, tool) as server:
            company.tell("baseline", {"address": address, "port": server.port, "flows": flows, "tool": tool})
            found = _awaited(watch, company, "baseline result")
    except OSError as error:
        company.tell("baseline", {})
        found = {
            "tool": tool,
            "flows": flows,
            "failure": f"nothing can listen at {address} ({error.strerror or error})",
        }
    watch.voice.say("baseline", **{**found, "interface": found.get("interface") or name})


def _common(watch: Watch, company: Company) -> str:
    """iperf3 where both have it."""
    theirs = _awaited(watch, company, "baseline tool").get("tool")
    own = baseline.available_tool()
    return own if own == theirs else "sockets"


def _call(watch: Watch, company: Company, name: str | None) -> None:
    company.tell("baseline tool", {"tool": baseline.available_tool()})
    at = _awaited(watch, company, "baseline")
    if not at:
        return
    seconds = min(_BASELINE, max(0.5, watch.asked.limit / 60))
    # A zone is the name of an interface of the machine where the address is used.
    address = f"{at['address'].partition('%')[0]}%{name}" if name and "%" in at["address"] else at["address"]
    found = baseline.call(address, at["port"], at["flows"], seconds, name, at["tool"])
    company.tell("baseline result", found)
    watch.voice.say("baseline", **{**found, "interface": found.get("interface") or name})


def _awaited(watch: Watch, company: Company, key: str) -> dict[str, Any]:
    """What the other side leaves in the store; the watch ends this where it never does."""
    while (words := company.told(key)) is None:
        if watch.left() <= 0:
            raise Failure(f"the time limit of {watch.asked.limit:g} s passed while {watch.stage}")
        time.sleep(0.02)
    return words


def _part(dist: Any, watch: Watch, company: Company) -> None:
    """End together: the store goes with rank 0, and the others are not through with it before they say so."""
    watch.close()
    dist.destroy_process_group()
    company.count("done", 1)
    end = time.monotonic() + 5.0
    while company.owner and company.count("done") < company.ranks and time.monotonic() < end:
        time.sleep(0.02)
