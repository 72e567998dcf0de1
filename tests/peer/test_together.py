"""Several tasks at once: nothing gets lost, and each waits until its value was dealt with."""

import threading
import time

import pytest

from ncclcheck.peer.together import together


def test_everything_arrives_each_in_its_own_order():
    def task(letter):
        yield from (f"{letter}{number}" for number in range(20))

    got = list(together([lambda letter=letter: task(letter) for letter in "abc"]))
    assert len(got) == 60
    for letter in "abc":
        assert [one for one in got if one[0] == letter] == [f"{letter}{number}" for number in range(20)]


def test_a_task_goes_on_only_when_its_value_was_dealt_with():
    told = []

    def task():
        yield "plan"
        told.append("question")

    for value in together([task]):
        time.sleep(0.2)
        told.append(value)
    assert told == ["plan", "question"]


def test_all_run_at_the_same_time():
    everybody_came = threading.Barrier(3)

    def task():
        everybody_came.wait(timeout=10)
        yield "met"

    assert list(together([task, task, task])) == ["met"] * 3


def test_an_error_comes_after_the_others_have_ended():
    def fails():
        yield 1
        raise KeyError("gone")

    def works():
        time.sleep(0.2)
        yield 2

    got = []
    with pytest.raises(KeyError, match="gone"):
        got.extend(together([fails, works]))
    assert got == [1, 2]


def test_when_nobody_listens_any_more_tasks_end():
    ended = threading.Event()

    def endless():
        try:
            while True:
                yield 1
        finally:
            ended.set()

    values = together([endless])
    assert next(values) == 1
    values.close()
    assert ended.wait(2)


def test_no_task_is_no_value():
    assert list(together([])) == []
