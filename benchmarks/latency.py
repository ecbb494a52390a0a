"""Small problems: a default fit, against the same fit with its settings given, and against `SpectralClustering`.

    python -m benchmarks.latency [sonar led7digit ...] [--repeats 5]

Seconds of processor time on one thread, medians of fits that take turns in one process, once everything is compiled.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

from benchmarks.choosing import points
from benchmarks.instances import write
from tightcut import COSC, Constraints, KnnAffinity
from tightcut.datasets import sample_constraints
from tightcut.selection import Setting

POINTS = 2000  # of a set at most
FIXED = "fixed cost"
# Points of which every pair is known, as in the PCCC paper; for other sets numbers of pairs drawn at random.
LABELLED = {"sonar": 21, "breast_cancer": 114, "vehicle": 127, "led7digit": 50, "heart": 54, "planted many": 68}
PAIRS = {
    "digits": 1000,
    "iris": 60,
    "wine": 90,
    "ionosphere": 200,
    "diabetis": 400,
    "spam": 300,
    "planted counts": 300,
    "planted noise": 250,
    "planted curves": 360,
    "coil20": 700,
}
NOTES = [
    "- `pairs`: all pairs among some of the points (sonar, breast_cancer, vehicle, led7digit, heart, planted many), as in",
    "  the PCCC paper, or pairs drawn at random. `led7digit`: 7 segments of a display, each wrong with probability .1;",
    "  `vehicle`: four overlapping classes in 18 columns; both are simulated.",
    "- `default`: seconds of `COSC(k).fit`; `given`: with the settings that it chose; `spectral`: scikit-learn's",
    "  `SpectralClustering` on 10 nearest neighbours, without pairs. The ratios are those of the default.",
    f"- `{FIXED}`: 200 points in two groups, settings given, `effort=0`.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=[*LABELLED, *PAIRS, FIXED], metavar="SET")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in arguments.sets:
        rows.append(measure(name, arguments.repeats))
        print(*rows[-1].values(), flush=True)
    if len(rows) > 1:
        write("latency", rows, NOTES, "python -m benchmarks.latency", "one thread")


def measure(name: str, repeats: int) -> dict[str, object]:
    X, y, known = instance(name)
    k = len(np.unique(y))
    options = {"random_state": 0, "n_jobs": 1, "effort": 0.0 if name == FIXED else 1.0}
    chosen = COSC(k, **options).fit(X, constraints=known)
    setting = Setting() if name == FIXED else chosen.choice_.setting
    fits = {
        "default": lambda: COSC(k, **options).fit(X, constraints=known),
        "given": lambda: COSC(k, **options, **parameters(setting)).fit(X, constraints=known),
        "spectral": lambda: SpectralClustering(k, affinity="nearest_neighbors", random_state=0).fit(X),
    }
    seconds = medians(fits, repeats)
    return {
        "set": name,
        "points": len(y),
        "k": k,
        "pairs": known.n_pairs,
        **{key: round(value, 3) for key, value in seconds.items()},
        "over given": round(seconds["default"] / seconds["given"], 1),
        "over spectral": round(seconds["default"] / seconds["spectral"], 1),
        "index": round(float(adjusted_rand_score(y, chosen.labels_)), 3),
        "scale": setting.scale + (", learned" if setting.learn_distances else ""),
    }


def parameters(setting: Setting) -> dict[str, object]:
    """A setting as parameters of COSC."""
    values = asdict(setting)
    graph = {name: values.pop(name) for name in ("learn_distances", "symmetrize", "diffusion")}
    return values | {"affinity": KnnAffinity(**graph)}


def medians(tasks: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Processor seconds of each task; the tasks take turns, after one run of each that is not counted."""
    measured: dict[str, list[float]] = {name: [] for name in tasks}
    for repeat in range(repeats + 1):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            if repeat:
                measured[name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in measured.items()}


def instance(name: str) -> tuple[np.ndarray, np.ndarray, Constraints]:
    """Points, classes, and pairs."""
    rng = np.random.default_rng(7)
    if name == FIXED:
        y = np.arange(200) % 2
        return rng.normal(size=(200, 5)) + 3 * y[:, None], y, Constraints.from_pairs(200)
    X, y = SIMULATED[name](rng) if name in SIMULATED else points(name, 0, POINTS)
    if name in PAIRS:
        return X, y, sample_constraints(y, PAIRS[name], random_state=1)
    labels = np.full(len(y), -1)
    labelled = rng.permutation(len(y))[: LABELLED[name]]
    labels[labelled] = y[labelled]
    return X, y, Constraints.from_labels(labels).closure()


def led7digit(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Digits on a display of seven segments, of which each is wrong with probability 0.1."""
    segments = [
        "1110111",
        "0010010",
        "1011101",
        "1011011",
        "0111010",
        "1101011",
        "1101111",
        "1010010",
        "1111111",
        "1111011",
    ]
    shown = np.array([[int(segment) for segment in digit] for digit in segments])
    y = rng.integers(0, 10, 500)
    return np.abs(shown[y] - (rng.random((500, 7)) < 0.1)).astype(np.float64), y


def vehicle(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Four classes that overlap, in 18 correlated columns of different units."""
    y = rng.integers(0, 4, 846)
    inner = 0.7 * rng.normal(size=(4, 8))[y] + rng.normal(size=(846, 8))
    return inner @ rng.normal(size=(8, 18)) * np.exp(rng.normal(size=18)), y


SIMULATED = {"led7digit": led7digit, "vehicle": vehicle}

if __name__ == "__main__":
    main()
