"""`Team`: threads that take every step on a large graph together; see `tightcut.kernels.team`."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from tightcut.kernels import team as rules
from tightcut.kernels import team_contraction, team_matching, team_refinement
from tightcut.utils.sparse import csr_of

ROWS_OF_A_THREAD = 2_000  # fewer threads take a step on a graph with fewer rows for each
_COMPILED: set[tuple] = set()  # kernels, with the kinds of arrays that they have been compiled for


@dataclass(frozen=True, eq=False)
class Units:
    """Vertices merged into units 0, ..., m - 1.

    | field | meaning |
    |---|---|
    | unit | of each vertex |
    | start, members | the vertices of unit u are members[start[u]:start[u + 1]] |
    | sign | the orientation of each vertex in its unit; empty for labels |
    """

    unit: np.ndarray
    start: np.ndarray
    members: np.ndarray
    sign: np.ndarray

    def __len__(self) -> int:
        return len(self.start) - 1

    @classmethod
    def of(cls, unit: np.ndarray) -> Units:
        """Those that each vertex is in, 0, ..., m - 1."""
        from tightcut import kernels

        start, members = kernels.members_of(unit, int(unit.max()) + 1)
        return cls(unit, start, members, np.zeros(0, np.int8))


@dataclass(frozen=True, eq=False)
class Merged:
    """The arcs between units.

    | field | meaning |
    |---|---|
    | matrix | symmetric csr_array; its indices are not sorted |
    | degrees | sums of its rows |
    | turned | what signs add to the cut of all labels, where the cut is the sum of weights between different labels |
    | negative | the negative weights, each edge once |
    """

    matrix: sp.csr_array
    degrees: np.ndarray
    turned: float = 0.0
    negative: float = 0.0


class Team:
    """Threads that take the steps of a search together, and the memory that they work in.

    Fresh memory costs a page fault for every few kilobytes, for which threads queue: what a step only works in is kept.

    Parameters
    ----------
    n_threads : int
        No result depends on it.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._sync = np.zeros(rules.SYNC_SIZE, np.int64)
        self._lock = threading.Lock()
        self._space: dict[str, np.ndarray] = {}
        self._idle: list[np.ndarray] = []
        self._hand_over, self._closed = threading.Lock(), False
        self._tasks: list[SimpleQueue] = [SimpleQueue() for _ in range(n_threads)] if n_threads > 1 else []
        self._threads: list[threading.Thread] = []
        try:
            for place in range(len(self._tasks)):
                thread = threading.Thread(target=self._work, args=(place,), daemon=True)
                thread.start()
                self._threads.append(thread)
        except RuntimeError:  # the system has no more of them
            self.__exit__()
            raise

    def __reduce__(self) -> tuple:
        """In another process, a task of its own is all that there is to do."""
        return Team, (1,)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the threads, after the step that they are in."""
        with self._hand_over:
            self._closed = True
            for tasks in self._tasks[:1]:
                tasks.put(None)
        for thread in self._threads:
            thread.join()

    def match(
        self,
        matrix: sp.csr_array,
        vertex_weights: np.ndarray,
        heaviest: float,
        seed: int,
        *,
        apart: sp.csr_array | None = None,
        labels: np.ndarray | None = None,
        signed: bool = False,
    ) -> Units:
        """Pairs of tightly joined vertices as units, with signs if weights may be negative: see `match_by_team`."""
        n = len(vertex_weights)
        listed = (np.zeros(n + 1, np.uint32), np.zeros(0, np.uint32)) if apart is None else arrays(apart)[:2]
        labels = np.zeros(0, np.int32) if labels is None else labels
        with self._lock:
            wish, partner, free = (
                self._take("wish", n, np.int32),
                self._take("partner", n, np.int32),
                self._take("free", n),
            )
            arcs = arrays(matrix)
            sign = np.empty(n if signed else 0, np.int8)
            counts = np.empty(rules.MOST_BLOCKS + 1, np.int64), np.empty(rules.MOST_BLOCKS + 1, np.int64)
            unit, start, members = np.empty(n, np.int32), np.zeros(n + 1, np.int32), np.empty(n, np.int32)
            matching = *arcs, vertex_weights, *listed, labels, heaviest, np.uint64(seed), wish, partner, free
            numbering = *arcs, partner, *counts, unit, start, members, sign
            self._run(team_matching.units_by_team, n, matching, numbering)
        m = int(counts[0][blocks_of(n)])
        return Units(unit, start[: m + 1], members, sign)

    def contract(self, matrix: sp.csr_array, units: Units) -> Merged:
        """The arcs between units: see `contract_by_team`."""
        m, arcs, blocks = len(units), matrix.nnz, blocks_of(len(units))
        lengths = np.diff(matrix.indptr)[units.members]
        longest = np.add.reduceat(lengths, units.start[:-1]).max(initial=0)
        size = 1 << max(5, int(2 * min(int(longest), m)).bit_length())
        # Tables for one huge unit would take more memory than the graph.
        count = min(self.n_threads, max(1, arcs // size))
        indptr, degrees, turned, negative = np.zeros(m + 1, np.int32), np.empty(m), np.zeros(blocks), np.zeros(blocks)
        with self._lock:
            tables = np.full((count, size), -1, np.int64), np.empty((count, size), np.int64)
            begins, ends = np.empty(blocks + 1, np.int64), np.empty(blocks + 1, np.int64)
            raw = self._take("raw indices", arcs, np.int32), self._take("raw weights", arcs)
            self._run(
                team_contraction.contract_by_team, m, *arrays(matrix), units.unit, units.sign, units.start, units.members,
                *tables, begins, ends, *raw, indptr, degrees, turned, negative, most=count,
            )  # fmt: skip
            out = self._lend(int(ends[blocks]), np.int32), self._lend(int(ends[blocks]))
            self._run(team_contraction.gather_by_team, m, m, begins, ends, *raw, *out)
        small = csr_of(indptr, *out)
        return Merged(small, degrees, float(turned.sum()), float(negative.sum()))

    def regions(self, matrix: sp.csr_array, code: np.ndarray) -> np.ndarray:
        """The connected regions of equal code, numbered by their first vertex."""
        n = len(code)
        root = np.empty(n, np.int32)
        with self._lock:
            indptr, indices, _ = arrays(matrix)
            self._run(team_contraction.regions_by_team, n, indptr, indices, code, root)
        first = root == np.arange(n, dtype=np.int32)
        return (np.cumsum(first, dtype=np.int32) - 1)[root]

    def contract_regions(self, matrix: sp.csr_array, unit: np.ndarray, sign: np.ndarray) -> Merged:
        """`contract` for units with few arcs between them, which may be huge."""
        n, m, blocks = len(unit), int(unit.max()) + 1, blocks_of(len(unit))
        begins, turned = np.empty(blocks, np.int64), np.empty(blocks)
        kinds = np.int32, np.int32, np.float64
        with self._lock:
            task = team_contraction.crossing_by_team, n, *arrays(matrix), unit, sign, begins
            self._run(*task, *(np.empty(0, kind) for kind in kinds), turned)
            ends = np.cumsum(begins)
            begins[:] = ends - begins
            here, there, values = (np.empty(ends[-1], kind) for kind in kinds)
            if len(here):
                self._run(*task, here, there, values, turned)
        small = sp.csr_array(sp.coo_array((values, (here, there)), shape=(m, m)))
        return Merged(small, np.asarray(small.sum(axis=1)).ravel(), float(turned.sum()), negative_weight(small))

    def refine(
        self,
        graph: tuple,
        state: np.ndarray,
        k: int,
        price: float,
        constants: tuple[float, float, float],
        *,
        coarse: tuple[np.ndarray, np.ndarray] | None = None,
        rounds: int = team_refinement.ROUNDS,
    ) -> float:
        """Improve the state in place, and return its objective: see `refine_by_team`."""
        n, kind = len(state), np.uint16 if k < 2**16 else np.uint32
        given = (np.zeros(0, state.dtype), np.zeros(0, np.int32)) if coarse is None else coarse
        with self._lock:
            work = tuple(self._take(f"{name} {kind.__name__}", n, kind) for name in ("labels", "best", "goal"))
            work += (
                self._take("change", n, np.float32),
                *(self._take(name, n, np.uint8) for name in ("waits", "moves", "dirty")),
            )
            sums, totals, control = np.empty((blocks_of(n), 6, k)), np.empty((6, k)), np.zeros(4)
            self._run(
                team_refinement.refine_by_team, n, graph, float(price), np.array(constants, float), state, *given, work, sums,
                totals, control, rounds,
            )  # fmt: skip
        return float(control[0])

    def _lend(self, size: int, kind: Any = np.float64) -> np.ndarray:
        """An array in memory that comes back for others to use when it is given up, and all views of it."""
        needed = size * np.dtype(kind).itemsize
        fitting = [place for place, memory in enumerate(self._idle) if needed <= len(memory) <= 2 * needed]
        memory = self._idle.pop(fitting[0]) if fitting else np.empty(max(needed, 1), np.uint8)
        # Views of an array whose base is an array hold that base only, not the array between.
        array = np.frombuffer(memory.data, kind, size)
        weakref.finalize(array, self._idle.append, memory).atexit = False
        return array

    def _take(self, name: str, size: int, kind: Any = np.float64) -> np.ndarray:
        """Work space, with whatever it was left with."""
        if name not in self._space or len(self._space[name]) < size:
            self._space[name] = np.empty(size, kind)
        return self._space[name][:size]

    def _run(self, kernel: Callable, n_rows: int, *arguments: Any, most: int | None = None) -> None:
        count = min(self.n_threads if most is None else most, 1 + n_rows // ROWS_OF_A_THREAD)
        self._sync[rules.TALLY] = 0
        if count == 1:
            kernel(self._sync, 1, *arguments)
            return
        # Ctrl-C meets the main thread alone: it hands over in a single step, and then waits. A task that it has left behind
        # in another thread may come later than the end.
        done: SimpleQueue = SimpleQueue()
        with self._hand_over:
            if self._closed:
                raise RuntimeError("The search that this team has taken the steps of is over.")
            self._tasks[0].put((kernel, count, (self._sync, count, *arguments), done))
        error = done.get()
        if error is not None:
            raise error

    def _work(self, place: int) -> None:
        """What a thread does; the first one wakes the others.

        Threads in a kernel wait for each other, so that all must enter it: what can fail, compiling, comes before that. When
        the first one's kernel ends, all have passed the last barrier.
        """
        others = self._tasks[1:] if place == 0 else []
        for task in iter(self._tasks[place].get, None):
            kernel, count, arguments, done = task
            error = None
            try:
                if place == 0:
                    _compile(kernel, arguments)
                    for tasks in others[: count - 1]:
                        tasks.put(task)
                kernel(*arguments)
            except Exception as caught:  # noqa: BLE001 - raised where the step was called
                error = caught
            if place == 0:
                done.put(error)
            del task, arguments
        for tasks in others:
            tasks.put(None)


def _compile(kernel: Any, arguments: tuple) -> None:
    key = kernel, *(getattr(argument, "dtype", None) for argument in arguments)
    if key not in _COMPILED:
        from numba import typeof

        kernel.compile(tuple(map(typeof, arguments)))
        _COMPILED.add(key)


def arrays(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr, indices and data as kernels for teams take them: with unsigned indices, as signed ones are twice as slow."""
    indptr, indices = (array.astype(np.int32, copy=False).view(np.uint32) for array in (matrix.indptr, matrix.indices))
    return indptr, indices, matrix.data


def negative_weight(matrix: sp.csr_array) -> float:
    """The negative weights of a symmetric matrix, each edge once."""
    return 0.5 * float(np.minimum(matrix.data, 0).sum())


def blocks_of(n: int) -> int:
    rows = max(rules.FEWEST_ROWS, -(-n // rules.MOST_BLOCKS))
    return -(-n // rows)
