"""Random interfaces, variables and conf files: does the prediction equal what the real libnccl does?

Run by tests/node/test_agreement.py, and by hand for any other NCCL:

    python tests/agree_with_nccl.py --library PATH/libnccl.so.2 --cases 1000 --seed 7

Each interface set lives in a network namespace of its own, and all of it under a private /etc, so that nothing on
this machine is touched. Each case is a forked process, since NCCL keeps its first choice for the life of a process.
Needs root, or `unshare --user --map-root-user` in front; without it, and without a libnccl, this fails.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from random_cases import USUAL, Case, Link, endurable, random_case, random_links

from ncclcheck.model import Choice
from ncclcheck.node import interfaces, selection
from ncclcheck.node.bootstrap_probe import UniqueId
from ncclcheck.node.environment import conf_files, here, settings, winning
from ncclcheck.node.interpreter import named
from ncclcheck.node.libnccl import find
from ncclcheck.node.probing import split_place
from ncclcheck.node.resolve import first_address
from ncclcheck.node.version import from_code

NEW_NETWORK, NEW_MOUNTS = 0x40000000, 0x00020000
PRIVATE, RECURSIVE, BIND = 1 << 18, 16384, 4096
CASES_PER_SET = 12
LIMIT = 20


class World:
    """A private /etc with folders for conf files, in which one libnccl is asked."""

    def __init__(self, library: str, folder: Path) -> None:
        self.folder = folder
        self.paths = {
            "site": Path("/etc/nccl.conf"),
            "login": folder / "login/.nccl.conf",
            "home": folder / "home/.nccl.conf",
            "named": folder / "named.conf",
        }
        self.log = folder / "nccl.log"
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.nccl = ctypes.CDLL(library)
        number = ctypes.c_int()
        self.nccl.ncclGetVersion(ctypes.byref(number))
        self.version = from_code(number.value)

    def close_off(self) -> None:
        """Give this process an /etc of its own, whose root user lives in ``login``."""
        for name in ("login", "home", "etc"):
            (self.folder / name).mkdir(exist_ok=True)
        for name in ("hosts", "nsswitch.conf", "group", "ld.so.cache"):
            if Path("/etc", name).exists():
                shutil.copy(Path("/etc", name), self.folder / "etc" / name)
        (self.folder / "etc/passwd").write_text(f"root:x:{os.getuid()}:0:root:{self.folder}/login:/bin/sh\n")
        self._check(self.libc.unshare(NEW_MOUNTS), "unshare")
        self._check(self.libc.mount(b"none", b"/", None, PRIVATE | RECURSIVE, None), "mount --make-private")
        self._check(self.libc.mount(os.fsencode(self.folder / "etc"), b"/etc", None, BIND, None), "mount /etc")

    def new_network(self) -> None:
        """Move to a network namespace with nothing but a sleeping lo."""
        self._check(self.libc.unshare(NEW_NETWORK), "unshare")

    def _check(self, result: int, call: str) -> None:
        if result:
            number = ctypes.get_errno()
            raise OSError(number, f"{call}: {os.strerror(number)}")

    def prepare(self, case: Case) -> dict[str, str]:
        """Write the files of a case; gives its environment."""
        for kind, path in self.paths.items():
            content: bytes | None = getattr(case, kind)
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_bytes(content)
        asked = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": str(self.log), "HOME": str(self.folder / "home")}
        asked["NCCL_DEBUG_SUBSYS"] = "INIT,BOOTSTRAP,ENV,NET"
        named_file = str(self.paths["named"])
        return {**asked, **{name: named_file if value == "NAMED" else value for name, value in case.env}}

    def seen(self, env: dict[str, str]) -> tuple[str | None, str | None, int]:
        """What NCCL does in a fresh process: interface, address and code (negative: a signal)."""
        self.log.unlink(missing_ok=True)
        child = os.fork()
        if not child:
            signal.alarm(LIMIT)
            os.environ.clear()
            os.environ.update(env)
            os._exit(self.nccl.ncclGetUniqueId(ctypes.byref(UniqueId())))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        found = re.search(r"Bootstrap ?: Using (.*)<\d+>", text)
        return (*split_place(found[1]), code) if found and not code else (None, None, code)

    def predicted(self, env: dict[str, str]) -> Choice:
        """What ncclcheck expects."""
        links, unknown = interfaces.read()
        assert not unknown, unknown
        files, _ = conf_files(here(env), self.version)
        values = winning(settings(env, files, self.version))
        return selection.bootstrap(links, values, self.version, first_address)


def build(links: tuple[Link, ...]) -> None:
    """Make the interfaces of a set, and wait until their IPv6 addresses may be used."""
    from pyroute2 import IPRoute

    with IPRoute() as kernel:
        Path("/proc/sys/net/ipv6/conf/default/accept_dad").write_text("0")
        kernel.link("set", index=1, state="up")
        for link in links:
            _make(kernel, link)


def _make(kernel: Any, link: Link) -> None:
    peer = f"p{abs(hash(link.name)) % 10**8}"
    kernel.link("add", ifname=link.name, kind="veth", peer={"ifname": peer})
    index = kernel.link_lookup(ifname=link.name)[0]
    kernel.link("set", ifname=peer, state="up" if link.carrier else "down")
    kernel.link("set", index=index, state="up" if link.up else "down")
    for address, prefix, label in link.addresses:
        kernel.addr("add", index=index, address=address, prefixlen=prefix, **({"label": label} if label else {}))


def compare(world: World, links: tuple[Link, ...], cases: list[Case]) -> int:
    """Run the cases on one interface set; prints each difference and gives their number."""
    world.new_network()
    build(links)
    wrong = 0
    for case in cases:
        env = world.prepare(case)
        expected, found = settled(world, env)
        if found != (expected.interface, expected.address, expected.code):
            wrong += 1
            shown = {"links": asdict_all(links), "case": repr(case), "seen": found, "predicted": expected.reason}
            print(json.dumps({**shown, "choice": (expected.interface, expected.address, expected.code)}), flush=True)
    return wrong


def settled(world: World, env: dict[str, str]) -> tuple[Choice, tuple[str | None, str | None, int]]:
    """Prediction and truth, of a moment in which the kernel did not change a link's state meanwhile."""
    while True:
        expected, found = world.predicted(env), world.seen(env)
        if world.predicted(env) == expected:
            return expected, found


def asdict_all(links: tuple[Link, ...]) -> list[dict[str, Any]]:
    """The interfaces as JSON takes them."""
    return [asdict(link) for link in links]


def in_a_child(work: Any) -> int:
    """Run it in a forked process, whose namespaces vanish with it; gives its number of differences."""
    child = os.fork()
    if not child:
        try:
            os._exit(min(work(), 250))
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(255)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code in range(251):
        return code
    raise SystemExit(f"an interface set could not be tried (exit status {code})")


def main() -> int:
    """Try random sets until there were enough cases; exit status 1 where anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="the libnccl.so.2 to agree with (default: this Python's)")
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lines", type=Path, help="try each line of this file as a whole /etc/nccl.conf besides")
    options = parser.parse_args()
    own = find(named(sys.executable, os.environ), os.environ)
    library = options.library or (own.path if own else sys.exit("no libnccl.so.2 here: name one with --library"))
    chance, started = random.Random(options.seed), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="agree-with-nccl-") as folder:
        world = World(library, Path(folder))
        given = (
            [Case((), line, None, None, None) for line in options.lines.read_bytes().split(b"\n")]
            if options.lines
            else []
        )
        tried, wrong = len(given), in_a_child(lambda: _closed_off(world, USUAL, given))
        while tried < options.cases:
            links = random_links(chance)
            cases = [case for _ in range(CASES_PER_SET) if endurable(case := random_case(chance), world.version)]
            tried += len(cases)
            wrong += in_a_child(lambda links=links, cases=cases: _closed_off(world, links, cases))
    print(f"NCCL {world.version}: {tried} cases, {wrong} differences, {time.monotonic() - started:.1f} s")
    return 1 if wrong else 0


def _closed_off(world: World, links: tuple[Link, ...], cases: list[Case]) -> int:
    world.close_off()
    return compare(world, links, cases)


if __name__ == "__main__":
    sys.exit(main())
