"""How far cuts are from the smallest: proven bounds for COSC, the paper's algorithm, the authors' program and rivals.

    python -m benchmarks.certificates [DATASET[:PAIRS] ...]
    python -m benchmarks.certificates draws [DATASET ...]

Without names the small sets; spam, usps0, digits and usps are made if they are named, and each set replaces its own rows,
with a number of pairs that one. Graph and pairs are those of reference/README.md, seed 0; `draws` takes seeds 0 to 9, without
rivals. A proof ends at a gap of 0.1 % or after the seconds of `SECONDS`, of the processor and in one thread; `s` are these
with the proof itself and the search for better clusterings.
"""

from __future__ import annotations

import sys
import time
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.instances import authors_pairs, graph, merged, points, quiet, reference, write
from tightcut import COSC, Constraints, Graph, cluster
from tightcut.certificates import Certificate, certify
from tightcut.problem.objective import normalized_cut
from tightcut.rivals import CCSR, CSP, SCLC, SpectralLearning
from tightcut.warmup import warmup

TWO = (0, 20, 50, 80, 200, 320, 800)
SMALL = dict.fromkeys(("sonar", "heart", "breast_cancer", "ionosphere", "wdbc", "diabetis"), (2, TWO))
SMALL |= dict.fromkeys(("iris", "wine"), (3, (0, 50, 200, 1000)))
LARGE = {"spam": (2, (0, 50, 200, 800, 4000)), "usps0": (2, (0, 50, 200, 800, 4000))}
LARGE |= {"digits": (10, (0, 200, 1000, 2000)), "usps": (10, (1000,))}
SECONDS = {"small": 30, "large": 60, "usps": 120}
DRAWS, DRAWN_PAIRS, SOON = 10, (20, 50, 100, 200), 5
RIVALS = {"SL": SpectralLearning, "CSP": CSP, "CCSR": CCSR, "SCLC": SCLC}
ONLY_TWO = ("SCLC",)


def main() -> None:
    quiet()
    warmup()
    if sys.argv[1:2] == ["draws"]:
        draws(sys.argv[2:] or [name for name, (k, _) in SMALL.items() if k == 2])
        return
    for name in sys.argv[1:] or SMALL:
        dataset, _, only = name.partition(":")
        k, counts = (SMALL | LARGE)[dataset]
        rows, unconstrained = [], 0.0
        for n_pairs in [int(only)] if only else counts:
            row, certificate = proven(dataset, k, n_pairs, 0)
            if n_pairs == 0:
                unconstrained = certificate.bound
            ratio = compared(dataset, k, n_pairs, certificate.bound, unconstrained)
            rows.append(row | ratio)
            print(rows[-1], flush=True)
        rows = merged("certificates", rows, ("dataset", "pairs"))
        write("certificates", rows, summary(rows), "python -m benchmarks.certificates", shown=False)


def draws(names: list[str]) -> None:
    """Further draws of the pairs, one after the other, so that an interrupted run has all sets."""
    for seed in range(DRAWS):
        rows = []
        for dataset in names:
            for n_pairs in DRAWN_PAIRS:
                row, _ = proven(dataset, 2, n_pairs, seed)
                rows.append({"dataset": dataset, "pairs": n_pairs, "seed": seed} | row)
        rows = merged("certificates_draws", rows, ("dataset", "pairs", "seed"))
        gaps, seconds = (np.array([float(row[name]) for row in rows]) for name in ("gap %", "s"))
        closed, last = gaps <= 0.1, max(int(row["seed"]) for row in rows)
        soon = int((closed & (seconds <= SOON)).sum())
        notes = [
            f"- Seeds 0 to {last}: gap at most 0.1 % on {closed.sum()} of {len(rows)} rows, on {soon} in {SOON} seconds.",
            f"- Largest gap {gaps.max():.3f} %; median time {np.median(seconds):.1f} s, longest {seconds.max():.1f} s.",
        ]
        write("certificates_draws", rows, notes, "python -m benchmarks.certificates draws", shown=False)
        print(*notes, sep="\n", flush=True)


def pairs_of(dataset: str, n_pairs: int, seed: int = 0) -> Constraints:
    return authors_pairs(dataset, n_pairs, seed) if n_pairs else Constraints.from_pairs(len(points(dataset)[1]))


def proven(dataset: str, k: int, n_pairs: int, seed: int) -> tuple[dict[str, Any], Certificate]:
    own, pairs = graph(dataset), pairs_of(dataset, n_pairs, seed)
    labels = cluster(own, pairs, k, random_state=0).labels
    allowed = SECONDS.get(dataset, SECONDS["large" if dataset in LARGE else "small"])
    start = time.process_time()
    with mock.patch("time.monotonic", time.process_time):  # the clock by which `certify` ends
        certificate = certify(own, pairs, labels, seconds=allowed, random_state=0, n_jobs=1)
    seconds = time.process_time() - start
    certificate.check(own, pairs)
    row = {
        "dataset": dataset,
        "k": k,
        "pairs": n_pairs,
        "cut": f"{certificate.cut:.5f}",
        "bound": f"{certificate.bound:.5f}",
        "gap %": f"{100 * certificate.gap:.3f}",
        "form": certificate.form,
        "cases": len(certificate.proofs),
        "s": f"{seconds:.1f}",
        "COSC": f"{certificate.bound / certificate.given_cut:.4f}",
    }
    return row, certificate


def compared(dataset: str, k: int, n_pairs: int, bound: float, unconstrained: float) -> dict[str, str]:
    """Bound over cut of everybody else's clusterings."""
    if dataset in LARGE:
        return dict.fromkeys(("paper", "authors", *RIVALS), "")
    own, pairs = graph(dataset), pairs_of(dataset, n_pairs)
    known = {"must_link": pairs.must_link, "cannot_link": pairs.cannot_link}
    models: dict[str, Any] = {
        "paper": COSC(k, method="paper", affinity="precomputed", influence=0, random_state=0),
    }
    models |= {name: rival(k, affinity="precomputed", random_state=0) for name, rival in RIVALS.items()}
    found: dict[str, str] = {}
    for name, model in models.items():
        if k > 2 and name in ONLY_TWO:
            found[name] = ""
            continue
        try:
            labels = model.fit(own.weights, **known).labels_
        except ValueError:
            found[name] = "fails"
            continue
        found[name] = share(own, pairs, labels, k, bound, unconstrained)
        if name == "paper":
            found["authors"] = authors(dataset, n_pairs, bound)
    return found


def share(own: Graph, pairs: Constraints, labels: np.ndarray, k: int, bound: float, unconstrained: float) -> str:
    """Bound over cut; with a star the bound of all clusterings, for one that violates pairs."""
    labels = np.unique(labels, return_inverse=True)[1]
    if labels.max() + 1 != k:
        return f"{labels.max() + 1} clusters"
    cut = normalized_cut(own, labels)
    if pairs.violations(labels).n_violations == 0:
        return f"{bound / cut:.4f}"
    return f"{unconstrained / cut:.4f}*"


def authors(dataset: str, n_pairs: int, bound: float) -> str:
    """Of their default, ten starts."""
    for row in reference("authors"):
        if (row["dataset"], row["n_pairs"], row["seed"], row["mode"]) == (dataset, str(n_pairs), "0", "full"):
            return f"{bound / float(row['cut']):.4f}" if row["violations"] == "0" else "violates"
    return ""


def summary(rows: list[dict[str, Any]]) -> list[str]:
    gaps = np.array([float(row["gap %"]) for row in rows])
    two = np.array([str(row["k"]) == "2" and int(row["pairs"]) > 0 for row in rows])
    better = sum(float(row["COSC"]) < float(row["bound"]) / float(row["cut"]) - 1e-4 for row in rows)
    lines = [
        f"- {kind}: gap at most 0.1 % on {(own <= 0.1).sum()} of {len(own)} rows, at most 1 % on {(own <= 1).sum()}; "
        f"largest {own.max():.2f} %."
        for kind, own in (("Two clusters with pairs", gaps[two]), ("All others", gaps[~two]))
        if len(own)
    ]
    lines.append(
        f"- On {better} rows the proof found a smaller cut than the search; `cut` and `gap %` are of the smaller."
    )
    for name in ("COSC", "paper", "authors", *RIVALS):
        cells = [str(row[name]) for row in rows]
        values = [float(cell) for cell in cells if cell.replace(".", "", 1).isdigit()]
        violating = sum(cell.endswith("*") for cell in cells)
        if values or violating:
            respecting = f"median {np.median(values):.4f}, worst {min(values):.4f}" if values else "none"
            lines.append(f"- {name}: bound over cut on {len(values)} rows {respecting}; violates pairs on {violating}.")
    lines.append(
        "- The columns of names are bound over cut: 1 is proven the smallest. A star marks a clustering that violates pairs "
        "and is compared with the bound of all clusterings. `authors` is their program, from reference/authors.csv."
    )
    return lines


if __name__ == "__main__":
    main()
