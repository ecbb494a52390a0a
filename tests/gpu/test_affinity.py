"""The finished graph on the device against the CPU's, with PyTorch on the CPU too."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_moons

from tightcut import knn_affinity

pytest.importorskip("torch", reason="needs PyTorch: pip install torch")

from tightcut.gpu.affinity import device_affinity, is_connected
from tightcut.gpu.sparse import DeviceCsr, Groups, send
from tightcut.neighbors import SYMMETRIZE


@pytest.mark.parametrize("k", [1, 10])
@pytest.mark.parametrize("symmetrize", SYMMETRIZE)
def test_the_same_graph_as_on_the_cpu(k, symmetrize, torch_device):
    points = make_moons(400, noise=0.1, random_state=0)[0]
    affinity, scales, _, _ = device_affinity(points, k, symmetrize, device=torch_device)
    expected = knn_affinity(points, k, symmetrize=symmetrize, connect=False)
    assert affinity.has_sorted_indices
    assert affinity.indices.dtype == np.int32
    np.testing.assert_array_equal(affinity.indptr, expected.indptr)
    np.testing.assert_array_equal(affinity.indices, expected.indices)
    np.testing.assert_allclose(affinity.data, expected.data, rtol=1e-12)
    assert (affinity != affinity.T).nnz == 0
    everything = np.sort(np.linalg.norm(points[:, None] - points, axis=2), axis=1)
    np.testing.assert_allclose(scales, everything[:, k], rtol=1e-12)


def test_duplicates_weigh_one(torch_device):
    """More copies than neighbours: the scale is zero."""
    points = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 5, axis=0)
    affinity, scales, _, connected = device_affinity(points, 2, device=torch_device)
    assert (affinity.data == 1).all()
    assert (scales == 0).all()
    assert not connected


@pytest.mark.parametrize("n_parts", [1, 2, 7])
def test_connectedness(n_parts, torch_device):
    centres = 1000 * np.random.default_rng(1).normal(size=(n_parts, 3))
    points, _ = make_blobs([60] * n_parts, centers=centres, random_state=2)
    affinity, _, _, connected = device_affinity(points, 8, device=torch_device)
    assert connected == (sp.csgraph.connected_components(affinity)[0] == 1) == (n_parts == 1)


@pytest.mark.parametrize("seed", range(5))
def test_connectedness_of_long_paths_in_any_order(seed, torch_device):
    n = 300
    order = np.random.default_rng(seed).permutation(n)
    path = sp.coo_array((np.ones(n - 1), (order[:-1], order[1:])), shape=(n, n)).tocsr()
    whole = sp.csr_array(path + path.T)
    assert is_connected(DeviceCsr.from_scipy(whole, torch_device))
    cut = whole.tolil()
    cut[order[99], order[100]] = cut[order[100], order[99]] = 0
    torn = cut.tocsr()
    torn.eliminate_zeros()
    assert not is_connected(DeviceCsr.from_scipy(sp.csr_array(torn), torch_device))


def test_a_single_vertex_is_connected(torch_device):
    assert is_connected(DeviceCsr.from_scipy(sp.csr_array((1, 1)), torch_device))


@pytest.mark.parametrize("reduction", ["sum", "max"])
def test_groups(reduction, torch_device):
    rng = np.random.default_rng(3)
    keys, values = rng.integers(0, 9, 50), rng.normal(size=50)
    groups = Groups.of(send(keys, torch_device))
    expected = [getattr(values[keys == key], reduction)() for key in np.unique(keys)]
    assert groups.keys.tolist() == np.unique(keys).tolist()
    np.testing.assert_allclose(groups.reduce(send(values, torch_device), reduction).cpu().numpy(), expected)


def test_matrices_there_and_back(torch_device):
    dense = np.random.default_rng(4).normal(size=(20, 20))
    dense[np.random.default_rng(5).random((20, 20)) < 0.8] = 0
    dense[3] = 0
    matrix = sp.csr_array(dense)
    there = DeviceCsr.from_scipy(matrix, torch_device)
    assert (there.to_scipy() != matrix).nnz == 0
    np.testing.assert_allclose(there.row_sums(there.data).cpu().numpy(), matrix.sum(axis=1), rtol=1e-14)
    again = DeviceCsr.from_keys(there.keys, there.data, 20)
    assert (again.to_scipy() != matrix).nnz == 0


def test_sent_arrays_are_copies_of_any_layout(torch_device):
    array = np.arange(12.0).reshape(3, 4)
    frozen = array.copy()
    frozen.flags.writeable = False
    for source in (array, frozen, array.T, array[:, ::2], array[::-1]):
        moved = send(source, torch_device)
        np.testing.assert_array_equal(moved.cpu().numpy(), source)
        moved += 1
    np.testing.assert_array_equal(array, frozen)
