"""The steps on blocks of a graph, against slow and obvious ones."""

import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from tightcut import kernels
from tightcut.distributed.edges import IDS_OF_A_RANGE, SAMPLED, read_edges, survey
from tightcut.distributed.graph_clustering import _search_level, _Settings
from tightcut.distributed.levels import Level
from tightcut.distributed.refinement import free_borders
from tightcut.distributed.running import Runner, temporary_folder


def arcs(rng, n, count):
    """Symmetric arcs without loops, parallel ones among them."""
    i, j = rng.integers(n, size=(2, count)).astype(np.int32)
    weight = rng.uniform(0.5, 1.5, count)
    i, j, weight = (column[i != j] for column in (i, j, weight))
    return np.concatenate([i, j]), np.concatenate([j, i]), np.tile(weight, 2)


@pytest.mark.parametrize(("n", "count"), [(1, 0), (5, 3), (7, 400), (300, 2000), (2, 5000)])
def test_arcs_are_sorted_and_added_up_in_an_order_of_their_own(n, count):
    rng = np.random.default_rng(n)
    row, column = rng.integers(n, size=(2, count)).astype(np.int32)
    weight = rng.uniform(size=count)
    indptr, indices, weights = kernels.add_up_arcs(row, column, weight, n)
    expected = sp.coo_array((weight, (row, column)), shape=(n, n)).toarray()
    found = sp.csr_array((weights, indices, indptr), shape=(n, n))
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12)
    assert found.has_sorted_indices
    assert found.has_canonical_format
    order = rng.permutation(count)
    again = kernels.add_up_arcs(row[order], column[order], weight[order], n)
    for one, other in zip((indptr, indices, weights), again, strict=True):
        np.testing.assert_array_equal(one, other)


def level_of(folder, n, columns, starts):
    """A level with these arcs, in one run."""
    level = Level(Path(folder, "level"), np.array(starts))
    order = np.argsort(columns[0], kind="stable")
    level.write_run(0, *(column[order] for column in columns))
    counts = np.concatenate([level.write_block(block, 1)[1] for block in range(level.n_blocks)])
    matrix = sp.coo_array((columns[2], columns[:2]), shape=(n, n)).toarray()
    level.save(n_arcs=counts, vertex_weights=matrix.sum(axis=1))
    return level, matrix


def test_a_level_is_read_as_it_was_written(tmp_path):
    level, matrix = level_of(tmp_path, 40, arcs(np.random.default_rng(0), 40, 300), [0, 11, 12, 40])
    found = level.read().toarray()
    np.testing.assert_allclose(found, matrix, rtol=1e-12)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("n_units", [3, 12, 60])
def test_borders_are_free_and_insides_are_one_unit_each(tmp_path, n_units):
    rng = np.random.default_rng(1)
    level, matrix = level_of(tmp_path, 60, arcs(rng, 60, 90), [0, 25, 60])
    labels = rng.integers(3, size=60).astype(np.int32)
    labels[:3] = range(3)
    apart = np.array([[a, b] for a in range(60) for b in range(a) if labels[a] != labels[b]])[:40]
    borders, pairs = free_borders(Runner(None), level, labels, apart, n_units, 100, 1.0)
    unit = level.array("unit")
    assert borders.n_units <= n_units
    sizes = np.bincount(unit)
    assert (sizes > 0).all()
    for number in np.flatnonzero(sizes > 1):
        assert len(np.unique(labels[unit == number])) == 1
    degree = np.maximum(matrix.sum(axis=1), 1e-300)
    share = (matrix * (labels[:, None] != labels)).sum(axis=1) / degree
    spread = share + matrix @ share / degree
    kept = np.sort(spread[sizes[unit] == 1])[::-1]
    best = np.sort(spread[spread > 0])[::-1][: n_units - 3]
    np.testing.assert_allclose(kept[: len(best)], best, rtol=1e-9)
    indicator = np.eye(borders.n_units)[unit]
    expected = indicator.T @ matrix @ indicator
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(borders.read().toarray(), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(borders.array("vertex_weights"), indicator.T @ matrix.sum(axis=1), rtol=1e-9)
    assert {frozenset(pair) for pair in pairs.tolist()} == {frozenset(pair) for pair in unit[apart].tolist()}


def test_labels_of_a_search_that_changes_clusters_are_below_their_number(tmp_path):
    """Kernels that count by label write beyond their arrays for any other. Of three rings, two begin as one cluster."""
    ring = np.arange(30)
    i, j = ring.astype(np.int32), (ring // 10 * 10 + (ring + 1) % 10).astype(np.int32)
    i, j = np.append(i, [0, 10]).astype(np.int32), np.append(j, [10, 20]).astype(np.int32)
    weight = np.append(np.ones(30), [0.1, 0.1])
    columns = np.concatenate([i, j]), np.concatenate([j, i]), np.tile(weight, 2)
    level, _ = level_of(tmp_path, 30, columns, [0, 30])
    init = np.repeat([0, 0, 1], 10)
    init[25:] = 2
    settings = _Settings(3, 30, 100, 1.0, None)
    labels, _ = _search_level(level, np.zeros((0, 2), int), settings, np.random.default_rng(0), init)
    np.testing.assert_array_equal(labels, np.repeat([0, 1, 2], 10))


def test_vertices_are_found_range_by_range(tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    monkeypatch.setattr("tightcut.distributed.edges.SAMPLED", 2)
    monkeypatch.setattr("tightcut.distributed.edges.IDS_OF_A_RANGE", 8)
    assert IDS_OF_A_RANGE % SAMPLED == 0
    rng = np.random.default_rng(2)
    names = rng.choice([-(2**63), -5, 0, 3, 2**63 - 1, *rng.integers(-100, 100, 40)], (2, 500))
    edges = pd.DataFrame({"i": names[0], "j": names[1], "weight": rng.uniform(size=500)})
    found = survey(Runner(None), read_edges(dd.from_pandas(edges, npartitions=4)), Level(tmp_path, np.zeros(1, int)))
    ids, counts = np.unique(names, return_counts=True)
    np.testing.assert_array_equal(found.ids, ids)
    np.testing.assert_array_equal(found.arcs, counts)
    proper = edges[edges.i != edges.j]
    for vertex, degree in zip(found.ids, found.degrees, strict=True):
        assert degree == pytest.approx(proper.weight[(proper.i == vertex) | (proper.j == vertex)].sum())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_goes_though_a_task_still_writes_into_it(tmp_path):
    """As where another task has failed; the error of that one is what the caller sees."""
    begun, ended = threading.Event(), threading.Event()

    def write(place):
        for number in range(2000):
            try:
                (place / "points").mkdir(exist_ok=True)
                (place / "points" / f"{number}").write_text("x")
            except FileNotFoundError:  # the folder is gone
                break
            except FileExistsError:  # it goes while it is looked at
                continue
            begun.set()
        ended.set()

    def fail():
        with temporary_folder("tightcut-", tmp_path) as place:
            threading.Thread(target=write, args=(place,)).start()
            assert begun.wait(30)
            raise ValueError("of a task")

    with pytest.raises(ValueError, match="of a task"):
        fail()
    assert ended.wait(30)
    assert list(tmp_path.iterdir()) == []
