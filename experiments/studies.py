"""The studies of the project: what is run and drawn, in how many trials.

There are ten trials, as in the paper. Methods that need many seconds for a fit have three, or a single one where they take
minutes or reach the limit; the pages say which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from experiments.methods import default_methods, noise_methods

if TYPE_CHECKING:  # matplotlib and pandas are for the pages, and fits are also run where they are not installed
    from matplotlib.figure import Figure

    from experiments.pictures import Picture

OURS = ("COSC", "paper", "default")
FROM_THE_PAPER = ("SL", "CSP", "CCSR", "SCLC")
LATER = ("FAST-GE", "PCKMeans")
GROUPS = (("COSC", *FROM_THE_PAPER), (*OURS, *LATER))  # the paper's own figures, and what it does not have
ANSWERS_TO_NOISE = ("hard", "soft", "weighted")
SMALL_NUMBERS = (5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560)
SPAM = (250, 1000, 2000, 4000, 8000, 16000)
USPS0 = (50, 200, 800, 3200, 12800, 51200)
USPS = (100, 400, 1600, 6400, 25600)
LARGE = (1000, 10000, 100000)
SMALL = ("sonar", "breast_cancer", "heart", "diabetis")


@dataclass(frozen=True)
class Plan:
    """A part of a study: one call of `run`."""

    datasets: tuple[str, ...]
    n_pairs: tuple[int, ...]
    trials: int = 10
    methods: tuple[str, ...] = (*OURS, *FROM_THE_PAPER, *LATER)
    noise: tuple[float, ...] = (0.0,)


@dataclass(frozen=True)
class Study:
    """A named study of the project.

    Either a grid of cells (`plans`, and `quick` ones on data that need no download), whose figures `draw` makes from
    the table; or a single picture, for which `picture` returns a table, its graph and a figure.
    """

    title: str
    about: str
    plans: tuple[Plan, ...] = ()
    quick: tuple[Plan, ...] = ()
    draw: Callable[[Any], dict[str, Figure]] = field(default=lambda _table: {})
    picture: Callable[[bool], Picture] | None = None
    methods: Callable[[], dict[str, Any]] = default_methods

    @property
    def datasets(self) -> list[str]:
        """In the order of the plans."""
        return list(dict.fromkeys(name for plan in self.plans for name in plan.datasets))

    def in_order(self, table: Any) -> Any:
        """A table with datasets and methods as the study names them; a file has them in alphabetical order."""
        places = {"dataset": self.datasets, "method": list(self.methods())}

        def place(column: Any) -> Any:
            known = places[column.name]
            return column.map(lambda name: known.index(name) if name in known else len(known))

        return table.sort_values(["dataset", "method"], key=place, kind="stable")


def draw_measures(table: Any) -> dict[str, Figure]:
    from experiments.figures import plot_measures

    finished = table[table["status"] == "ok"]
    return {name: plot_measures(table, name, GROUPS) for name in dict.fromkeys(finished["dataset"])}


def draw_noise(table: Any) -> dict[str, Figure]:
    from experiments.figures import plot_noise

    return {"error": plot_noise(table, methods=list(noise_methods()))}


def draw_tradeoff(quick: bool) -> Picture:  # noqa: FBT001 (a flag that `reproduce` passes on)
    from experiments.pictures import picture_of_tradeoff

    return picture_of_tradeoff(quick)


def draw_toy(quick: bool) -> Picture:  # noqa: FBT001
    from experiments.pictures import picture_of_toy

    return picture_of_toy(quick)


STUDIES: dict[str, Study] = {
    "binary": Study(
        "Two clusters",
        "The paper's binary problems, from a handful of random pairs to as many as fix the labelling or nearly so; features as "
        "they come, 10 nearest neighbours. CSP needs a dense eigenproblem: above 3,000 points it refuses.",
        plans=(
            Plan(("sonar", "breast_cancer", "heart"), SMALL_NUMBERS),
            Plan(("diabetis",), SMALL_NUMBERS, methods=("COSC", "default", *FROM_THE_PAPER, *LATER)),
            Plan(("diabetis",), SMALL_NUMBERS, trials=3, methods=("paper",)),
            Plan(("spam",), SPAM, methods=("COSC", "default", *FROM_THE_PAPER, *LATER)),
            Plan(("spam",), SPAM, trials=1, methods=("paper",)),
            Plan(("usps0",), USPS0, methods=("COSC", *FROM_THE_PAPER, "FAST-GE")),
            Plan(("usps0",), USPS0, trials=3, methods=("default", "PCKMeans")),
            Plan(("usps0",), USPS0, trials=1, methods=("paper",)),
        ),
        quick=(Plan(("wdbc",), (20, 200), trials=2),),
        draw=draw_measures,
    ),
    "multiway": Study(
        "More than two clusters",
        "The paper's multi-way problems; the extended MNIST is every image of MNIST and its eight shifts by one pixel, 630,000 "
        "in all. SCLC is for two clusters and CSP needs a dense eigenproblem; their refusals are listed below.",
        plans=(
            Plan(("usps",), USPS, methods=("COSC", *FROM_THE_PAPER, "FAST-GE")),
            Plan(("usps",), USPS, trials=1, methods=("paper", "default", "PCKMeans")),
            Plan(("shuttle", "mnist"), LARGE, methods=("COSC",)),
            Plan(("shuttle", "mnist"), LARGE, trials=1, methods=(*FROM_THE_PAPER, "FAST-GE", "default")),
            Plan(("shuttle",), LARGE, trials=1, methods=("PCKMeans",)),
            Plan(("extended_mnist",), LARGE, methods=("COSC",)),
            Plan(("extended_mnist",), LARGE, trials=1, methods=(*FROM_THE_PAPER, "FAST-GE")),
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
            Plan(SMALL, (80, 320, 1280), methods=ANSWERS_TO_NOISE, noise=(0.1, 0.2)),
            Plan(("spam", "usps0"), (800, 3200), trials=1, methods=ANSWERS_TO_NOISE, noise=(0.1, 0.2)),
        ),
        quick=(Plan(("wdbc",), (100,), trials=2, methods=ANSWERS_TO_NOISE, noise=(0.1,)),),
        draw=draw_noise,
        methods=noise_methods,
    ),
    "tradeoff": Study(
        "Cut and error against violations",
        "Sonar with 80 pairs, from no violated pair to the unconstrained cut: for each number of violated pairs the smallest "
        "cut that was found, wherever it is smaller than with fewer. None is proved to be the smallest there is.",
        picture=draw_tradeoff,
    ),
    "toy": Study(
        "The multi-way toy",
        "Three Gaussians: the truth, three clusters without constraints, and three with 80 random pairs.",
        picture=draw_toy,
    ),
}
