"""What a worker takes on its command line and from its launcher."""

import argparse

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncclcheck.model import Pattern
from ncclcheck.speedtest.worker import words
from ncclcheck.speedtest.worker.words import Asked


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("1000", 1000), ("64K", 65536), ("64k", 65536), ("10M", 10 * 1024**2), ("2G", 2 * 1024**3)],
)
def test_sizes(text, size):
    assert words.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "M", "1T", "-1", "1.5G", "1 M", "10MB", "٣", "9" * 20])
def test_no_sizes(text):
    with pytest.raises(ValueError, match="not a size"):
        words.parse_size(text)


PLACES = [
    ("10.0.0.1:5000", ("10.0.0.1", 5000)),
    ("node-a:65535", ("node-a", 65535)),
    ("[::1]:5000", ("::1", 5000)),
    ("[fe80::1%eth1]:5000", ("fe80::1%eth1", 5000)),
]


@pytest.mark.parametrize(("text", "place"), PLACES)
def test_places(text, place):
    assert words.parse_place(text) == place
    assert words.show(place) == text


@pytest.mark.parametrize("text", ["", "node-a", ":5000", "::1:5000", "a:0", "a:65536", "a:b", "[]:5", "[a:5", "a:5:6"])
def test_no_places(text):
    with pytest.raises(ValueError, match="not HOST:PORT"):
        words.parse_place(text)


@settings(deadline=None)
@given(st.text(max_size=30))
def test_any_text_is_a_place_or_refused(text):
    try:
        host, port = words.parse_place(text)
    except ValueError:
        return
    assert host
    assert 0 < port < 65536


@pytest.mark.parametrize(("text", "seconds"), [("1", 1.0), ("0.5", 0.5), ("7.", 7.0)])
def test_limits(text, seconds):
    assert words.parse_limit(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0.0", "-1", "nan", "inf", "1e9", "9999999", "٣"])
def test_no_limits(text):
    with pytest.raises(ValueError, match="not a time limit"):
        words.parse_limit(text)


def test_the_patterns_have_the_models_names():
    assert tuple(pattern.value for pattern in Pattern) == words.PATTERNS


def test_patterns_come_in_our_order_and_once():
    assert words.parse_patterns("all-reduce,one-way,all-reduce") == ("one way", "all reduce")


@pytest.mark.parametrize("text", ["", "sideways", "one-way,"])
def test_no_patterns(text):
    with pytest.raises(ValueError, match="there are one-way, both-ways, all-gather, all-reduce"):
        words.parse_patterns(text)


@pytest.mark.parametrize(
    ("largest", "factor", "sizes"),
    [
        (1024**2, 16, (8, 128, 2048, 32768, 524288, 1024**2)),
        (128, 16, (8, 128)),
        (8, 16, (8,)),
        (3, 16, (3,)),
        (20, 2, (8, 16, 20)),
    ],
)
def test_a_sweep_ends_with_its_largest_size(largest, factor, sizes):
    assert words.sweep(largest, factor) == sizes


@settings(deadline=None)
@given(st.integers(1, 2**40))
def test_sizes_in_words_are_read_again(size):
    assert words.parse_size(words.size_words(size)) == size


def asked(*line, **env):
    parser = argparse.ArgumentParser()
    words.add_arguments(parser)
    return words.asked(parser.parse_args(line), env)


def test_the_seeds_words():
    side = asked("10.0.0.1:5000", "10M", "1", "3")
    assert side == Asked(("10.0.0.1", 5000), words.sweep(10 * 1024**2), 1, 2, 3)


TORCHRUN = {
    "RANK": "5",
    "WORLD_SIZE": "8",
    "LOCAL_RANK": "1",
    "MASTER_ADDR": "10.0.0.1",
    "MASTER_PORT": "29500",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
    "TORCHELASTIC_RESTART_COUNT": "2",
}


def who(side):
    return (side.place, side.rank, side.ranks, side.device, side.store)


@pytest.mark.parametrize(
    ("line", "env", "expected"),
    [
        (("1M",), TORCHRUN, (("10.0.0.1", 29500), 5, 8, 1, "ncclcheck/2")),
        ((), TORCHRUN, (("10.0.0.1", 29500), 5, 8, 1, "ncclcheck/2")),
        (
            ("1M",),
            {**TORCHRUN, "TORCHELASTIC_USE_AGENT_STORE": "False"},
            (("10.0.0.1", 29500), 5, 8, 1, ""),
        ),
        (("a:5000", "1M"), TORCHRUN, (("a", 5000), 5, 8, 1, "")),
        # Whoever says a rank means it, whatever the container's variables say.
        (("a:5000", "1M", "1"), TORCHRUN, (("a", 5000), 1, 2, 0, "")),
        (("a:5000", "1M", "2", "--ranks", "3"), {}, (("a", 5000), 2, 3, 0, "")),
        (
            ("a:5000", "1M"),
            {"SLURM_PROCID": "3", "SLURM_NTASKS": "4", "SLURM_LOCALID": "1"},
            (("a", 5000), 3, 4, 1, ""),
        ),
        (
            ("a:5000",),
            {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"},
            (("a", 5000), 1, 2, 0, ""),
        ),
        (("a:5000",), {"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1"}, (("a", 5000), 1, 2, 1, "")),
    ],
)
def test_who_this_is(line, env, expected):
    assert who(asked(*line, **env)) == expected


@pytest.mark.parametrize(
    ("line", "env", "problem"),
    [
        (("a:5000", "1M"), {}, "which rank is this"),
        (("1M",), {"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, "where do the ranks meet"),
        (("1M", "0"), {}, "where do the ranks meet"),
        (("a:5000", "1M", "2"), {}, "there is no rank 2 of 2"),
        (("a:5000", "1M", "x"), {}, "not a number"),
        (("a:5000", "1M", "0", "0", "0"), {}, "too many words"),
        (("1M", "--ranks", "3"), TORCHRUN, "--ranks says 3, and the launcher started 8"),
        (("nowhere",), TORCHRUN, "not a size"),
    ],
)
def test_what_leaves_something_open(line, env, problem):
    with pytest.raises(ValueError, match=problem):
        asked(*line, **env)


@pytest.mark.parametrize(
    ("line", "sizes"),
    [
        (("a:1", "1M", "0", "--sizes", "64K,8"), (8, 65536, 1024**2)),
        (("a:1", "8", "0", "--factor", "2"), (8,)),
        (("a:1", "64", "0", "--factor", "2"), (8, 16, 32, 64)),
    ],
)
def test_which_sizes(line, sizes):
    assert asked(*line).sizes == sizes


def test_sizes_need_no_largest_one():
    assert asked("--sizes", "8,1K", **TORCHRUN).sizes == (8, 1024)
