"""The line that one node shows and the other one gets."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.errors import PeerError
from ncclcheck.peer.invitation import Invitation, new_token, read

TOKEN = "K7QW3MABCDEFGH2Z"


def test_the_command_is_read_back_as_it_was():
    invitation = Invitation(41235, TOKEN, ("10.0.0.11", "172.17.0.2", "fd00::11"))
    assert invitation.command == f"ncclcheck join 41235-{TOKEN} 10.0.0.11 172.17.0.2 fd00::11"
    assert read(tuple(invitation.command.split())) == invitation
    assert read((invitation.command,)) == invitation


def test_small_letters_brackets_commas_and_doubles_do_no_harm():
    read_one = read((f"41235-{TOKEN.lower()}", "10.0.0.11,", "[FD00::11]", "10.0.0.11"))
    assert read_one == Invitation(41235, TOKEN, ("10.0.0.11", "fd00::11"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing was given"),
        (("hello",), "'hello' is no PORT-TOKEN"),
        ((f"70000-{TOKEN}", "10.0.0.1"), "is no PORT-TOKEN"),
        ((f"41235-{TOKEN[1:]}", "10.0.0.1"), "is no PORT-TOKEN"),
        ((f"41235-{TOKEN}",), "it names no address"),
        ((f"41235-{TOKEN}", "node-a"), "'node-a' is no address"),
        ((f"41235-{TOKEN}", "10.0.0.1;reboot"), "is no address"),
    ],
)
def test_what_is_no_invitation_is_refused_with_a_next_step(words, said):
    with pytest.raises(PeerError, match="this is no invitation") as caught:
        read(words)
    assert said in caught.value.problem
    assert "ncclcheck join PORT-TOKEN ADDRESS" in caught.value.next_step


@given(st.lists(st.text(max_size=40), max_size=4))
def test_any_text_is_read_or_refused(words):
    with suppress(PeerError):
        assert read(tuple(words)).addresses


def test_tokens_differ_and_survive_a_shell():
    tokens = {new_token() for _ in range(200)}
    assert len(tokens) == 200
    assert all(token.isalnum() and len(token) == 16 for token in tokens)
