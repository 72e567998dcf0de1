"""A free port is found by looking; one that somebody listens at is not, on whichever address he does."""

import socket

import pytest

from ncclcheck.errors import PeerError
from ncclcheck.peer.freeport import free_port, is_free


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.2"), (socket.AF_INET, "0.0.0.0")])
def test_a_port_that_somebody_listens_at_is_taken(family, address):
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert not is_free(port)
        found, taken = free_port(port)
    assert found > port
    assert taken[0] == port
    assert is_free(port)


def test_the_first_free_one_and_those_before_it():
    assert free_port(29500, {29502}.__contains__) == (29502, (29500, 29501))


def test_where_none_is_free_it_says_so():
    with pytest.raises(PeerError, match="every port from 29500 to 29599"):
        free_port(29500, lambda port: False)
    with pytest.raises(PeerError, match="every port from 65530 to 65535"):
        free_port(65530, lambda port: False)
