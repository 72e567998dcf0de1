import pytest

from ncclcheck.lab import DOCKER_FIRST, LAYOUTS, OVERLAY_FIRST, LabLink, LabNode, Layout
from ncclcheck.lab.layout import hosts


def test_only_networks_with_two_nodes_are_shared():
    assert (DOCKER_FIRST.shared, OVERLAY_FIRST.shared) == (frozenset({"overlay"}), frozenset({"overlay"}))


def test_two_links_of_one_node_share_nothing():
    links = (LabLink("eth0", "x", "10.0.0.1/24"), LabLink("eth1", "x", "10.0.0.2/24"))
    assert Layout("alone", "", (LabNode("a", links), LabNode("b", ()))).shared == frozenset()


def test_hosts_names_each_node_by_its_shared_address():
    assert hosts(DOCKER_FIRST) == "127.0.0.1 localhost\n::1 localhost\n10.0.0.11 node-a\n10.0.0.12 node-b\n"


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_both_nodes_have_the_same_docker_address(layout):
    docker = [link for node in layout.nodes for link in node.links if link.network not in layout.shared]
    assert [link.address for link in docker] == ["172.17.0.2/16"] * 2
    assert len({link.network for link in docker}) == 2


def test_layouts_differ_in_which_interface_comes_first():
    first = {name: [node.links[0].network for node in layout.nodes] for name, layout in LAYOUTS.items()}
    assert first == {"docker-first": ["docker-a", "docker-b"], "overlay-first": ["overlay", "overlay"]}
