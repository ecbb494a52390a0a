"""Cells are fitted in other processes, which can be killed when their time is up.

A fresh interpreter, not a fork: after threads of OpenMP have run (a nearest-neighbour search is enough) a forked child
hangs in its first parallel region. It serves cell after cell, so that importing and loading compiled code are paid for
once, and it ends with the process that started it, even in the middle of a fit.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from experiments.methods import Method
from experiments.problems import draw_constraints, open_problem
from experiments.record import Cell, Row

# Set before any library is loaded: threads that fight for cores make timings worthless, and sums depend on their number.
SINGLE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")


class Task(NamedTuple):
    """A cell, and what it takes to solve it."""

    cell: Cell
    method: Method
    path: Path
    seed: int


class Worker:
    """A process that fits, seen from here: started when there is a task, killed when one takes too long.

    Limits are seconds from the call of `fit`, and GiB that the process may allocate; the latter on Linux only.
    """

    process: BaseProcess | None = None
    connection: Connection
    task: Task
    deadline: float
    known: Row  # what the process has said about the task so far

    def __init__(self, time_limit: float, memory_limit: float | None) -> None:
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    def begin(self, task: Task) -> None:
        if self.process is None:
            self._start()
        self.task, self.deadline, self.known = task, math.inf, {}
        with suppress(BrokenPipeError):  # it has ended, which `answer` says
            self.connection.send(task)

    def answer(self) -> Row | None:
        """The row, once there is one: what the process says, or what became of it."""
        try:
            while self.connection.poll():
                message = self.connection.recv()
                if "status" in message:
                    return message
                self.known, self.deadline = message, time.monotonic() + self.time_limit  # the fit begins
        except (EOFError, ConnectionError):
            text = f"The process ended with exit status {self.kill(patience=5)} and no result."
            return self.known | {"status": "failed", "message": text}
        if time.monotonic() < self.deadline:
            return None
        self.kill()
        text = f"more than {self.time_limit:g} s"
        return self.known | {"status": "too slow", "message": text, "seconds": self.time_limit}

    def kill(self, patience: float = 0.0) -> int | None:
        """End the process, unless it ends by itself within some seconds; its exit status."""
        process, self.process = self.process, None
        if process is None:
            return None
        process.join(patience)
        process.kill()
        process.join()
        self.connection.close()
        return process.exitcode

    def _start(self) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, self.memory_limit), daemon=True)
        with patch.dict(os.environ, SINGLE_THREAD):
            self.process.start()
        theirs.close()  # here, so that its end over there ends the connection


@contextmanager
def crew(n_jobs: int, time_limit: float, memory_limit: float | None) -> Iterator[list[Worker]]:
    """Workers that end with the block."""
    workers = [Worker(time_limit, memory_limit) for _ in range(n_jobs)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()


def solve_all(tasks: Iterable[Task], workers: list[Worker]) -> Iterator[tuple[Cell, Row]]:
    """The rows of all tasks, as they are finished."""
    waiting, busy = deque(tasks), set[Worker]()
    while waiting or busy:
        for worker in workers:
            if waiting and worker not in busy:
                worker.begin(waiting.popleft())
                busy.add(worker)
        left = min(worker.deadline for worker in busy) - time.monotonic()
        wait([worker.connection for worker in busy], None if left == math.inf else max(left, 0))
        for worker in list(busy):
            row = worker.answer()
            if row is not None:
                busy.remove(worker)
                yield worker.task.cell, worker.task.cell.columns | row


def serve(connection: Connection, memory_limit: float | None) -> None:
    """The life of the other process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the keyboard is for the run, which then ends this
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if memory_limit is not None and sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (int(memory_limit * 2**30),) * 2)
    warnings.simplefilter("ignore")
    while True:
        try:
            row = _solve(connection.recv(), connection.send)
        except MemoryError as error:
            row = {"status": "too large", "message": f"more than {memory_limit} GiB: {error}"}
        except BaseException as error:  # noqa: BLE001 (whatever a method does wrong is a result)
            row = {"status": "failed", "message": " ".join(f"{type(error).__name__}: {error}".split())}
        connection.send(row)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
    os._exit(1)


@cache
def _warm() -> None:
    """Load compiled code, once, before the clock runs."""
    from tightcut.warmup import warmup

    warmup()


def _solve(task: Task, tell: Callable[[Row], None]) -> Row:
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    from tightcut import metrics

    cell, method, path, seed = task
    problem = open_problem(path)
    constraints = draw_constraints(problem.y, cell, seed)
    estimator = method.ready(int(problem.y.max()) + 1, cell.trial, constraints, cell.noise)
    if any(kind.__module__.startswith("tightcut.") for kind in type(estimator).__mro__):
        _warm()
    tell({})
    clock = time.process_time()  # of one thread: other work on the machine does not count
    labels = method.fit(estimator, problem, constraints)
    seconds = time.process_time() - clock
    violated = metrics.violated_fractions(constraints, labels)
    sizes = np.unique(labels, return_counts=True)[1]
    return {
        "error": metrics.clustering_error(problem.y, labels),
        "cut": metrics.normalized_cut(problem.affinity, labels),
        "violated_must": violated.must,
        "violated_cannot": violated.cannot,
        "violated": violated.all,
        "ari": float(adjusted_rand_score(problem.y, labels)),
        "nmi": float(normalized_mutual_info_score(problem.y, labels)),
        "n_clusters": len(sizes),
        "smallest": float(sizes.min() / len(labels)),
        "seconds": round(seconds, 4),
        "status": "ok",
        "message": "",
    }
