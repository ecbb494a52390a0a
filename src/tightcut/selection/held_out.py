"""Held-out pairs: whether a clustering made without them agrees with them.

A held-out pair is informative only if the remaining pairs do not imply it. Must-links are transitive, and two
cannot-links imply a must-link if there are two clusters: so a held-out pair counts only if no chain of remaining pairs
joins its two points. Where there are so many pairs among so few points that hardly any pair is left, as with known
classes, points are held out instead, with all pairs that are implied.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tightcut.problem import Constraints

N_FOLDS = 4
MOST_LINKED = 400  # points whose implied pairs are used, where points are held out


@dataclass(frozen=True, eq=False)
class Fold:
    """Some pairs held out.

    Attributes
    ----------
    known : Constraints
        The pairs that are left.
    asked : int ndarray of shape (m,)
        Numbers of the pairs that are held out and not implied; must-links come first.
    """

    known: Constraints
    asked: np.ndarray


@dataclass(frozen=True, eq=False)
class HeldOut:
    """All pairs with their kind, weight and group, and the folds.

    Attributes
    ----------
    pairs : int ndarray of shape (m, 2)
    must : bool ndarray of shape (m,)
    group : int ndarray of shape (m,)
        Pairs of one group are not independent.
    weight : ndarray of shape (m,)
        In proportion to the belief, 0 for pairs that are not asked about; adds up to 1.
    n_must, n_cannot : int
        How many are asked about.
    n_given : int or None
        Pairs that were given, where points are held out, and the pairs above are implied by them.
    """

    pairs: np.ndarray
    must: np.ndarray
    group: np.ndarray
    weight: np.ndarray
    n_must: int
    n_cannot: int
    folds: tuple[Fold, ...]
    n_given: int | None = None

    @property
    def in_words(self) -> str:
        """What is held out, in terms of what was given."""
        if self.n_given is None:
            return f"{self.n_must + self.n_cannot:,} held-out pairs"
        return f"{self.n_given:,} pairs, held out with what they imply,"

    def agreement(self, fold: Fold, labels: np.ndarray) -> np.ndarray:
        """Whether the labels agree with each held-out pair of the fold."""
        i, j = self.pairs[fold.asked].T
        return np.asarray((labels[i] == labels[j]) == self.must[fold.asked])

    def score(self, agrees: np.ndarray) -> float:
        """The share of satisfied pairs, by weight."""
        return float(self.weight @ agrees)

    def share(self, n_folds: int) -> float:
        """The share of the weight that pairs of the first folds have."""
        return float(sum(self.weight[fold.asked].sum() for fold in self.folds[:n_folds]))

    def compare(self, agrees: np.ndarray, other: np.ndarray) -> tuple[float, float]:
        """By how much the score of `agrees` exceeds that of `other`, and the standard error of that."""
        gains = self.weight * (agrees - other)
        by_group = np.bincount(self.group, weights=gains)
        return float(gains.sum()), float(np.sqrt(np.sum(by_group**2)))


def hold_out(
    constraints: Constraints, rng: np.random.Generator, n_folds: int = N_FOLDS, *, balanced: bool = True
) -> HeldOut:
    """Folds of the pairs, as many must-links and cannot-links in each as in the others.

    If `balanced`, must-links weigh as much as cannot-links in all; otherwise each pair as much as it is believed.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import Constraints
    >>> from tightcut.selection.held_out import hold_out
    >>> chain = Constraints.from_pairs(8, must_link=[(0, 1), (1, 2), (0, 2)], cannot_link=[(3, 4), (5, 6)])
    >>> held = hold_out(chain, np.random.default_rng(0), 2)
    >>> sum(len(fold.asked) for fold in held.folds) < chain.n_pairs  # two of the triangle imply the third
    True
    """
    held = _weighed(constraints, *_by_pair(constraints, rng, n_folds), balanced=balanced)
    if 2 * held.n_must >= constraints.n_must_link and 2 * held.n_cannot >= constraints.n_cannot_link:
        return held
    among = _implied_among(constraints, rng)
    held = _weighed(among, *_by_point(among, rng, n_folds), balanced=balanced)
    return replace(held, n_given=constraints.n_pairs)


def _implied_among(constraints: Constraints, rng: np.random.Generator) -> Constraints:
    """All pairs that are implied between some of the points that have any, each believed in full."""
    linked = np.unique(np.concatenate([constraints.must_link, constraints.cannot_link]))
    some = rng.permutation(linked)[:MOST_LINKED]
    component = constraints.components()[1]
    member = np.full(component.max() + 1, -1)  # of each must-linked set one point, if any was drawn
    member[component[some]] = some
    must = np.column_stack([some, member[component[some]]])
    cannot = member[component[constraints.cannot_link]]
    apart = cannot[:, 0] != cannot[:, 1]  # a cannot-link within a must-linked set contradicts it, and tells nothing
    return Constraints.from_pairs(
        constraints.n_points, must[must[:, 0] != must[:, 1]], cannot[apart & (cannot >= 0).all(axis=1)]
    ).closure()


def _weighed(constraints: Constraints, folds: list[Fold], group: np.ndarray, *, balanced: bool) -> HeldOut:
    pairs, must = _pairs(constraints)
    belief = np.concatenate([constraints.must_link_belief, constraints.cannot_link_belief])
    asked = np.bincount(np.concatenate([fold.asked for fold in folds]), minlength=len(pairs)) > 0
    weight = belief * asked
    for kind in [must, ~must] if balanced else [slice(None)]:
        weight[kind] /= (1 + balanced) * max(weight[kind].sum(), np.finfo(float).tiny)
    n_must, n_cannot = (int(np.count_nonzero(asked[kind])) for kind in (must, ~must))
    return HeldOut(pairs, must, group, weight, n_must, n_cannot, tuple(folds))


def _pairs(constraints: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """All pairs, must-links first, and which they are."""
    pairs = np.concatenate([constraints.must_link, constraints.cannot_link])
    return pairs, np.arange(len(pairs)) < constraints.n_must_link


def _by_pair(constraints: Constraints, rng: np.random.Generator, n_folds: int) -> tuple[list[Fold], np.ndarray]:
    pairs, must = _pairs(constraints)
    number = np.empty(len(pairs), dtype=np.int64)
    for kind in (must, ~must):
        number[kind] = rng.permutation(np.arange(np.count_nonzero(kind)) % n_folds)
    folds = []
    for fold in range(n_folds):
        kept = number != fold
        links = sp.csr_array((np.ones(kept.sum()), tuple(pairs[kept].T)), shape=(constraints.n_points,) * 2)
        part = connected_components(links, directed=False)[1]
        out = np.flatnonzero(~kept)
        folds.append(Fold(_select(constraints, kept), out[part[pairs[out, 0]] != part[pairs[out, 1]]]))
    # Pairs that start in one must-linked set say much the same.
    return folds, constraints.components()[1][pairs[:, 0]]


def _by_point(constraints: Constraints, rng: np.random.Generator, n_folds: int) -> tuple[list[Fold], np.ndarray]:
    """Each pair is held out in the fold of one of its points, at random; known are the pairs of other folds."""
    pairs, _ = _pairs(constraints)
    points = np.unique(pairs)
    number = np.full(constraints.n_points, -1)
    number[points] = rng.permutation(np.arange(len(points)) % n_folds)
    first, second = pairs.T
    speaker = np.where(rng.random(len(pairs)) < 0.5, first, second)
    folds = []
    for fold in range(n_folds):
        kept = (number[first] != fold) & (number[second] != fold)
        folds.append(Fold(_select(constraints, kept), np.flatnonzero(number[speaker] == fold)))
    return folds, speaker


def _select(constraints: Constraints, kept: np.ndarray) -> Constraints:
    return constraints.select(kept[: constraints.n_must_link], kept[constraints.n_must_link :])
