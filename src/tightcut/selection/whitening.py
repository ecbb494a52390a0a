"""The linear map that `tightcut.MustLinkScaler` learns from must-links."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

ROUNDING = float(np.finfo(np.float64).eps)


def relative_whitening(points: np.ndarray, component: np.ndarray) -> np.ndarray:
    """The matrix by which rows are multiplied; see `MustLinkScaler`. The units of the points do not matter.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    component : ndarray of shape (n,)
        Must-link component of each point: 0, ..., c - 1.
    """
    unchanged = np.eye(points.shape[1])
    centred = np.divide(points, np.abs(points).max() or 1.0, dtype=np.float64)
    centred -= centred.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = variances > ROUNDING * max(points.shape) * variances[-1]
    deviations, axes = np.sqrt(variances[kept]), axes[:, kept]
    rank = len(deviations)
    inside = _about_component_means(centred, component) @ (axes / deviations)
    n_differences = len(component) - (int(component.max()) + 1)
    mean_share = float(np.sum(inside**2)) / max(rank * n_differences, 1)
    if mean_share <= ROUNDING:  # no must-link, or only between equal points
        return unchanged
    share = (inside.T @ inside / mean_share + rank * np.eye(rank)) / (n_differences + rank)
    values, vectors = np.linalg.eigh(share)
    stretched = (axes / deviations) @ (vectors / np.sqrt(values)) @ vectors.T @ (axes * deviations).T
    return unchanged - axes @ axes.T + stretched


def _about_component_means(points: np.ndarray, component: np.ndarray) -> np.ndarray:
    """The points that share a component with others, less the mean of it."""
    sizes = np.bincount(component)
    linked = np.flatnonzero(sizes[component] > 1)
    member = sp.csr_array(
        (np.ones(len(linked)), (component[linked], np.arange(len(linked)))), (len(sizes), len(linked))
    )
    means = (member @ points[linked]) / sizes[:, None]
    return points[linked] - means[component[linked]]
