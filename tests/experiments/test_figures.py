"""Figures of experiments contain what they should."""

import numpy as np
import pandas as pd
import pytest

matplotlib = pytest.importorskip("matplotlib")
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402
from matplotlib.image import imread  # noqa: E402

from experiments.figures import COLOURS, plot_measures, plot_noise  # noqa: E402
from tightcut.plots import save_png  # noqa: E402

METHODS = ["COSC", "SL", "CSP"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    cells = [
        (dataset, method, n_pairs, noise, trial, *rng.uniform(size=3), "ok")
        for dataset in ("one", "two")
        for method in METHODS
        for n_pairs in (5, 10, 20)
        for noise in (0.1, 0.2)
        for trial in range(4)
    ]
    cells.append(("one", "never", 5, 0.1, 0, np.nan, np.nan, np.nan, "failed"))
    columns = ["dataset", "method", "n_pairs", "noise", "trial", "error", "cut", "violated", "status"]
    return pd.DataFrame(cells, columns=columns)


def test_three_panels_with_a_line_per_method(table):
    figure = plot_measures(table, "one", [METHODS])
    panels = {"error": "clustering error", "cut": "normalized cut", "violated": "violated fraction"}
    for ax, (measure, label) in zip(figure.axes, panels.items(), strict=True):
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of pairs", label)
        assert [line.get_label() for line in ax.lines] == METHODS
        assert ax.get_xscale() == "log"
        assert [text.get_text() for text in ax.get_xticklabels()] == ["5", "10", "20"]
        for line, band, method in zip(ax.lines, ax.collections, METHODS, strict=True):
            own = table[(table["dataset"] == "one") & (table["method"] == method)].groupby("n_pairs")[measure]
            np.testing.assert_allclose(line.get_xydata(), np.column_stack([[5, 10, 20], own.mean()]))
            heights = band.get_paths()[0].vertices[:, 1]
            assert heights.max() == pytest.approx((own.mean() + own.std(ddof=0)).max())
    assert figure.axes[0].get_title(loc="left") == "one"


def test_lines_can_be_told_apart_without_colour(table):
    lines = plot_measures(table, "one", [METHODS]).axes[0].lines
    assert len({line.get_marker() for line in lines}) == len({line.get_color() for line in lines}) == len(METHODS)
    assert len({str(line.get_linestyle()) for line in lines}) == len(METHODS)


def test_one_legend_outside_the_panels(table):
    figure = plot_measures(table, "one", [["SL", "COSC"]])
    FigureCanvasAgg(figure).draw()
    (legend,) = figure.subfigs[0].legends
    assert [text.get_text() for text in legend.get_texts()] == ["SL", "COSC"]
    assert not any(legend.get_window_extent().overlaps(ax.get_tightbbox()) for ax in figure.axes)


def test_a_row_for_each_group_of_methods(table):
    figure = plot_measures(table, "one", [["COSC", "SL"], ["COSC", "CSP", "never"], ["COSC", "never"]])
    assert [[line.get_label() for line in part.axes[0].lines] for part in figure.subfigs] == [
        ["COSC", "SL"],
        ["COSC", "CSP"],
    ]


def test_a_method_looks_the_same_wherever_it_is_drawn(table):
    groups = [["COSC", "SL"], ["COSC", "CSP"]]
    both = plot_measures(table, "one", groups).subfigs
    without = plot_measures(table[table["method"] != "SL"], "one", groups).subfigs
    first, second = both[0].axes[0].lines[1], both[1].axes[0].lines[1]
    (again,) = (line for part in without for line in part.axes[0].lines if line.get_label() == "CSP")
    assert second.get_color() == again.get_color() != first.get_color()
    assert second.get_marker() == again.get_marker() != first.get_marker()


def test_a_saved_figure_keeps_the_colour_of_every_line(table, tmp_path):
    many = pd.concat([table.assign(method=table["method"] + part) for part in ("", "1", "2")])
    names = list(dict.fromkeys(many[many["status"] == "ok"]["method"]))
    save_png(plot_measures(many, "one", [names]), tmp_path / "figure.png")
    pixels = imread(tmp_path / "figure.png")[..., :3].reshape(-1, 3)
    for colour in COLOURS:
        assert np.abs(pixels - to_rgb(colour)).max(axis=1).min() < 0.02, colour
    assert (pixels > 0.99).all(axis=1).mean() > 0.3, "white"


def test_one_bad_line_leaves_the_others_readable(table):
    table.loc[table["method"] == "SL", "cut"] *= 50
    for ax in plot_measures(table, "one", [METHODS]).axes:
        top = ax.get_ylim()[1]
        others = max(line.get_ydata().max() for line in ax.lines if line.get_label() != "SL")
        assert others < top
        worst = max(line.get_ydata().max() for line in ax.lines)
        assert (worst > top) == (ax.get_ylabel() == "normalized cut")
        assert [text.get_text() for text in ax.texts] == ([f"SL: up to {worst:.2g}"] if worst > top else [])


def test_zero_pairs_have_a_place(table):
    table.loc[table["n_pairs"] == 5, "n_pairs"] = 0
    assert plot_measures(table, "one", [METHODS]).axes[0].get_xscale() == "symlog"


def test_a_dataset_without_results(table):
    with pytest.raises(ValueError, match="no finished cell of dataset 'three'"):
        plot_measures(table, "three", [METHODS])


def test_noise_has_a_row_per_dataset_and_a_column_per_share(table):
    axes = plot_noise(table).axes
    titles = [ax.get_title() for ax in axes]
    assert titles == [f"{name}, {share} of the pairs wrong" for name in ("one", "two") for share in ("10%", "20%")]
    assert all(len(ax.lines) == 3 for ax in axes)
    assert [ax.get_ylabel() for ax in axes] == ["clustering error", ""] * 2


def test_panels_that_share_an_axis_show_all_of_their_lines(table):
    table.loc[table["noise"] == 0.2, "error"] *= 5
    for ax in plot_noise(table).axes:
        low, high = ax.get_ylim()
        assert low == 0
        assert max(line.get_ydata().max() for line in ax.lines) < high
