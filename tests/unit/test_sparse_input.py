"""Sparse matrices whose arrays do not fit each other: an error that names the index, at every entrance."""

import numpy as np
import pytest
import scipy.sparse as sp

from tightcut import COSC, Constraints, Graph, KnnAffinity, knn_affinity
from tightcut.ask.journal.identity import check_data
from tightcut.files import InputError, read_data
from tightcut.fitted.fit import fit
from tightcut.fitted.parameters import Parameters
from tightcut.fitted.predict import predict
from tightcut.rivals import SpectralLearning
from tightcut.utils.sparse import check_sparse, to_csr

CYCLE = sp.csr_array(np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1))
FORMATS = ("csr", "csc", "coo", "dia", "bsr", "dok", "lil")


def altered(matrix, **arrays):
    """A copy of which arrays are replaced behind scipy's back, as an in-place change would."""
    matrix = matrix.copy()
    for name, array in arrays.items():
        setattr(matrix, name, np.asarray(array))
    return matrix


def from_one(matrix):
    """The same entries, counted from 1."""
    return altered(matrix, indices=matrix.indices + 1)


def at(matrix, place, index):
    indices = matrix.indices.copy()
    indices[place] = index
    return altered(matrix, indices=indices)


POINTERS = {
    "too few": (CYCLE.indptr[:-1], "has 6 entries, where 7 are needed"),
    "begins late": (CYCLE.indptr + 1, "begins with 1, not with 0"),
    "decreases": ([0, 2, 4, 2, 8, 10, 12], "decreases from 4 to 2 at place 3"),
    "runs past the end": ([0, 2, 4, 6, 8, 10, 99], "ends with 99, and there are 12 entries"),
    "far below 0": ([0, -(10**6), 4, 6, 8, 10, 12], "decreases from 0 to -1000000 at place 1"),
    "fractions": ([0, 2, 4, 6, 8, 10, 12.5], "not an array of integers"),
}


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("kind", POINTERS)
def test_wrong_pointers(kind, container):
    pointers, message = POINTERS[kind]
    with pytest.raises(ValueError, match=f"indptr of X {message}|indptr of X is {message}"):
        to_csr(altered(container(CYCLE), indptr=pointers))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_an_index_out_of_range_is_named(dtype):
    csr, csc = altered(CYCLE, indices=CYCLE.indices.astype(dtype)), CYCLE.tocsc()
    with pytest.raises(
        ValueError, match=r"X has an entry at \(2, 9\), and its shape is \(6, 6\): columns count from 0 to 5\. C"
    ):
        to_csr(at(csr, 5, 9))
    with pytest.raises(ValueError, match=r"X has an entry at \(9, 2\), and its shape is \(6, 6\): rows count"):
        to_csr(at(csc, 5, 9))
    with pytest.raises(ValueError, match=r"X has an entry at \(2, -1\); indices count from 0 and do not wrap around"):
        to_csr(at(csr, 5, -1))
    with pytest.raises(ValueError, match=r"\(0, 6\).* subtract 1 from all of them"):
        to_csr(from_one(csr))


def test_every_format_is_checked():
    coo, dok, lil = CYCLE.tocoo(), CYCLE.todok(), CYCLE.tolil()
    dia, bsr = sp.dia_array(CYCLE), sp.bsr_array(CYCLE, blocksize=(2, 3))
    dok._dict[7, 2] = 1.0
    lil.rows[4][1] = 6
    for matrix, place in (
        (altered(coo, row=coo.row + 1), r"\(6, "),
        (dok, r"\(7, 2\)"),
        (lil, r"\(4, 6\)"),
        (at(bsr, 0, 2), r"\(0, 6\)"),
    ):
        with pytest.raises(ValueError, match=f"X has an entry at {place}"):
            check_sparse(matrix)
    torn = CYCLE.tolil()
    torn.data[3].pop()
    for matrix in (
        torn,
        altered(CYCLE, data=np.ones(11)),
        altered(coo, data=np.ones(11)),
        altered(bsr, data=np.ones((len(bsr.data), 4, 3))),
        altered(bsr, data=np.ones(len(bsr.data))),
        altered(dia, offsets=dia.offsets[:-1]),
        altered(dia, offsets=np.zeros_like(dia.offsets)),
    ):
        with pytest.raises(ValueError, match="scipy.sparse.coo_array"):
            check_sparse(matrix)
    with pytest.raises(ValueError, match="two dimensions"):
        check_sparse(sp.coo_array(np.ones(3)))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("kind", FORMATS)
def test_proper_matrices_of_every_format_are_read(kind, wide):
    for container in (sp.csr_array, sp.csr_matrix):
        matrix = container(CYCLE).asformat(kind)
        if wide and hasattr(matrix, "indptr"):
            matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
        np.testing.assert_array_equal(to_csr(matrix).toarray(), CYCLE.toarray())
        np.testing.assert_array_equal(Graph.from_affinity(matrix).weights.toarray(), CYCLE.toarray())
    assert to_csr(sp.csr_array((0, 3))).shape == (0, 3)


def test_no_array_is_copied():
    read = to_csr(CYCLE)
    assert all(np.shares_memory(getattr(read, part), getattr(CYCLE, part)) for part in ("data", "indices", "indptr"))


def test_unsorted_and_repeated_entries_are_added_up_even_if_scipy_believes_them_sorted():
    rows, columns = np.array([0, 0, 0, 1, 2, 2]), np.array([2, 1, 2, 0, 0, 0])
    expected = np.array([[0, 1, 2], [1, 0, 0], [2, 0, 0]])
    matrix = sp.csr_array((np.ones(6), np.array([1, 2, 2, 0, 0, 0]), np.array([0, 3, 4, 6])), shape=(3, 3))
    matrix.has_canonical_format = True  # as it was before the next line
    matrix.indices = columns
    np.testing.assert_array_equal(Graph.from_affinity(matrix).weights.toarray(), expected)
    for kind in ("coo", "csr", "csc"):
        found = Graph.from_affinity(sp.coo_array((np.ones(6), (rows, columns)), shape=(3, 3)).asformat(kind))
        np.testing.assert_array_equal(found.weights.toarray(), expected)


def fitted(model, X):
    return model(2, affinity="precomputed", random_state=0).fit(X)


APART = Parameters(2, n_neighbors=2, affinity=KnnAffinity(connect=False), random_state=0)
ENTRANCES = {
    "Graph.from_affinity": Graph.from_affinity,
    "similarities": lambda bad: fitted(COSC, bad),
    "similarities of the command line": lambda bad: fit(bad, Parameters(2, affinity="precomputed", random_state=0)),
    "points": lambda bad: COSC(**vars(APART)).fit(bad),
    "points of the command line": lambda bad: fit(bad, APART),
    "distances": lambda bad: COSC(2, n_neighbors=1, metric="precomputed", random_state=0).fit(bad),
    "knn_affinity": lambda bad: knn_affinity(bad, 2),
    "distances of knn_affinity": lambda bad: knn_affinity(bad, 1, metric="precomputed"),
    "predict, given similarities": lambda bad: fitted(COSC, CYCLE).predict(bad),
    "predict, points": lambda bad: COSC(**vars(APART)).fit(CYCLE).predict(bad),
    "predict of the command line": lambda bad: predict(fit(CYCLE, APART), bad),
    "update, points": lambda bad: COSC(**vars(APART)).fit(CYCLE).update(bad),
    "questions": lambda bad: check_data(bad, "precomputed"),
    "rivals": lambda bad: SpectralLearning(2, affinity="precomputed").fit(bad),
    "constraints": lambda bad: Constraints.from_pairs(6, bad),
}


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize("kind", ["csr", "csc", "matrix"])
def test_every_entrance(entrance, kind):
    bad = from_one({"csr": CYCLE, "csc": CYCLE.tocsc(), "matrix": sp.csr_matrix(CYCLE)}[kind])
    with pytest.raises(ValueError, match=r"has an entry at .* shape is \(6, 6\).*subtract 1"):
        ENTRANCES[entrance](bad)


def test_update_with_similarities_of_new_points():
    new = at(sp.csr_array(np.ones((1, 7))), 3, 7)
    with pytest.raises(ValueError, match=r"X_new has an entry at \(0, 7\)"):
        fitted(COSC, CYCLE).update(new)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo"])
def test_files(kind, tmp_path):
    matrix = sp.bsr_array(CYCLE, blocksize=(1, 1)) if kind == "bsr" else CYCLE.asformat(kind)
    bad = altered(matrix, col=matrix.col + 1) if kind == "coo" else from_one(matrix)
    sp.save_npz(tmp_path / "graph.npz", bad)
    with pytest.raises(
        InputError, match=r"graph.npz.*(entry at \(.*6.*\).*subtract 1|index 6 exceeds matrix dimension 6)"
    ):
        read_data(tmp_path / "graph.npz")
