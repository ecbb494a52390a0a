"""Map a `FittedState` to the named parts of a model file (version 1 of the format), and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tightcut.clustering.result import ClusteringResult
from tightcut.fitted.archive import ArchiveError, damage_reported, read_archive, write_archive
from tightcut.fitted.loaded import check_parameters, check_state
from tightcut.fitted.parameters import Parameters
from tightcut.fitted.state import FittedState, Rows
from tightcut.neighbors.extend import Neighbourhoods
from tightcut.neighbors.points import GIVEN
from tightcut.problem.graph import Graph
from tightcut.selection.built_graph import BuiltGraph
from tightcut.selection.sources import Distances, GraphSource, PointSource, Similarities


def save(state: FittedState, path: Path) -> None:
    """Write a model; a file that exists is replaced, whole or not at all."""
    from tightcut import __version__

    write_archive(path, state.parameters.flat(), _parts(state), __version__)


def load(path: Path) -> FittedState:
    """The model that `save` has written. Raises ArchiveError if the file is not one, or is damaged."""
    flat, parts = read_archive(path)
    with damage_reported(path):
        check_parameters(flat)
        try:
            parameters = Parameters.from_flat(**flat)
        except TypeError as error:
            raise ArchiveError(
                f"{path} has parameters that this version of tightcut does not know: {error}."
            ) from error
        return _state(parameters, check_state(parts))


def _parts(state: FittedState) -> dict[str, Any]:
    result, built, near, rows = state.result, state.built, state.built.neighborhoods, state.rows
    violations = result.violations
    parts = {
        "labels_": result.labels,
        "cut_": result.cut,
        "violated_belief_bound_": result.violated_belief_bound,
        "n_violations_": violations.n_violations,
        "violated_belief_": violations.belief,
        "violated_must_link_": violations.must_link,
        "violated_cannot_link_": violations.cannot_link,
        "n_features_in_": state.n_features,
        "n_clusters_": state.n_clusters,
        "n_clusters_reason_": state.n_clusters_reason,
        "affinity_matrix_": built.graph.weights,
        "vertex_weights_": built.graph.vertex_weights,
        "constraints_": state.constraints,
        "choice_": state.choice,
        "names_": state.names,
        "changes_": state.changes,
        "_n_ids": state.n_ids,
        "_training_points": state.points,
        "_view": built.view,
        "_scales": None if near is None else near.scales,
        "_plain_affinity": built.undiffused,
    }
    optional: dict[str, Any] = {
        "history_": result.history,
        "hierarchy_": result.hierarchy,
        "neighbor_recall_": built.recall,
        "feature_names_in_": state.feature_names,
        "_rows": None if rows is None else _row_parts(rows),
    }
    return parts | {name: value for name, value in optional.items() if value is not None}


def _row_parts(rows: Rows) -> dict[str, Any]:
    columns = None if rows.columns is None else list(rows.columns)
    return {"ids": np.array(list(rows.ids), dtype=object), "id_name": rows.id_name, "columns": columns}


def _state(parameters: Parameters, parts: dict[str, Any]) -> FittedState:
    constraints, labels, scales, rows = parts["constraints_"], parts["labels_"], parts["_scales"], parts.get("_rows")
    built = BuiltGraph(
        Graph(parts["affinity_matrix_"], parts["vertex_weights_"]),
        parts["choice_"].setting,
        parts["_view"],
        None if scales is None else Neighbourhoods(scales),
        parts["_plain_affinity"],
        parts.get("neighbor_recall_"),
    )
    result = ClusteringResult(
        labels,
        parts["cut_"],
        constraints.violations(labels),
        parts.get("violated_belief_bound_"),
        parts.get("history_"),
        parts.get("hierarchy_"),
    )
    return FittedState(
        parameters,
        _source(parameters, parts["_training_points"]),
        built,
        parts["choice_"],
        constraints,
        result,
        parts["n_clusters_reason_"],
        parts["_n_ids"],
        parts["names_"],
        parts["changes_"],
        parts.get("feature_names_in_"),
        None
        if rows is None
        else Rows(rows["ids"].tolist(), rows["id_name"], rows["columns"] and tuple(rows["columns"])),
    )


def _source(parameters: Parameters, points: Any) -> GraphSource:
    if points is not None:
        return PointSource(points, parameters.knn)
    return Distances(None, parameters.knn) if parameters.metric == GIVEN else Similarities(None)
