"""A small network of several nodes on this machine, broken on purpose: for the demo and for tests.

Each node is a set of Linux namespaces (network, mounts, host name) with its own ``/etc`` and home folder. All of them
live inside one process namespace whose first process ends as soon as whoever built the lab is gone, by whatever
cause; the kernel then ends the rest and takes links, bridges and mounts away. Nothing is ever put on the disk.
"""

from ncclcheck.lab.build import built
from ncclcheck.lab.layout import DOCKER_FIRST, LAYOUTS, OVERLAY_FIRST, LabLink, LabNode, Layout

__all__ = ["DOCKER_FIRST", "LAYOUTS", "OVERLAY_FIRST", "LabLink", "LabNode", "Layout", "built"]
