"""Figures of the experiments, drawn from their tables.

Colours are those of Okabe and Ito, with brown for their yellow. Each method has a marker and a line style of its own, too:
lines can be told apart in black and white.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from tightcut.plots import MARKERS as FIRST_MARKERS

COLOURS = ("black", "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C6D1F", "#999999")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (4, 1, 1, 1, 1, 1)))
MARKERS = (*FIRST_MARKERS, "<", "*")
TICKS = 6
UNREADABLE = 5.0  # times the next line, from which a line is cut off
PANELS = {"error": "clustering error", "cut": "normalized cut", "violated": "violated fraction"}


def plot_measures(table: Any, dataset: str, groups: Sequence[Sequence[str]]) -> Figure:
    """A row of three panels for each group of methods: error, cut and violated fraction against the number of pairs.

    Lines are means over the trials, bands one standard deviation to either side. A group with a single method that has
    results is left out, unless it is the first. A method looks the same in all figures of the same groups.
    """
    own = table[(table["dataset"] == dataset) & (table["status"] == "ok")]
    if len(own) == 0:
        raise ValueError(f"The table has no finished cell of dataset {dataset!r}.")
    ran, order = set(own["method"]), list(dict.fromkeys(method for group in groups for method in group))
    rows = [[method for method in group if method in ran] for group in groups]
    rows = [row for row in rows if len(row) > 1] or rows[:1]
    figure = Figure(figsize=(11, 3.6 * len(rows)), layout="constrained")
    for part, row in zip(figure.subfigures(len(rows), squeeze=False)[:, 0], rows, strict=True):
        axes = part.subplots(1, len(PANELS))
        for ax, (measure, label) in zip(axes, PANELS.items(), strict=True):
            plot_lines(own, measure, ax, methods=row, order=order)
            ax.set(xlabel="number of pairs", ylabel=label)
            _fit_all_but_one(ax)
        _legend_below(part, axes[0])
    figure.subfigs[0].axes[0].set_title(dataset, loc="left", fontweight="bold")
    return figure


def _fit_all_but_one(ax: Axes) -> None:
    """End the axis above all lines, or above all but one that would make the others unreadable; say which."""
    tops = sorted((float(np.max(line.get_ydata())), str(line.get_label())) for line in ax.lines)
    ax.set_ylim(bottom=0)
    if len(tops) > 1 and tops[-1][0] > UNREADABLE * tops[-2][0] > 0:
        ax.set_ylim(top=1.25 * tops[-2][0])
        ax.annotate(
            f"{tops[-1][1]}: up to {tops[-1][0]:.2g}",
            (0.98, 0.97),
            xycoords="axes fraction",
            ha="right",
            va="top",
            fontsize=8,
        )


def plot_noise(table: Any, *, methods: Sequence[str] | None = None) -> Figure:
    """Error against the number of pairs where some of them are wrong: a row per dataset, a column per share."""
    own = table[table["status"] == "ok"]
    datasets, shares = list(dict.fromkeys(own["dataset"])), sorted(set(own["noise"]))
    figure = Figure(figsize=(4.2 * len(shares), 2.4 * len(datasets) + 0.4), layout="constrained")
    axes = figure.subplots(len(datasets), len(shares), squeeze=False, sharey="row")
    for row, dataset in zip(axes, datasets, strict=True):
        for ax, share in zip(row, shares, strict=True):
            plot_lines(own[(own["dataset"] == dataset) & (own["noise"] == share)], "error", ax, methods=methods)
            ax.set_title(f"{dataset}, {share:.0%} of the pairs wrong", fontsize=10)
        row[0].set_ylabel("clustering error")
        row[0].set_ylim(bottom=0)  # last, as it ends the search for limits that suit the whole row
    for ax in axes[-1]:
        ax.set_xlabel("number of pairs")
    _legend_below(figure, axes[0, 0])
    return figure


def plot_lines(
    table: Any, measure: str, ax: Axes, *, methods: Sequence[str] | None = None, order: Sequence[str] | None = None
) -> Axes:
    """A line per method: the mean of a measure over the trials, with a band of one standard deviation.

    A method's place in `order` decides what its line looks like.
    """
    methods = methods or list(dict.fromkeys(table["method"]))
    for method in methods:
        place = (order or methods).index(method)
        trials = table[table["method"] == method].groupby("n_pairs")[measure]
        mean, spread = trials.mean().astype(float), trials.std(ddof=0).astype(float)
        if len(mean) == 0:
            continue
        x, colour = mean.index.to_numpy(dtype=float), COLOURS[place % len(COLOURS)]
        ax.plot(
            x,
            mean,
            color=colour,
            linestyle=DASHES[place % len(DASHES)],
            marker=MARKERS[place % len(MARKERS)],
            markersize=5,
            linewidth=2.4 if place == 0 else 1.5,
            zorder=3 if place == 0 else 2,
            label=method,
        )
        ax.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.1, linewidth=0)
    _scale_pairs(ax, sorted(set(table["n_pairs"])))
    ax.grid(visible=True, color="0.9")
    ax.set_axisbelow(True)
    return ax


def _scale_pairs(ax: Axes, numbers: Sequence[int]) -> None:
    """A logarithmic axis with ticks at the numbers of pairs, at every second one where they are many."""
    positive = [number for number in numbers if number > 0]
    if len(positive) == len(numbers):
        ax.set_xscale("log")
    else:
        ax.set_xscale("symlog", linthresh=max([1, *positive[:1]]))
    shown = numbers[:: 2 if len(numbers) > TICKS else 1]
    texts = [str(number) if number < 1000 else f"{number / 1000:g}k" for number in shown]
    ax.set_xticks([float(number) for number in shown], texts)
    ax.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)


def _legend_below(figure: Figure | SubFigure, ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 8) or 1, frameon=False)
