"""The parameters of an estimator: checked before any time is spent, and read where they describe a graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from tightcut.clustering.cluster import Settings, check_number
from tightcut.fitted.inputs import check_n_clusters
from tightcut.neighbors import GIVEN, METRICS, SEARCHES, SYMMETRIZE, KnnSettings
from tightcut.selection.graph_config import AUTO, N_NEIGHBORS, Setting
from tightcut.selection.scale import SCALES
from tightcut.utils.validation import check_choice, check_count

WANTED = tuple(field.name for field in fields(Setting))  # may be "auto"


def wanted(estimator: Any) -> dict[str, Any]:
    """The settings of an estimator that are chosen where they are "auto"."""
    return {name: getattr(estimator, name) for name in WANTED}


def knn_settings(estimator: Any, n_neighbors: int = N_NEIGHBORS) -> KnnSettings:
    """What all graphs of an estimator share."""
    return KnnSettings(
        n_neighbors,
        metric=estimator.metric,
        neighbors=estimator.neighbors,
        connect=estimator.connect,
        n_jobs=estimator.n_jobs,
        device=estimator.device,
    )


def check_parameters(estimator: Any, criteria: Iterable[str]) -> None:
    """Refuse a wrong setting before any time is spent on the graph."""
    check_choice("criterion", estimator.criterion, criteria)
    check_choice("affinity", estimator.affinity, ("knn", "precomputed"))
    check_choice("neighbors", estimator.neighbors, SEARCHES)
    check_choice("metric", estimator.metric, METRICS)
    check_n_clusters(estimator.n_clusters)
    check_choice("scale", estimator.scale, (AUTO, *SCALES))
    check_choice("symmetrize", estimator.symmetrize, (AUTO, *SYMMETRIZE))
    if estimator.learn_distances != AUTO and not isinstance(estimator.learn_distances, bool | np.bool_):
        raise ValueError(f'learn_distances must be True, False or "auto"; got {estimator.learn_distances!r}.')
    if estimator.connect not in (True, False):
        raise ValueError(f"connect must be True or False; got {estimator.connect!r}.")
    for name, least in (("n_neighbors", 1), ("diffusion", 0)):
        if getattr(estimator, name) != AUTO:
            check_count(name, getattr(estimator, name), least)
    _check_given_similarities(estimator)
    _check_given_distances(estimator)
    influence = 0.0 if estimator.influence == AUTO else estimator.influence
    check_number("influence", influence, 'a number >= 0, or "auto"')
    Settings(
        estimator.max_violations, estimator.method, estimator.effort, influence, estimator.n_jobs, estimator.device
    )


def _check_given_similarities(estimator: Any) -> None:
    """Refuse what has no effect on a graph that is given."""
    if estimator.affinity != "precomputed":
        return
    if estimator.metric == GIVEN:
        raise ValueError(
            'affinity="precomputed" says that X holds similarities, and metric="precomputed" that it holds distances. For '
            'distances leave affinity="knn"; for similarities leave metric="euclidean".'
        )
    without_effect = {
        "scale": (AUTO, "none"),
        "learn_distances": (AUTO, False),
        "metric": ("euclidean",),
        "n_neighbors": (AUTO,),
        "neighbors": (AUTO,),
        "symmetrize": (AUTO,),
        "diffusion": (AUTO, 0),
    }
    for name, allowed in without_effect.items():
        if getattr(estimator, name) not in allowed:
            raise ValueError(
                f"{name}={getattr(estimator, name)!r} is for making a graph from points, and with "
                f'affinity="precomputed" X is the graph. Leave it out, or pass points with affinity="knn".'
            )


def _check_given_distances(estimator: Any) -> None:
    """Refuse what has no meaning for distances that are given."""
    if estimator.metric != GIVEN:
        return
    wanted_scale, learned = estimator.scale not in (AUTO, "none"), estimator.learn_distances not in (AUTO, False)
    if wanted_scale or learned:
        name = "scale" if wanted_scale else "learn_distances"
        raise ValueError(
            f'{name}={getattr(estimator, name)!r} applies to columns, and metric="{GIVEN}" has distances instead. Leave it out.'
        )
    KnnSettings(metric=GIVEN, neighbors=estimator.neighbors)
