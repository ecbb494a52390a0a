"""A demonstration on real data, run by ``make demo`` or ``python -m tightcut.demo``.

Handwritten 3s and 9s, which ship with scikit-learn. The smallest normalized cut splits off one way of writing a 9;
sixty pairs of digits known to be equal or different bring out the two digits instead.
"""

# ruff: noqa: T201 (printing is what a demonstration does)

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np

from tightcut import COSC, Constraints
from tightcut.metrics import clustering_error
from tightcut.warmup import warmup

DIGITS = (3, 9)
N_PAIRS = 60
SEED = 0


def load() -> tuple[np.ndarray, np.ndarray]:
    """Images as rows of 64 pixels, and the digit that each shows."""
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    chosen = np.isin(digits, DIGITS)
    return images[chosen], digits[chosen]


def sample_pairs(digits: np.ndarray, n_pairs: int, seed: int) -> Constraints:
    """Random pairs of images; equal digits must link, different ones cannot."""
    first, second = np.triu_indices(len(digits), 1)
    chosen = np.random.default_rng(seed).choice(len(first), n_pairs, replace=False)
    pairs = np.column_stack([first[chosen], second[chosen]])
    same = digits[pairs[:, 0]] == digits[pairs[:, 1]]
    return Constraints.from_pairs(len(digits), pairs[same], pairs[~same])


def fit_timed(images: np.ndarray, constraints: Constraints | None = None) -> tuple[COSC, float]:
    """A fitted model and its seconds, neighbour search included."""
    started = time.perf_counter()
    model = COSC(n_clusters=2, random_state=SEED)
    if constraints is None:
        model.fit(images)
    else:
        model.fit(images, must_link=constraints.must_link, cannot_link=constraints.cannot_link)
    return model, time.perf_counter() - started


def draw(images: np.ndarray, digits: np.ndarray, constraints: Constraints, models: dict[str, COSC], path: str) -> None:
    """One panel per model, side by side."""
    from tightcut.plots import plot_partitions, save_png

    partitions = {
        f"{name}: {clustering_error(digits, model.labels_):.1%} of the digits in the wrong cluster": model.labels_
        for name, model in models.items()
    }
    save_png(plot_partitions(images, partitions, dict.fromkeys(partitions, constraints)), path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tightcut.demo", description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="demo.png", metavar="PNG", help="where to save the picture (demo.png)")
    output = parser.parse_args(arguments).output

    print("Compiling the kernels; this takes up to a minute the first time, a second later on ...", file=sys.stderr)
    warmup()
    images, digits = load()
    constraints = sample_pairs(digits, N_PAIRS, SEED)
    print(
        f"{len(images)} handwritten digits, {DIGITS[0]} or {DIGITS[1]}; two clusters of their nearest-neighbour graph."
    )
    print(
        f"{N_PAIRS} random pairs with their true relation: {constraints.n_must_link} must-links, "
        f"{constraints.n_cannot_link} cannot-links.\n"
    )
    print(f"{'':15}{'cut':>8}{'violated':>12}{'error':>9}{'seconds':>10}")
    models = {}
    for name, known in (("unconstrained", None), ("constrained", constraints)):
        model, seconds = fit_timed(images, known)
        violated = constraints.violations(model.labels_).n_violations
        error = clustering_error(digits, model.labels_)
        print(f"{name:15}{model.cut_:8.4f}{f'{violated} of {N_PAIRS}':>12}{error:9.1%}{seconds:10.2f}")
        models[name] = model
    draw(images, digits, constraints, models, output)
    print(f"\nError: share of digits that differ from the most frequent one of their cluster. Picture: {output}")


if __name__ == "__main__":
    main()
