"""Tasks in threads: results in order, errors passed on, and nothing begun twice."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import pytest

from tightcut.search.options import SearchOptions
from tightcut.utils.parallel import LazyTask, finish_tasks, run_tasks, workers


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


def test_an_error_of_the_progress_ends_the_rest_while_it_is_kept():
    begun, told, here = [], threading.Event(), threading.get_ident()

    def work(number):
        begun.append(number)
        if threading.get_ident() == here:
            time.sleep(0.001)  # lets the other thread finish the first task, if that one has begun it
        elif number > 0:
            assert told.wait(30)
        return [(1.0, number)]

    def progress(*_report):
        raise KeyboardInterrupt

    options = SearchOptions(n_jobs=2, progress=progress)
    with pytest.raises(KeyboardInterrupt) as kept:
        options.map(work, [(number,) for number in range(1000)], "start")
    told.set()
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join(30)
    assert kept.value is not None
    assert len(begun) < 1000


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

    tasks = [LazyTask(where, number) for number in range(3)]
    with ThreadPoolExecutor(1) as pool:
        for task in tasks:
            pool.submit(task.unless_begun)
        found = list(finish_tasks(tasks))
    assert [number for number, _ in found] == [2, 1, 0]
    assert [thread == here for _, thread in found] == [True, True, False]


def test_a_task_is_done_once_and_those_who_want_it_wait():
    done, both = [], threading.Barrier(4, timeout=30)
    task = LazyTask(lambda: done.append(None) or len(done))

    def ask():
        both.wait()
        return task()

    assert list(run_tasks(ask, [()] * 4, n_jobs=4)) == [1] * 4
    assert len(done) == 1


def test_a_thread_passes_by_a_task_that_another_has_begun():
    begun, release = threading.Event(), threading.Event()

    def work():
        begun.set()
        assert release.wait(30)
        return "done"

    task = LazyTask(work)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(task.unless_begun)
        assert begun.wait(30)
        task.unless_begun()  # would wait for ever
        release.set()
        assert task() == "done"


def test_an_error_ahead_is_raised_where_results_are_wanted():
    tasks = [LazyTask(int, "1"), LazyTask(int, "one")]
    with ThreadPoolExecutor(1) as pool:
        for task in tasks:
            pool.submit(task.unless_begun)
    with pytest.raises(ValueError, match="one"):
        list(finish_tasks(tasks))
    assert tasks[0]() == 1
