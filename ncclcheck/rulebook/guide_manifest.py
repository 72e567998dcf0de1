"""Whether a manifest is one, as far as guides use Kubernetes and compose.

Only ``ncclcheck rules check`` and the tests read manifests; the YAML reader comes with the extra ``guides``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import yaml

from ncclcheck.rulebook.guide_shapes import (
    KINDS,
    SHAPES,
    Compose,
    JobSpec,
    Meta,
    PodSpec,
    Replicas,
    StatefulSetSpec,
    Template,
)
from ncclcheck.rulebook.patterns import Flaw
from ncclcheck.rulebook.schema import advice, nearest


class _Strict(yaml.SafeLoader):
    """Refuses a key that stands twice, which YAML 1.2 does and PyYAML does not."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping, each key once."""
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


def manifest_flaws(key: str, text: str) -> Iterator[Flaw]:
    """What is wrong with a manifest whose placeholders are filled: its YAML, its shape, and what it refers to."""
    try:
        documents = [tree for tree in yaml.load_all(text, _Strict) if tree is not None]
    except yaml.YAMLError as error:
        yield Flaw(key, f"is no YAML: {' '.join(str(error).split())}", "try it: kubectl apply --dry-run=client -f …")
        return
    if not documents:
        yield Flaw(key, "holds nothing", "leave it out")
    for tree in documents:
        try:
            yield from _document_flaws(key, tree)
        except msgspec.ValidationError as error:
            problem, _, where = str(error).partition(" - at ")
            kind = str(tree.get("kind", "compose file")) if isinstance(tree, dict) else ""
            path = where.strip("`").removeprefix("$").removeprefix(".")
            yield Flaw(key, f"{', '.join(filter(None, (kind, path)))}: {problem}", advice(problem, SHAPES))


def _document_flaws(key: str, tree: object) -> Iterator[Flaw]:
    """Flaws of one document; msgspec's ValidationError where its shape is wrong."""
    if not isinstance(tree, dict):
        yield Flaw(key, "is a text or a list, not a manifest", "keys and values: apiVersion, kind, …; or services")
    elif "services" in tree and "kind" not in tree:
        yield from _compose_flaws(key, msgspec.convert(tree, Compose))
    elif tree.get("kind") == "ConfigMap":
        msgspec.convert(tree.get("data", {}), dict[str, str])
        yield from _top_flaws(key, tree, "data")
    else:
        yield from _spec_flaws(key, tree)


def _spec_flaws(key: str, tree: dict[str, Any]) -> Iterator[Flaw]:
    shape = KINDS.get((str(tree.get("apiVersion")), str(tree.get("kind"))))
    if shape is None:
        known = [f"{kind} of {version}" for version, kind in KINDS]
        problem = f"nothing is known of {tree.get('kind')} of {tree.get('apiVersion')}"
        yield Flaw(key, problem, nearest(f"{tree.get('kind')} of {tree.get('apiVersion')}", known))
        return
    yield from _top_flaws(key, tree, "spec")
    spec = msgspec.convert(tree.get("spec"), shape)
    for template in _templates(spec):
        yield from _pod_flaws(key, template.spec)
    if isinstance(spec, JobSpec) and spec.template.spec.restart_policy == "Always":
        yield Flaw(key, "a Job's pods cannot be restarted always", "restartPolicy: Never, or OnFailure")
    if isinstance(spec, StatefulSetSpec):
        labels = spec.template.metadata.labels
        if not spec.selector.match_labels.items() <= labels.items():
            yield Flaw(key, "the selector does not select the pods of the template", "the same labels in both")


def _top_flaws(key: str, tree: dict[str, Any], body: str) -> Iterator[Flaw]:
    meta = msgspec.convert(tree.get("metadata", {}), Meta)
    if not meta.name and not meta.generate_name:
        yield Flaw(key, f"{tree['kind']} has no name", "metadata: with a name")
    for other in sorted(tree.keys() - {"apiVersion", "kind", "metadata", body}):
        yield Flaw(key, f"{tree['kind']} takes no {other}", nearest(other, ("apiVersion", "kind", "metadata", body)))


def _templates(spec: object) -> Sequence[Template]:
    """The pods that a kind makes."""
    if isinstance(spec, PodSpec):
        return [Template(spec)]
    if isinstance(spec, (JobSpec, StatefulSetSpec)):
        return [spec.template]
    groups = [getattr(spec, name, {}) for name in ("pytorch_replica_specs", "mpi_replica_specs")]
    return [replicas.template for group in groups for replicas in group.values() if isinstance(replicas, Replicas)]


def _pod_flaws(key: str, pod: PodSpec) -> Iterator[Flaw]:
    volumes = {volume.name for volume in pod.volumes}
    for container in (*pod.init_containers, *pod.containers):
        for mount in container.volume_mounts:
            if mount.name not in volumes:
                problem = f"the container {container.name} mounts {mount.name}, which is no volume of the pod"
                yield Flaw(key, problem, nearest(mount.name, volumes) or "add it under volumes")


def _compose_flaws(key: str, compose: Compose) -> Iterator[Flaw]:
    # A service without an image may be lines to add to one that has it.
    for name, service in compose.services.items():
        if service.network_mode == "host" and (service.ports or service.networks):
            instead = "leave ports and networks out: every port is the host's"
            yield Flaw(key, f"the service {name} has the host's network and another one", instead)
