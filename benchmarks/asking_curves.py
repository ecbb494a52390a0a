"""The picture of `benchmarks.asking`: answers against adjusted Rand index, one panel for each set."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

OWN = {"pairs": ("tightcut, pairs", "#c1272d"), "picks": ("tightcut, picks", "#00509d")}
SHORT = {"random labels, LabelSpreading": "LabelSpreading"}
LEFT_OUT = "wrong"  # methods of a person who errs are in the table only


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the rows of the table; tightcut's curves thick, rivals thin, each with its name at its end."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    curves = _curves(rows)
    columns = 3
    lines = -(-len(curves) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(5.2 * columns, 3.9 * lines), squeeze=False)
    for ax in axes.flat[len(curves) :]:
        ax.remove()
    for ax, (name, methods) in zip(axes.flat, curves.items(), strict=False):
        _panel(ax, name, methods)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _curves(rows: list[dict[str, Any]]) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """(answers, adjusted Rand index) by set and method; of several codes the one with the most draws."""
    draws: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        draws[row["set"], row["method"]][row["code"]] += int(row["draws"])
    curves: dict[str, dict[str, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        codes = draws[row["set"], row["method"]]
        if LEFT_OUT not in row["method"] and row["code"] == max(codes, key=lambda code: codes[code]):
            curves[row["set"]][row["method"]].append((int(row["answers"]), float(row["ARI"])))
    return curves


def _panel(ax: Any, name: str, methods: dict[str, list[tuple[int, float]]]) -> None:
    ends = []
    for method, points in sorted(methods.items(), key=lambda item: item[0] in OWN):
        x, y = np.array(sorted(points)).T
        text, colour = OWN.get(method, (SHORT.get(method, method), "0.55"))
        ax.plot(
            x,
            y,
            color=colour,
            linewidth=2.6 if method in OWN else 0.9,
            marker="o",
            markersize=4 if method in OWN else 2,
        )
        ends.append((y[-1], x[-1], text, colour))
    ax.set(title=name, xlabel="answers", ylabel="adjusted Rand index", ylim=(0, 1.02))
    most = max(x for _, x, _, _ in ends)
    ax.set_xlim(0, most * 1.42)
    ax.spines[["top", "right"]].set_visible(False)
    for height, (y, x, text, colour) in zip(_spread([end[0] for end in ends]), ends, strict=True):
        weight = "bold" if text.startswith("tightcut") else "normal"
        ax.annotate(
            text,
            (x, y),
            (most * 1.03, height),
            color=colour,
            fontsize=7.5,
            fontweight=weight,
            va="center",
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2},
        )


def _spread(heights: list[float], gap: float = 0.062) -> list[float]:
    """Heights for labels, in the same order and at least a gap apart, none above 1.

    Examples
    --------
    >>> [round(height, 2) for height in _spread([0.5, 0.5, 1.0], 0.1)]
    [0.4, 0.5, 1.0]
    """
    placed, limit = np.empty(len(heights)), 1.0
    for i in np.argsort(heights, kind="stable")[::-1]:
        placed[i] = min(heights[i], limit)
        limit = placed[i] - gap
    return placed.tolist()
