"""`update`: new points and new constraints, with as few changes as possible."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tightcut.clustering.arguments import ClusterOptions, as_generator
from tightcut.clustering.result import ClusteringResult
from tightcut.fitted.changes import list_changes
from tightcut.fitted.fit import seed_of
from tightcut.fitted.local import Situation, settle
from tightcut.fitted.state import FittedState
from tightcut.problem.gather import gather_constraints
from tightcut.problem.graph import validate_vertex_weights
from tightcut.problem.objective import normalized_cut
from tightcut.problem.pairs import as_list
from tightcut.selection.built_graph import BuiltGraph
from tightcut.selection.sources import GraphSource
from tightcut.utils.interruption import interruptible
from tightcut.utils.validation import check_choice

KEEP = ("named", "all", "none")


def update(
    state: FittedState,
    X_new: Any = None,
    *,
    partial_labels: Any = None,
    cannot_link_groups: Any = None,
    vertex_weights: Any = None,
    keep: str = "named",
    full: bool = False,
    **pairs: Any,
) -> FittedState:
    """Add new points and new constraints; the keywords are those of `COSC.update`."""
    check_choice("keep", keep, KEEP)
    if not isinstance(full, bool):
        raise TypeError(f"full must be True or False; got {full!r}.")
    with interruptible():
        source, built = _extended(state, X_new, vertex_weights)
        n, n_old = built.graph.n_vertices, len(state.labels)
        fresh = gather_constraints(
            n,
            partial_labels=_for_all_points(partial_labels, n_old, n, "partial_labels"),
            cannot_link_groups=_for_all_points(cannot_link_groups, n_old, n, "cannot_link_groups"),
            **pairs,
        )
        held = replace(state.constraints.satisfied_by(state.labels), n_points=n) | fresh
        before = np.append(state.labels, np.full(n - n_old, -1))
        ids, codes = np.unique(state.labels, return_inverse=True)
        situation = Situation(
            built.graph,
            held,
            np.isin(np.arange(n), np.concatenate([fresh.must_link, fresh.cannot_link])),
            np.append(codes, np.full(n - n_old, -1)),
            (before >= 0) & ((keep == "all") | ((keep == "named") & np.isin(before, list(state.names)))),
            any_gain=keep == "none",
        )
        given = state.parameters
        options = ClusterOptions(effort=given.effort, n_jobs=given.n_jobs, device=given.device).of_search(None)
        rng = as_generator(seed_of(given.random_state))
        found = settle(situation, state.choice.setting.influence, rng, options if full else None)
    labels, n_ids = _identified(found, situation.before, ids, state.n_ids)
    known = replace(state.constraints, n_points=n) | fresh
    names = {cluster: name for cluster, name in state.names.items() if (labels == cluster).any()}
    kept, codes = np.unique(labels, return_inverse=True)
    reason = state.n_clusters_reason
    if len(kept) != len(ids):
        reason = f"{len(kept)} are left after an update; the fit had {len(ids)}."
    return replace(
        state,
        source=source,
        built=built,
        rows=state.rows if X_new is None else None,  # new rows have no identifiers
        constraints=known,
        result=ClusteringResult(labels, normalized_cut(built.graph, codes), known.violations(labels)),
        n_clusters_reason=reason,
        n_ids=n_ids,
        names=names,
        changes=list_changes(before, labels, held, fresh, names),
        feature_names=state.feature_names if state.points is not None else None,
    )


def _extended(state: FittedState, X_new: Any, vertex_weights: Any) -> tuple[GraphSource, BuiltGraph]:
    """The source and the graph with new points, whose vertex weights are those of the fit."""
    own = state.parameters.vertex_weights
    graph = state.graph
    weighted = not np.array_equal(validate_vertex_weights(own, graph.weights), graph.vertex_weights)
    if vertex_weights is not None and (X_new is None or not weighted):
        raise ValueError(
            "vertex_weights are the weights of new points, for a model that was fitted with vertex_weights."
        )
    if X_new is None:
        return state.source, state.built
    if weighted and vertex_weights is None:
        raise ValueError("The model was fitted with vertex_weights; give those of the new points, too.")
    return state.source.extended(state.built, X_new, own if vertex_weights is None else vertex_weights)


def _for_all_points(values: Any, n_old: int, n: int, name: str) -> Any:
    """One value per point, given for all points or for the new ones only."""
    if values is None:
        return None
    values = as_list(values)
    if len(values) not in (n, n - n_old):
        new = f", or one per new point, {n - n_old}" if n > n_old else ""
        raise ValueError(f"{name} must have one entry per point, {n}{new}; got {len(values)}.")
    return values if len(values) == n else [None] * n_old + list(values)


def _identified(found: np.ndarray, before: np.ndarray, ids: np.ndarray, n_ids: int) -> tuple[np.ndarray, int]:
    """Ids for the clusters that `settle` has found, and how many ids have been given so far."""
    codes, place = np.unique(found, return_inverse=True)
    kept = np.isin(codes, np.unique(found[found == before]))
    given = np.empty(len(codes), np.int64)
    given[kept] = ids[codes[kept]]
    n_born = int((~kept).sum())
    given[~kept] = n_ids + np.arange(n_born)
    return given[place], n_ids + n_born
