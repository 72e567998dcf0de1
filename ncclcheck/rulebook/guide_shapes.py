"""The shapes of manifests: the part of Kubernetes' and compose's schemas that guides use, and nothing beyond it.

Sources: the API reference of Kubernetes 1.31, that of Kubeflow's training operator (kubeflow.org/v1, v2beta1), and the
compose specification.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Tree = dict[str, Any]
Names = dict[str, str]


class _Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Kubernetes' spelling."""


class Meta(_Shape, frozen=True):
    """ObjectMeta."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    labels: Names = {}
    annotations: Names = {}


class Variable(_Shape, frozen=True):
    """EnvVar: the value is text, so a bare number or yes is refused."""

    name: str
    value: str = ""
    value_from: Tree = {}


class Port(_Shape, frozen=True):
    """A container's port."""

    container_port: int
    name: str = ""
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"
    host_port: int | None = None


class Mount(_Shape, frozen=True):
    """VolumeMount."""

    name: str
    mount_path: str
    read_only: bool = False
    sub_path: str = ""


class Resources(_Shape, frozen=True):
    """ResourceRequirements."""

    limits: dict[str, str | int] = {}
    requests: dict[str, str | int] = {}


class Container(_Shape, frozen=True):
    """Container."""

    name: str
    image: str
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    working_dir: str = ""
    env: tuple[Variable, ...] = ()
    env_from: tuple[Tree, ...] = ()
    ports: tuple[Port, ...] = ()
    resources: Resources = Resources()
    volume_mounts: tuple[Mount, ...] = ()
    security_context: Tree = {}
    stdin: bool = False
    tty: bool = False


class EmptyDir(_Shape, frozen=True):
    """EmptyDirVolumeSource."""

    medium: Literal["", "Memory"] = ""
    size_limit: str | int | None = None


class Volume(_Shape, frozen=True):
    """Volume, of the sources that guides use."""

    name: str
    empty_dir: EmptyDir | None = None
    host_path: Tree = {}
    config_map: Tree = {}
    secret: Tree = {}
    persistent_volume_claim: Tree = {}


class PodSpec(_Shape, frozen=True):
    """PodSpec."""

    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] = ()
    volumes: tuple[Volume, ...] = ()
    restart_policy: Literal["Always", "OnFailure", "Never"] = "Always"
    host_network: bool = False
    host_ipc: bool = msgspec.field(default=False, name="hostIPC")
    host_pid: bool = msgspec.field(default=False, name="hostPID")
    dns_policy: Literal["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"] = "ClusterFirst"
    hostname: str = ""
    subdomain: str = ""
    node_selector: Names = {}
    node_name: str = ""
    affinity: Tree = {}
    tolerations: tuple[Tree, ...] = ()
    topology_spread_constraints: tuple[Tree, ...] = ()
    service_account_name: str = ""
    runtime_class_name: str = ""
    scheduler_name: str = ""
    image_pull_secrets: tuple[Tree, ...] = ()
    security_context: Tree = {}
    termination_grace_period_seconds: int | None = None


class Template(_Shape, frozen=True):
    """PodTemplateSpec."""

    spec: PodSpec
    metadata: Meta = Meta()


class JobSpec(_Shape, frozen=True):
    """JobSpec of batch/v1."""

    template: Template
    completions: int | None = None
    parallelism: int | None = None
    completion_mode: Literal["Indexed", "NonIndexed"] = "NonIndexed"
    backoff_limit: int | None = None
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    suspend: bool = False


class Selector(_Shape, frozen=True):
    """LabelSelector."""

    match_labels: Names = {}
    match_expressions: tuple[Tree, ...] = ()


class StatefulSetSpec(_Shape, frozen=True):
    """StatefulSetSpec of apps/v1."""

    service_name: str
    selector: Selector
    template: Template
    replicas: int = 1
    pod_management_policy: Literal["OrderedReady", "Parallel"] = "OrderedReady"


class ServicePort(_Shape, frozen=True):
    """ServicePort."""

    port: int
    name: str = ""
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"
    target_port: int | str | None = None


class ServiceSpec(_Shape, frozen=True):
    """ServiceSpec; ``clusterIP: None`` in YAML is the text None, a headless service."""

    selector: Names = {}
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    ports: tuple[ServicePort, ...] = ()
    publish_not_ready_addresses: bool = False
    type: Literal["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"] = "ClusterIP"


class NetworkPolicySpec(_Shape, frozen=True):
    """NetworkPolicySpec of networking.k8s.io/v1."""

    pod_selector: Selector
    policy_types: tuple[Literal["Ingress", "Egress"], ...] = ()
    ingress: tuple[Tree, ...] = ()
    egress: tuple[Tree, ...] = ()


class Replicas(_Shape, frozen=True):
    """ReplicaSpec of Kubeflow's operators."""

    template: Template
    replicas: int = 1
    restart_policy: Literal["Always", "OnFailure", "Never", "ExitCode"] = "OnFailure"


class PyTorchJobSpec(_Shape, frozen=True):
    """PyTorchJobSpec."""

    pytorch_replica_specs: dict[Literal["Master", "Worker"], Replicas]
    nproc_per_node: str | None = None
    run_policy: Tree = {}
    elastic_policy: Tree = {}


class MPIJobSpec(_Shape, frozen=True):
    """MPIJobSpec."""

    mpi_replica_specs: dict[Literal["Launcher", "Worker"], Replicas] = msgspec.field(name="mpiReplicaSpecs")
    slots_per_worker: int = 1
    run_policy: Tree = {}
    ssh_auth_mount_path: str = ""
    mpi_implementation: Literal["OpenMPI", "Intel", "MPICH"] = "OpenMPI"


KINDS: dict[tuple[str, str], type[msgspec.Struct]] = {
    ("v1", "Pod"): PodSpec,
    ("v1", "Service"): ServiceSpec,
    ("batch/v1", "Job"): JobSpec,
    ("apps/v1", "StatefulSet"): StatefulSetSpec,
    ("networking.k8s.io/v1", "NetworkPolicy"): NetworkPolicySpec,
    ("kubeflow.org/v1", "PyTorchJob"): PyTorchJobSpec,
    ("kubeflow.org/v2beta1", "MPIJob"): MPIJobSpec,
}
"""The shape of ``spec`` by apiVersion and kind."""


class _Compose(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Compose's spelling."""


class Limits(_Compose, frozen=True):
    """A limit with its two bounds; -1 is none."""

    soft: int
    hard: int


class ComposeService(_Compose, frozen=True):
    """A service of a compose file."""

    image: str = ""
    build: str | Tree = ""
    command: str | tuple[str, ...] = ""
    entrypoint: str | tuple[str, ...] = ""
    environment: tuple[str, ...] | dict[str, str | int | float | None] = ()
    env_file: str | tuple[str, ...] = ""
    network_mode: str = ""
    networks: tuple[str, ...] | Tree = ()
    ports: tuple[str | int | Tree, ...] = ()
    ipc: str = ""
    shm_size: str | int = ""
    ulimits: dict[str, int | Limits] = {}
    cap_add: tuple[str, ...] = ()
    devices: tuple[str | Tree, ...] = ()
    volumes: tuple[str | Tree, ...] = ()
    gpus: str | tuple[Tree, ...] = ""
    deploy: Tree = {}
    runtime: str = ""
    privileged: bool = False
    security_opt: tuple[str, ...] = ()
    group_add: tuple[str | int, ...] = ()
    user: str = ""
    hostname: str = ""
    container_name: str = ""
    working_dir: str = ""
    restart: Literal["no", "always", "on-failure", "unless-stopped"] = "no"
    depends_on: tuple[str, ...] | Tree = ()
    init: bool = False
    stdin_open: bool = False
    tty: bool = False


class Compose(_Compose, frozen=True):
    """A compose file."""

    services: dict[str, ComposeService]
    name: str = ""
    volumes: Tree = {}
    networks: Tree = {}


SHAPES: tuple[type[msgspec.Struct], ...] = (
    *(Meta, Variable, Port, Mount, Resources, Container, EmptyDir, Volume, Template, Selector, ServicePort, Replicas),
    *KINDS.values(),
    *(Limits, ComposeService, Compose),
)
"""Every structure, for advice to a misspelt key."""
