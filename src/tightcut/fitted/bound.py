"""The certificate of a fitted model, and the model with the better clustering that making it may have found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tightcut.certificates import Certificate, certify
from tightcut.clustering.align import align
from tightcut.clustering.arguments import as_generator
from tightcut.clustering.result import ClusteringResult
from tightcut.fitted.changes import list_changes
from tightcut.fitted.state import FittedState
from tightcut.problem import Constraints
from tightcut.problem.objective import normalized_cut
from tightcut.utils.warning import warn


def remarks(state: FittedState) -> Iterator[str]:
    """What to know about the bound of a model whose fit did not look for the smallest cut under its pairs."""
    limit = violations_allowed(state)
    if limit > 0 and state.n_clusters > 2:
        yield f"Note: for more than two clusters the bound counts only pairs of a belief above {limit:g}."
    influence = state.choice.setting.influence
    if influence > 0:
        yield f"Note: with influence {influence:g} the fit does not look for the smallest cut; the gap is also its price."


def violations_allowed(state: FittedState) -> float:
    """The `max_violations` of the fit, or more if the clustering violates more, as with "fewest"."""
    given = state.parameters.max_violations
    return max(0.0 if isinstance(given, str) else float(given), float(state.result.violated_belief))


def certify_state(state: FittedState, *, take: bool = True, **settings: Any) -> tuple[FittedState, Certificate]:
    """The model, with a better clustering if one was found and is taken, and its certificate.

    The bound is of all clusterings that violate at most what the fit was allowed, or as much as this one does.
    With `influence` above 0 the search minimises something else than the cut, and a smaller cut is not taken.
    """
    own: dict[str, Any] = {"random_state": as_generator(state.parameters.random_state)}
    own |= {"n_jobs": state.parameters.n_jobs, "max_violations": violations_allowed(state)}
    certificate = certify(state.graph, state.constraints, state.labels, **(own | settings))
    if not (take and certificate.improved) or state.choice.setting.influence > 0:
        return replace(state, result=replace(state.result, bound=certificate.bound)), certificate
    labels = align(state.labels, certificate.labels)
    codes = np.unique(labels, return_inverse=True)[1]
    result = ClusteringResult(
        labels, normalized_cut(state.graph, codes), state.constraints.violations(labels), bound=certificate.bound
    )
    nothing = Constraints.from_pairs(len(labels))
    changes = list_changes(state.labels, labels, state.constraints, nothing, state.names)
    n_moved = int((labels != state.labels).sum())
    warn(
        f"There is a better clustering: its cut is {result.cut:.6g}, that of the fit {state.result.cut:.6g}, and {n_moved:,} "
        "points differ. The model has it now; changes_ lists the points. take=False keeps the clustering of the fit."
    )
    return replace(state, result=result, changes=changes), certificate
