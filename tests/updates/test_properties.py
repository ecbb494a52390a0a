"""Random sequences of updates: what is kept is kept, constraints hold, ids are not used again."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightcut import COSC, Constraints, Graph, InconsistentConstraintsError
from tightcut.problem.objective import normalized_cut


def fitted(rng, n, k):
    centres = rng.normal(size=(k, 2)) * 4
    points = centres[rng.integers(k, size=n)] + rng.normal(size=(n, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return COSC(k, n_neighbors=4, effort=0.3, random_state=0).fit(points), centres


def explained(change, before, after, constraints):
    """Whether the constraint is one of the model's, and the points that moved would violate it had they stayed.

    By definition: put the whole must-linked set of the points back, or for a must-link, see that its set was torn.
    """
    kind, i, j = change.constraint
    _, unit = constraints.components()
    pairs = constraints.must_link if kind == "must" else constraints.cannot_link
    assert [i, j] in pairs.tolist()
    for point in change.points:
        if kind == "must":
            members = np.flatnonzero(unit == unit[point])
            assert unit[i] == unit[j] == unit[point]
            assert len({before[m] for m in members if m < len(before)}) > 1
        else:
            own, other = (i, j) if unit[i] == unit[point] else (j, i)
            assert unit[own] == unit[point]
            assert after[other] == before[point]


def check_changes(model, before, n_new, named, keep, wanted):
    """The table lists every point that is new or in another cluster, and what was to be kept left for a constraint only."""
    after, n_old = model.labels_, len(before)
    # Every point that is in another cluster is in the table, once.
    moved = [point for change in model.changes_ for point in change.points]
    assert sorted(moved) == sorted([*np.flatnonzero(before != after[:n_old]), *range(n_old, n_old + n_new)])
    # What is to be kept left for a constraint only.
    kept = {"all": set(before.tolist()), "named": named, "none": set()}[keep]
    for change in model.changes_:
        assert {after[point] for point in change.points} == {change.cluster}
        if change.source is not None:
            assert {before[point] for point in change.points} == {change.source}
            assert change.source not in kept or change.constraint is not None
            if change.constraint is not None:
                explained(change, before, after, wanted)


@st.composite
def steps(draw):
    keep = draw(st.sampled_from(["named", "all", "none"]))
    n_new = draw(st.integers(0, 5))
    n_pairs = draw(st.integers(0 if n_new else 1, 4))
    return keep, n_new, n_pairs, draw(st.booleans()), draw(st.integers(0, 2**32 - 1))


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.lists(steps(), min_size=1, max_size=5))
@pytest.mark.slow
def test_what_is_kept_is_kept_and_constraints_hold(seed, k, sequence):
    rng = np.random.default_rng(seed)
    model, centres = fitted(rng, 24, k)
    seen, ended = set(model.labels_.tolist()), set()
    for cluster in np.unique(model.labels_)[rng.random(model.n_clusters_) < 0.6].tolist():
        model.name(cluster, f"name {cluster}")
    for keep, n_new, n_pairs, full, step_seed in sequence:
        draw = np.random.default_rng(step_seed)
        new = centres[draw.integers(k, size=n_new)] + draw.normal(size=(n_new, 2)) if n_new else None
        n_old = len(model.labels_)
        pairs = np.array([draw.choice(n_old + n_new, 2, replace=False) for _ in range(n_pairs)]).reshape(-1, 2)
        must = draw.random(n_pairs) < 0.5
        before, names = model.labels_.copy(), dict(model.names_)
        state = {
            name: getattr(model, name) for name in ("labels_", "affinity_matrix_", "constraints_", "changes_", "cut_")
        }
        known = model.constraints_
        wanted = Constraints(n_old + n_new, *(getattr(known, part) for part in (
            "must_link", "cannot_link", "must_link_belief", "cannot_link_belief"
        ))) | Constraints.from_pairs(n_old + n_new, pairs[must], pairs[~must])  # fmt: skip
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.update(new, must_link=pairs[must], cannot_link=pairs[~must], keep=keep, full=full)
        except InconsistentConstraintsError:
            assert len(wanted.conflicts()) > 0, "only a contradiction is an error"
            assert all(getattr(model, name) is value for name, value in state.items()), "nothing half-changed"
            continue
        assert len(wanted.conflicts()) == 0
        after = model.labels_
        assert wanted.violations(after).n_violations == 0 == model.n_violations_
        assert model.n_clusters_ == len(np.unique(after))
        assert model.cut_ == pytest.approx(
            normalized_cut(
                Graph(model.affinity_matrix_, model.vertex_weights_), np.unique(after, return_inverse=True)[1]
            )
        )
        # Ids.
        alive = set(after.tolist())
        assert not alive & ended
        ended |= seen - alive
        seen |= alive
        check_changes(model, before, n_new, set(names), keep, wanted)
        assert model.names_ == {cluster: name for cluster, name in names.items() if cluster in alive}
        assert set(model.predict(centres).tolist()) <= alive
