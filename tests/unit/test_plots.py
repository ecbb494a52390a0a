"""Pictures: what is drawn, how it is labelled, and what happens without matplotlib."""

import sys

import numpy as np
import pytest

from tightcut import COSC, ClusteringResult, Constraints, plots
from tightcut.plots import embed_2d, new_figure, plot_clusters, plot_partitions, plot_tradeoff, save_png
from tightcut.problem.violations import Violations

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.collections import LineCollection, PathCollection  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


@pytest.fixture
def ax():
    return Figure(layout="constrained").add_subplot()


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


POINTS = np.random.default_rng(0).normal(size=(8, 2))
LABELS = np.array([0, 0, 0, 0, 1, 1, 1, 1])
CONSTRAINTS = Constraints.from_pairs(8, must_link=[(0, 1), (2, 3), (0, 5)], cannot_link=[(0, 4), (1, 2), (5, 6)])


def result(labels, cut, n_violations, belief):
    return ClusteringResult(np.array(labels), cut, Violations(np.zeros((n_violations, 2)), None, n_violations, belief))


PATH = [result([0, 0, 1, 1], 0.9, 0, 0.0), result([0, 1, 1, 1], 0.5, 2, 2.0)]


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(ax, kind):
    return [artist for artist in ax.collections if isinstance(artist, kind)]


def test_points_are_drawn_by_cluster(ax):
    assert plot_clusters(POINTS, LABELS, ax=ax) is ax
    first, second = drawn(ax, PathCollection)
    np.testing.assert_allclose(first.get_offsets(), POINTS[:4])
    assert to_hex(first.get_facecolor()[0]) != to_hex(second.get_facecolor()[0])
    assert first.get_paths()[0].vertices.shape != second.get_paths()[0].vertices.shape  # different markers
    assert legend_texts(ax) == ["cluster 0 (4)", "cluster 1 (4)"]


def test_constraints_are_lines_by_kind_and_violation(ax):
    plot_clusters(POINTS, LABELS, CONSTRAINTS, ax=ax)
    lines = {line.get_label(): line for line in drawn(ax, LineCollection)}
    assert list(lines) == ["must-link (2)", "violated must-link (1)", "cannot-link (1)", "violated cannot-link (2)"]
    np.testing.assert_allclose(lines["violated must-link (1)"].get_segments()[0], POINTS[[0, 5]])
    for name, line in lines.items():
        assert (to_hex(line.get_color()[0]) == plots.VIOLATED.lower()) == name.startswith("violated")
        assert (line.get_linestyle()[0][1] is None) == ("must" in name)  # no dash pattern: a solid line
    assert {"cluster 0 (4)", *lines} <= set(legend_texts(ax))


def test_constraints_on_other_points_are_refused(ax):
    with pytest.raises(ValueError, match="constraints must be on the 7 points; they are on 8"):
        plot_clusters(POINTS[:7], LABELS[:7], CONSTRAINTS, ax=ax)


def test_the_legend_is_outside_the_data(ax):
    plot_clusters(POINTS, LABELS, CONSTRAINTS, ax=ax)
    ax.figure.canvas.draw()
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())


def test_many_clusters_are_counted_not_listed(ax):
    plot_clusters(np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) // 2, ax=ax)
    assert len(drawn(ax, PathCollection)) == 20
    assert legend_texts(ax) == ["20 clusters"]


def test_labels_may_be_a_list_of_names(ax):
    plot_clusters(POINTS, ["a"] * 4 + ["b"] * 4, CONSTRAINTS, ax=ax)
    assert legend_texts(ax)[:2] == ["cluster a (4)", "cluster b (4)"]


def test_a_new_figure_without_axes():
    assert plot_clusters(POINTS, LABELS).figure is plt.gcf()


def test_a_wrong_number_of_labels(ax):
    with pytest.raises(ValueError, match=r"one entry per point, shape \(8,\); got shape \(3,\)"):
        plot_clusters(POINTS, [0, 1, 0], ax=ax)


def test_partitions_side_by_side(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(9, 2)), np.arange(9) % 3
    known = Constraints.from_pairs(9, [(0, 3)], [(0, 1)])
    figure = plot_partitions(X, {"truth": y, "found": y[::-1].copy()}, {"found": known})
    truth, found = figure.axes
    assert (truth.get_title(), found.get_title()) == ("truth", "found")
    assert [len(ax.collections) for ax in (truth, found)] == [3, 5]
    assert sum(isinstance(artist, PathCollection) for artist in found.collections) == 3
    save_png(figure, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000


def test_a_single_partition():
    (ax,) = plot_partitions(POINTS, {"found": np.arange(8) % 2}, {}).axes
    assert ax.get_title() == "found"


def test_embedding():
    wide = np.random.default_rng(0).normal(size=(10, 5)) * [9, 5, 1, 1, 1]
    assert embed_2d(wide).shape == (10, 2)
    assert (embed_2d(wide).std(axis=0) >= wide.std(axis=0)[:2] * 0.9).all()
    np.testing.assert_array_equal(embed_2d(POINTS), POINTS)
    np.testing.assert_array_equal(embed_2d(POINTS[:, :1]), np.column_stack([POINTS[:, 0], np.zeros(8)]))


def test_tradeoff_without_the_truth(ax):
    assert plot_tradeoff(PATH, ax=ax) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("violated constraints", "cut")
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[0, 0.9], [2, 0.5]])
    assert len(ax.figure.axes) == 1


def test_tradeoff_with_the_truth(ax):
    plot_tradeoff(PATH, [1, 1, 0, 0], ax=ax)
    left, right = ax.figure.axes
    assert right.get_ylabel() == "clustering error"
    np.testing.assert_allclose(right.lines[0].get_xydata(), [[0, 0.0], [2, 0.25]])
    assert legend_texts(left) == ["cut", "clustering error"]
    assert right.get_legend() is None


def test_tradeoff_in_units_of_belief(ax):
    plot_tradeoff([PATH[0], result([0, 1, 1, 1], 0.5, 2, 0.7)], ax=ax)
    assert ax.get_xlabel() == "violated belief"
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [0, 0.7])


@pytest.mark.parametrize("plot", [lambda: plot_clusters(POINTS, LABELS), lambda: plot_tradeoff(PATH), new_figure])
def test_without_matplotlib_the_error_names_the_extra(monkeypatch, plot):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"of the extra tightcut\[plots\]: pip install matplotlib"):
        plot()


def test_a_model_is_drawn_as_it_was_scaled_with_its_names():
    points = np.random.default_rng(1).normal(size=(30, 2)) * [1, 100] + np.repeat([[0, 0], [9, 0]], 15, axis=0)
    frame = pytest.importorskip("pandas").DataFrame(points, columns=["length", "weight"])
    model = COSC(random_state=0, scale="standard").fit(frame, must_link=[(0, 1)])
    model.name(int(model.labels_[0]), "short")
    ax = plot_clusters(model)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length, scaled", "weight, scaled")
    drawn_points = np.concatenate([one.get_offsets() for one in drawn(ax, PathCollection)])
    np.testing.assert_allclose(drawn_points.std(axis=0), 1)
    assert {"short (15)", "cluster 1 (15)", "must-link (1)"} == set(legend_texts(ax))
    with pytest.raises(ValueError, match="A model has labels and constraints of its own"):
        plot_clusters(model, model.labels_)


def test_a_model_of_a_graph_is_drawn_by_its_layout():
    ring = np.roll(np.eye(8), 1, axis=0) + np.roll(np.eye(8), -1, axis=0)
    model = COSC(affinity="precomputed", random_state=0).fit(ring)
    ax = plot_clusters(model)
    assert ax.get_xlabel() == "layout of the graph"
    assert sum(len(one.get_offsets()) for one in drawn(ax, PathCollection)) == 8


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (1, ("column 1", "")),
        (2, ("column 1", "column 2")),
        (3, ("principal component 1 (100% of the variance)", "principal component 2 (0% of the variance)")),
    ],
)
def test_axes_are_named(ax, columns, names):
    points = np.outer(np.arange(8.0), np.ones(columns))
    plot_clusters(points, LABELS, ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == names


def test_points_need_labels(ax):
    with pytest.raises(ValueError, match="labels are needed with points"):
        plot_clusters(POINTS, ax=ax)
