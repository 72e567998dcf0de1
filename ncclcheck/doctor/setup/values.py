"""The values of a guide's placeholders, by node: from its facts, what was concluded, what was answered. Pure."""

from __future__ import annotations

from ncclcheck.doctor.setup.state import SCRIPT, NodeCommand, Setup
from ncclcheck.model import Facts, Use
from ncclcheck.rulebook.guide_fill import fill_command


def nproc(facts: Facts | None) -> int:
    """Processes on a node: one for each GPU that was seen, and one where there is none."""
    return max(1, len(facts.machine.gpus)) if facts and facts.machine else 1


def values(setup: Setup, host: str = "") -> dict[str, str]:
    """What is known of the names that may stand in braces, for the node of this name or for this one."""
    evidence = setup.evidence
    name = host or evidence.own_name
    known = {
        **dict(setup.choices.answers),
        "host": name,
        "nodes": str(setup.choices.nodes),
        "script": setup.choices.script or SCRIPT,
        "invitation": setup.invite,
        **_of_facts(setup, name),
        **_between(setup, name),
    }
    return {key: value for key, value in known.items() if value or key == "setting"}


def _of_facts(setup: Setup, name: str) -> dict[str, str]:
    evidence = setup.evidence
    own = name == evidence.own_name
    facts = evidence.facts if own else _facts_of(setup, name)
    nodes = evidence.known.nodes if evidence.known else ()
    rank = next((rank for rank, node in enumerate(nodes) if node.host == name), setup.choices.role)
    missing = setup.choices.nodes - len(nodes)
    return {
        "role": str(rank),
        "node_rank": str(rank),
        "nproc": str(nproc(facts)),
        "world_size": str(sum(map(nproc, nodes)) + missing * nproc(facts)),
        # Another node's Python is not on its card; that name is the usual one.
        "python": (facts.python if own and facts else None) or "python",
        "nccl": (facts.library.version if facts and facts.library else None) or "",
        "conf_path": evidence.conf_path,
    }


def _facts_of(setup: Setup, name: str) -> Facts | None:
    nodes = setup.evidence.known.nodes if setup.evidence.known else ()
    return next((node for node in nodes if node.host == name), None)


def _between(setup: Setup, name: str) -> dict[str, str]:
    use = setup.evidence.use
    mine = next((one for one in use if one.host == name), None)
    port = setup.evidence.port
    return {
        "interface": mine.interface if mine else "",
        "address": mine.address if mine else "",
        **_others(tuple(one for one in use if one.host != name)),
        "master_addr": use[0].address if use else "",
        "master_port": str(port.port) if port else "",
        "hosts": ",".join(one.address for one in use),
        "setting": setting(setup, name),
    }


def _others(others: tuple[Use, ...]) -> dict[str, str]:
    return {"peer_host": others[0].host, "peer_address": others[0].address} if others else {}


def setting(setup: Setup, host: str) -> str:
    """What a node needs in its environment as long as it is in no nccl.conf of its own: NAME=VALUE words."""
    evidence = setup.evidence
    made = {one.host for one in evidence.made if one.applied}
    fix = evidence.known.fix_for(host) if evidence.known and not evidence.known.settled else None
    return " ".join(f"{name}={value}" for name, value in fix.env) if fix and host not in made else ""


def commands(setup: Setup) -> tuple[NodeCommand, ...]:
    """The launcher's command lines for the person's own script, for each node that has to run them."""
    known = setup.evidence.known
    hosts = [node.host for node in known.nodes] if known else []
    return tuple(
        NodeCommand(host, rank, step.title, step.where, fill_command(command, values(setup, host)))
        for rank, host in enumerate(hosts)
        for step in setup.launcher.step
        if step.where in ("each", "first" if rank == 0 else "others")
        for command in step.commands
    )
