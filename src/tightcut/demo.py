"""A demonstration on real data, run by ``make demo`` or ``tightcut demo``.

It clusters handwritten 1s and 2s, which ship with scikit-learn. The smallest normalized cut splits off one way of writing a
1; with four pairs of images that are known to show the same digit or different ones, it separates the two digits.
"""

# ruff: noqa: T201 (printing is what a demonstration does)

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from tightcut import COSC, Constraints
from tightcut.metrics import clustering_error
from tightcut.warmup import warmup

DIGITS = (1, 2)
MUST_LINK = [(0, 89), (1, 5)]
CANNOT_LINK = [(0, 1), (2, 3)]


def load() -> tuple[np.ndarray, np.ndarray]:
    """Images as rows of 64 pixels, and the digit that each shows."""
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    chosen = np.isin(digits, DIGITS)
    return images[chosen], digits[chosen]


def draw(
    images: np.ndarray, digits: np.ndarray, constraints: Constraints, models: dict[str, COSC], path: str | Path
) -> None:
    """One panel per model, side by side."""
    from tightcut.plots import plot_partitions, save_png

    partitions = {
        f"{name}: {clustering_error(digits, model.labels_):.1%} of the digits in the wrong cluster": model.labels_
        for name, model in models.items()
    }
    save_png(plot_partitions(images, partitions, dict.fromkeys(partitions, constraints)), path)


def main(output: str | Path = "demo.png") -> None:
    """Print a table of the two clusterings, and save the picture."""
    print("Compiling the kernels, which takes up to a minute the first time and a second later ...", file=sys.stderr)
    warmup()
    images, digits = load()
    constraints = Constraints.from_pairs(len(images), MUST_LINK, CANNOT_LINK)
    print(f"{len(images)} handwritten digits, {DIGITS[0]} or {DIGITS[1]}: two clusters of a nearest-neighbour graph.")
    print(f"Known: {constraints.n_must_link} must-links and {constraints.n_cannot_link} cannot-links.\n")
    print(f"{'':15}{'cut':>8}{'violated':>12}{'error':>9}{'seconds':>10}")
    models = {}
    for name, must_link, cannot_link in (("unconstrained", [], []), ("constrained", MUST_LINK, CANNOT_LINK)):
        started = time.perf_counter()
        model = COSC(n_clusters=2, random_state=0).fit(images, must_link=must_link, cannot_link=cannot_link)
        seconds = time.perf_counter() - started
        violated = constraints.violations(model.labels_).n_violations
        error = clustering_error(digits, model.labels_)
        models[name] = model
        print(f"{name:15}{model.cut_:8.4f}{f'{violated} of {constraints.n_pairs}':>12}{error:9.1%}{seconds:10.2f}")
    draw(images, digits, constraints, models, output)
    print(f"\nError: share of images that do not show the most frequent digit of their cluster. Picture: {output}")


if __name__ == "__main__":
    main()
