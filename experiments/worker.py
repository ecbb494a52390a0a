"""Cells are fitted in another process, which can be killed when its time is up.

A fresh interpreter, not a fork: after threads of OpenMP have run (a nearest-neighbour search is enough) a forked child
hangs in its first parallel region. It serves cell after cell, so that importing and loading compiled code are paid for
once. Messages are pickles on its standard input and output; it ends when its input does, so that nothing survives a
killed run.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, BinaryIO, cast

from tightcut.experiments._methods import Method
from tightcut.experiments._problems import Problem, draw_constraints, open_problem
from tightcut.experiments._record import Cell, Row

# Set before any library is loaded: threads that fight for cores make timings worthless, and sums depend on their number.
SINGLE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")
COMMAND = """
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from tightcut.experiments._worker import serve
serve()
"""

_idle: list[Worker] = []


class Worker:
    """The other process, seen from here."""

    def __init__(self) -> None:
        # In a session of its own: an interrupt from the keyboard is for the run, which then ends its workers.
        self.process = subprocess.Popen(  # noqa: S603 (our own interpreter and code)
            [sys.executable, "-c", COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | SINGLE_THREAD,
            start_new_session=True,
        )
        self.tasks, self.answers = cast("BinaryIO", self.process.stdin), cast("BinaryIO", self.process.stdout)
        self.messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()
        self._send(pickle.dumps(sys.path))

    def solve(self, path: str, method: Method, cell: Cell, seed: int, time_limit: float | None) -> Row:
        """What the cell's row says beyond the cell itself. The clock runs from the call of `fit`."""
        # Bytes within bytes: what cannot be read on the other side is a failed cell, not the end of the conversation.
        self._send(pickle.dumps(_dumps((path, method, cell, seed))))
        row = self.messages.get()
        if row is not None and "status" not in row:  # the fit begins
            try:
                row = self.messages.get(timeout=time_limit)
            except queue.Empty:
                return row | {"status": "too slow", "message": f"more than {time_limit:g} s", "seconds": time_limit}
        if row is None:
            status = self.process.wait()
            return {"status": "failed", "message": f"The process ended with exit status {status} and no result."}
        return row

    def kill(self) -> None:
        if hasattr(os, "killpg") and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.listener.join(timeout=5)  # at the end of the stream, which it still reads
        self.answers.close()
        with suppress(BrokenPipeError):
            self.tasks.close()

    def _send(self, message: bytes) -> None:
        with suppress(BrokenPipeError):  # it has ended, which the listener says too
            self.tasks.write(message)
            self.tasks.flush()

    def _listen(self) -> None:
        try:
            while True:
                self.messages.put(pickle.load(self.answers))  # noqa: S301 (our own process)
        except (EOFError, OSError, pickle.UnpicklingError):
            self.messages.put(None)  # it has ended


def solve_cell(path: str, method: Method, cell: Cell, seed: int, time_limit: float | None) -> tuple[Cell, Row]:
    """Solve a cell in an idle worker, or in a new one; a worker that did not answer is not used again."""
    try:
        worker = _idle.pop()
    except IndexError:  # asked before, the list might be empty by now: other threads take workers, too
        worker = Worker()
    usable = False
    try:
        row = worker.solve(path, method, cell, seed, time_limit)
        usable = row["status"] != "too slow" and worker.process.poll() is None
    finally:
        if usable:
            _idle.append(worker)
        else:
            worker.kill()
    return cell, {**cell.columns, **row}


def close_idle_workers() -> None:
    while _idle:
        _idle.pop().kill()


def _dumps(task: Any) -> bytes:
    """By value where a class is defined in a script or a notebook. joblib needs cloudpickle, or brings it along."""
    try:
        import cloudpickle  # type: ignore[import-untyped]
    except ImportError:
        from joblib.externals import cloudpickle
    return cloudpickle.dumps(task)


def serve() -> None:
    """The life of the other process."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a method prints must not mix with the answers
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, tasks), daemon=True).start()
    warnings.simplefilter("ignore")

    def answer(message: Any) -> None:
        pickle.dump(message, answers)
        answers.flush()

    while True:
        task = tasks.get()
        try:
            path, method, cell, seed = pickle.loads(task)  # noqa: S301 (from the process that started this one)
            row = _solve(open_problem(path), method, cell, seed, answer)
        except BaseException as error:  # noqa: BLE001 (whatever a method does wrong is a result)
            row = {"status": "failed", "message": " ".join(f"{type(error).__name__}: {error}".split())}
        answer(row)


def _receive(stream: BinaryIO, tasks: queue.SimpleQueue[Any]) -> None:
    """Receive tasks from the other side; when it ends, so do we, even in the middle of a fit."""
    try:
        while True:
            tasks.put(pickle.load(stream))  # noqa: S301 (from the process that started this one)
    except EOFError:
        os._exit(0)


@cache
def _warm() -> None:
    """Load compiled code, once, before the clock runs."""
    from tightcut.warmup import warmup

    warmup()


def _solve(problem: Problem, method: Method, cell: Cell, seed: int, tell: Callable[[Row], None]) -> Row:
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    from tightcut import metrics

    constraints = draw_constraints(problem.y, cell, seed)
    estimator = method.ready(int(problem.y.max()) + 1, cell.trial, constraints, cell.noise)
    if any(kind.__module__.startswith("tightcut.") for kind in type(estimator).__mro__):
        _warm()
    tell({"n_pairs": constraints.n_pairs})
    clock = time.perf_counter()
    labels = method.fit(estimator, problem, constraints)
    seconds = time.perf_counter() - clock
    violated = metrics.violated_fractions(constraints, labels)
    return {
        "n_pairs": constraints.n_pairs,
        "error": metrics.clustering_error(problem.y, labels),
        "cut": metrics.normalized_cut(problem.affinity, labels),
        "violated_must": violated.must,
        "violated_cannot": violated.cannot,
        "violated": violated.all,
        "ari": float(adjusted_rand_score(problem.y, labels)),
        "nmi": float(normalized_mutual_info_score(problem.y, labels)),
        "n_clusters": len(set(labels.tolist())),
        "seconds": round(seconds, 4),
        "status": "ok",
        "message": "",
    }
