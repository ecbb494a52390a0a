"""How far cuts are from the smallest: proven bounds for COSC, the paper's algorithm, the authors' program and rivals.

    python -m benchmarks.certificates [DATASET ...]

Without names the small sets; spam, usps0, digits and usps are made if they are named, and each set replaces its own rows.
Graph and pairs are those of reference/README.md, seed 0. A proof ends at a gap of 0.1 % or after SECONDS, and seconds are
those of the processor, proof and search for better clusterings included.
"""

from __future__ import annotations

import sys
import time
from typing import Any

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
LARGE = {"spam": (2, (50, 200, 800, 4000)), "usps0": (2, (50, 200, 800, 4000))}
LARGE |= {"digits": (10, (0, 200, 1000, 2000)), "usps": (10, (1000,))}
SECONDS = {"digits": 120, "usps": 300, "spam": 120, "usps0": 120}  # 60 for the others
RIVALS = {"SL": SpectralLearning, "CSP": CSP, "CCSR": CCSR, "SCLC": SCLC}
ONLY_TWO = ("SCLC",)


def main() -> None:
    quiet()
    warmup()
    for dataset in sys.argv[1:] or SMALL:
        k, counts = (SMALL | LARGE)[dataset]
        rows, unconstrained = [], 0.0
        for n_pairs in counts:
            row, certificate = proven(dataset, k, n_pairs)
            if n_pairs == 0:
                unconstrained = certificate.bound
            ratio = compared(dataset, k, n_pairs, certificate.bound, unconstrained)
            rows.append(row | ratio)
            print(rows[-1], flush=True)
        rows = merged("certificates", rows, ("dataset", "pairs"))
        write("certificates", rows, summary(rows), "python -m benchmarks.certificates", shown=False)


def pairs_of(dataset: str, n_pairs: int) -> Constraints:
    return authors_pairs(dataset, n_pairs, 0) if n_pairs else Constraints.from_pairs(len(points(dataset)[1]))


def proven(dataset: str, k: int, n_pairs: int) -> tuple[dict[str, Any], Certificate]:
    own, pairs = graph(dataset), pairs_of(dataset, n_pairs)
    labels = cluster(own, pairs, k, random_state=0).labels
    start = time.process_time()
    certificate = certify(own, pairs, labels, seconds=SECONDS.get(dataset, 60), random_state=0, n_jobs=1)
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
