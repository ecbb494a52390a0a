"""What is done with an instance, through the public interface alone: it must run on every state that is compared.

A task prepares its data and returns a function without arguments, which is timed and returns what it found.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import tightcut
from benchmarks.instances import authors_pairs, peers_pairs, points
from tightcut import COSC, Constraints, Graph

N_BATCHES = 3  # of new points in an update


@dataclass(frozen=True)
class Found:
    """Whole numbers that must stay the same, and figures for the table."""

    labels: np.ndarray
    cut: float = np.nan
    violated: int = 0


Task = Callable[[], Found]


def prepare(task: str, dataset: str, settings: dict[str, Any]) -> Task:
    return TASKS[task](dataset, **settings)


def _cluster(
    dataset: str,
    *,
    n_pairs: int,
    protocol: str = "random",
    noise: float = 0.0,
    k: int | None = None,
    state: Any = 0,
    criterion: str = "ncut",
    from_classes: bool = False,
    beliefs: bool = False,
    **settings: Any,
) -> Task:
    X, y = points(dataset)
    graph = Graph.from_affinity(_affinity(X), "ones" if criterion == "rcut" else "degree")
    known = authors_pairs(dataset, n_pairs, 0) if protocol == "authors" else _pairs(y, n_pairs, noise)
    if beliefs:
        own = [np.linspace(0.2, 1, len(pairs)) for pairs in (known.must_link, known.cannot_link)]
        known = Constraints.from_pairs(len(y), known.must_link, known.cannot_link, *own)
    k = len(np.unique(y)) if k is None else k
    settings = {"n_jobs": 1, **settings, "init": y if from_classes else None}

    def run() -> Found:
        rng = _random_state(state)
        found = [tightcut.cluster(graph, known, k, random_state=rng, **settings) for _ in range(_times(state))]
        labels = np.concatenate([*(one.labels for one in found), _spent(rng)])
        return Found(labels, found[-1].cut, found[-1].n_violations)

    return run


def _tradeoff(dataset: str, *, n_pairs: int, noise: float, **settings: Any) -> Task:
    X, y = points(dataset)
    graph, known = Graph.from_affinity(_affinity(X)), _pairs(y, n_pairs, noise)

    def run() -> Found:
        path = tightcut.tradeoff_path(graph, known, random_state=0, n_jobs=1, **settings)
        return Found(np.concatenate([one.labels for one in path]), sum(one.cut for one in path), len(path))

    return run


def _audit(dataset: str, *, n_pairs: int) -> Task:
    from tightcut.audit import audit

    X, y = points(dataset)
    graph, known = Graph.from_affinity(_affinity(X)), _pairs(y, n_pairs)
    labels = tightcut.cluster(graph, known, len(np.unique(y)), random_state=0, n_jobs=1).labels

    def run() -> Found:
        prices = audit(graph, known, labels, n_jobs=1)
        rows = [(row.kind == "must", row.first, row.second) for row in prices]
        return Found(np.array(rows), sum(row.price for row in prices))

    return run


def _neighbours(dataset: str, *, sparse: bool = False, **settings: Any) -> Task:
    X, _ = points(dataset)
    X = sp.csr_array(X) if sparse else X

    def run() -> Found:
        graph = sp.csr_array(tightcut.knn_affinity(X, connect=False, n_jobs=1, **settings))
        graph.sort_indices()
        return Found(np.concatenate([graph.indptr, graph.indices]), graph.sum())

    return run


def _cluster_graph(dataset: str, *, n_pairs: int, n_units: int, weighted: bool = True, **settings: Any) -> Task:
    import dask
    import pandas as pd

    X, y = points(dataset)
    w = sp.triu(_affinity(X), 1, format="coo")
    w = w if weighted else sp.coo_array((np.ones(w.nnz), (w.row, w.col)), shape=w.shape)
    folder = tempfile.TemporaryDirectory()
    for part in np.array_split(np.arange(w.nnz), 3):
        edges = pd.DataFrame({"i": w.row[part], "j": w.col[part], "weight": w.data[part]})
        edges.to_parquet(Path(folder.name, f"{part[0]:09d}.parquet"))
    known = _pairs(y, n_pairs)
    settings |= {"n_units": n_units, "partition_size": w.nnz // 2, "random_state": 0, "n_jobs": 1}

    def run() -> Found:
        with dask.config.set(scheduler="threads"):
            found = tightcut.cluster_graph(folder.name, known, len(np.unique(y)), **settings)
            table = found.labels.compute()
        labels = np.concatenate([table["vertex"], table["cluster"], found.n_units])
        return Found(labels, found.cut, found.violations.n_violations)

    run.folder = folder  # it lives as long as the function
    return run


def _fit(dataset: str, *, n_pairs: int, auto: bool, form: str = "points", noise: float = 0.0, **settings: Any) -> Task:
    X, y = points(dataset)
    known = _pairs(y, n_pairs, noise)
    X, own = _formed(X, form)
    state = settings.pop("state", 0)

    def run() -> Found:
        model = COSC(
            "auto" if auto else len(np.unique(y)), random_state=_random_state(state), n_jobs=1, **own, **settings
        )
        labels = np.concatenate([model.fit(X, constraints=known).labels_.copy() for _ in range(_times(state))])
        return Found(labels, model.cut_, model.n_violations_)

    return run


def _predict(dataset: str, *, n_pairs: int, form: str = "points") -> Task:
    X, y = points(dataset)
    order = np.random.default_rng(0).permutation(len(y))
    old, new = np.split(order, [4 * len(y) // 5])
    whole, own = _formed(X, form)
    square = form in {"distances", "similarities"}
    model = COSC(len(np.unique(y)), random_state=0, n_jobs=1, **own)
    model.fit(_part(whole, old, old if square else None), constraints=_pairs(y[old], n_pairs))
    unseen = _part(whole, new, old if square else None)
    return lambda: Found(np.concatenate([model.labels_, model.predict(unseen)]), model.cut_)


def _update(
    dataset: str, *, n_pairs: int, form: str = "points", saved: bool = False, effort: float = 1.0, **settings: Any
) -> Task:
    """A fit, a name, and batches of new points with a few pairs each; the labels after each of them.

    A model of distances takes no new points: all are fitted, and the batches are only pairs.
    """
    X, y = points(dataset)
    order = np.random.default_rng(1).permutation(len(y))
    y, k = y[order], len(np.unique(y))
    whole, own = _formed(X[order], form)
    square = form in {"distances", "similarities"}
    share = 1.0 if form == "distances" else 0.7
    ends = (np.linspace(share, 1, N_BATCHES + 1) * len(y)).astype(int)

    def run() -> Found:
        n = ends[0]
        model = COSC(k, effort=effort, random_state=0, n_jobs=1, **own)
        model.fit(_part(whole, np.arange(n), np.arange(n) if square else None), constraints=_pairs(y[:n], n_pairs))
        model.name(0, "first")
        seen = [model.labels_]
        for batch, (start, end) in enumerate(pairwise(ends)):
            rows = np.arange(start, end)
            new = _part(whole, rows, np.arange(end) if square else None) if len(rows) else None
            model.update(new, constraints=peers_pairs(y[:end], 10, batch), **settings)
            seen.append(model.labels_)
            model = _saved_and_loaded(model) if saved else model
        return Found(np.concatenate(seen), model.cut_, model.n_violations_)

    return run


def _saved_and_loaded(model: COSC) -> COSC:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model.tcut"))
        return COSC.load(Path(folder, "model.tcut"))


def _resolve(_: str, *, n_families: int, rules: bool = False) -> Task:
    edges, entity, sources = _planted(n_families)
    known = {}
    if rules:
        chosen = np.random.default_rng(1).choice(len(edges), len(edges) // 20, replace=False)
        pairs = np.array([edges[row][:2] for row in chosen])
        same = entity[pairs[:, 0]] == entity[pairs[:, 1]]
        known = {"must_link": pairs[same].tolist(), "cannot_link": pairs[~same].tolist()}
        known["groups"] = {record: f"{record // 8} {source}" for record, source in enumerate(sources)}

    def run() -> Found:
        found = tightcut.resolve(edges, **known)
        return Found(np.concatenate([found.ids, found.labels]), found.disagreement, found.n_proven)

    return run


def _resolve_answers(_: str, *, n_families: int, n_answers: int) -> Task:
    edges, entity, _ = _planted(n_families)

    def run() -> Found:
        session = tightcut.resolve(edges).session()
        asked = []
        for _ in range(n_answers):
            question = session.question()
            if question is None:
                break
            one, other = (int(session.ids[row]) for row in (question.first, question.second))
            asked += [one, other]
            session.answer(question, "same" if entity[one] == entity[other] else "different")
        found = session.resolution()
        return Found(np.concatenate([asked, found.labels]), found.disagreement, found.n_proven)

    return run


def _ask(
    dataset: str,
    *,
    kind: str,
    error_rate: float = 0.0,
    errors: str = "random",
    k_known: bool = False,
    form: str = "points",
) -> Task:
    """The labels after each of 60 simulated answers, and what was asked."""
    from tightcut.ask import Session, simulate

    X, y = points(dataset)
    k = len(np.unique(y)) if k_known else "auto"
    X, own = _formed(X, form)

    def run() -> Found:
        session = Session(X, k, random_state=0, n_jobs=1, **own)
        rounds = simulate(session, y, 60, kind=kind, error_rate=error_rate, errors=errors, random_state=0)
        asked = [(answer.first, -1 if answer.second is None else answer.second) for answer in session.answers]
        return Found(np.concatenate([*(one.labels for one in rounds), np.ravel(asked)]))

    return run


def _pairs(y: np.ndarray, n_pairs: int, noise: float = 0.0) -> Constraints:
    if n_pairs == 0:
        return Constraints.from_pairs(len(y))
    if noise == 0:
        return peers_pairs(y, n_pairs, 0)
    from tightcut.datasets import sample_constraints

    return sample_constraints(y, n_pairs, 0, noise=noise)


def _affinity(X: np.ndarray) -> sp.csr_array:
    return sp.csr_array(tightcut.knn_affinity(X, connect=False, n_jobs=1))


def _formed(X: np.ndarray, form: str) -> tuple[Any, dict[str, Any]]:
    """The points as they are given, and what a model has to be told about that."""
    if form == "points":
        return X, {}
    if form == "sparse":
        return sp.csr_array(X), {}
    if form == "similarities":
        return _affinity(X), {"affinity": "precomputed"}
    scaled = X / X.std(axis=0)
    return np.linalg.norm(scaled[:, None] - scaled, axis=2), {"metric": "precomputed"}


def _part(X: Any, rows: np.ndarray, columns: np.ndarray | None) -> Any:
    own = X[rows]
    return own if columns is None else own[:, columns]


def _times(state: Any) -> int:
    """A generator goes on where it was: a second call shows how often the first one drew."""
    return 1 if isinstance(state, int) else 2


def _random_state(state: Any) -> Any:
    if isinstance(state, int):
        return state
    return np.random.default_rng(3) if state == "generator" else np.random.RandomState(3)


def _spent(rng: Any) -> list[int]:
    """The next number of a generator, and how many others it has spawned; nothing of a seed."""
    if isinstance(rng, int):
        return []
    if isinstance(rng, np.random.RandomState):
        return [int(rng.randint(2**31))]
    return [int(rng.integers(2**31)), rng.bit_generator.seed_seq.n_children_spawned]


def _planted(n_families: int) -> tuple[list[tuple[int, int, float]], np.ndarray, np.ndarray]:
    """Scored pairs within families of two entities of four records each, their entities, and their sources."""
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(8, 1)
    pairs = (8 * np.arange(n_families)[:, None, None] + np.stack([i, j], axis=1)).reshape(-1, 2)
    entity = np.arange(8 * n_families) // 4
    same = entity[pairs[:, 0]] == entity[pairs[:, 1]]
    pairs, same = (values[scored] for scored in [rng.random(len(same)) < 0.7] for values in (pairs, same))
    across = rng.integers(8 * n_families, size=(n_families // 2, 2))
    across = across[across[:, 0] // 8 != across[:, 1] // 8]
    odds = np.concatenate([rng.normal(np.where(same, 2, -2), 2), rng.normal(-1, 1, len(across))])
    pairs = np.concatenate([pairs, across])
    scores = np.round(1 / (1 + np.exp(-odds)), 6)
    return list(zip(*pairs.T.tolist(), scores.tolist(), strict=True)), entity, np.arange(8 * n_families) % 4


TASKS: dict[str, Callable[..., Task]] = {
    "cluster": _cluster,
    "paper": _cluster,
    "soft": _cluster,
    "tradeoff": _tradeoff,
    "audit": _audit,
    "neighbours": _neighbours,
    "cluster_graph": _cluster_graph,
    "auto_k": partial(_fit, auto=True),
    "chosen": partial(_fit, auto=False),
    "predict": _predict,
    "update": _update,
    "resolve": _resolve,
    "resolve_answers": _resolve_answers,
    "ask": _ask,
}
