"""New points of a fitted model, and the graph with their edges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from tightcut.neighbors.points import GIVEN, is_memory_mapped
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph, validate_vertex_weights
from tightcut.problem.pairs import as_list
from tightcut.selection.parameters import knn_settings
from tightcut.utils.arrays import read_matrix

if TYPE_CHECKING:
    from tightcut.fitted.update import UpdateMixin
    from tightcut.neighbors.extend import Neighbourhoods

# ruff: noqa: SLF001 (a model's own parts)


@dataclass(frozen=True, eq=False)
class Growth:
    """The graph of old and new points, and all the points; None with `affinity="precomputed"`.

    `neighbourhoods` are those of all points, where they have grown.
    """

    graph: Graph
    points: Any
    neighbourhoods: Neighbourhoods | None = None
    plain: sp.csr_array | None = None  # the graph before its diffusion
    viewed: Any = None  # the points as distances see them


def grown(model: UpdateMixin, X_new: Any, vertex_weights: Any) -> Growth:
    """The graph of a model, extended by new points."""
    criterion = "degree" if model.criterion == "ncut" else "ones"
    given = not np.array_equal(validate_vertex_weights(criterion, model.affinity_matrix_), model.vertex_weights_)
    if vertex_weights is not None and (X_new is None or not given):
        raise ValueError(
            "vertex_weights are the weights of new points, for a model that was fitted with vertex_weights."
        )
    if X_new is None:
        return Growth(Graph(model.affinity_matrix_, model.vertex_weights_), model._training_points)
    if given and vertex_weights is None:
        raise ValueError("The model was fitted with vertex_weights; give those of the new points, too.")
    affinity, *more = _grown_affinity(model, X_new)
    if vertex_weights is None:
        return Growth(Graph.from_affinity(affinity, criterion), *more)
    weights, n_new = np.asarray(vertex_weights, dtype=np.float64), affinity.shape[0] - len(model.labels_)
    if weights.shape != (n_new,):
        raise ValueError(f"vertex_weights must have one entry per new point, {n_new}; got shape {weights.shape}.")
    return Growth(Graph.from_affinity(affinity, np.append(model.vertex_weights_, weights)), *more)


def _grown_affinity(
    model: UpdateMixin, X_new: Any
) -> tuple[sp.csr_array, Any, Neighbourhoods | None, sp.csr_array | None, Any]:
    """The graph of all points, and the further attributes of `Growth`."""
    old = model._training_points
    if model._view is None and model.metric == GIVEN:
        raise ValueError(
            "New points of a model that was fitted to distances are not supported by update. predict takes their distances to "
            "the others. Or fit again to all distances; tightcut.align numbers the new clusters like the old ones."
        )
    if model._view is None:
        return _with_new_rows(model.affinity_matrix_, X_new), None, None, None, None
    if is_memory_mapped(old):
        raise ValueError(
            "The model was fitted to points that are read from a file in blocks; update holds all points in memory. "
            "Fit it to an array in memory, or to a precomputed graph."
        )
    from tightcut.neighbors.diffusion import extend_diffused
    from tightcut.neighbors.extend import Neighbourhoods, extended_affinity

    new, setting = model._read_new(X_new), model.choice_.setting
    points = _stacked(old, new)
    seen = model._viewed_points(model._view)
    viewed = points if seen is old else _stacked(seen, model._view.transform(new))
    settings = replace(knn_settings(model, setting.n_neighbors), symmetrize=setting.symmetrize)
    known = None if model._scales is None else Neighbourhoods(model._scales, model._index)
    plain = model.affinity_matrix_ if model._plain_affinity is None else model._plain_affinity
    affinity, known = extended_affinity(plain, viewed, old.shape[0], settings, known)
    if model._plain_affinity is None:
        return affinity, points, known, None, viewed
    return extend_diffused(model.affinity_matrix_, affinity, setting.diffusion), points, known, affinity, viewed


def _stacked(old: Any, new: Any) -> Any:
    return sp.csr_array(sp.vstack([old, new])) if sp.issparse(old) else np.concatenate([old, new])


def for_all_points(values: Any, n_old: int, n: int, name: str) -> Any:
    """One value per point, given for all points or for the new ones only.

    Examples
    --------
    >>> from tightcut.fitted.extend import for_all_points
    >>> for_all_points(["cat"], 2, 3, "partial_labels")
    [None, None, 'cat']
    """
    if values is None:
        return None
    values = as_list(values)
    if len(values) not in (n, n - n_old):
        new = f", or one per new point, {n - n_old}" if n > n_old else ""
        raise ValueError(f"{name} must have one entry per point, {n}{new}; got {len(values)}.")
    return values if len(values) == n else [None] * n_old + list(values)


def on_more_points(constraints: Constraints, n: int) -> Constraints:
    """The same pairs among n points."""
    return Constraints(
        n,
        constraints.must_link,
        constraints.cannot_link,
        constraints.must_link_belief,
        constraints.cannot_link_belief,
    )


def _with_new_rows(affinity: sp.csr_array, X_new: Any) -> sp.csr_array:
    """Similarities with rows, and columns, for new points."""
    rows = read_matrix(X_new, ensure_non_negative=True, input_name="X_new")
    n_old, n_new = affinity.shape[0], rows.shape[0]
    if rows.shape[1] != n_old + n_new:
        raise ValueError(
            f"X_new must hold the similarities of {n_new} new points to {n_old} old ones and to each other, shape "
            f"({n_new}, {n_old + n_new}); it has shape {rows.shape}."
        )
    rows = sp.csr_array(rows)
    to_old = rows[:, :n_old]
    return sp.csr_array(sp.block_array([[affinity, to_old.T], [to_old, rows[:, n_old:]]], format="csr"))
