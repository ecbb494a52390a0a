"""Graphs of networkx and igraph, AnnData, and pairs that name rows instead of counting them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from tightcut import COSC, Constraints, Graph
from tightcut.files import DataOptions, InputError, read_data
from tightcut.problem.graph_objects import graph_matrix, row_names

nx = pytest.importorskip("networkx")

EDGES = [
    ("a", "b", 2.0),
    ("b", "c", 1.0),
    ("c", "a", 3.0),
    ("c", "d", 0.5),
    ("d", "e", 2.0),
    ("e", "f", 1.0),
    ("f", "d", 4.0),
]
NAMES = ["a", "b", "c", "d", "e", "f"]
MATRIX = np.zeros((6, 6))
for one, other, weight in EDGES:
    MATRIX[NAMES.index(one), NAMES.index(other)] = MATRIX[NAMES.index(other), NAMES.index(one)] = weight


class Attributes(dict):
    def attributes(self):
        return list(self)


def as_networkx():
    graph = nx.Graph()
    graph.add_nodes_from(NAMES)
    graph.add_weighted_edges_from(EDGES)
    return graph


def as_igraph(directed=False):
    """As much of a graph of igraph as is used; igraph itself is under the GPL."""
    ends = [(NAMES.index(one), NAMES.index(other)) for one, other, _ in EDGES]
    return SimpleNamespace(
        is_directed=lambda: directed,
        get_edgelist=lambda: ends,
        vcount=lambda: 6,
        ecount=lambda: 7,
        es=Attributes(weight=[weight for *_, weight in EDGES]),
        vs=Attributes(name=NAMES),
    )


def as_anndata():
    return SimpleNamespace(obsp={"connectivities": sp.csr_matrix(MATRIX)}, obs_names=pd.Index(NAMES), shape=(6, 99))


OBJECTS = [as_networkx, as_igraph, as_anndata, lambda: sp.coo_matrix(MATRIX)]


@pytest.mark.parametrize("make", OBJECTS, ids=["networkx", "igraph", "anndata", "scipy"])
def test_every_kind_is_the_same_graph(make):
    assert Graph.from_affinity(make()).weights.toarray().tolist() == MATRIX.tolist()
    model = COSC(2, affinity="precomputed", random_state=0).fit(make())
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert model.n_features_in_ == 6


@pytest.mark.parametrize("make", OBJECTS[:3], ids=["networkx", "igraph", "anndata"])
def test_pairs_name_vertices(make):
    assert row_names(make()) == NAMES
    model = COSC(2, affinity="precomputed", random_state=0)
    model.fit(make(), must_link=[("b", "e")], cannot_link=[("a", "f")])
    label = dict(zip(NAMES, model.labels_.tolist(), strict=True))
    assert label["b"] == label["e"]
    assert label["a"] != label["f"]
    assert model.fit(make(), cannot_link=[(0, 1)]).labels_[0] != model.labels_[1]  # rows, as ever
    with pytest.raises(
        ValueError, match=r"must_link row 1: 'z' is not among the 6 names of the data \(they look like 'a'"
    ):
        model.fit(make(), must_link=[("a", "b"), ("c", "z")])


def test_vertices_that_are_numbers_are_named_by_them():
    graph = nx.relabel_nodes(as_networkx(), dict(zip(NAMES, [10, 0, 20, 1, 2, 3], strict=True)))
    model = COSC(2, affinity="precomputed", random_state=0).fit(graph, cannot_link=[(10, 0)])
    assert model.labels_[0] != model.labels_[1]


def test_parallel_edges_and_loops_and_edges_without_weight():
    graph = nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "b")])
    assert Graph.from_affinity(graph).weights.toarray().tolist() == [[0, 2], [2, 0]]
    unweighted = as_igraph()
    unweighted.es = Attributes()
    assert set(graph_matrix(unweighted).data) == {1.0}
    assert graph_matrix(nx.Graph()).shape == (0, 0)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.DiGraph([(0, 1)]), r"directed, .* make it undirected first: graph\.to_undirected\(\)"),
        (as_igraph(directed=True), r"graph\.as_undirected\(\)"),
        (nx.Graph([(0, 1, {"weight": "near"})]), "An edge has the weight 'near'"),
        (nx.Graph([(0, 1, {"weight": None})]), "An edge has the weight None"),
        (nx.Graph([(0, 1, {"weight": -1})]), "negative value"),
        (
            SimpleNamespace(obsp={}, obs_names=[]),
            r"no graph, \.obsp\['connectivities'\]; scanpy\.pp\.neighbors makes it",
        ),
    ],
)
def test_graphs_that_cannot_be_cut(graph, message):
    with pytest.raises(ValueError, match=message):
        Graph.from_affinity(graph)


def test_a_graph_is_no_table_of_points():
    with pytest.raises(ValueError, match='X is a graph, of networkx.*; set affinity="precomputed"'):
        COSC(2).fit(as_networkx())


class TestFrames:
    @pytest.fixture
    def frame(self):
        rng = np.random.default_rng(0)
        return pd.DataFrame(rng.normal(size=(20, 2)), columns=["x", "y"], index=[f"b{row}" for row in range(20)])

    @pytest.mark.parametrize(
        "pairs",
        [
            [("b0", "b10")],
            (("b0", "b10"),),
            np.array([["b0", "b10"]]),
            pd.DataFrame({"one": ["b0"], "other": ["b10"]}),
            pl.DataFrame({"one": ["b0"], "other": ["b10"]}),
            iter([("b0", "b10")]),
            {("b0", "b10")},
            [(0, 10)],
            np.array([[0, 10]]),
        ],
    )
    def test_pairs_of_labels_and_of_rows(self, frame, pairs):
        model = COSC(2, random_state=0).fit(frame, cannot_link=pairs)
        assert model.labels_[0] != model.labels_[10]

    def test_numbers_are_rows_whatever_the_index_says(self, frame):
        shuffled = frame.set_axis(np.arange(20)[::-1], axis=0)
        assert row_names(shuffled) is None
        model = COSC(2, random_state=0).fit(shuffled, cannot_link=[(0, 10)])
        assert model.labels_[0] != model.labels_[10]

    @pytest.mark.parametrize(
        ("pairs", "message"),
        [
            ([("b0", "b99")], r"must_link row 0: 'b99' is not among the 20 names of the data .* Did you mean 'b9'"),
            ([("b0", 1)], "must_link row 0: 1 is not among the 20 names"),
            ([("b0",)], "must_link"),
            ([("b0", "b0")], "pairs a point with itself"),
            ([("b0", ["b1"])], "must_link"),
            ("b0b1", "must_link"),
            (5, "must_link"),
        ],
    )
    def test_mistakes(self, frame, pairs, message):
        with pytest.raises(ValueError, match=message):
            COSC(2).fit(frame, must_link=pairs)

    def test_labels_that_occur_twice(self, frame):
        with pytest.raises(ValueError, match=r"'b0' duplicates row 0"):
            COSC(2).fit(frame.rename({"b1": "b0"}), must_link=[("b0", "b10")])

    def test_rows_without_names(self, frame):
        with pytest.raises(
            ValueError, match=r"Pairs of names are for .* Constraints\.from_dataframe\(pairs, ids=names\)"
        ):
            COSC(2).fit(frame.to_numpy(), must_link=[("b0", "b10")])
        with pytest.raises(ValueError, match="from_dataframe"):
            Constraints.from_pairs(20, [("b0", "b10")])


class TestGraphFiles:
    @pytest.mark.parametrize(("name", "write"), [("g.graphml", "write_graphml"), ("g.gml", "write_gml")])
    def test_names_are_kept(self, tmp_path, name, write):
        getattr(nx, write)(as_networkx(), tmp_path / name)
        data = read_data(tmp_path / name)
        assert (data.ids, data.id_name) == (NAMES, "vertex")
        assert data.affinity.toarray().tolist() == MATRIX.tolist()

    def test_names_of_igraph(self, tmp_path):
        """igraph calls vertices n0, n1, ..., and has their names in an attribute."""
        graph = nx.convert_node_labels_to_integers(as_networkx(), label_attribute="name")
        nx.write_graphml(graph, tmp_path / "g.graphml")
        assert read_data(tmp_path / "g.graphml").ids == NAMES

    def test_mistakes(self, tmp_path):
        nx.write_graphml(nx.DiGraph([("a", "b")]), tmp_path / "d.graphml")
        with pytest.raises(InputError, match=r"d\.graphml: The graph is directed"):
            read_data(tmp_path / "d.graphml")
        (tmp_path / "bad.gml").write_text("graph [")
        with pytest.raises(InputError, match=r"bad\.gml is damaged, or not a GML file"):
            read_data(tmp_path / "bad.gml")
        nx.write_gml(as_networkx(), tmp_path / "g.gml")
        with pytest.raises(InputError, match="g.gml is a graph, which has no columns; leave out --columns"):
            read_data(tmp_path / "g.gml", DataOptions(columns=("x",)))
