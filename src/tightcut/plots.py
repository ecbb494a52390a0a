"""Plots of clusterings and of the trade-off between cut and violations. Needs matplotlib.

Colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart; markers repeat what
colours say, for print in black and white. Vermilion is kept for violated constraints.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from tightcut.drawing.layout import graph_layout
from tightcut.problem import Constraints
from tightcut.problem.pairs import to_array
from tightcut.utils.extras import require_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tightcut.clustering.result import ClusteringResult
    from tightcut.fitted.state import FittedState

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
LINKED, VIOLATED = "#555555", "#D55E00"
CLUSTERS_IN_LEGEND = 12


def embed_2d(X: Any) -> np.ndarray:
    """Points as two coordinates each: the first two principal components, or X itself if it has no more.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.plots import embed_2d
    >>> embed_2d(np.arange(12.0).reshape(4, 3)).shape
    (4, 2)
    >>> embed_2d([[1.0], [3.0]]).tolist()
    [[1.0, 0.0], [3.0, 0.0]]
    """
    from sklearn.decomposition import PCA
    from sklearn.utils import check_array

    points = check_array(X, input_name="X", ensure_min_samples=2)
    if points.shape[1] == 1:
        return np.column_stack([points, np.zeros(len(points))])
    return points if points.shape[1] == 2 else PCA(2, svd_solver="full").fit_transform(points)


def plot_clusters(
    points: Any, labels: Any = None, constraints: Constraints | None = None, *, ax: Axes | None = None
) -> Axes:
    """Points coloured by cluster, with the constraints as lines between them.

    Must-links are solid lines and cannot-links dashed; those that the labels violate are thick and vermilion.

    Parameters
    ----------
    points : fitted COSC, or array-like of shape (n, n_features)
        Of a model its points are drawn, scaled as for the fit, with its labels, names and constraints, or its graph where it
        has no points. More than two features are projected on the first two principal components.
    labels : array-like of shape (n,), optional
        Cluster of each point; needed unless a model is given.
    constraints : Constraints, optional
    ax : matplotlib axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib axes
        With named axes, and the legend below the data.

    Examples
    --------
    >>> from tightcut import COSC
    >>> from tightcut.plots import plot_clusters
    >>> model = COSC(n_neighbors=3, random_state=0).fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
    >>> plot_clusters(model).get_xlabel()
    'column 1'
    """
    ax = _axes(ax)
    titles: Mapping[Any, str] = {}
    names, scaled = getattr(points, "columns", None), ""
    if hasattr(points, "fit_predict"):
        if labels is not None or constraints is not None:
            raise ValueError("A model has labels and constraints of its own; give it alone, or its points with others.")
        state = points._state_now()  # noqa: SLF001 (an estimator has no public name for it)
        points, names, scaled = _of_model(state)
        labels, constraints, titles = state.labels, state.constraints, state.names
    elif labels is None:
        raise ValueError("labels are needed with points; a fitted COSC has its own: plot_clusters(model).")
    drawn, labels = embed_2d(points), to_array(labels)
    axis_names = _axis_names(np.asarray(points, dtype=np.float64), drawn, names, scaled)
    points = drawn
    if labels.shape != (len(points),):
        raise ValueError(f"labels must have one entry per point, shape ({len(points)},); got shape {labels.shape}.")
    if constraints is not None and constraints.n_points != len(points):
        raise ValueError(f"constraints must be on the {len(points)} points; they are on {constraints.n_points}.")
    ids, sizes = np.unique(labels, return_counts=True)
    texts = [f"{titles.get(own, f'cluster {own}')} ({size})" for own, size in zip(ids.tolist(), sizes, strict=True)]
    if len(ids) > CLUSTERS_IN_LEGEND:
        texts = [f"{len(ids)} clusters"] + [""] * (len(ids) - 1)
    for own, text, colour, marker in zip(ids, texts, cycle(PALETTE), cycle(MARKERS), strict=False):
        x, y = points[labels == own].T
        ax.scatter(x, y, s=26, c=colour, marker=marker, alpha=0.9, linewidths=0.4, edgecolors="white", label=text)
    if constraints is not None:
        _draw_constraints(ax, points, labels, constraints)
    ax.set(xticks=[], yticks=[], xlabel=axis_names[0], ylabel=axis_names[1])
    ax.margins(0.04)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2, frameon=False, fontsize="small")
    return ax


def _of_model(state: FittedState) -> tuple[np.ndarray, Any, str]:
    """What to draw of a model, the names of its columns, and what to add to them."""
    if state.points is None or state.built.view is None:
        return graph_layout(state.graph), ("layout of the graph", ""), ""
    points = state.built.view.transform(state.points)
    points = points.toarray() if sp.issparse(points) else points
    names = state.feature_names if points.shape[1] == state.n_features else None
    return points, names, "" if state.choice.setting.scale == "none" else ", scaled"


def _axis_names(points: np.ndarray, drawn: np.ndarray, names: Any, scaled: str) -> list[str]:
    """The names of one or two columns, or how much of the variance two principal components have."""
    n_columns = points.shape[1]
    if n_columns > 2:
        shares = drawn.var(axis=0) / max(float(points.var(axis=0).sum()), 1e-300)
        return [f"principal component {i} ({share:.0%} of the variance{scaled})" for i, share in enumerate(shares, 1)]
    found = [f"column {i + 1}" if names is None else str(names[i]) for i in range(n_columns)] + [""] * (2 - n_columns)
    return [name and f"{name}{scaled}" for name in found]


def plot_partitions(X: Any, partitions: Mapping[str, Any], constraints: Mapping[str, Constraints]) -> Figure:
    """Clusterings of the same points side by side, as `plot_clusters` draws them.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
    partitions : mapping from str to array-like of shape (n,)
        Titles and labels.
    constraints : mapping from str to Constraints
        What to draw into the panel of a title; a panel without an entry shows the points alone.
    """
    figure = new_figure(figsize=(5 * len(partitions), 5.4))
    panels = figure.subplots(1, len(partitions), squeeze=False)[0]
    for ax, (title, labels) in zip(panels, partitions.items(), strict=True):
        plot_clusters(X, labels, constraints.get(title), ax=ax)
        ax.set_title(title, fontsize=11)
    return figure


def plot_tradeoff(path: Sequence[ClusteringResult], y: Any = None, *, ax: Axes | None = None) -> Axes:
    """The cut against the violations, and against the truth if it is known (the paper's figure on Sonar).

    Parameters
    ----------
    path : sequence of ClusteringResult
        What `tightcut.tradeoff_path` returns.
    y : array-like of shape (n,), optional
        True classes; adds the clustering error on a second axis at the right.
    ax : matplotlib axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib axes
        That of the cut.
    """
    ax = _axes(ax)
    counted = all(result.violated_belief == result.n_violations for result in path)
    violated = [result.n_violations if counted else result.violated_belief for result in path]
    lines = ax.plot(violated, [result.cut for result in path], "o-", color=PALETTE[0], label="cut")
    ax.set(xlabel="violated constraints" if counted else "violated belief", ylabel="cut")
    ax.set_ylim(bottom=0)
    ax.locator_params(axis="x", integer=counted)
    if y is not None:
        from tightcut.metrics import clustering_error

        right = ax.twinx()
        errors = [clustering_error(y, result.labels) for result in path]
        lines += right.plot(violated, errors, "^--", color=PALETTE[1], label="clustering error")
        right.set_ylabel("clustering error")
        right.set_ylim(bottom=0)
        ax.legend(handles=lines, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
    return ax


def new_figure(**keywords: Any) -> Figure:
    """A figure that no window shows and that need not be closed."""
    require_package("matplotlib", "Drawing", "plots")
    from matplotlib.figure import Figure

    return Figure(layout="constrained", **keywords)


def save_png(figure: Figure, path: str | Path, dpi: int = 110) -> None:
    """Save with a palette of 128 colours, which makes the file three times smaller; an octree keeps those of thin lines."""
    from PIL import Image

    page = io.BytesIO()
    figure.savefig(page, dpi=dpi)
    Image.open(page).convert("RGB").quantize(128, Image.Quantize.FASTOCTREE).save(path, format="png", optimize=True)


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    require_package("matplotlib", "Drawing", "plots")
    from matplotlib import pyplot as plt

    return plt.figure(layout="constrained").add_subplot()


def _draw_constraints(ax: Axes, points: np.ndarray, labels: np.ndarray, constraints: Constraints) -> None:
    must, cannot = constraints.must_link, constraints.cannot_link
    split, joined = labels[must[:, 0]] != labels[must[:, 1]], labels[cannot[:, 0]] == labels[cannot[:, 1]]
    for kind, dashes, pairs, broken in (("must-link", "solid", must, split), ("cannot-link", "dashed", cannot, joined)):
        # Points lie at height 1: what is satisfied goes below them, what is violated above.
        held, missed = points[pairs[~broken]], points[pairs[broken]]
        _draw_lines(ax, held, kind, linestyles=dashes, colors=LINKED, linewidths=0.8, zorder=0.9)
        _draw_lines(ax, missed, f"violated {kind}", linestyles=dashes, colors=VIOLATED, linewidths=1.8, zorder=1.1)


def _draw_lines(ax: Axes, ends: np.ndarray, text: str, **style: Any) -> None:
    from matplotlib.collections import LineCollection

    if len(ends):
        ax.add_collection(LineCollection(list(ends), label=f"{text} ({len(ends)})", **style))
