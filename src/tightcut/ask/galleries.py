"""Rows to show: typical ones of a group, and doubtful ones."""

from __future__ import annotations

import numpy as np

from tightcut.ask.beliefs.mixture import Beliefs


def typical_rows(beliefs: Beliefs, labels: np.ndarray, group: int, n: int) -> np.ndarray:
    """Up to n rows with the label of a group that are most surely in it."""
    rows = np.flatnonzero(labels == group)
    return rows[np.argsort(-beliefs.shares[rows, group], kind="stable")][:n]


def doubtful_rows(beliefs: Beliefs, n: int) -> np.ndarray:
    """The n rows whose group is least sure; answered rows come last."""
    top = beliefs.shares[:, :-1].max(axis=1)
    top[beliefs.evidence.points] = np.inf
    return np.argsort(top, kind="stable")[:n]


def typical_members(beliefs: Beliefs, rows: list[int], group: int, n: int) -> tuple[int, ...]:
    """Up to n of some answered rows of a group, those whose neighbours agree most first."""
    at = {row: i for i, row in enumerate(beliefs.evidence.points.tolist())}
    order = np.argsort(-beliefs.foreseen[[at[row] for row in rows], group], kind="stable")
    return tuple(rows[i] for i in order[:n])
