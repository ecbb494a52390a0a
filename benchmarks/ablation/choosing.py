"""Branches of the choice of settings, each switched off; the sets of `benchmarks.choosing`, in small samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.ablation.variants import replaced
from benchmarks.choosing import points
from tightcut import COSC
from tightcut.datasets import sample_constraints

SCORE = "index"
STATES = (0, 1, 2)
WARM_UP = ["iris 0.5", "sonar 1", "planted many 1"]
NOTES = [
    "Adjusted Rand index without the branch less that with it, over instances and three random states, each with a sample of",
    "at most 300 points and pairs of its own, as many as the share of the points after the name; `differs` says how often it",
    "was another.",
]
POINTS, EFFORT = 300, 0.3

# Name: set, pairs as a share of the points.
SETS = (
    "iris", "wine", "wdbc", "heart", "ionosphere", "sonar", "diabetis", "spam", "usps", "letter", "shuttle", "covertype",
    "heart unscaled", "diabetis unscaled", "planted units", "planted counts", "planted embedding", "planted noise",
    "planted many",
)  # fmt: skip
INSTANCES = {f"{name} {share:g}": (name, share) for name in SETS for share in (0.5, 1.0, 3.0)}

SELECT, HELD_OUT, SCALE = "selection/select.py", "selection/held_out.py", "selection/scale.py"
VARIANTS = [
    replaced("no end after the default", SELECT, "    if not _is_clear(gain, error):\n        return tried\n", ""),
    replaced("scales are not tried", SELECT, "    tried += scores(scales)\n", ""),
    replaced("standard is not tried", SELECT, "(SCALES if scalable else ())", '(("none", "quantile") if scalable else ())'),
    replaced("standardised columns are scaled again", SCALE, "ALIKE = 1.05", "ALIKE = 0.0"),
    replaced("distances are not learned", SELECT, "    if learnable:\n", "    if False:\n"),
    replaced("learned for the best scale only", SELECT, "in dict.fromkeys([default, best])", "in [best]"),
    replaced("influence stays", SELECT, "    if fading and best.agreement < THRESHOLDS.agreement:", "    if False:"),
    replaced("any gain counts", SELECT, "standard_errors: float = 1.0", "standard_errors: float = 0.0"),
    replaced("two standard errors", SELECT, "standard_errors: float = 1.0", "standard_errors: float = 2.0"),
    replaced("five pairs of each kind suffice", SELECT, "held_out_pairs: int = 15", "held_out_pairs: int = 5"),
    replaced(
        "points are never held out",
        HELD_OUT,
        "    if 2 * held.n_must >= constraints.n_must_link and 2 * held.n_cannot >= constraints.n_cannot_link:\n",
        "    if True:\n",
    ),
    replaced("pairs of 200 points", HELD_OUT, "MOST_LINKED = 400", "MOST_LINKED = 200"),
    replaced("three folds", HELD_OUT, "N_FOLDS = 4", "N_FOLDS = 3"),
    replaced("kinds weigh as they are many", HELD_OUT, "*, balanced: bool = True", "*, balanced: bool = False"),
    replaced("pairs are independent", HELD_OUT, "np.sqrt(np.sum(by_group**2))", "np.sqrt(np.sum(gains**2))"),
    replaced("the ratio of units does not matter", SCALE, " and variances.min() * LARGEST_RATIO**2 < 1:", ":"),
    replaced("the share of columns does not matter", SCALE, "count - 1 < LEAST_SHARE * (n_columns - 1) and ", ""),
]  # fmt: skip


def prepare(name: str, state: int) -> Callable[[], float]:
    dataset, share = INSTANCES[name]
    X, y = points(dataset, state, POINTS)
    known = sample_constraints(y, round(share * len(y)), random_state=10_000 + state)
    model = COSC(len(np.unique(y)), effort=EFFORT, random_state=state, n_jobs=1)
    return lambda: adjusted_rand_score(y, model.fit(X, constraints=known).labels_)
