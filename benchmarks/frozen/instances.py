"""What is frozen: a name, what is done, with which dataset and settings. The calls are in `tasks`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.instances import reference

STATES = (0, 1)
BUNDLED = ("iris", "wine", "wdbc", "digits")  # these come with scikit-learn; the others from TIGHTCUT_DATA
SMALL = (*BUNDLED, "breast_cancer", "heart", "diabetis", "sonar", "ionosphere")  # all that they are used for is quick
RANDOM_PAIRS = {
    "digits": (200, 1000),
    "usps": (500,),
    "letter": (2000,),
    "shuttle": (3000,),
    "mnist": (10_000,),
}


@dataclass(frozen=True)
class Instance:
    """A call whose result is frozen.

    | field | meaning |
    |---|---|
    | task | the name of a function of `benchmarks.frozen.tasks` |
    | dataset | a name that `tightcut.datasets.load` knows, or "" where the task makes its own data |
    | label | tells the instance from others of its task and dataset |
    | settings | keywords of that function |
    | quick | whether it belongs to the quick subset |
    """

    task: str
    dataset: str
    label: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    quick: bool = True

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.task, self.dataset, self.label)))


def instances() -> list[Instance]:
    """All instances, ordered by task."""
    return [*_clustered(), *_graphs(), *_fitted(), *_continued(), *_others()]


def chosen(only: str, *, quick: bool) -> list[Instance]:
    """Those whose name contains `only`; with `quick` those of the quick subset alone."""
    found = [one for one in instances() if only in one.name and (one.quick or not quick)]
    if not found:
        raise SystemExit(f"No instance has {only!r} in its name; they begin with {', '.join(tasks())}.")
    return found


def tasks() -> list[str]:
    return list(dict.fromkeys(one.task for one in instances()))


def _clustered() -> Iterator[Instance]:
    """`cluster` of stored graphs: the authors' instances, random pairs, and every way to ask for something else."""
    for dataset, n_pairs, k in dict.fromkeys(
        (own["dataset"], int(own["n_pairs"]), int(own["k"])) for own in reference("authors")
    ):
        for state in STATES:
            settings = {"n_pairs": n_pairs, "protocol": "authors", "k": k, "state": state}
            yield Instance("cluster", dataset, f"{n_pairs}, state {state}", settings, dataset in SMALL)
    for dataset, numbers in RANDOM_PAIRS.items():
        for n_pairs in numbers:
            for state in STATES:
                settings = {"n_pairs": n_pairs, "state": state}
                yield Instance("cluster", dataset, f"random {n_pairs}, state {state}", settings, dataset in SMALL)
    for dataset, label, settings in [
        ("wine", "influence", {"n_pairs": 60, "influence": 1.0}),
        ("digits", "two threads", {"n_pairs": 200, "n_jobs": 2}),
        ("wine", "ratio cut", {"n_pairs": 30, "criterion": "rcut"}),
        ("wine", "from a clustering", {"n_pairs": 30, "from_classes": True}),
        ("wdbc", "without pairs", {"n_pairs": 0}),
        ("wine", "k 6", {"n_pairs": 30, "k": 6}),
        ("heart", "effort 3", {"n_pairs": 40, "effort": 3}),
        *(
            (dataset, f"effort 0, state {state}", {"n_pairs": 60, "effort": 0, "state": state, "k": 15})
            for dataset in ("digits", "wdbc")
            for state in STATES
        ),
        *(
            (dataset, f"one quick start, state {state}", {"n_pairs": 30, "effort": 0, "state": state})
            for dataset in ("heart", "diabetis")
            for state in STATES
        ),
        ("digits", "effort 0, generator", {"n_pairs": 60, "effort": 0, "state": "generator", "k": 15}),
        ("iris", "generator", {"n_pairs": 30, "state": "generator"}),
        ("iris", "RandomState", {"n_pairs": 30, "state": "legacy"}),
    ]:
        yield Instance("cluster", dataset, label, settings, dataset in SMALL)
    for dataset, k in [("letter", 8), ("letter", 2), ("spam", 2)]:  # so many points that starts come in batches
        settings = {"n_pairs": 500, "effort": 0.3, "k": k}
        yield Instance("cluster", dataset, f"500, k {k}, effort 0.3", settings)
    for dataset, n_pairs in [("heart", 80), ("sonar", 40), ("wine", 60)]:
        yield Instance("paper", dataset, str(n_pairs), {"n_pairs": n_pairs, "method": "paper"})
    yield from _soft()
    yield Instance("tradeoff", "heart", "60", {"n_pairs": 60, "noise": 0.15})
    yield Instance("tradeoff", "wdbc", "100", {"n_pairs": 100, "noise": 0.1})
    yield Instance("tradeoff", "diabetis", "100, effort 0", {"n_pairs": 100, "noise": 0.1, "effort": 0})
    yield Instance("tradeoff", "spam", "200", {"n_pairs": 200, "noise": 0.1}, quick=False)
    for dataset, n_pairs in [("heart", 40), ("wine", 40), ("digits", 60)]:
        yield Instance("audit", dataset, str(n_pairs), {"n_pairs": n_pairs})


def _soft() -> Iterator[Instance]:
    """Pairs of which a part is wrong, and a number of violations that are allowed."""
    for dataset, n_pairs, limit in [
        ("heart", 80, 4),
        ("wdbc", 120, "fewest"),
        ("sonar", 60, 2.5),
        ("iris", 60, 3),
        ("wine", 60, "fewest"),
        ("digits", 200, 10),
        ("usps", 500, 20),
        ("letter", 1000, "fewest"),
        ("shuttle", 1000, 50),
    ]:
        settings = {"n_pairs": n_pairs, "noise": 0.1, "max_violations": limit}
        yield Instance("soft", dataset, f"{n_pairs}, at most {limit}", settings, dataset in SMALL)
    settings = {"n_pairs": 60, "noise": 0.1, "max_violations": 3, "method": "paper"}
    yield Instance("soft", "heart", "60, by the paper", settings)
    settings = {"n_pairs": 100, "noise": 0.1, "max_violations": 4, "k": 15, "effort": 0}
    yield Instance("soft", "digits", "100, effort 0", settings)
    yield Instance("soft", "wine", "beliefs", {"n_pairs": 60, "noise": 0.1, "max_violations": 2, "beliefs": True})


def _graphs() -> Iterator[Instance]:
    """Neighbour graphs of points, and graphs that are clustered level by level."""
    for dataset in ("iris", "wine", "digits", "usps", "shuttle", "mnist"):
        yield Instance("neighbours", dataset, "", {}, dataset in SMALL)
    yield Instance("neighbours", "digits", "sparse", {"sparse": True})
    yield Instance("neighbours", "wine", "cosine", {"metric": "cosine"})
    for dataset, n_pairs, n_units, quick in [
        ("digits", 100, 400, True),
        ("digits", 0, 300, True),
        ("wdbc", 50, 200, True),
        ("usps", 500, 2000, False),
        ("letter", 1000, 5000, False),
    ]:
        settings = {"n_pairs": n_pairs, "n_units": n_units}
        yield Instance("cluster_graph", dataset, f"{n_pairs}, {n_units} units", settings, quick)
    settings = {"n_pairs": 100, "n_units": 400, "weighted": False}  # the seed decides between equal weights
    yield Instance("cluster_graph", "digits", "100, equal weights", settings)
    settings = {"n_pairs": 0, "n_units": 900, "effort": 0}
    yield Instance("cluster_graph", "digits", "900 units, effort 0", settings)


def _fitted() -> Iterator[Instance]:
    """`COSC` with its defaults: the number of clusters and the settings are chosen."""
    for dataset in ("iris", "wine", "wdbc", "digits", "usps", "letter"):
        yield Instance("auto_k", dataset, "", {"n_pairs": 0}, dataset in SMALL)
    for dataset, n_pairs in [("iris", 20), ("wine", 40), ("digits", 200), ("usps", 300)]:
        yield Instance("auto_k", dataset, str(n_pairs), {"n_pairs": n_pairs}, dataset in SMALL)
    for dataset, n_pairs in [
        ("iris", 30), ("wine", 60), ("wdbc", 100), ("heart", 60), ("ionosphere", 80), ("sonar", 60), ("digits", 300),
        ("usps", 1000), ("letter", 4000), ("shuttle", 3000),
    ]:  # fmt: skip
        yield Instance("chosen", dataset, str(n_pairs), {"n_pairs": n_pairs}, dataset in SMALL)
    yield Instance("chosen", "wine", "60, noisy", {"n_pairs": 60, "noise": 0.1, "max_violations": 4})
    yield Instance("chosen", "wine", "60, fewest", {"n_pairs": 60, "noise": 0.1, "max_violations": "fewest"})
    yield Instance("chosen", "wine", "generator", {"n_pairs": 60, "state": "generator"})
    for state in (*STATES, "generator"):
        settings = {"n_pairs": 100, "state": state, "effort": 0}
        yield Instance("chosen", "digits", f"100, effort 0, state {state}", settings)
    yield Instance("chosen", "letter", "500, effort 0", {"n_pairs": 500, "effort": 0})
    yield Instance("auto_k", "digits", "effort 0", {"n_pairs": 0, "effort": 0})
    # Clusters of so many points are counted on a sample.
    yield Instance("auto_k", "spam", "100, effort 0", {"n_pairs": 100, "effort": 0})
    yield Instance("chosen", "wine", "distances", {"n_pairs": 60, "form": "distances"})
    yield Instance("chosen", "wine", "similarities", {"n_pairs": 60, "form": "similarities"})
    yield Instance("chosen", "digits", "sparse", {"n_pairs": 200, "form": "sparse"})


def _continued() -> Iterator[Instance]:
    """What a fitted model goes on to do."""
    for dataset in ("iris", "wine", "digits", "usps", "letter"):
        yield Instance("predict", dataset, "", {"n_pairs": 60}, dataset in SMALL)
    for form in ("distances", "similarities", "sparse"):
        yield Instance("predict", "wine", form, {"n_pairs": 40, "form": form})
    for dataset in ("iris", "wine", "digits", "usps", "letter"):
        yield Instance("update", dataset, "", {"n_pairs": 60}, dataset in SMALL)
    for label, settings in [
        ("keep all", {"keep": "all"}),
        ("keep none", {"keep": "none"}),
        ("full", {"full": True}),
        ("distances", {"form": "distances"}),
        ("similarities", {"form": "similarities"}),
        ("saved between", {"saved": True}),
    ]:
        yield Instance("update", "wine", label, {"n_pairs": 40, **settings})
    settings = {"n_pairs": 60, "full": True, "keep": "none", "effort": 0}
    yield Instance("update", "letter", "effort 0", {"n_pairs": 200, "effort": 0})
    yield Instance("update", "digits", "full, keep none, effort 0", settings)


def _others() -> Iterator[Instance]:
    for n_families, quick in [(300, True), (20_000, False)]:
        yield Instance("resolve", "", f"{n_families} families", {"n_families": n_families}, quick)
    yield Instance("resolve", "", "300 families with rules", {"n_families": 300, "rules": True})
    yield Instance("resolve_answers", "", "60 answers", {"n_families": 100, "n_answers": 60})
    for dataset in ("iris", "wine", "digits", "usps"):
        yield Instance("ask", dataset, "60 pairs", {"kind": "pair"}, dataset in SMALL)
    for dataset in ("wine", "digits", "usps"):
        yield Instance("ask", dataset, "60 picks", {"kind": "pick"}, dataset in SMALL)
    yield Instance("ask", "wine", "60 pairs, errors", {"kind": "pair", "error_rate": 0.1})
    yield Instance("ask", "wine", "60 picks, alike errors", {"kind": "pick", "error_rate": 0.1, "errors": "alike"})
    yield Instance("ask", "iris", "60 pairs, k known", {"kind": "pair", "k_known": True})
    yield Instance("ask", "wine", "60 pairs, similarities", {"kind": "pair", "form": "similarities"})
