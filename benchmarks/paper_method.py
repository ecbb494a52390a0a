"""method="paper" against the authors' own program, and what each step beyond the paper gains.

    python -m benchmarks.paper_method [authors] [ladder]

`authors`: all rows of reference/authors.csv that were made with the authors' default (`full`), and what other readings of
the text give. `ladder`: the rows of sonar and heart, from sets that are carried on to `method="search"`. Seconds are those of
the processor, on one thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.instances import (
    authors_pairs,
    geometric_mean,
    graph,
    points,
    quiet,
    reference,
    timed_by_processor,
    write,
)
from tightcut import Constraints, Graph, cluster
from tightcut.metrics import clustering_error
from tightcut.problem.objective import normalized_cut
from tightcut.relaxation import Relaxation
from tightcut.relaxation.balance import LovaszBalance
from tightcut.relaxation.paper import PaperSettings, paper_bipartition, paper_partitions
from tightcut.relaxation.penalty_path import INNER, PathSettings, PenaltyPath
from tightcut.relaxation.ratio_dca import Descent, ratio_dca
from tightcut.warmup import warmup

COMMAND = "python -m benchmarks.paper_method"
SMALL = ("sonar", "heart")
SEEDS = range(1)  # of the ladder

Solve = Callable[[Graph, Constraints, int, int], np.ndarray]  # of graph, pairs, number of clusters and seed; labels


@dataclass(frozen=True)
class Reading:
    """A way to read the text, as a function that clusters."""

    settings: PaperSettings = field(default_factory=lambda: PaperSettings(1.0, lambda *_: None))
    path: type[PenaltyPath] = PenaltyPath

    def __call__(self, own: Graph, known: Constraints, k: int, seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        with patch("tightcut.relaxation.paper.PenaltyPath", self.path):
            if k == 2:
                return paper_bipartition(own, known, 0, rng, self.settings).side.astype(np.int64)
            return paper_partitions(own, known, k, rng, self.settings)[-1]


class PathOfSets(PenaltyPath):
    """Only the best level set goes on, from step to step and from penalty to penalty."""

    def descend(self, start: np.ndarray, penalty: float) -> Descent:
        constraints = self.constraints if penalty > 0 else Constraints.from_pairs(self.graph.n_vertices)
        relaxation = Relaxation(self.graph, constraints, penalty, self.settings.balance)
        found = ratio_dca(relaxation, start, inner=self.settings.inner, rng=self.rng)
        return replace(found, f=found.side.astype(np.float64))


def reading(
    *, inner: Any = INNER, path: type[PenaltyPath] = PenaltyPath, criterion: Any = None, **settings: Any
) -> Reading:
    own = replace(Reading().settings, path=PathSettings(inner, **settings))
    return Reading(own if criterion is None else replace(own, criterion=criterion), path)


def by_cut_alone(own: Graph, _links: Constraints, labels: np.ndarray, _k: int) -> float:
    return normalized_cut(own, labels)


def search(own: Graph, known: Constraints, k: int, seed: int) -> np.ndarray:
    return cluster(own, known, k, random_state=seed).labels


def starts_alone(own: Graph, known: Constraints, k: int, seed: int) -> np.ndarray:
    """The multilevel starts of the search, refined and polished, without generations."""
    with patch("tightcut.search.options.GENERATIONS", 0):
        return search(own, known, k, seed)


LADDER: dict[str, Solve] = {
    "paper, sets carried on": reading(path=PathOfSets, patience=0),
    "+ exact inner solver": reading(inner="flow", path=PathOfSets, patience=0),
    "+ f carried on": reading(inner="flow", patience=0),
    "+ perturbation": reading(inner="flow"),
    "+ multilevel starts": starts_alone,
    '+ consensus: method="search"': search,
    'method="paper": FISTA, f, perturbation': Reading(),
    "the same with the Lovasz S": reading(balance=LovaszBalance),
}


def main() -> None:
    quiet()
    warmup()
    for name in sys.argv[1:] or ("authors", "ladder"):
        {"authors": against_authors, "ladder": ladder}[name]()


def against_authors() -> None:
    """With the splits of recursions chosen by the cut alone, too, where there are more than two clusters."""
    rows = []
    for theirs in full_rows():
        k, own, y = int(theirs["k"]), graph(theirs["dataset"]), points(theirs["dataset"])[1]
        known, cut = pairs_of(theirs), float(theirs["cut"])
        labels, seconds = timed_by_processor(partial(Reading(), own, known, k, 0))
        lovasz = reading(balance=LovaszBalance)(own, known, k, 0)
        cut_alone = reading(criterion=by_cut_alone)(own, known, k, 0) if k > 2 else None
        rows.append(
            {
                "dataset": theirs["dataset"],
                "k": k,
                "pairs": theirs["n_pairs"],
                "authors cut": f"{cut:.4f}",
                "cut ratio": f"{normalized_cut(own, labels) / cut:.4f}",
                "authors violated": theirs["violations"],
                "violated": known.violations(labels).n_violations,
                "authors error": f"{float(theirs['error']):.3f}",
                "error": f"{clustering_error(y, labels):.3f}",
                "authors s": theirs["seconds"],
                "s": f"{seconds:.2f}",
                "Lovasz S: cut ratio (violated)": ratio_and_violated(own, known, lovasz, cut),
                "split by cut: cut ratio (violated)": ""
                if cut_alone is None
                else ratio_and_violated(own, known, cut_alone, cut),
            }
        )
        summaries = [summary(rows, k) for k in sorted({row["k"] for row in rows})]
        write("paper_method", rows, summaries, f"{COMMAND} authors", shown=False)
        print(rows[-1], flush=True)


def summary(rows: list[dict[str, Any]], k: int) -> str:
    own = [row for row in rows if row["k"] == k]
    ratios = [float(row["cut ratio"]) for row in own]
    lovasz = [float(str(row["Lovasz S: cut ratio (violated)"]).split()[0]) for row in own]
    ours, theirs = (sum(float(row[key]) for row in own) for key in ("s", "authors s"))
    return (
        f"- k = {k}: cut over the authors' {geometric_mean(ratios):.3f} in the geometric mean, "
        f"{max(ratios):.3f} at most (Lovasz S: {geometric_mean(lovasz):.3f}, {max(lovasz):.3f}); "
        f"{sum(row['violated'] for row in own)} pairs violated (theirs {sum(int(row['authors violated']) for row in own)}); "
        f"{ours:.0f} s against {theirs:.0f} s."
    )


def ladder() -> None:
    instances = [row for row in full_rows() if row["dataset"] in SMALL]
    rows = []
    for name, solve in LADDER.items():
        ratios, seconds = [], 0.0
        for theirs in instances:
            own, known = graph(theirs["dataset"]), pairs_of(theirs)
            for seed in SEEDS:
                labels, time_of_one = timed_by_processor(partial(solve, own, known, 2, seed))
                ratios.append(normalized_cut(own, labels) / float(theirs["cut"]))
                seconds += time_of_one / len(SEEDS)
        rows.append(
            {
                "step": name,
                "cut over the authors'": f"{geometric_mean(ratios):.4f}",
                "largest": f"{max(ratios):.3f}",
                "s": f"{seconds:.1f}",
            }
        )
        print(rows[-1], flush=True)
    theirs_in_all = sum(float(row["seconds"]) for row in instances)
    notes = [
        f"- {len(instances)} instances, {len(SEEDS)} random states; s for all instances, the authors {theirs_in_all:.0f}.",
        "- Must-links and what cannot-links imply are merged in every line.",
    ]
    write("paper_ladder", rows, notes, f"{COMMAND} ladder")


def full_rows() -> list[dict[str, str]]:
    return [row for row in reference("authors") if row["mode"] == "full"]


def pairs_of(row: dict[str, str]) -> Constraints:
    return authors_pairs(row["dataset"], int(row["n_pairs"]), int(row["seed"]))


def ratio_and_violated(own: Graph, known: Constraints, labels: np.ndarray, cut: float) -> str:
    return f"{normalized_cut(own, labels) / cut:.4f} ({known.violations(labels).n_violations})"


if __name__ == "__main__":
    main()
