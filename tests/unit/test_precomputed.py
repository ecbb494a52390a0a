"""`metric="precomputed"`: the graph of given distances is that of the points they were measured between."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from tightcut import COSC, KnnAffinity, align, knn_affinity
from tightcut.cli import main
from tightcut.datasets import sample_constraints
from tightcut.exceptions import DisconnectedGraphWarning
from tightcut.neighbors.precomputed import shortest_known_bridges
from tightcut.selection import select

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 30)
X = RNG.normal(size=(90, 3)) + 2.0 * Y[:, None]
DISTANCES = cdist(X, X)
FORMS = {
    "dense": np.array,
    "sparse": sp.csr_array,
    "one half": lambda D: sp.csr_array(sp.triu(D)),
    "list": np.ndarray.tolist,
}
QUIET = pytest.mark.filterwarnings("ignore::tightcut.exceptions.DisconnectedGraphWarning")


def by_distances(distances, *args, **kwargs):
    return knn_affinity(distances, *args, metric="precomputed", **kwargs)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("settings", [{}, {"symmetrize": "mean", "diffusion": 2}, {"n_neighbors": 200}])
def test_the_graph_is_that_of_the_points(form, settings):
    expected, found = knn_affinity(X, **settings), by_distances(FORMS[form](DISTANCES), **settings)
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-9)


@given(st.integers(2, 5), st.integers(1, 6), st.integers(0, 10_000), st.booleans())
def test_bridges_are_those_of_the_points(n_blobs, k, seed, sparse):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(8 * n_blobs, 2)) + 50.0 * rng.permutation(np.repeat(np.arange(n_blobs), 8))[:, None]
    distances = cdist(points, points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        found = by_distances(sp.csr_array(distances) if sparse else distances, k)
        np.testing.assert_allclose(found.toarray(), knn_affinity(points, k).toarray(), rtol=1e-7)


@given(st.integers(2, 12), st.integers(0, 10_000), st.floats(0.2, 1))
def test_bridges_form_a_shortest_forest(n, seed, share):
    """Against Kruskal's algorithm over all known distances between components."""
    rng = np.random.default_rng(seed)
    labels = np.unique(rng.integers(0, 4, n), return_inverse=True)[1]
    distances = np.triu(rng.integers(0, 9, (n, n)).astype(float), 1)
    known = np.triu(rng.random((n, n)) < share, 1)
    i, j = np.nonzero(known)
    both = np.append(i, j), np.append(j, i)
    stored = sp.csr_array((np.tile(distances[i, j], 2), both), shape=(n, n))  # zeros are stored, too
    ends, lengths = shortest_known_bridges(stored, labels)
    group, total, count = labels.copy(), 0.0, 0
    for a, b in sorted(zip(i, j, strict=True), key=lambda pair: distances[pair]):
        if group[a] != group[b]:
            group[group == group[b]] = group[a]
            total, count = total + distances[a, b], count + 1
    assert lengths.sum() == total
    assert len(lengths) == count
    np.testing.assert_array_equal(lengths, [distances[min(a, b), max(a, b)] for a, b in ends.T])


def test_a_table_of_neighbours_is_enough():
    """As scikit-learn makes it, where an entry may be in one half only."""
    known = NearestNeighbors(n_neighbors=10).fit(X).kneighbors_graph(mode="distance")
    np.testing.assert_allclose(by_distances(known).toarray(), knn_affinity(X).toarray(), rtol=1e-9)


def test_a_stored_zero_is_a_distance_and_what_is_not_stored_is_unknown():
    row, column = [0, 0, 1, 2], [1, 2, 2, 3]
    known = sp.csr_array(([0.0, 5.0, 5.0, 1.0], (row, column)), shape=(4, 4))
    graph = by_distances(known, 1, connect=False).toarray()
    assert graph[0, 1] == 1
    assert graph[0, 2] == 0
    assert graph[2, 3] > 0


def test_components_that_no_known_distance_joins_are_said():
    known = sp.block_diag([DISTANCES[:20, :20], DISTANCES[20:40, 20:40]], format="csr")
    with pytest.warns(DisconnectedGraphWarning, match="No known distance joins the remaining 2"):
        by_distances(known, 5)


@pytest.mark.parametrize(
    ("distances", "complaint"),
    [
        (X, r"square matrix of the distances between all points; X has shape \(90, 3\).*euclidean"),
        ([[0, -1], [-1, 0]], "cannot be negative; X contains -1"),
        ([[0, np.inf], [np.inf, 0]], "finite.*leave a distance that is not known out of a sparse matrix"),
        ([[0, np.nan], [np.nan, 0]], "finite"),
        ([[0.0, 1], [1, 0.5]], "of a point to itself must be 0; that of 1 is 0.5"),
        (np.exp(-DISTANCES), 'to itself must be 0.*For similarities use affinity="precomputed"'),
        ([[0, 1, 2], [1, 0, 3], [2, 4, 0]], "symmetric; that from 1 to 2 is 3, and that from 2 to 1 is 4"),
        (sp.csr_array([[0.0, 1, 2], [1, 0, 3], [2, 4, 0]]), "symmetric; that from 1 to 2 is 3"),
        (
            sp.csr_array(np.diag(np.ones(20), 1)[:20, :20]),
            "Row 0 holds 1 known distances to other points, and n_neighbors=10",
        ),
    ],
)
def test_what_are_no_distances(distances, complaint):
    with pytest.raises(ValueError, match=complaint):
        by_distances(distances)
    with pytest.raises(ValueError, match=complaint):
        COSC(metric="precomputed").fit(distances)


def test_rounding_errors_are_no_mistakes():
    noise = 1e-12 * RNG.normal(size=DISTANCES.shape)
    np.testing.assert_allclose(by_distances(DISTANCES + noise).toarray(), knn_affinity(X).toarray(), atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"scale": "standard"}, "scale='standard' applies to columns"),
        ({"affinity": KnnAffinity(learn_distances=True)}, "learn_distances=True applies to columns"),
        ({"affinity": "precomputed"}, "similarities, and metric=.precomputed. that it holds distances"),
        ({"affinity": KnnAffinity(neighbors="tree")}, "leaves nothing to search"),
    ],
)
def test_settings_without_a_meaning(settings, complaint):
    with pytest.raises(ValueError, match=complaint):
        COSC(metric="precomputed", **settings).fit(DISTANCES)


@pytest.mark.slow
@QUIET
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_the_estimator_finds_what_it_finds_for_the_points(form, n_clusters, tmp_path):
    pairs = sample_constraints(Y, 80, random_state=0)
    points = COSC(n_clusters, scale="none", affinity=KnnAffinity(learn_distances=False), random_state=0).fit(
        X, constraints=pairs
    )
    model = COSC(n_clusters, metric="precomputed", random_state=0).fit(FORMS[form](DISTANCES), constraints=pairs)
    np.testing.assert_array_equal(model.labels_, points.labels_)
    assert model.choice_.setting == points.choice_.setting
    new = RNG.normal(size=(9, 3)) + 2.0 * np.repeat([0, 1, 2], 3)[:, None]
    np.testing.assert_array_equal(model.predict(cdist(new, X)), points.predict(new))
    model.save(tmp_path / "model.tcut")
    np.testing.assert_array_equal(COSC.load(tmp_path / "model.tcut").predict(cdist(new, X)), points.predict(new))
    with pytest.raises(ValueError, match="features"):
        model.predict(new)
    with pytest.raises(ValueError, match="cannot be negative"):
        model.predict(-cdist(new, X))
    with pytest.raises(ValueError, match="predict takes their distances"):
        model.update(cdist(new, np.concatenate([X, new])))
    together = model.update(must_link=[(0, 1)]).labels_
    assert together[0] == together[1]


@pytest.mark.slow
@QUIET
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_settings_of_many_points_are_chosen_on_a_sample(form, monkeypatch):
    monkeypatch.setattr(select, "THRESHOLDS", replace(select.THRESHOLDS, points=120))
    y = np.repeat(np.arange(6), 30)
    points = RNG.normal(size=(180, 2)) + 8.0 * y[:, None]
    pairs = sample_constraints(y, 300, random_state=0)
    model = COSC(6, metric="precomputed", random_state=0).fit(FORMS[form](cdist(points, points)), constraints=pairs)
    assert len(model.choice_.candidates) == 1
    assert (align(y, model.labels_) == y).mean() > 0.95


def test_distances_taken_as_similarities_point_here():
    with pytest.warns(UserWarning, match='for distances use affinity="knn", metric="precomputed"'):
        COSC(3, affinity="precomputed", random_state=0).fit(DISTANCES)


def run(*arguments):
    return main(list(map(str, arguments)))


@pytest.mark.slow
@QUIET
def test_from_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [f"p{i}" for i in range(len(X))]
    rows = [",".join([name, *map(repr, row)]) for name, row in zip(names, DISTANCES.tolist(), strict=True)]
    (tmp_path / "distances.csv").write_text("\n".join([",".join(["id", *names]), *rows]) + "\n")
    np.save("distances.npy", DISTANCES)
    sp.save_npz("distances.npz", sp.csr_array(DISTANCES))
    expected = COSC(3, metric="precomputed", random_state=0).fit(DISTANCES).labels_
    settings = ["-k", 3, "--metric", "precomputed", "-q"]
    assert run("cluster", "distances.csv", "--id", "id", *settings, "-o", "a.csv", "--report", "page.html") == 0
    assert run("cluster", "distances.npy", *settings, "-o", "b.csv", "--save", "model.tcut") == 0
    assert run("cluster", "distances.npz", *settings, "-o", "c.csv") == 0
    tables = [np.loadtxt(f"{name}.csv", delimiter=",", skiprows=1, usecols=1, dtype=int) for name in "abc"]
    for labels in tables:
        np.testing.assert_array_equal(labels, expected)
    assert "as given" in (tmp_path / "page.html").read_text(encoding="utf-8")
    np.save("new.npy", DISTANCES[:5])
    capsys.readouterr()
    assert run("predict", "model.tcut", "new.npy", "-q") == 0
    assert [line.split(",")[1] for line in capsys.readouterr().out.split()[1:]] == [str(c) for c in expected[:5]]


@pytest.mark.parametrize(
    ("content", "options", "complaint"),
    [
        ("a,b\n0,1\n1,0\n2,2\n", [], "has 3 rows and 2 columns of numbers; a matrix of distances has one row"),
        ("a,b\n0,1\n2,0\n", [], "symmetric"),
        ("source,target\n0,1\n1,0\n2,2\n", ["--graph"], "leave out --graph"),
        ("a,b\n0,1\n1,0\n", ["--scale", "standard"], "applies to columns"),
    ],
)
def test_files_without_distances(tmp_path, capsys, content, options, complaint):
    (tmp_path / "data.csv").write_text(content)
    assert run("cluster", tmp_path / "data.csv", "-k", 2, "--metric", "precomputed", *options) == 1
    assert complaint in capsys.readouterr().err
