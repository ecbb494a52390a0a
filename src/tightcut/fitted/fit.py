"""`fit`: from what the user gives to a fitted model."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.clustering.arguments import as_generator
from tightcut.clustering.cluster import cluster
from tightcut.clustering.result import warn_if_lopsided
from tightcut.fitted.parameters import Parameters
from tightcut.fitted.state import FittedState
from tightcut.problem import Constraints
from tightcut.problem.gather import gather_constraints
from tightcut.problem.graph import Graph
from tightcut.progress import ProgressLine
from tightcut.selection.graph_config import AUTO
from tightcut.selection.probe import TuningProblem
from tightcut.selection.select import select
from tightcut.selection.sources import PointSource, graph_source
from tightcut.utils.interruption import interruptible
from tightcut.utils.warning import warn


def fit(
    X: Any, parameters: Parameters, y: Any = None, *, vertex_weights: Any = None, init: Any = None, **knowledge: Any
) -> FittedState:
    """Build the graph, choose what is "auto", and cut it; the keywords are those of `COSC.fit`."""
    parameters.check()
    weights = parameters.vertex_weights if vertex_weights is None else vertex_weights
    progress = ProgressLine() if parameters.verbose else None
    seed = seed_of(parameters.random_state)
    seed = as_generator(seed) if isinstance(seed, np.random.RandomState) else seed
    with interruptible():
        affinity = "precomputed" if parameters.is_precomputed else "knn"
        source = graph_source(X, affinity, parameters.knn, progress)
        check_ignored(y, source.n_points)
        check_sizes(source.n_points, parameters.n_clusters, init=init, vertex_weights=weights)
        known = gather_constraints(source.n_points, **knowledge)
        built, choice, n_clusters, reason = select(
            TuningProblem(source, known, 0, weights, parameters.max_violations),
            parameters.wanted,
            parameters.n_clusters,
            np.random.default_rng(seed).spawn(1)[0],
            by_the_paper=parameters.method == "paper",
            quick=parameters.effort == 0,
            n_jobs=parameters.n_jobs,
        )
    if isinstance(source, PointSource):
        warn_if_all_are_equal(source.points)
    if parameters.n_neighbors != AUTO and source.n_points <= int(parameters.n_neighbors):
        warn(
            f"n_neighbors={parameters.n_neighbors}, and there are {source.n_points - 1} other points: all are neighbors."
        )
    if parameters.graph.connect:
        warn_if_disconnected(built.graph)
    if progress is not None:
        progress.say(choice.reason)
    result = cluster(
        built.graph,
        known,
        n_clusters,
        max_violations=parameters.max_violations,
        method=parameters.method,
        effort=parameters.effort,
        influence=choice.setting.influence,
        init=init,
        n_jobs=parameters.n_jobs,
        random_state=seed,
        progress=progress,
        device=parameters.device,
    )
    warn_if_lopsided(built.graph, result.labels, known)
    n_ids = int(result.labels.max()) + 1
    kept = source.released(parameters.knn)
    return FittedState(parameters, kept, built, choice, known, result, reason, n_ids)


def check_ignored(y: Any, n_samples: int) -> None:
    """Refuse pairs, or whatever is not about the samples, in the place of `y`, where they would have no effect."""
    known = isinstance(y, Constraints)
    if known or (hasattr(y, "__len__") and not sp.issparse(y) and len(y) != n_samples):
        said = "constraints" if known else f"{len(y)} entries for {n_samples} samples"
        raise ValueError(
            f"y, the second argument of fit, has no effect, and holds {said}. Name what you know: must_link=pairs, "
            "cannot_link=pairs, partial_labels=labels or constraints=constraints."
        )


def check_sizes(n_points: int, n_clusters: Any, **arrays: Any) -> None:
    """Refuse what does not fit the number of points, before any time is spent on a graph."""
    if n_clusters != AUTO and n_clusters > n_points:
        raise ValueError(f"{n_clusters} non-empty clusters need at least that many points; there are {n_points}.")
    for name, values in arrays.items():
        if values is not None and not isinstance(values, str) and np.shape(values) != (n_points,):
            raise ValueError(
                f"{name} must have one entry per point, shape ({n_points},); got shape {np.shape(values)}."
            )


def seed_of(random_state: Any) -> Any:
    """scikit-learn's meaning of None (numpy's global state); all else as `tightcut.cluster` takes it."""
    expected = f"random_state must be a whole number >= 0, a generator or None; got {random_state!r}."
    if isinstance(random_state, Integral) and random_state < 0:
        raise ValueError(expected)
    if isinstance(random_state, (Integral, np.random.Generator)):
        return random_state
    from sklearn.utils import check_random_state

    try:
        return check_random_state(random_state)
    except ValueError:
        raise ValueError(expected) from None


def warn_if_all_are_equal(points: Any) -> None:
    if not sp.issparse(points) and (points[:100] == points[0]).all() and (points == points[0]).all():
        warn("All rows of X are equal, so that any clustering of them is arbitrary.")


def warn_if_disconnected(graph: Graph) -> None:
    count, _ = graph.components()
    if count > 1:
        warn(
            f"The affinity graph has {count} connected components, so the cut may be 0 and say nothing about the data. "
            "Add edges that join them."
        )
