"""Studies that are one picture: the trade-off on Sonar, and the multi-way toy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_PAIRS = 80
SEED = 0


def tradeoff(quick: bool) -> tuple[Any, Figure]:  # noqa: FBT001 (a flag that STUDIES passes on)
    """Every trade-off between cut and violated pairs, with the clustering error."""
    import pandas as pd

    from tightcut import Graph, datasets, knn_affinity, tradeoff_path
    from tightcut.metrics import clustering_error
    from tightcut.plots import as_result, new_figure, plot_tradeoff

    dataset = datasets.load("wdbc" if quick else "sonar")
    graph = Graph.from_affinity(knn_affinity(dataset.X))
    constraints = datasets.sample_constraints(dataset.y, N_PAIRS, SEED)
    points = tradeoff_path(graph, constraints, random_state=SEED, effort=0.3 if quick else 1.0)
    path = [as_result(point) for point in points]
    table = pd.DataFrame(
        [(result.n_violations, result.cut, clustering_error(dataset.y, result.labels)) for result in path],
        columns=["violated_pairs", "cut", "error"],
    )
    figure = new_figure(figsize=(5.4, 3.8))
    plot_tradeoff(path, dataset.y, ax=figure.add_subplot())
    return table, figure


def toy(quick: bool) -> tuple[Any, Figure]:  # noqa: FBT001
    """The truth, three clusters without constraints, and three with."""
    import pandas as pd

    from tightcut import COSC, datasets
    from tightcut.metrics import clustering_error, normalized_cut, violated_fractions
    from tightcut.plots import plot_partitions

    dataset = datasets.load("gaussian_toy")
    constraints = datasets.sample_constraints(dataset.y, N_PAIRS, SEED)
    model = COSC(n_clusters=dataset.n_classes, random_state=SEED, effort=0.3 if quick else 1.0)
    partitions: dict[str, np.ndarray] = {"truth": dataset.y, "unconstrained": model.fit(dataset.X).labels_}
    constrained = f"{N_PAIRS} pairs"
    model.fit(dataset.X, must_link=constraints.must_link, cannot_link=constraints.cannot_link)
    partitions[constrained] = model.labels_
    rows = [
        (
            name,
            normalized_cut(model.affinity_matrix_, labels),
            clustering_error(dataset.y, labels),
            violated_fractions(constraints, labels).all,
        )
        for name, labels in partitions.items()
    ]
    table = pd.DataFrame(rows, columns=["clustering", "cut", "error", "violated"])
    return table, plot_partitions(dataset.X, partitions, {constrained: constraints})
