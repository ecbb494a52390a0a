"""Validate a loaded model, so that no method fails on it later and no kernel reads beyond an array.

Every check is O(entries) of the model. What is wrong raises ValueError, or whatever a value of a wrong type raises in the
checks; `COSC.load` makes an `ArchiveError` of either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.fitted.changes import Changes
from tightcut.fitted.parameters import VERTEX_WEIGHTS
from tightcut.neighbors import METRICS, SYMMETRIZE, check_points
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph, validate_affinity
from tightcut.selection import SCALES, CandidateScore, Choice, FeatureMap, Setting
from tightcut.selection.scale import ColumnScale
from tightcut.utils.validation import check_choice

REQUIRED = (
    "labels_", "_n_ids", "names_", "changes_", "constraints_", "affinity_matrix_", "vertex_weights_", "n_clusters_",
    "n_clusters_reason_", "n_features_in_", "choice_", "_training_points", "_view", "_scales", "_plain_affinity",
)  # fmt: skip
MOST_THREADS = 2**31
LONGEST_WALK, MOST_EFFORT = 10_000, 1e6  # beyond them an update would not end
WORDS = {"criterion": VERTEX_WEIGHTS, "affinity": ("knn", "precomputed"), "metric": METRICS}
# Computed from the labels and the constraints, whatever a file says.
DERIVED = ("n_violations_", "violated_belief_", "violated_must_link_", "violated_cannot_link_")


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Parameters that updates and predictions read; `KnnAffinity` checks its own, and a fit checks all of them."""
    for name, value in parameters.items():
        _require(value is None or isinstance(value, bool | int | float | str), f"parameter {name}")
        _require(value in WORDS.get(name, (value,)), f"parameter {name}")
    if "effort" in parameters:
        _require(_is_number(parameters["effort"], least=0) and parameters["effort"] <= MOST_EFFORT, "parameter effort")
    threads = parameters.get("n_jobs")
    _require(threads is None or (_is_whole(threads, -MOST_THREADS) and 0 != threads < MOST_THREADS), "parameter n_jobs")


def check_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a model, of the right types, with shapes that agree and indices in range.

    The graph and the points are brought into the form that the kernels expect, which is the one they were written in.
    """
    if absent := [name for name in REQUIRED if name not in state]:
        raise ValueError(f"{absent[0]} is missing")
    if unknown := [name for name in state if name not in {*REQUIRED, *OPTIONAL, *DERIVED}]:
        raise ValueError(f"a model has no attribute {unknown[0]!r:.40}")
    labels = state["labels_"]
    _require(labels.ndim == 1 and labels.dtype.kind == "i" and labels.min() >= 0, "labels_")
    n, n_features = len(labels), state["n_features_in_"]
    _require(_is_whole(state["_n_ids"]) and labels.max() < state["_n_ids"] <= np.iinfo(np.int64).max - n, "_n_ids")
    _require(_is_whole(state["n_clusters_"]) and len(np.unique(labels)) == state["n_clusters_"], "n_clusters_")
    for name, is_right in OPTIONAL.items():
        _require(name not in state or is_right(state[name], n, n_features), name)
    _require(isinstance(state["constraints_"], Constraints) and state["constraints_"].n_points == n, "constraints_")
    affinity, plain = state["affinity_matrix_"], state["_plain_affinity"]
    _require(_is_graph(affinity, n) and affinity.data.all() and not affinity.diagonal().any(), "affinity_matrix_")
    _require(isinstance(state["vertex_weights_"], np.ndarray), "vertex_weights_")
    graph = Graph.from_affinity(affinity, state["vertex_weights_"])
    _require(plain is None or (_is_graph(plain, n) and validate_affinity(plain).shape == (n, n)), "_plain_affinity")
    points, view = state["_training_points"], state["_view"]
    _require((points is None) == (view is None), "_view")
    if points is None:
        _require(n_features == n, "n_features_in_")
    else:
        points = check_points(points)
        _require(points.shape == (n, n_features), "_training_points")
        _check_view(view, n_features)
    return dict(state) | {
        "affinity_matrix_": graph.weights,
        "vertex_weights_": graph.vertex_weights,
        "_training_points": points,
    }


def _require(condition: Any, name: str) -> None:
    if not condition:
        raise ValueError(f"{name} does not fit the rest")


def _is_whole(value: Any, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_number(value: Any, least: float | None = None) -> bool:
    """Whether a value is a number; with `least`, a finite one that is not below it."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and (least is None or least <= value < np.inf)


def _is_graph(matrix: Any, n: int) -> bool:
    right = isinstance(matrix, sp.csr_array) and matrix.shape == (n, n) and matrix.dtype == np.float64
    return right and bool(matrix.has_canonical_format)


def _finite(array: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(array, np.ndarray) and array.shape == shape and bool(np.isfinite(array).all())


def _check_view(view: Any, n_features: int) -> None:
    _require(isinstance(view, FeatureMap) and isinstance(view.scale, ColumnScale), "_view")
    scale, components = view.scale, view.components
    check_choice("scale", scale.name, SCALES)
    if scale.name == "standard":
        _require(_finite(scale.centre, (n_features,)) and _finite(scale.divisor, (n_features,)), "_view")
        _require((scale.divisor > 0).all() and scale.reference is None, "_view")
    if scale.name == "quantile":
        _require(scale.reference.shape[1] > 0, "_view")
        divided = scale.divisor is None or (_finite(scale.divisor, (n_features,)) and (scale.divisor > 0).all())
        _require(divided, "_view")
        _require(_finite(scale.reference, (n_features, scale.reference.shape[1])), "_view")
    _require(components is None or _finite(components, (n_features, n_features)), "_view")


def _is_choice(choice: Any, *_: int) -> bool:
    return (
        isinstance(choice, Choice)
        and isinstance(choice.reason, str)
        and isinstance(choice.candidates, tuple)
        and all(isinstance(score, CandidateScore) and _is_setting(score.setting) for score in choice.candidates)
        and _is_setting(choice.setting)
    )


def _is_setting(setting: Any) -> bool:
    return (
        isinstance(setting, Setting)
        and setting.scale in SCALES
        and isinstance(setting.learn_distances, bool)
        and _is_whole(setting.n_neighbors, 1)
        and setting.symmetrize in SYMMETRIZE
        and _is_whole(setting.diffusion)
        and setting.diffusion <= LONGEST_WALK
        and _is_number(setting.influence, least=0)
    )


def _are_changes(changes: Any, n: int, _: int) -> bool:
    return isinstance(changes, Changes) and all(
        0 <= point < n for row in changes for point in (*row.points, *(row.constraint or ())[1:])
    )


def _are_names(names: Any, *_: int) -> bool:
    return isinstance(names, dict) and all(_is_whole(key) and isinstance(name, str) for key, name in names.items())


def _are_scales(scales: Any, n: int, _: int) -> bool:
    return scales is None or (_finite(scales, (n,)) and scales.dtype == np.float64 and bool((scales >= 0).all()))


def _are_levels(levels: Any, n: int, _: int) -> bool:
    return isinstance(levels, tuple) and all(level.shape == (n,) and level.dtype.kind == "i" for level in levels)


def _are_texts(texts: Any, length: int) -> bool:
    return len(texts) == length and all(isinstance(text, str) for text in texts)


def _are_rows(rows: Any, n: int, n_features: int) -> bool:
    return (
        rows.keys() == {"ids", "id_name", "columns"}
        and isinstance(rows["ids"], np.ndarray)
        and _are_texts(rows["ids"], len(rows["ids"]))
        and len(rows["ids"]) <= n
        and isinstance(rows["id_name"], str)
        and (rows["columns"] is None or _are_texts(rows["columns"], n_features))
    )


OPTIONAL: dict[str, Callable[[Any, int, int], bool]] = {
    "n_features_in_": lambda value, *_: _is_whole(value, 1),
    "n_clusters_reason_": lambda value, *_: isinstance(value, str),
    "choice_": _is_choice,
    "changes_": _are_changes,
    "names_": _are_names,
    "cut_": lambda value, *_: _is_number(value),
    "violated_belief_bound_": lambda value, *_: value is None or _is_number(value),
    "history_": lambda value, *_: isinstance(value, tuple) and all(map(_is_number, value)),
    "hierarchy_": _are_levels,
    "neighbor_recall_": lambda value, *_: _is_number(value),
    "feature_names_in_": lambda value, _, width: isinstance(value, np.ndarray) and _are_texts(value, width),
    "_scales": _are_scales,
    "_rows": _are_rows,
}
