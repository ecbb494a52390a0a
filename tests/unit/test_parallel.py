"""Tasks in threads: results in order, errors passed on, and nothing begun twice."""

import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import pytest

from tightcut._support.parallel import TasksAhead, run_tasks, workers


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    assert list(run_tasks(pow, [(2, power) for power in range(20)], n_jobs)) == [2**power for power in range(20)]


def test_as_many_tasks_run_at_a_time_as_there_are_threads():
    together = threading.Barrier(3, timeout=30)
    assert sorted(run_tasks(together.wait, [(), (), ()], n_jobs=3)) == [0, 1, 2]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_ends_the_rest(n_jobs):
    begun = []

    def fail_at_third(number):
        begun.append(number)
        if number == 3:
            raise ValueError("the third")

    with pytest.raises(ValueError, match="the third"):
        list(run_tasks(fail_at_third, [(number,) for number in range(1, 1000)], n_jobs))
    assert len(begun) < 999


def test_the_configured_number_of_threads():
    with joblib.parallel_config("threading", n_jobs=3):
        assert workers(None) == (3, True)
        assert workers(2) == (2, True)
    with joblib.parallel_config("loky", n_jobs=2):
        assert workers(None) == (2, False)
    assert workers(1) == (1, True)


def test_tasks_that_no_thread_has_begun_are_run_by_the_caller():
    here, release = threading.get_ident(), threading.Event()

    def where(number):
        if number == 0:
            assert release.wait(30)
        if number == 1:  # the last that is run here
            release.set()
        return number, threading.get_ident()

    with ThreadPoolExecutor(1) as pool:
        found = TasksAhead(pool, where, [(0,), (1,), (2,)]).results()
    assert [number for number, _ in found] == [0, 1, 2]
    assert [thread == here for _, thread in found] == [False, True, True]


def test_an_error_ahead_is_raised_where_results_are_wanted():
    with ThreadPoolExecutor(1) as pool:
        ahead = TasksAhead(pool, int, [("1",), ("one",)])
        with pytest.raises(ValueError, match="one"):
            ahead.results()
