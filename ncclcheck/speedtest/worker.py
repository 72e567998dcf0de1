"""Speed test between two machines, as one stand-alone file: it needs Python 3.8 and torch 1.13, nothing of ncclcheck.

    python worker.py HOST:PORT SIZE[K|M|G] RANK [DEVICE]

Start it on both machines with the same HOST:PORT and SIZE, rank 0 on the machine that owns HOST. It runs under the
interpreter that trains, so that its NCCL is the one measured; without CUDA devices it uses gloo. Standard output is
one JSON object a line: started, waiting, connected, round, result, finished, failure. Exit code 0: both directions
measured and every byte right; 1: it failed, and the last line says why; 2: wrong usage; 3: no torch here.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import random
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NoReturn

ONE_WAY, BOTH_WAYS = "one way", "both ways"
PROTOCOL = 1
BLOCK = 1024**2
WARM_UP = 8 * BLOCK
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
# torch and gloo put the place in their own source into an error: "[/…/pair.cc:152] ".
_SOURCE_LINE = re.compile(r"\[/\S+:[0-9]+\] ")
_NOT_CONNECTED = re.compile(r"SO_ERROR: ([^,]+), remote=\[([^\]]+)\]")


class Failure(Exception):
    """The test cannot go on; the text says why and what to look at."""


def say(event: str, **fields: Any) -> None:
    """Print one event."""
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def parse_size(text: str) -> int:
    """Bytes; ``10M`` is ten times 1024 squared."""
    found = re.fullmatch(r"([1-9][0-9]{0,14})([KMG]?)", text.upper())
    if found is None:
        raise ValueError(f"not a size: {text!r} (a number of bytes, with K, M or G: 100M)")
    return int(found[1]) * _UNITS[found[2]]


def parse_place(text: str) -> tuple[str, int]:
    """Host and port of ``10.0.0.1:5000``, ``node-a:5000`` or ``[fd00::1]:5000``."""
    found = re.fullmatch(r"(?:\[([^\[\]]+)\]|([^\[\]:]+)):([0-9]{1,5})", text)
    if found is None or not 0 < int(found[3]) < 65536:
        raise ValueError(f"not HOST:PORT: {text!r} (such as 10.0.0.1:5000 or [fd00::1]:5000)")
    return found[1] or found[2], int(found[3])


def parse_limit(text: str) -> float:
    """Seconds of a time limit."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]*)?", text) or float(text) == 0:
        raise ValueError(f"not a time limit in seconds: {text!r}")
    return float(text)


def show(place: tuple[str, int]) -> str:
    """HOST:PORT as the user wrote it."""
    return "[{}]:{}".format(*place) if ":" in place[0] else "{}:{}".format(*place)


def _argument(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The seven words and options of one side."""
    add = parser.add_argument
    add("place", metavar="HOST:PORT", type=_argument(parse_place), help="an address of rank 0's machine, a free port")
    add("size", metavar="SIZE[K|M|G]", type=_argument(parse_size), help="bytes that are sent in a round")
    add("rank", metavar="RANK", type=int, choices=(0, 1), help="0 on the machine that owns HOST, 1 on the other")
    add("device", metavar="DEVICE", type=int, nargs="?", default=0, help="CUDA device (default 0)")
    add("--backend", choices=("nccl", "gloo"), help="default: nccl where the Python sees CUDA devices, else gloo")
    add("--interface", metavar="NAME", help="interface for gloo; NCCL makes its own choice")
    add("--limit", type=_argument(parse_limit), default=300.0, metavar="S", help="seconds for everything (default 300)")


def resolve(place: tuple[str, int]) -> tuple[int, Any]:
    """Family and socket address of the host."""
    try:
        found = socket.getaddrinfo(place[0], place[1], type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise Failure(f"the host {place[0]} is not known here ({error.strerror}); give its address instead") from None
    return found[0], found[4]


def check_free(place: tuple[str, int]) -> None:
    """See that rank 0 can listen: torch would only say so in the middle of a long traceback."""
    family, address = resolve(place)
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(address)
            trial.listen(1)
        except OSError as error:
            reasons = {
                errno.EADDRNOTAVAIL: f"{place[0]} is no address of this machine; HOST must be one of rank 0's own",
                errno.EADDRINUSE: f"port {place[1]} is in use on this machine; take another one, on both sides",
            }
            other = f"cannot listen at {show(place)}: {error.strerror}"
            raise Failure(reasons.get(error.errno or 0, other)) from None


def _knock(family: int, address: Any) -> str | None:
    """Why nobody answers, or None where somebody does."""
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.settimeout(1.0)
        try:
            trial.connect(address)
        except OSError as error:
            return (error.strerror or str(error)).lower()
    return None


def reach(options: argparse.Namespace) -> None:
    """Wait until rank 0 listens, and say each new reason why it does not yet."""
    family, address = resolve(options.place)
    said, reason = None, _knock(family, address)
    while reason is not None:
        if reason != said:
            say("waiting", peer=0, at=show(options.place), reason=reason)
        if time.monotonic() >= options.deadline:
            where = f"rank 0 did not answer at {show(options.place)} within {options.limit:g} s ({reason})"
            raise Failure(f"{where}; start rank 0 there, and see that {address[0]} can be reached from this machine")
        time.sleep(0.1)
        said, reason = reason, _knock(family, address)


def connect(dist: Any, options: argparse.Namespace, listen: bool) -> Any:
    """A client of the store at HOST:PORT (and its server): each blocks on its own, so every thread needs one."""
    left = timedelta(seconds=max(1.0, options.deadline - time.monotonic()))
    return dist.TCPStore(options.place[0], options.place[1], 2, listen, left, wait_for_workers=False)


def meet(store: Any, options: argparse.Namespace, hello: dict[str, Any]) -> None:
    """Wait for the other side, and see that both mean the same test."""
    rank, peer, at = options.rank, 1 - options.rank, show(options.place)
    if store.add(f"taken/{rank}", 1) > 1:
        raise Failure(f"there already is a rank {rank} at {at}")
    store.set(f"hello/{rank}", json.dumps(hello))
    if not store.check([f"hello/{peer}"]):
        say("waiting", peer=peer, at=at, reason="not there yet")
    while not store.check([f"hello/{peer}"]):
        if time.monotonic() >= options.deadline:
            come = (
                f"rank {peer} did not come to {at} within {options.limit:g} s; start it on the other machine with the"
            )
            raise Failure(f"{come} same HOST:PORT and SIZE, and see that this address can be reached from there")
        time.sleep(0.05)
    other = json.loads(store.get(f"hello/{peer}"))
    for name in sorted(hello):
        if hello[name] != other.get(name):
            raise Failure(f"the two sides differ in {name}: {hello[name]} here, {other.get(name)} there")


def in_words(error: str) -> str:
    """What torch's or gloo's own text says, in a sentence where we know one."""
    found = _NOT_CONNECTED.search(error)
    if found:
        return f"{found[2]} did not take the connection ({found[1]})"
    return _SOURCE_LINE.sub("", error.splitlines()[0])


class Watch(threading.Thread):
    """Ends this process in time, whatever torch is blocked in: at the limit, or when the other side failed."""

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(daemon=True)
        self.options = options
        self.stage = "starting"
        self.store: Any = None
        self._parent = os.getppid()
        self._once = threading.Lock()

    def run(self) -> None:
        """Look ten times a second."""
        while True:
            time.sleep(0.1)
            if self.options.attached and os.getppid() != self._parent:
                os._exit(1)
            # One second later than what looks at the limit itself and knows more.
            if time.monotonic() > self.options.deadline + 1.0:
                self.fail(f"the time limit of {self.options.limit:g} s passed while {self.stage}")
            if self.store is not None:
                self._listen(self.store, 1 - self.options.rank)

    def _listen(self, store: Any, peer: int) -> None:
        try:
            if not store.check([f"failed/{peer}"]):
                return
            reason = f"rank {peer} failed: {store.get(f'failed/{peer}').decode()}"
            store.set(f"heard/{peer}", "1")
        except RuntimeError:
            reason = f"rank {peer} went away while this side was {self.stage}"
        self.fail(reason)

    def fail(self, reason: str) -> NoReturn:
        """Say why, tell the other side, and end; the first reason counts."""
        self._once.acquire()
        say("failure", reason=reason)
        try:
            if self.store is not None:
                self._tell(self.store, self.options.rank, reason)
        except RuntimeError:
            # The other side has gone, and the store with it: nobody is left to be told.
            pass
        os._exit(1)

    def _tell(self, store: Any, rank: int, reason: str) -> None:
        """Leave the reason in the store; rank 0 takes the store along, so it stays until rank 1 has heard."""
        store.set(f"failed/{rank}", reason)
        end = time.monotonic() + 2.0
        while rank == 0 and not store.check(["heard/0"]) and time.monotonic() < end:
            time.sleep(0.05)


def pattern(torch: Any, device: Any) -> Any:
    """One block of seeded noise; Python's generator gives the same bytes in every version, torch's need not."""
    noise = bytearray(random.Random(20).getrandbits(8 * BLOCK).to_bytes(BLOCK, "little"))
    return torch.frombuffer(noise, dtype=torch.uint8).to(device)


def fill(torch: Any, payload: Any, block: Any, tag: int) -> None:
    """Write the content of this tag: every block differs from its neighbours and from those of other tags."""
    for number, part in enumerate(payload.split(BLOCK)):
        torch.bitwise_xor(block[: part.numel()], (number + tag) & 255, out=part)


def intact(torch: Any, payload: Any, block: Any, tag: int) -> bool:
    """Whether every byte is what the other side's ``fill`` wrote."""
    parts = enumerate(payload.split(BLOCK))
    return all(torch.equal(part, block[: part.numel()] ^ ((number + tag) & 255)) for number, part in parts)


class Wire:
    """The connection under test, and a payload for each way."""

    def __init__(self, torch: Any, dist: Any, options: argparse.Namespace, device: Any) -> None:
        self.torch, self.dist, self.rank, self.device = torch, dist, options.rank, device
        self.block = pattern(torch, device)
        # Zeros, not empty: the first touch of memory must not fall into a measured round.
        self.outgoing, self.incoming = (torch.zeros(options.size, dtype=torch.uint8, device=device) for _ in range(2))

    def agree(self, value: float, operation: str) -> float:
        """The MIN or MAX over both sides; neither leaves before both have come."""
        values = self.torch.tensor([float(value)], dtype=self.torch.float64, device=self.device)
        self.dist.all_reduce(values, op=getattr(self.dist.ReduceOp, operation))
        return float(values.item())

    def move(self, direction: str, size: int) -> float:
        """One transfer; its seconds on the slower side. It starts when both are ready: no lateness is in it."""
        dist, outgoing, incoming = self.dist, self.outgoing[:size], self.incoming[:size]
        self.agree(1, "MIN")
        start = time.perf_counter()
        if direction == BOTH_WAYS:
            pair = [dist.P2POp(dist.isend, outgoing, 1 - self.rank), dist.P2POp(dist.irecv, incoming, 1 - self.rank)]
            for work in dist.batch_isend_irecv(pair):
                work.wait()
        elif self.rank == 1:
            dist.send(outgoing, 0)
        else:
            dist.recv(incoming, 1)
        if self.device.type == "cuda":
            self.torch.cuda.synchronize(self.device)
        return self.agree(time.perf_counter() - start, "MAX")

    def round(self, direction: str, number: int) -> tuple[float, bool]:
        """Seconds of one transfer with fresh content, and whether all of it arrived as it was sent."""
        tag = 2 * number
        fill(self.torch, self.outgoing, self.block, tag + self.rank)
        seconds = self.move(direction, len(self.outgoing))
        receives = direction == BOTH_WAYS or self.rank == 0
        right = not receives or intact(self.torch, self.incoming, self.block, tag + 1 - self.rank)
        return seconds, bool(self.agree(right, "MIN"))

    def measure(self, direction: str, until: float, rounds: int = 5) -> bool:
        """Warm up, then measure until there are enough rounds or the time is used; whether all arrived right."""
        for _ in range(2):
            self.move(direction, WARM_UP)
        times: list[float] = []
        verified = True
        # Rank 0's clock decides for both.
        while self.agree(not times or self.rank == 1 or (len(times) < rounds and time.monotonic() < until), "MIN"):
            seconds, right = self.round(direction, len(times) + 1)
            times.append(seconds)
            verified = verified and right
            say("round", direction=direction, number=len(times), seconds=seconds)
        say("result", direction=direction, size=len(self.outgoing), seconds=times, verified=verified)
        return verified


def choose(torch: Any, options: argparse.Namespace) -> tuple[str, str | None, Any]:
    """Backend, interface (where we know it) and device."""
    visible = torch.cuda.device_count() if torch.cuda.is_available() else 0
    names = [name for _, name in socket.if_nameindex()]
    if options.interface and options.interface not in names:
        raise Failure(f"there is no interface {options.interface} on this machine; it has {', '.join(names)}")
    if options.interface:
        os.environ["GLOO_SOCKET_IFNAME"] = options.interface
    if (options.backend or ("nccl" if visible else "gloo")) == "gloo":
        return "gloo", os.environ.get("GLOO_SOCKET_IFNAME"), torch.device("cpu")
    if not 0 <= options.device < visible:
        raise Failure(f"there is no CUDA device {options.device} for NCCL; this Python sees {visible} of them")
    torch.cuda.set_device(options.device)
    return "nccl", None, torch.device("cuda", options.device)


def run(torch: Any, dist: Any, options: argparse.Namespace, watch: Watch) -> bool:
    """The whole test on this side; whether every payload was right."""
    backend, interface, device = choose(torch, options)
    say("started", rank=options.rank, backend=backend, interface=interface, torch=torch.__version__)
    # Filling and checking payloads must not take the processors that move them; gloo has threads of its own.
    torch.set_num_threads(1)
    watch.stage = f"waiting for rank {1 - options.rank} at {show(options.place)}"
    check_free(options.place) if options.rank == 0 else reach(options)
    store = connect(dist, options, options.rank == 0)
    meet(store, options, {"protocol": PROTOCOL, "SIZE": options.size, "backend": backend})
    watch.store = connect(dist, options, False)
    watch.stage = f"connecting over {backend}" + (f" on {interface}" if interface else "")
    left = timedelta(seconds=max(1.0, options.deadline - time.monotonic()))
    dist.init_process_group(backend, store=store, rank=options.rank, world_size=2, timeout=left)
    wire = Wire(torch, dist, options, device)
    wire.agree(1, "MIN")
    say("connected", peer=1 - options.rank)
    verified = True
    for direction, share in ((ONE_WAY, 3), (BOTH_WAYS, 2)):
        watch.stage = f"sending {direction}"
        now = time.monotonic()
        verified = wire.measure(direction, now + (options.deadline - now) / share) and verified
    watch.store = None
    dist.destroy_process_group()
    store.set(f"done/{options.rank}", "1")
    if options.rank == 0:
        # The store goes with this process, and rank 1 is not through with it before it says so.
        store.wait(["done/1"], timedelta(seconds=5))
    return verified


def main(words: list[str]) -> int:
    """Exit code of this side."""
    parser = argparse.ArgumentParser(description="Measures the bandwidth between two machines.")
    add_arguments(parser)
    parser.add_argument("--attached", action="store_true", help="end when the process that started this one ends")
    options = parser.parse_args(words)
    options.deadline = time.monotonic() + options.limit
    # torch blocks in C++, where Python's own handler would wait for its return.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    watch = Watch(options)
    watch.start()
    try:
        import torch
        from torch import distributed as dist
    except (ImportError, OSError) as error:
        say("failure", reason=f"this Python ({sys.executable}) has no torch that can be loaded: {error}")
        return 3
    try:
        verified = run(torch, dist, options, watch)
    except Failure as failure:
        watch.fail(str(failure))
    except RuntimeError as error:
        watch.fail(f"{watch.stage}: {in_words(str(error))}")
    if not verified:
        watch.fail("what arrived is not what was sent: some payload was damaged on the way")
    say("finished")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
