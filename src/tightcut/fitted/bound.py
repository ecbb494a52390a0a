"""The certificate of a fitted model, and the model with the better clustering that making it may have found."""

from __future__ import annotations

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


def certified(state: FittedState, *, take: bool = True, **settings: Any) -> tuple[FittedState, Certificate]:
    """The model, with a better clustering if one was found and is taken, and its certificate.

    A clustering that violates pairs is compared with all clusterings, whatever the pairs: the bound that it gets is smaller.
    With `influence` above 0 the search minimises something else than the cut, and a smaller cut is not taken.
    """
    violates = state.result.n_violations > 0
    known = Constraints.from_pairs(state.graph.n_vertices) if violates else state.constraints
    own = {"random_state": as_generator(state.parameters.random_state), "n_jobs": state.parameters.n_jobs}
    certificate = certify(state.graph, known, state.labels, **(own | settings))
    if not (take and certificate.improved) or violates or state.choice.setting.influence > 0:
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
