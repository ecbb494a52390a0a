"""The protocol of the newest rival, PCCC: COSC with default settings beside every figure that was published.

    python -m benchmarks.pccc [iris wine ...] [--draws 10]

For a share of the points, f of them, f (f - 1) / 2 pairs are drawn over all points, features standardised. *uniform* draws
them without repetition. *published* draws them as the program does that made the data of PCCC's authors: in rounds of
f (f - 1) / 2 until enough distinct ones are there, and of those, sorted, the first f (f - 1) / 2 are kept, so that one end of
every pair is among the first 29 % of the rows. Its first draw has their seed. It is shown for the large sets. (Iris and
wine were drawn in this way, too, but in another order of the rows: in ours, which is by class, such pairs say nothing about
the other classes.) Every finished fit is appended to build/pccc.csv at once, and read from there when
the command is run again with the same commit.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from math import ceil
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.instances import commit, points, reference, standardised, typed, write
from tightcut import COSC, Constraints
from tightcut.warmup import warmup

COMMAND = "python -m benchmarks.pccc"
FITS = Path("build/pccc.csv")
FIELDS = ("commit", "set", "%", "drawn", "draw", "pairs", "ARI", "violated", "seconds")
SMALL = ("iris", "wine", "sonar", "heart", "wdbc", "ionosphere")
LARGE = ("letter", "shuttle", "mnist")
SEED = 24  # of that generator
NOTES = [
    "- `COSC(k, random_state=0).fit(X, must_link=..., cannot_link=...)` with everything else as it comes: graph, scales and",
    "  influence are chosen from the pairs. Seconds are processor seconds of one thread, graph and choice included.",
    "- Published figures are one draw each, with a limit of 3600 s and a commercial solver. Those of ionosphere and of the",
    "  sets without one are not printed in the paper.",
    "- `above`: our mean is above the best published figure; `equal`: to three decimals; `below`.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[*SMALL, *LARGE, []], metavar="SET", help=", ".join(SMALL + LARGE))
    parser.add_argument("--draws", type=int, default=10)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # lopsided clusters, graphs that are not connected
    warmup()
    fits = read_fits()
    for name in given.sets or SMALL + LARGE:
        for fit in missing(fits, name, given.draws):
            append(fit)
            fits.append(fit)
    rows = list(table(fits))
    write("pccc", rows, [*NOTES, *verdict(rows)], COMMAND)


def missing(fits: list[dict[str, str]], name: str, n_draws: int) -> Iterator[dict[str, str]]:
    """The fits of a set that are not there yet."""
    done = {tuple(fit[key] for key in ("set", "%", "drawn", "draw")) for fit in fits}
    X, y = standardised(points(name)[0]), np.unique(points(name)[1], return_inverse=True)[1]
    for percent in (5, 10, 15, 20) if name in SMALL else (0.5, 1, 5):
        for drawn in ("uniform", "published") if name in LARGE else ("uniform",):
            for draw in range(n_draws):
                if (name, f"{percent:g}", drawn, str(draw)) not in done:
                    known = DRAWS[drawn](y, ceil(round(percent * len(y) / 100, 9)), draw)
                    yield {"commit": commit(), "set": name, "%": f"{percent:g}", "drawn": drawn} | fitted(
                        X, y, known, draw
                    )


def fitted(X: np.ndarray, y: np.ndarray, known: Constraints, draw: int) -> dict[str, str]:
    begun = time.process_time()
    model = COSC(int(y.max()) + 1, random_state=0).fit(X, must_link=known.must_link, cannot_link=known.cannot_link)
    return {
        "draw": str(draw),
        "pairs": str(len(known.must_link) + len(known.cannot_link)),
        "ARI": f"{adjusted_rand_score(y, model.labels_):.6f}",
        "violated": str(model.n_violations_),
        "seconds": f"{time.process_time() - begun:.2f}",
    }


def uniform_pairs(y: np.ndarray, n_chosen: int, draw: int) -> Constraints:
    """Distinct pairs, each as likely as any other."""
    n_pairs = n_chosen * (n_chosen - 1) // 2
    pairs = distinct_pairs(np.random.default_rng(draw), len(y), n_pairs)
    return typed(y, pairs[np.random.default_rng(draw).permutation(len(pairs))[:n_pairs]])


def published_pairs(y: np.ndarray, n_chosen: int, draw: int) -> Constraints:
    """The first of all distinct pairs of as many rounds as it takes."""
    n_pairs = n_chosen * (n_chosen - 1) // 2
    return typed(y, distinct_pairs(np.random.RandomState(SEED + draw), len(y), n_pairs)[:n_pairs])


def distinct_pairs(rng: np.random.Generator | np.random.RandomState, n: int, n_pairs: int) -> np.ndarray:
    """At least so many distinct pairs, drawn in rounds of that many and sorted."""
    integers = rng.randint if isinstance(rng, np.random.RandomState) else rng.integers
    keys = np.empty(0, np.int64)
    while len(keys) < n_pairs:
        ends = np.sort(np.stack([integers(0, n, n_pairs), integers(0, n, n_pairs)], axis=1), axis=1)
        keys = np.union1d(keys, (ends[:, 0] * n + ends[:, 1])[ends[:, 0] < ends[:, 1]])
    return np.stack(np.divmod(keys, n), axis=1)


DRAWS = {"uniform": uniform_pairs, "published": published_pairs}


def table(fits: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    """A row for each set, share and way of drawing: means over the draws."""
    for key in dict.fromkeys((fit["set"], fit["%"], fit["drawn"]) for fit in fits):
        own = [fit for fit in fits if (fit["set"], fit["%"], fit["drawn"]) == key]
        scores = np.array([float(fit["ARI"]) for fit in own])
        printed = {
            row["method"]: row["ari"]
            for row in reference("published")
            if (row["dataset"], row["pairs"]) == (key[0], f"{key[1]}%")
        }
        best = max(map(float, printed.values()), default=None)
        yield {
            "set": key[0],
            "%": key[1],
            "drawn": key[2],
            "pairs": own[0]["pairs"],
            "draws": str(len(own)),
            "ARI": f"{scores.mean():.3f}",
            "deviation": f"{scores.std(ddof=1):.3f}" if len(own) > 1 else "",
            "violated": str(sum(int(fit["violated"]) for fit in own)),
            "published": "; ".join(f"{method} {score}" for method, score in printed.items()),
            "against the best": "" if best is None else compared(round(float(scores.mean()), 3), best),
            "s (median)": f"{np.median([float(fit['seconds']) for fit in own]):.1f}",
        }


def compared(ours: float, best: float) -> str:
    return "above" if ours > best else "equal" if ours == best else "below"


def verdict(rows: list[dict[str, str]]) -> Iterator[str]:
    for drawn in DRAWS:
        own = [row["against the best"] for row in rows if row["drawn"] == drawn]
        if any(own):
            counts = ", ".join(f"{own.count(word)} {word}" for word in ("above", "equal", "below"))
            yield f"- {drawn.capitalize()}: {counts}."
    if absent := [name for name in SMALL + LARGE if name not in {row["set"] for row in rows}]:
        yield f"- Not run: {', '.join(absent)} (`{COMMAND} {' '.join(absent)}`)."


def read_fits() -> list[dict[str, str]]:
    """Those of the present commit."""
    if not FITS.exists():
        return []
    with FITS.open() as file:
        return [fit for fit in csv.DictReader(file) if fit["commit"] == commit() and fit["seconds"]]


def append(fit: dict[str, str]) -> None:
    FITS.parent.mkdir(exist_ok=True)
    is_new = not FITS.exists()
    with FITS.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(fit)
    print(*fit.values(), flush=True)


if __name__ == "__main__":
    main()
