"""The HTML report: its parts are there, and it asks nobody for anything."""

import base64
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp

from tightcut import COSC, Constraints, Graph, cluster, datasets, knn_affinity
from tightcut.audit import audit
from tightcut.drawing.layout import graph_layout, principal_components, spectral_layout
from tightcut.report import render
from tightcut.report.map import DARK, LIGHT, LINES_DRAWN, N_COLOURS, POINTS_DRAWN, SHAPES

VOID = {"meta", "br", "img", "hr", "input", "link"}


class Page(HTMLParser):
    """Tags with their attributes and texts; fails on tags that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def count(self, tag, **attributes):
        wanted = {name.rstrip("_"): value for name, value in attributes.items()}
        return sum(name == tag and wanted.items() <= found.items() for name, found in self.tags)


@pytest.fixture(scope="module")
def subject():
    data = datasets.load_two_moons(120, 2, noise=0.1)
    graph = Graph.from_affinity(knn_affinity(data.X))
    wrong = Constraints.from_pairs(120, [(0, 119)], [(1, 2)], None, 0.1)
    constraints = datasets.sample_constraints(data.y, 10, random_state=0) | wrong
    found = cluster(graph, constraints, max_violations=0.1, random_state=0)
    return data.X, graph, constraints, found, audit(graph, constraints, found.labels, n_solved=3)


@pytest.fixture(scope="module")
def page(subject):
    X, graph, constraints, found, prices = subject
    names = [f"<moon & {i}>" for i in range(120)]
    return render(
        graph,
        found.labels,
        constraints,
        points=X,
        ids=names,
        prices=prices,
        title="Two <moons>",
        facts={"File": "moons.csv"},
        created="today",
    )


def test_all_parts_are_there(page, subject):
    parsed = Page(page)
    sections = [attributes["id"] for tag, attributes in parsed.tags if tag == "section"]
    assert sections == ["map", "clusters", "violations", "prices", "subject"]
    assert parsed.texts["h1"] == ["Two <moons>"]
    assert "moons.csv" in parsed.texts["td"]
    found = subject[3]
    assert f"{found.cut:.4g}" in parsed.texts["dd"]
    assert "1" in parsed.texts["dd"]  # violation
    assert "solved again" in parsed.texts["td"]


def test_the_map_shows_every_point_and_every_constraint(page, subject):
    parsed = Page(page)
    constraints = subject[2]
    assert parsed.texts["title"].count("<moon & 5>") == 1
    assert parsed.count("use") >= 120
    lines = [attributes["class"] for tag, attributes in parsed.tags if tag == "line" and attributes["x1"] != "0"]
    assert len(lines) == constraints.n_pairs
    assert sum("violated" in kind for kind in lines) == 1
    assert sum("costly" in kind for kind in lines) >= 1


def test_it_is_accessible(page):
    parsed = Page(page)
    assert parsed.count("html", lang="en") == 1
    assert parsed.count("svg", role="img") == 1
    assert all("aria-label" in found or found.get("aria-hidden") for tag, found in parsed.tags if tag == "svg")
    assert sum("aria-label" in found for tag, found in parsed.tags if tag == "table") == parsed.count("table") == 4
    assert parsed.count("h1") == 1
    assert parsed.count("h2") == 5
    assert all("scope" in found for tag, found in parsed.tags if tag == "th")


def test_it_needs_no_network(page):
    assert not re.search(r"https?:|//[a-z]|@import|url\(|<link|\bsrc=|fetch\(|XMLHttp|import\(", page)
    assert all(found["href"].startswith("#") for _, found in Page(page).tags if "href" in found)


def test_it_has_a_dark_side_and_can_be_printed(page):
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_names_are_escaped(page):
    assert "<moon" not in page
    assert "&lt;moon &amp; 5&gt;" in page


def test_a_graph_without_points_or_constraints():
    ring = Graph.from_affinity(np.roll(np.eye(9), 1, axis=0) + np.roll(np.eye(9), -1, axis=0))
    parsed = Page(render(ring, np.repeat([0, 1, 2], 3)))
    assert [found["id"] for tag, found in parsed.tags if tag == "section"] == ["map", "clusters", "subject"]
    assert "Laid out by the graph" in parsed.texts["figcaption"][0]


def test_free_constraints_are_praised(subject):
    X, graph, _, _, _ = subject
    right = Constraints.from_pairs(120, must_link=[(0, 1)])
    labels = cluster(graph, right, effort=0.3, random_state=0).labels
    assert "the data agree with all of them" in render(
        graph, labels, right, points=X, prices=audit(graph, right, labels)
    )


def test_violated_constraints_are_not_praised(subject):
    X, graph, _, _, _ = subject
    labels = cluster(graph, effort=0.3, random_state=0).labels
    torn = Constraints.from_pairs(120, must_link=[(0, 1), (0, int((labels != labels[0]).argmax()))])
    text = render(graph, labels, torn, points=X, prices=audit(graph, torn, labels))
    assert "the data agree with all that are satisfied" in text


def test_large_data_are_thinned_out():
    rng = np.random.default_rng(0)
    n = POINTS_DRAWN + 500
    X = rng.normal(size=(n, 2))
    weights = np.ones(n)
    i = np.arange(n)
    chain = sp.coo_array((weights, (i, (i + 1) % n)), shape=(n, n))
    graph = Graph.from_affinity(chain + chain.T)
    labels = (X[:, 0] > 0).astype(int)
    pairs = rng.choice(n, (LINES_DRAWN + 100, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    text = render(graph, labels, Constraints.from_pairs(n, pairs[same], pairs[~same]), points=X)
    assert len(text) < 1_500_000
    assert f"{POINTS_DRAWN:,} of {n:,} points" in text or "of 4,500 points" in text
    assert f"{LINES_DRAWN:,} of" in text


@pytest.mark.parametrize("n", [1, 2, 3, 5, 450])
def test_layouts_of_graphs_of_any_size_are_finite(n):
    graph = Graph.from_affinity(np.eye(n, k=1) + np.eye(n, k=-1))
    for layout in (spectral_layout(graph), graph_layout(graph)):
        assert layout.shape == (n, 2)
        assert np.isfinite(layout).all()
    render(graph, np.zeros(n, int))


def test_labels_of_the_wrong_length_are_refused():
    graph = Graph.from_affinity(np.ones((3, 3)))
    with pytest.raises(ValueError, match="one entry per vertex, 3"):
        render(graph, [0, 1])


def lab(colour):
    """CIELAB of a colour such as #0072b2 under D65."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    ratio = matrix @ linear / [0.9505, 1, 1.089]
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize(("palette", "ground"), [(LIGHT, "#ffffff"), (DARK, "#1d2125")])
def test_twenty_colours_are_told_apart(palette, ground):
    points = np.array([lab(colour) for colour in [*palette, ground]])
    distance = np.sqrt(np.square(points[:, None] - points[None]).sum(axis=2))
    assert len(palette) == N_COLOURS == 20
    assert distance[np.triu_indices(21, 1)].min() > 15
    assert len({(c % N_COLOURS, c % len(SHAPES)) for c in range(140)}) == 140


def test_the_layout_of_a_graph_shows_its_clusters():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(30), 20)
    X = 6 * rng.normal(size=(30, 8))[y] + rng.normal(size=(600, 8))
    layout = graph_layout(Graph.from_affinity(knn_affinity(X, connect=False)))
    distance = np.square(layout[:, None] - layout[None]).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    assert (y[distance.argmin(axis=1)] == y).mean() > 0.99
    assert np.array_equal(layout, graph_layout(Graph.from_affinity(knn_affinity(X, connect=False))))


def test_principal_components_keep_the_largest_variance():
    X = np.random.default_rng(0).normal(size=(200, 5)) * [1, 9, 2, 5, 0.1]
    variance = principal_components(X).var(axis=0)
    assert variance == pytest.approx(np.sort(np.linalg.eigvalsh(np.cov(X.T, bias=True)))[::-1][:2])
    assert principal_components(np.ones((3, 1))).shape == (3, 2)


def test_ways_to_draw_the_map(subject):
    X, graph, _, found, _ = subject
    wide = np.column_stack([X, X[:, 0] ** 2])
    assert "The data as they are" in render(graph, found.labels, points=X)
    assert "Laid out by the graph" in render(graph, found.labels, points=X, layout="graph")
    assert "Laid out by the graph" in render(graph, found.labels, points=wide)
    assert "principal components of 3 columns" in render(graph, found.labels, points=wide, layout="pca")
    with pytest.raises(ValueError, match='points were not given; use layout="graph"'):
        render(graph, found.labels, layout="pca")
    with pytest.raises(ValueError, match="Did you mean 'graph'"):
        render(graph, found.labels, layout="grpah")


def test_what_distinguishes_a_cluster():
    y = np.repeat([0, 1], 30)
    X = np.random.default_rng(0).normal(size=(60, 3)) + y[:, None] * [0, 8, 0]
    text = render(Graph.from_affinity(knn_affinity(X, connect=False)), y, points=X, columns=["a<b", "height", "flat"])
    told = re.findall(r'class="told">height <b>(.*?)</b> <small>(.*?)</small>', text)
    assert [(float(mean), difference) for mean, difference in told] == [
        (pytest.approx(X[y == cluster, 1].mean(), abs=1e-3), difference)
        for cluster, difference in ((0, "-1.0"), (1, "+1.0"))
    ]
    assert "a<b" not in text


def test_what_distinguishes_texts():
    y = np.repeat([0, 1], 4)
    documents = [*(f"the <b>train</b> number {i}" for i in range(4)), *(f"the bread of day {i}" for i in range(4))]
    graph = Graph.from_affinity(np.ones((8, 8)) - np.eye(8))
    text = render(graph, y, texts=documents, ids=[f"mail{i}" for i in range(8)])
    assert '<span class="told">train</span>' in text
    assert '<span class="told">the</span>' not in text
    assert "&lt;b&gt;train&lt;/b&gt; number" in text  # typical members begin so
    with pytest.raises(ValueError, match=r"texts must have one entry per vertex, 8; got 2"):
        render(graph, y, texts=["one", "two"])


def test_a_report_of_a_model_has_its_names_and_its_objective():
    model = COSC(2, criterion="rcut", random_state=0).fit(np.random.default_rng(0).normal(size=(40, 2)))
    model.name(0, "Anna")
    page = model.report(prices=False).html
    assert "Anna" in page
    assert "Ratio cut" in page


def test_thumbnails(subject):
    """Pictures are as bright beside each other as in the data."""
    _, graph, _, found, _ = subject
    pictures = np.random.default_rng(0).integers(0, 100, (120, 4, 4)).astype(np.uint8)
    text = render(graph, found.labels, images=pictures)
    encoded = re.findall(r'data-point="(\d+)" src="data:image/png;base64,([^"]+)"', text)
    assert 10 <= len(encoded) <= 16
    image = pytest.importorskip("matplotlib.image").imread(io.BytesIO(base64.b64decode(encoded[0][1])))
    np.testing.assert_allclose(255 * image, pictures[int(encoded[0][0])], atol=0.5)
    with pytest.raises(ValueError, match=r"images must have one entry per vertex, 120; got 5"):
        render(graph, found.labels, images=pictures[:5])
    with pytest.raises(ValueError, match=r"An array of shape \(120, 4\) holds no pictures"):
        render(graph, found.labels, images=np.ones((120, 4)))
    assert "<img" in render(graph, found.labels, images=np.where(np.eye(4), np.nan, pictures))


def test_places_and_the_cut_without_constraints(subject):
    X, graph, constraints, found, prices = subject
    text = render(
        graph, found.labels, constraints, points=X, prices=prices, places=lambda kind, i, j: f"{kind} {i}<{j}"
    )
    assert "cannot 1&lt;2" in text
    assert f"{prices.free_cut:.4g} without constraints" in text


def test_names_cannot_end_the_script(subject):
    _, graph, _, found, _ = subject
    text = render(graph, found.labels, ids=["</script><script>alert(1)"] * 120)
    assert text.count("<script") == text.count("</script>") == 2
