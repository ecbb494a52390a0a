"""The studies of the project: what is run and drawn, in how many trials.

There are ten trials, as in the paper, and fewer where a method is slow: see each plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tightcut.constraints import Constraints
from tightcut.experiments._methods import FEWEST, Method, default_methods

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRAPH_METHODS = ("COSC", "SL", "CSP", "CCSR", "SCLC", "FAST-GE")
ANSWERS_TO_NOISE = ("hard", "soft", "weighted")
SMALL = ("sonar", "breast_cancer", "heart", "diabetis")
PICTURE_PAIRS = 80
PICTURE_SEED = 0


@dataclass(frozen=True)
class Plan:
    """A part of a study: one call of `run`."""

    datasets: tuple[str, ...]
    n_pairs: tuple[float, ...]
    trials: int = 10
    methods: tuple[str, ...] = (*GRAPH_METHODS, "PCKMeans")
    noise: tuple[float, ...] = (0.0,)


@dataclass(frozen=True)
class Study:
    """A named study of the project.

    Either a grid of cells (`plans`, and `quick` ones on data that need no download), whose figures `draw` makes from
    the table; or a single picture, for which `picture` returns a table and a figure.
    """

    title: str
    about: str
    plans: tuple[Plan, ...] = ()
    quick: tuple[Plan, ...] = ()
    draw: Callable[[Any], dict[str, Figure]] = field(default=lambda _table: {})
    picture: Callable[[bool], tuple[Any, Figure]] | None = None
    standardize: bool = False
    methods: Callable[[], dict[str, Any]] = default_methods

    def source(self, name: str) -> Any:
        return partial(standardized, name) if self.standardize else name

    def in_order(self, table: Any) -> Any:
        """A table with datasets and methods as the study names them; a file has them in alphabetical order."""
        places = {"dataset": [name for plan in self.plans for name in plan.datasets], "method": list(self.methods())}

        def place(column: Any) -> Any:
            known = places[column.name]
            return column.map(lambda name: known.index(name) if name in known else len(known))

        return table.sort_values(["dataset", "method"], key=place, kind="stable")


def standardized(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A dataset with features of mean 0 and deviation 1; a constant feature becomes 0."""
    from sklearn.preprocessing import StandardScaler

    from tightcut.datasets import load

    dataset = load(name)
    return StandardScaler().fit_transform(dataset.X.astype(np.float64)), dataset.y


def expected_wrong_pairs(constraints: Constraints, noise: float) -> dict[str, Any]:
    return {"max_violations": noise * constraints.n_pairs}


def expected_wrong_belief(constraints: Constraints, noise: float) -> dict[str, Any]:
    """A pair of belief b is wrong with probability (1 - b) / 2."""
    belief = np.concatenate([constraints.must_link_belief, constraints.cannot_link_belief])
    return {"max_violations": float((belief * (1 - belief) / 2).sum()) if noise else 0.0}


def noise_methods() -> dict[str, Any]:
    from tightcut.estimator import COSC

    return {
        "hard": Method(COSC(max_violations="fewest", influence=0)),
        "soft": Method(COSC(influence=0), adapt=expected_wrong_pairs, otherwise=FEWEST),
        "weighted": Method(COSC(influence=0), beliefs=True, adapt=expected_wrong_belief, otherwise=FEWEST),
    }


def draw_measures(table: Any) -> dict[str, Figure]:
    from tightcut.experiments.figures import plot_measures

    finished = table[table["status"] == "ok"]
    order = [name for name in default_methods() if name in set(table["method"])]
    return {name: plot_measures(table, name, methods=order) for name in dict.fromkeys(finished["dataset"])}


def draw_noise(table: Any) -> dict[str, Figure]:
    from tightcut.experiments.figures import plot_noise

    return {"error": plot_noise(table, methods=list(noise_methods()))}


def draw_tradeoff(quick: bool) -> tuple[Any, Figure]:  # noqa: FBT001 (a flag that `reproduce` passes on)
    """Every trade-off between cut and violated pairs, with the clustering error."""
    import pandas as pd

    from tightcut import Graph, datasets, knn_affinity, tradeoff_path
    from tightcut.metrics import clustering_error
    from tightcut.plots import new_figure, plot_tradeoff

    dataset = datasets.load("wdbc" if quick else "sonar")
    graph = Graph.from_affinity(knn_affinity(dataset.X))
    constraints = datasets.sample_constraints(dataset.y, PICTURE_PAIRS, PICTURE_SEED)
    path = tradeoff_path(graph, constraints, random_state=PICTURE_SEED, effort=0.3 if quick else 1.0)
    table = pd.DataFrame(
        [(result.n_violations, result.cut, clustering_error(dataset.y, result.labels)) for result in path],
        columns=["violated_pairs", "cut", "error"],
    )
    figure = new_figure(figsize=(5.4, 3.8))
    plot_tradeoff(path, dataset.y, ax=figure.add_subplot())
    return table, figure


def draw_toy(quick: bool) -> tuple[Any, Figure]:  # noqa: FBT001
    """The truth, three clusters without constraints, and three with."""
    import pandas as pd

    from tightcut import COSC, datasets, metrics
    from tightcut.choosing.setting import PAPER
    from tightcut.plots import plot_partitions

    toy = datasets.load_gaussian_toy()
    X, y = toy.X, toy.y
    known = datasets.sample_constraints(y, PICTURE_PAIRS, PICTURE_SEED)
    effort = 0.3 if quick else 1.0
    model = COSC(n_clusters=toy.n_classes, random_state=PICTURE_SEED, effort=effort, **asdict(PAPER))
    constrained = f"{PICTURE_PAIRS} pairs"
    partitions = {
        "truth": y,
        "unconstrained": model.fit_predict(X),
        constrained: model.fit_predict(X, must_link=known.must_link, cannot_link=known.cannot_link),
    }
    table = pd.DataFrame({"clustering": list(partitions)})
    table["cut"] = [metrics.normalized_cut(model.affinity_matrix_, labels) for labels in partitions.values()]
    table["error"] = [metrics.clustering_error(y, labels) for labels in partitions.values()]
    table["violated"] = [metrics.violated_fractions(known, labels).all for labels in partitions.values()]
    return table, plot_partitions(X, partitions, {constrained: known})


STUDIES: dict[str, Study] = {
    "binary": Study(
        "Two clusters",
        "The paper's binary problems. Pairs are drawn at random until they fix the labelling; features as they come, "
        "10 nearest neighbours.",
        plans=(
            Plan(SMALL, (5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560)),
            Plan(("spam",), (250, 1000, 2000, 4000, 8000, 16000)),
            Plan(("usps0",), (50, 200, 800, 3200, 12800, 51200), methods=GRAPH_METHODS),
            Plan(("usps0",), (50, 200, 800, 3200, 12800, 51200), trials=2, methods=("PCKMeans",)),
        ),
        quick=(Plan(("wdbc",), (20, 200), trials=2),),
        draw=draw_measures,
    ),
    "multiway": Study(
        "More than two clusters",
        "The paper's multi-way problems. SCLC is for two clusters and CSP needs a dense eigenproblem; their refusals "
        "are listed below.",
        plans=(
            Plan(("usps",), (100, 400, 1600, 6400, 25600), methods=GRAPH_METHODS),
            Plan(("usps",), (100, 400, 1600, 6400, 25600), trials=1, methods=("PCKMeans",)),
            Plan(("shuttle",), (1000, 10000, 100000), trials=1),
            Plan(("mnist",), (1000, 10000, 100000), trials=3, methods=GRAPH_METHODS),
        ),
        quick=(Plan(("iris", "wine"), (10, 100), trials=2),),
        draw=draw_measures,
    ),
    "noise": Study(
        "Wrong pairs",
        '10 and 20 % of the pairs are of the wrong kind. *hard*: `max_violations="fewest"`, as few violations as '
        "possible; *soft*: `max_violations` is the expected number of wrong pairs; *weighted*: pairs come with beliefs "
        "that say how likely each is right (uniform, with as many wrong pairs on average), and `max_violations` is the "
        "expected wrong belief. Where that limit cannot be met, as few violations as possible.",
        plans=(
            Plan(("sonar", "heart"), (80, 320, 1280), methods=ANSWERS_TO_NOISE, noise=(0.1, 0.2)),
            Plan(("diabetis",), (80, 320, 1280), trials=3, methods=ANSWERS_TO_NOISE, noise=(0.1, 0.2)),
        ),
        quick=(Plan(("wdbc",), (100,), trials=2, methods=ANSWERS_TO_NOISE, noise=(0.1,)),),
        draw=draw_noise,
        methods=noise_methods,
    ),
    "pccc": Study(
        "All pairs among few points",
        "The protocol of Baumann and Hochbaum's PCCC: all pairs among a random fraction of the points, features "
        "standardised. Published figures are from the appendix of their paper, on other draws of the points. MNIST, the "
        "sixth of their sets here, is left out: the budget of the machine did not allow a second graph of it.",
        plans=(
            Plan(("sonar", "heart", "wdbc"), (0.05, 0.1)),
            Plan(("shuttle",), (0.005, 0.01), trials=1, methods=("COSC", "SL", "PCKMeans")),
            Plan(("letter",), (0.005, 0.01, 0.05), trials=1, methods=("COSC", "SL")),
        ),
        quick=(Plan(("wdbc",), (0.05,), trials=2, methods=("COSC", "PCKMeans")),),
        standardize=True,
    ),
    "tradeoff": Study(
        "Cut and error against violations",
        "Sonar with 80 pairs: the whole trade-off from no violated pair to the unconstrained cut.",
        picture=draw_tradeoff,
    ),
    "toy": Study(
        "The multi-way toy",
        "Three Gaussians: the truth, three clusters without constraints, and three with 80 random pairs.",
        picture=draw_toy,
    ),
}
