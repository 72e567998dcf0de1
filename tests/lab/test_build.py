"""The lab for real: these tests fail, and are never skipped, where no namespaces can be made."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from ncclcheck.errors import LabError
from ncclcheck.lab import DOCKER_FIRST, LAYOUTS, OVERLAY_FIRST, LabLink, LabNode, Layout, built
from ncclcheck.lab.layout import hosts
from tests.lab import people
from tests.lab.traces import namespaces, pid_of, wait_until_gone

LOOK = """
import json, os, pwd, socket
links = sorted(name for _, name in socket.if_nameindex())
conf = open("/etc/nccl.conf").read() if os.path.exists("/etc/nccl.conf") else None
print(json.dumps(dict(
    host=socket.gethostname(), links=links, sysfs=sorted(os.listdir("/sys/class/net")), conf=conf,
    hosts=open("/etc/hosts").read(), home=[os.environ["HOME"], pwd.getpwuid(os.getuid()).pw_dir],
    folder=os.getcwd(), processes=len([name for name in os.listdir("/proc") if name.isdigit()]),
)))
"""

SERVE = """
import socket
server = socket.create_server(("", 7000))
print("ready", flush=True)
connection, peer = server.accept()
connection.sendall(peer[0].encode())
"""

CALL = """
import socket, sys
try:
    with socket.create_connection((sys.argv[1], 7000), timeout=3) as connection:
        print(connection.recv(100).decode())
except OSError as error:
    print(type(error).__name__)
"""

# Builds a lab, starts a command on its first node, says where, and waits for its end.
BUILDER = """
import json, subprocess, sys
from ncclcheck.lab import DOCKER_FIRST, built
with built(DOCKER_FIRST) as nodes:
    child = subprocess.Popen([*nodes[0].prefix, "sleep", "1000"])
    print(json.dumps([node.prefix for node in nodes]), flush=True)
    sys.stdin.read()
"""


def on(node, *command, **more):
    """Run a command on a node."""
    env = {**os.environ, **dict(node.env), **more}
    return subprocess.run([*node.prefix, *command], env=env, capture_output=True, text=True, timeout=30, check=False)


def look(node):
    """What a node sees of itself."""
    return json.loads(on(node, sys.executable, "-c", LOOK).stdout)


@pytest.fixture(scope="module")
def nodes():
    """One lab for the tests that leave it as it was."""
    with built(DOCKER_FIRST) as made:
        yield made


def test_each_node_sees_only_its_own(nodes):
    seen = [look(node) for node in nodes]
    for name, view in zip(("node-a", "node-b"), seen, strict=True):
        assert view.pop("processes") < 10
        assert view == {
            "host": name,
            "links": ["eth0", "eth1", "lo"],
            "sysfs": ["eth0", "eth1", "lo"],
            "conf": None,
            "hosts": hosts(DOCKER_FIRST),
            "home": ["/etc/lab-home", "/etc/lab-home"],
            "folder": str(Path.cwd()),
        }


def call(nodes, address):
    """What node-b gets from a server on node-a, at this address."""
    server = subprocess.Popen([*nodes[0].prefix, sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True)
    with server:
        assert server.stdout.readline() == "ready\n"
        answer = on(nodes[1], sys.executable, "-c", CALL, address).stdout.strip()
        server.terminate()
    return answer


@pytest.mark.parametrize(
    ("address", "answer"),
    [("10.0.0.11", "10.0.0.12"), ("node-a", "10.0.0.12"), ("172.17.0.2", "ConnectionRefusedError")],
)
def test_only_the_overlay_leads_to_the_other_node(nodes, address, answer):
    assert call(nodes, address) == answer


def test_each_node_has_an_etc_of_its_own(nodes):
    on(nodes[0], sys.executable, "-c", "open('/etc/nccl.conf', 'w').write('NCCL_DEBUG=INFO\\n')")
    seen = [look(node)["conf"] for node in nodes]
    on(nodes[0], "rm", "/etc/nccl.conf")
    assert seen == ["NCCL_DEBUG=INFO\n", None]
    assert not Path("/etc/lab-home").exists()


def test_a_layout_brings_its_own_files_and_order():
    with built(OVERLAY_FIRST) as made:
        seen = look(made[0])
        assert (seen["conf"], seen["links"]) == ("NCCL_SOCKET_IFNAME=eth1\nNCCL_DEBUG=WARN\n", ["eth0", "eth1", "lo"])
        assert call(made, "10.0.0.11") == "10.0.0.12"


def test_any_number_of_nodes():
    links = [(LabLink("eth0", "net", f"10.1.0.{number}/24"),) for number in (1, 2, 3)]
    layout = Layout("three", "", tuple(LabNode(f"n{number}", link) for number, link in enumerate(links)))
    with built(layout) as made:
        assert [look(node)["host"] for node in made] == ["n0", "n1", "n2"]
        assert call((made[1], made[2]), "10.1.0.2") == "10.1.0.3"


def test_variables_of_this_machine_stay_out(monkeypatch):
    monkeypatch.setenv("NCCL_SOCKET_IFNAME", "eth7")
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "eth7")
    layout = Layout("one", "", (LabNode("n", (), env=(("NCCL_DEBUG", "INFO"),)),))
    with built(layout) as (node,):
        printed = on(node, "env").stdout.splitlines()
    assert [line for line in printed if line.startswith(("NCCL", "GLOO"))] == ["NCCL_DEBUG=INFO"]


@pytest.mark.parametrize(
    ("command", "status"), [(("true",), 0), (("sh", "-c", "exit 7"), 7), (("sh", "-c", "kill -9 $$"), 137)]
)
def test_a_commands_exit_status_comes_through(nodes, command, status):
    assert on(nodes[0], *command).returncode == status


def test_a_command_that_is_not_there(nodes):
    done = on(nodes[0], "/no/such/command")
    assert (done.returncode, done.stderr) == (126, "/no/such/command: No such file or directory\n")


def test_a_command_ends_when_its_entrance_is_killed(nodes):
    entrance = subprocess.Popen(
        [*nodes[0].prefix, sys.executable, "-c", "import time; print('on', flush=True); time.sleep(1000)"],
        stdout=subprocess.PIPE,
    )
    with entrance:
        assert entrance.stdout.readline() == b"on\n"
        entrance.kill()
        # The command held the other end: this returns only once it has ended too.
        assert entrance.stdout.read() == b""


def test_nothing_is_left_after_the_block():
    with built(DOCKER_FIRST) as made:
        spaces = frozenset().union(*(namespaces(pid_of(node)) for node in made))
        stray = subprocess.Popen([*made[0].prefix, "sh", "-c", "echo on; sleep 1000"], stdout=subprocess.PIPE)
        assert stray.stdout.readline() == b"on\n"
        assert len(spaces) >= 7
    assert wait_until_gone(spaces) == []
    with stray:
        assert stray.wait(10) == 137
    gone = on(made[0], "true")
    assert (gone.returncode, gone.stderr) == (126, "the lab node is gone (No such file or directory)\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_nothing_is_left_when_the_builder_is_killed(number):
    builder = subprocess.Popen(
        [sys.executable, "-c", BUILDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with builder:
        pids = [
            int(next(word for word in prefix if word.isdigit())) for prefix in json.loads(builder.stdout.readline())
        ]
        spaces = frozenset().union(*map(namespaces, pids))
        builder.send_signal(number)
        builder.wait(10)
        assert wait_until_gone(spaces) == []
    assert len(spaces) >= 7


def test_nothing_is_left_when_the_builder_is_gone_before_it_stands():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "ncclcheck.lab.inside", msgspec.json.encode(DOCKER_FIRST).decode()]
    process = subprocess.Popen(command, stdin=theirs, stderr=subprocess.DEVNULL, start_new_session=True)
    ours.close()
    theirs.close()
    try:
        # It waits for its first process, and with that one, all others have ended.
        process.wait(10)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_an_ordinary_user_can_build_one():
    code = (
        "import json, os, subprocess, sys\n"
        "from ncclcheck.lab import DOCKER_FIRST, built\n"
        "with built(DOCKER_FIRST) as nodes:\n"
        f"    done = subprocess.run([*nodes[1].prefix, sys.executable, '-c', {LOOK!r}],\n"
        "        env={**os.environ, **dict(nodes[1].env)}, capture_output=True, text=True, check=True)\n"
        "print(json.dumps([os.getuid(), json.loads(done.stdout)['host']]))\n"
    )
    command = [sys.executable, people.SCRIPT, "ordinary", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    user, host = json.loads(done.stdout)
    assert (user > 0, host) == (True, "node-b")


def test_without_rights_it_says_what_is_missing():
    code = (
        "from ncclcheck.errors import LabError\n"
        "from ncclcheck.lab import DOCKER_FIRST, built\n"
        "try:\n"
        "    with built(DOCKER_FIRST): pass\n"
        "except LabError as error:\n"
        "    print(error.problem, error.next_step, sep='\\n')\n"
    )
    command = [sys.executable, people.SCRIPT, "powerless", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    problem, next_step = done.stdout.splitlines()
    assert problem == "no lab can be built here (user namespace: No space left on device)"
    assert "CAP_SYS_ADMIN" in next_step
    assert "max_user_namespaces" in next_step


def test_elsewhere_than_on_linux_it_says_so(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(LabError, match="this is darwin"), built(DOCKER_FIRST):
        pass


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_broken_layout_is_told_apart(layout):
    broken = Layout("broken", "", (LabNode("n", (LabLink("eth0", "net", "10.0.0.1/24"),) * 2), *layout.nodes))
    with pytest.raises(LabError, match="no lab can be built here"), built(broken):
        pass


@pytest.mark.parametrize("keep", [True, False], ids=["a folder of both", "a folder that is gone"])
def test_a_command_starts_in_the_callers_folder(nodes, tmp_path, monkeypatch, keep):
    monkeypatch.chdir(tmp_path)
    if not keep:
        tmp_path.rmdir()
    assert on(nodes[0], "/bin/pwd").stdout.strip() == (str(tmp_path) if keep else "/")
