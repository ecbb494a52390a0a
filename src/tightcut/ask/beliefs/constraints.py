"""The believed answers as must-links and cannot-links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tightcut.ask.beliefs.evidence import AnswerEvidence, gather, judge
from tightcut.ask.beliefs.inference import weigh
from tightcut.ask.journal.file import read_events
from tightcut.ask.journal.identity import identify
from tightcut.ask.journal.replay import effective_answers, named_groups
from tightcut.ask.journal.schema import check_header, check_journal, check_same_data
from tightcut.problem import Constraints


def read_constraints(path: Any, n_points: int | None = None, X: Any = None, affinity: str = "knn") -> Constraints:
    """The answers of a journal that can be true together, as must-links and cannot-links.

    Contradictions are settled by the answers alone; a `Session` also uses the data.

    Parameters
    ----------
    path : path-like
        A journal that a `Session` has written.
    n_points : int, optional
        Number of points of the data; a journal about another number is refused.
    X : array-like, optional
        The data; a journal of other data is refused.
    affinity : {"knn", "precomputed"}
        What X is, as in `Session`.
    """
    header, *events = read_events(path)
    check_header(header, Path(path))
    check_journal([header, *events], Path(path))
    rows = int(header["rows"])
    if n_points is not None and n_points != rows:
        raise ValueError(f"{path} holds answers about {rows} points; the data have {n_points}.")
    if X is not None:
        check_same_data(header, identify(X, affinity), Path(path))
    evidence = gather(effective_answers(events), header["anchor"], named_groups(events)[1])
    return believed_constraints(evidence, weigh(evidence), rows)


def believed_constraints(evidence: AnswerEvidence, belief: np.ndarray, n_points: int) -> Constraints:
    """The believed answers as must-links and cannot-links; consistent, since the likeliest groups satisfy them all."""
    must: list[tuple[int, ...]] = []
    cannot: list[tuple[int, ...]] = []
    group = belief.argmax(axis=1)
    first: dict[int, int] = {}
    for i, g in enumerate(group.tolist()):
        first.setdefault(g, i)
    for answer in judge(evidence, belief):
        i = evidence.position[answer.first]
        if not answer.believed or answer.choice == "unsure":
            continue
        if answer.kind == "pair":
            (must if answer.choice == "same" else cannot).append(answer.rows)
        elif answer.choice == "none":
            shown = {int(evidence.home[g]) for g in answer.shown} - {int(group[i])}
            cannot += [(answer.first, evidence.points[first[g]]) for g in shown if g in first]
        elif first[group[i]] != i:
            must.append((answer.first, evidence.points[first[group[i]]]))
    return Constraints.from_pairs(n_points, must or None, cannot or None)
