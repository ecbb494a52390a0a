"""The least violated belief, by OR-tools' CP-SAT solver, with a lower bound: no clustering violates less.

The graph plays no part in this. Each connected set of pairs is a problem of its own, and where a known clustering violates
none of a set, nothing is left to solve. The extra `tightcut[exact]` installs the solver; without it nothing is proven.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

import numpy as np
from scipy.sparse.csgraph import connected_components

from tightcut.problem import Constraints
from tightcut.problem.two_colouring import link_graph
from tightcut.utils.warning import warn

SECONDS = 2.0  # of the solver at an effort of 1, by its own deterministic clock: the same answer on every machine
LARGEST = 200_000  # pairs times clusters of a model; larger ones are left as they are
SCALES = (1, 10, 100, 1000, 10**9)  # beliefs become whole numbers


@dataclass(frozen=True, eq=False)
class Fewest:
    """A clustering that violates little, and the bound: no clustering into as many clusters violates less."""

    labels: np.ndarray
    bound: float


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs among points 0, ..., n_points - 1, of either kind, with their beliefs as whole numbers."""

    n_points: int
    pairs: np.ndarray
    must: np.ndarray
    costs: np.ndarray

    def violated(self, labels: np.ndarray) -> np.ndarray:
        """Which pairs a clustering violates."""
        return (labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]]) != self.must

    def cost(self, labels: np.ndarray) -> int:
        return int(self.costs[self.violated(labels)].sum())

    def among(self, points: np.ndarray) -> Pairs:
        """The pairs of some points, renumbered. No pair may join these points with others."""
        place = np.full(self.n_points, -1)
        place[points] = np.arange(len(points))
        rows = place[self.pairs[:, 0]] >= 0
        return Pairs(len(points), place[self.pairs[rows]], self.must[rows], self.costs[rows])


@cache
def solver_installed() -> bool:
    """Whether OR-tools is installed and can be loaded; where only the latter fails, a warning says so, once."""
    if find_spec("ortools") is None:
        return False
    try:
        importlib.import_module("ortools.sat.python.cp_model")
    except ImportError as error:
        # Its HiGHS library clashes with that of highspy, which cvxpy loads, unless it is the first of the two.
        warn(
            f"OR-tools is installed but cannot be loaded ({error}), so that no bound on violations is known. If cvxpy or "
            "highspy was imported before, import ortools.sat.python.cp_model first."
        )
        return False
    return True


def fewest_violations(constraints: Constraints, k: int, labels: np.ndarray, effort: float = 1.0) -> Fewest:
    """As little violated belief as the solver finds, starting from `labels`, and its bound. Needs `tightcut[exact]`."""
    whole, scale = _whole_numbers(constraints)
    unrelated = np.ones(constraints.n_points, bool)
    unrelated[whole.pairs] = False
    labels, bound, left = labels.copy(), 0, SECONDS * max(effort, 0.1)
    # Unrelated points fill clusters that stay empty; where there are too few of them, all pairs are one problem.
    missing = max(k - int(unrelated.sum()), 0)
    parts = _connected_parts(whole, labels) if missing <= 1 else [np.flatnonzero(~unrelated)]
    for points in parts:
        part = whole.among(points)
        if len(part.pairs) * k > LARGEST or left <= 0:
            continue
        found, least, spent = _solve(part, k, labels[points], missing if missing > 1 else 0, left)
        labels[points], bound, left = found, bound + least, left - spent
    return Fewest(_filled(labels, k, unrelated), bound / scale)


def _whole_numbers(constraints: Constraints) -> tuple[Pairs, int]:
    """The pairs with beliefs rounded down to multiples of 1 / scale, so that every bound holds for the beliefs as well."""
    pairs = np.concatenate([constraints.must_link, constraints.cannot_link])
    beliefs = np.concatenate([constraints.must_link_belief, constraints.cannot_link_belief])
    scale = next(
        (scale for scale in SCALES if np.allclose(beliefs * scale, np.rint(beliefs * scale), atol=1e-12)), 10**9
    )
    costs = np.floor(beliefs * scale + 1e-6).astype(np.int64)
    must = np.arange(len(pairs)) < constraints.n_must_link
    return Pairs(constraints.n_points, pairs, must, costs), scale


def _connected_parts(whole: Pairs, labels: np.ndarray) -> list[np.ndarray]:
    """The points of each connected set of pairs that has a violated one; the smallest set first."""
    _, component = connected_components(link_graph(whole.n_points, whole.pairs), directed=False)
    torn = np.unique(component[whole.pairs[whole.violated(labels), 0]])
    return sorted((np.flatnonzero(component == own) for own in torn), key=len)


def _solve(part: Pairs, k: int, labels: np.ndarray, used: int, seconds: float) -> tuple[np.ndarray, int, float]:
    """Labels that cost no more than the given ones, a bound on the cost of any, and the seconds that took.

    At least `used` clusters must have a member.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    # The points with most pairs first: the first is in cluster 0, the second in 0 or 1, and so on.
    order = np.argsort(-np.bincount(part.pairs.ravel(), minlength=part.n_points), kind="stable")
    inside = [[model.new_bool_var("") for _ in range(k)] for _ in range(part.n_points)]
    for rank, point in enumerate(order.tolist()):
        model.add_exactly_one(inside[point][: rank + 1])
        for literal in inside[point][rank + 1 :]:
            model.add(literal == 0)
    broken = [model.new_bool_var("") for _ in part.pairs]
    for (i, j), must, literal in zip(part.pairs.tolist(), part.must.tolist(), broken, strict=True):
        for c in range(k):
            other = inside[j][c] if must else inside[j][c].negated()
            model.add_bool_or([inside[i][c].negated(), other, literal])
    if used:
        occupied = [model.new_bool_var("") for _ in range(k)]
        for c in range(k):
            model.add_bool_or([*(own[c] for own in inside), occupied[c].negated()])
        model.add(sum(occupied) >= min(used, part.n_points))
    model.minimize(cp_model.LinearExpr.weighted_sum(broken, part.costs.tolist()))
    solver = cp_model.CpSolver()
    # Proofs from small sets of pairs that cannot all hold; one worker, whose answer is the same every time.
    for name, value in {
        "num_workers": 1,
        "optimize_with_core": True,
        "max_deterministic_time": seconds,
        "random_seed": 0,
        "catch_sigint_signal": False,
    }.items():
        setattr(solver.parameters, name, value)
    status = solver.solve(model)
    spent = solver.response_proto.deterministic_time
    known = part.cost(labels)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        found = np.array([[solver.boolean_value(literal) for literal in own] for own in inside]).argmax(axis=1)
        if part.cost(found) < known:
            labels, known = found.astype(labels.dtype), part.cost(found)
    return labels, min(int(np.ceil(solver.best_objective_bound - 1e-6)), known), spent


def _filled(labels: np.ndarray, k: int, unrelated: np.ndarray) -> np.ndarray:
    """Labels without an empty cluster, by moving unrelated points out of clusters of two or more."""
    for c in range(k):
        count = np.bincount(labels, minlength=k)
        movable = np.flatnonzero(unrelated & (count[labels] > 1))
        if count[c] == 0 and len(movable):
            labels[movable[0]] = c
    return labels
