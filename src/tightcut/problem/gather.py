"""`gather_constraints`: combine pairs, labels, groups and `Constraints` into one `Constraints`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tightcut.problem.constraints import Constraints
from tightcut.problem.sources import pairs_by_name


def gather_constraints(
    n_points: int,
    *,
    names: Sequence[Any] | None = None,
    must_link: Any = None,
    cannot_link: Any = None,
    must_link_belief: Any = None,
    cannot_link_belief: Any = None,
    partial_labels: Any = None,
    cannot_link_groups: Any = None,
    constraints: Any = None,
) -> Constraints:
    """All constraints on the points, in any of their forms; the keywords are those of `COSC.fit`.

    With `names` of the points, pairs may name them instead of counting.
    """
    for name, pairs in (("must_link", must_link), ("cannot_link", cannot_link)):
        if isinstance(pairs, Constraints):
            raise TypeError(f"{name} takes pairs, and got {pairs!r}; pass it as constraints=.")
    must_link = pairs_by_name(must_link, names, "must_link")
    cannot_link = pairs_by_name(cannot_link, names, "cannot_link")
    known = Constraints.from_pairs(n_points, must_link, cannot_link, must_link_belief, cannot_link_belief)
    if constraints is not None:
        known |= _on_points(constraints, n_points, "constraints")
    if partial_labels is not None:
        known |= _on_points(Constraints.from_labels(partial_labels), n_points, "partial_labels")
    if cannot_link_groups is not None:
        known |= _on_points(Constraints.from_groups(cannot_link_groups), n_points, "cannot_link_groups")
    return known


def _on_points(constraints: Any, n_points: int, name: str) -> Constraints:
    if not isinstance(constraints, Constraints):
        raise TypeError(f"{name} must be a tightcut.Constraints; got {type(constraints).__name__}.")
    if constraints.n_points != n_points:
        raise ValueError(f"{name} must have one entry per sample, {n_points}; got {constraints.n_points}.")
    return constraints
