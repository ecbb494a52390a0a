"""The two studies that are a single picture."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd
import scipy.sparse as sp
from matplotlib.figure import Figure

from tightcut import COSC, Graph, KnnAffinity, datasets, knn_affinity, metrics, tradeoff_path
from tightcut.plots import new_figure, plot_partitions, plot_tradeoff

N_PAIRS = 80
SEED = 0
PAPER: dict[str, Any] = {
    "scale": "none",
    "affinity": KnnAffinity(learn_distances=False, symmetrize="maximum", diffusion=0),
    "influence": 0.0,
}


class Picture(NamedTuple):
    """A figure, the numbers in it, and the graph they were found on."""

    table: Any
    affinity: sp.csr_array
    figure: Figure


def picture_of_tradeoff(quick: bool) -> Picture:  # noqa: FBT001 (a flag that `reproduce` passes on)
    """Every trade-off between cut and violated pairs, with the clustering error."""
    dataset = datasets.load("wdbc" if quick else "sonar")
    affinity = knn_affinity(dataset.X)
    constraints = datasets.sample_constraints(dataset.y, N_PAIRS, SEED)
    effort = 0.3 if quick else 1.0
    path = tradeoff_path(Graph.from_affinity(affinity), constraints, random_state=SEED, effort=effort)
    table = pd.DataFrame(
        [(result.n_violations, result.cut, metrics.clustering_error(dataset.y, result.labels)) for result in path],
        columns=["violated_pairs", "cut", "error"],
    )
    figure = new_figure(figsize=(5.4, 3.8))
    plot_tradeoff(path, dataset.y, ax=figure.add_subplot())
    return Picture(table, affinity, figure)


def picture_of_toy(quick: bool) -> Picture:  # noqa: FBT001
    """The truth, three clusters without constraints, and three with."""
    toy = datasets.load_gaussian_toy()
    X, y = toy.X, toy.y
    known = datasets.sample_constraints(y, N_PAIRS, SEED)
    model = COSC(n_clusters=toy.n_classes, random_state=SEED, effort=0.3 if quick else 1.0, **PAPER)
    constrained = f"{N_PAIRS} pairs"
    partitions = {
        "truth": y,
        "unconstrained": model.fit_predict(X),
        constrained: model.fit_predict(X, must_link=known.must_link, cannot_link=known.cannot_link),
    }
    table = pd.DataFrame({"clustering": list(partitions)})
    table["cut"] = [metrics.normalized_cut(model.affinity_matrix_, labels) for labels in partitions.values()]
    table["error"] = [metrics.clustering_error(y, labels) for labels in partitions.values()]
    table["violated"] = [metrics.violated_fractions(known, labels).all for labels in partitions.values()]
    return Picture(table, model.affinity_matrix_, plot_partitions(X, partitions, {constrained: known}))
