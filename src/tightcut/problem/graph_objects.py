"""Graphs of networkx, igraph and AnnData as matrices, with their vertex names; none of the three is imported."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

CONNECTIVITIES = "connectivities"  # the key of scanpy's graph of cells


def is_graph_object(graph: Any) -> bool:
    """Whether this is a graph of networkx or igraph, or an AnnData object."""
    return _is_networkx(graph) or _is_igraph(graph) or _is_cells(graph)


def graph_matrix(graph: Any) -> Any:
    """The weights of the edges of such a graph as a matrix; everything else as it is.

    Vertices come in the order in which the graph lists them, an edge without a weight counts as 1, parallel edges add up.

    Examples
    --------
    >>> import networkx as nx
    >>> from tightcut.problem.graph_objects import graph_matrix
    >>> path = nx.Graph([("a", "b"), ("b", "c", {"weight": 3})])
    >>> graph_matrix(path).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 3.0], [0.0, 3.0, 0.0]]
    """
    if _is_cells(graph):
        if CONNECTIVITIES not in graph.obsp:
            raise ValueError(
                f"The AnnData object has no graph, .obsp[{CONNECTIVITIES!r}]; scanpy.pp.neighbors makes it. Its points are "
                'X or .obsm["X_pca"], for affinity="knn".'
            )
        return graph.obsp[CONNECTIVITIES]
    if _is_networkx(graph):
        _refuse_directed(graph.is_directed(), "graph.to_undirected()")
        place = {node: row for row, node in enumerate(graph)}
        edges = [(place[a], place[b], weight) for a, b, weight in graph.edges(data="weight", default=1)]
        return _matrix(edges, len(place))
    if _is_igraph(graph):
        _refuse_directed(graph.is_directed(), "graph.as_undirected()")
        weights = graph.es["weight"] if "weight" in graph.es.attributes() else [1] * graph.ecount()
        edges = [(a, b, weight) for (a, b), weight in zip(graph.get_edgelist(), weights, strict=True)]
        return _matrix(edges, graph.vcount())
    return graph


def row_names(X: Any) -> list[Any] | None:
    """The vertices of a graph object, the cells of AnnData, or the labels of a data frame; None for rows without names.

    Examples
    --------
    >>> import networkx as nx
    >>> from tightcut.problem.graph_objects import row_names
    >>> row_names(nx.path_graph(["a", "b"])), row_names(nx.path_graph(2))
    (['a', 'b'], None)
    """
    if _is_networkx(X):
        names = list(X)
    elif _is_igraph(X):
        names = list(X.vs["name"]) if "name" in X.vs.attributes() else []
    elif _is_cells(X):
        names = list(X.obs_names)
    else:
        index = X.index if hasattr(X, "index") and hasattr(X, "columns") else None
        # Numbers in the index of a frame may be in any order, and pairs of numbers name rows.
        names = [] if index is None or not all(isinstance(name, str) for name in index) else list(index)
    return None if names == list(range(len(names))) else names


def _is_networkx(graph: Any) -> bool:
    return all(hasattr(graph, name) for name in ("is_multigraph", "is_directed", "edges", "adj"))


def _is_igraph(graph: Any) -> bool:
    return all(hasattr(graph, name) for name in ("get_edgelist", "vcount", "es", "vs"))


def _is_cells(graph: Any) -> bool:
    return hasattr(graph, "obsp") and hasattr(graph, "obs_names")


def _refuse_directed(is_directed: bool, remedy: str) -> None:  # noqa: FBT001
    if is_directed:
        raise ValueError(
            f"The graph is directed, and tightcut cuts undirected graphs; make it undirected first: {remedy}"
        )


def _matrix(edges: Iterable[tuple[int, int, Any]], n: int) -> sp.csr_array:
    first, second, weights = map(list, zip(*edges, strict=True)) if edges else ([], [], [])
    strange = [weight for weight in weights if not isinstance(weight, Real)]
    if strange:
        raise ValueError(f"An edge has the weight {strange[0]!r}; weights are numbers, the larger the more alike.")
    values = np.array(weights, dtype=np.float64)
    ends = np.array([first + second, second + first], dtype=np.int64).reshape(2, -1)
    return sp.csr_array((np.append(values, values), (ends[0], ends[1])), shape=(n, n))
