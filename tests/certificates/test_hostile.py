"""Bad input to `certify`, damaged and forged certificates: a clear error or a smaller bound, never a wrong one."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

from tightcut import Constraints, Graph, cluster
from tightcut.certificates import Certificate, certify
from tightcut.certificates import verify as verifier
from tightcut.certificates.certificate import allowance
from tightcut.certificates.units import believed_pairs
from tightcut.problem.objective import normalized_cut


def blobs(seed=0, n=40, weights="degree"):
    rng = np.random.default_rng(seed)
    points = np.concatenate([rng.normal(0, 1, (n // 2, 2)), rng.normal(2.5, 1, (n - n // 2, 2))])
    distances = ((points[:, None] - points[None]) ** 2).sum(2)
    return Graph.from_affinity(np.exp(-distances) * (distances < 4), weights)


@pytest.fixture(scope="module")
def case():
    graph = blobs()
    pairs = Constraints.from_pairs(40, [(0, 1), (25, 30)], [(2, 33)])
    labels = cluster(graph, pairs, random_state=0).labels
    return graph, pairs, certify(graph, pairs, labels, random_state=0)


@pytest.fixture(scope="module")
def three():
    graph = blobs()
    pairs = Constraints.from_pairs(40, [(0, 1), (25, 30)], [(2, 33), (5, 6)])
    labels = cluster(graph, pairs, 3, random_state=0, effort=0.3).labels
    return graph, pairs, certify(graph, pairs, labels, random_state=0, gap=0.02)


def forged(certificate, **changes):
    """The certificate with other arrays in its proof."""
    return replace(certificate, proofs=[certificate.proofs[0] | changes])


def test_a_certificate_says_what_is_proven(case, three):
    graph, pairs, certificate = case
    assert certificate.form == "Z"
    assert certificate.gap < 1e-3
    assert str(certificate).startswith(f"cut {certificate.cut:.4g}")
    assert "no two clusters that respect the pairs have a cut below" in str(certificate)
    certificate.check(graph, pairs)
    graph, pairs, certificate = three
    assert certificate.form == "P"
    certificate.check(graph, pairs)


def test_another_graph_other_pairs_and_other_weights_are_refused(case):
    graph, pairs, certificate = case
    nearly = graph.weights.copy()
    nearly.data = nearly.data * (1 + 1e-12)
    for other in (blobs(1), blobs(weights="ones"), Graph(nearly, graph.vertex_weights)):
        with pytest.raises(ValueError, match="another graph, other pairs or other weights"):
            certificate.check(other, pairs)
    for others in (None, Constraints.from_pairs(40, [(0, 1)], [(2, 33)])):
        assert not certificate.verify(graph, others)
    # The proof itself tells two graphs apart, too.
    arrays = believed_pairs(pairs), 2, certificate.bound, certificate.proofs
    weaker = 0.99 * graph.weights
    with pytest.raises(ValueError, match="refused"):
        verifier.verify(weaker, graph.vertex_weights, *arrays)


@pytest.mark.parametrize("name", ["case", "three"])
@pytest.mark.parametrize("bound", [1.001, np.nan, np.inf, -1.0])
def test_a_raised_bound_is_refused(name, bound, request):
    graph, pairs, certificate = request.getfixturevalue(name)
    assert not replace(certificate, bound=certificate.bound * bound).verify(graph, pairs)


@pytest.mark.parametrize("name", ["case", "three"])
def test_forged_multipliers_are_refused(name, request):
    graph, pairs, certificate = request.getfixturevalue(name)
    proof = certificate.proofs[0]
    for key, array in proof.items():
        if array.dtype.kind == "f" and array.size:
            for value in (np.nan, np.inf, -np.inf):
                changed = np.array(array)
                changed.flat[0] = value
                assert not forged(certificate, **{key: changed}).verify(graph, pairs), (key, value)
        if array.dtype.kind == "i" and array.size and key != "assumed":
            for value in (-1, 10**6):
                changed = array.copy()
                changed[0, 0] = value
                assert not forged(certificate, **{key: changed}).verify(graph, pairs), (key, value)
        assert not replace(certificate, proofs=[{k: v for k, v in proof.items() if k != key}]).verify(graph, pairs), key
        if key != "assumed":
            assert not forged(certificate, **{key: np.concatenate([np.atleast_1d(array)] * 2)}).verify(graph, pairs), (
                key
            )
    negative = proof["multipliers"].copy()
    negative[:] = -1e-6 * abs(negative).max() - 1e-12
    assert not forged(certificate, multipliers=negative).verify(graph, pairs)
    assert not replace(certificate, proofs=[]).verify(graph, pairs)


def test_numbers_of_the_wrong_shape_do_not_pass(three):
    """Broadcasting would let one value stand for many in the bound, and for one in the matrix."""
    graph, pairs, certificate = three
    proof = certificate.proofs[0]
    n_units = len(proof["a"])
    for key in ("theta", "kappa"):
        assert not forged(certificate, **{key: np.full(n_units, float(proof[key]))}).verify(graph, pairs)
    assert not forged(certificate, c=proof["c"][0], vectors=proof["vectors"][:, 0]).verify(graph, pairs)
    assert not forged(certificate, c=proof["c"][:, None]).verify(graph, pairs)


def test_labels_are_checked(case):
    graph, pairs, certificate = case
    flipped = certificate.labels.copy()
    flipped[3] = 1 - flipped[3]
    violating = certificate.labels.copy()
    violating[2] = violating[33]
    for labels in (flipped, violating, np.zeros(40, int), certificate.labels[:-1], certificate.labels + 1):
        assert not replace(certificate, labels=labels).verify(graph, pairs)
    assert not replace(certificate, cut=certificate.cut * 0.999).verify(graph, pairs)
    assert not replace(certificate, n_clusters=3).verify(graph, pairs)


def test_cases_must_cover_all_clusterings(case):
    graph, pairs, certificate = case
    proof = certificate.proofs[0]

    def of(*cases):
        return replace(certificate, proofs=[proof | {"assumed": np.array(rows).reshape(-1, 3)} for rows in cases])

    covers = verifier.covers
    together, apart = [(4, 5, 1)], [(4, 5, -1)]
    assert covers([np.array(together), np.array(apart)])
    assert covers([np.array(together), np.array([*apart, (7, 8, 1)]), np.array([*apart, (7, 8, -1)])])
    assert not covers([np.array(together)])
    assert not covers([np.array(together), np.array([(4, 6, -1)])])
    assert not covers([np.array(together), np.array(together)])
    assert not covers([])
    assert not of(together).verify(graph, pairs)
    assert not of([(4, 5, 1)], [(4, 5, 0)]).verify(graph, pairs)


@pytest.mark.parametrize("name", ["case", "three"])
def test_a_file_comes_back_and_a_changed_byte_is_refused(name, request, tmp_path):
    graph, pairs, certificate = request.getfixturevalue(name)
    file = tmp_path / "proof.npz"
    certificate.save(file)
    assert Certificate.load(file).verify(graph, pairs)
    assert Certificate.load(file).bound == certificate.bound
    content = bytearray(file.read_bytes())
    accepted = 0
    for place in np.linspace(0, len(content) - 1, 60).astype(int).tolist():
        content[place] ^= 0x55
        file.write_bytes(content)
        content[place] ^= 0x55
        try:
            read = Certificate.load(file)
        except ValueError:
            continue
        if read.verify(graph, pairs):  # a date in the archive, say
            accepted += 1
            assert (read.bound, read.cut) == (certificate.bound, certificate.cut)
    assert accepted < 20


def test_files_that_are_no_certificates(tmp_path):
    for content in (b"", b"PK\x03\x04", b"\x93NUMPY" + bytes(100), b"{}"):
        (tmp_path / "no.npz").write_bytes(content)
        with pytest.raises(ValueError, match="is not a certificate that tightcut has written"):
            Certificate.load(tmp_path / "no.npz")
    for document in ({}, {"certificate": 99}, {"certificate": 1, "n_proofs": 10**9}):
        text = np.frombuffer(json.dumps(document).encode(), np.uint8)
        np.savez(tmp_path / "no.npz", document=text, labels=np.zeros(2))
        with pytest.raises(ValueError, match="is not a certificate that tightcut has written"):
            Certificate.load(tmp_path / "no.npz")
    np.savez(tmp_path / "no.npz", document=np.array([object()]), labels=np.zeros(2))
    with pytest.raises(ValueError, match="is not a certificate that tightcut has written"):
        Certificate.load(tmp_path / "no.npz")
    with pytest.raises(FileNotFoundError):
        Certificate.load(tmp_path / "absent.npz")


def test_the_verifier_needs_numpy_and_scipy_alone():
    source = Path(verifier.__file__)
    assert len(source.read_text(encoding="utf-8").splitlines()) < 120
    probe = f"import sys; sys.path.insert(0, {str(source.parent)!r}); import verify; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-I", "-c", probe], check=True, capture_output=True, text=True).stdout
    assert not {"tightcut", "numba", "sklearn", "joblib"} & set(modules.split())


def test_labels_that_violate_pairs_and_other_arguments():
    graph, pairs = blobs(), Constraints.from_pairs(40, [(0, 1)], [(2, 33)])
    labels = np.arange(40) % 2
    with pytest.raises(
        ValueError, match=r"violate 1 of the pairs, such as 0 must-link 1, with a belief of 1, and max_violations is 0"
    ):
        certify(graph, pairs, labels)
    with pytest.raises(ValueError, match="n_clusters is 3, and the labels have 2 clusters"):
        certify(graph, None, labels, 3)
    with pytest.raises(ValueError, match="seconds must be a number"):
        certify(graph, None, labels, seconds=-1)
    with pytest.raises(
        ValueError, match="40 units, and the proof of a bound factorises a dense matrix.*without a proof"
    ):
        certify(graph, None, labels, most_units=30)


def test_one_cluster_disconnected_graphs_and_no_time():
    graph = blobs()
    one = certify(graph, None, np.zeros(40, int))
    assert (one.cut, one.bound, one.gap) == (0.0, 0.0, 0.0)
    assert str(one) == "cut 0: one cluster has no border"
    one.check(graph)
    apart = Graph.from_affinity(np.kron(np.eye(2), np.ones((3, 3))))
    zero = certify(apart, None, [0, 0, 0, 1, 1, 1])
    assert (zero.bound, zero.gap) == (0.0, 0.0)
    zero.check(apart)
    assert certify(apart, None, [0, 0, 0, 1, 1, 2], random_state=0).verify(apart)
    quick = certify(graph, None, np.repeat([0, 1], 20), seconds=0)
    assert quick.form == "spectral"
    assert 0 < quick.bound < quick.cut
    quick.check(graph)


@pytest.mark.parametrize("k", [2, 3])
def test_one_clustering_is_left(k):
    """Where pairs say everything the bound is the cut: one signed unit, or as many units as clusters."""
    graph = blobs(n=9)
    labels = np.arange(9) % k
    pairs = Constraints.from_labels(labels)
    certificate = certify(graph, pairs, labels)
    assert certificate.gap < 1e-9
    certificate.check(graph, pairs)


@pytest.mark.parametrize("k", [2, 3])
def test_as_many_clusters_as_points(k):
    graph = Graph.from_affinity(np.ones((k, k)) - np.eye(k))
    certificate = certify(graph, None, np.arange(k))
    assert certificate.gap < 1e-9
    certificate.check(graph)


@pytest.mark.parametrize("exponent", [-60, -8, 8, 60])
def test_scaled_weights_scale_the_bound(exponent):
    graph = blobs(n=12)
    pairs = Constraints.from_pairs(12, [], [(0, 11)])
    labels = cluster(graph, pairs, random_state=0).labels
    scaled = Graph(graph.weights * 10.0**exponent, np.full(12, 10.0 ** (-exponent / 2)))
    certificate = certify(scaled, pairs, labels, random_state=0)
    certificate.check(scaled, pairs)
    assert certificate.bound > 0.9 * certificate.cut


def test_weights_sixteen_orders_apart():
    rng = np.random.default_rng(0)
    weights = np.triu(10.0 ** rng.uniform(-16, 0, (8, 8)), 1)
    graph = Graph.from_affinity(weights + weights.T, 10.0 ** rng.uniform(-16, 0, 8))
    pairs = Constraints.from_pairs(8, [(0, 1)], [(2, 3)])
    for k in (2, 3):
        labels = cluster(graph, pairs, k, random_state=0).labels
        certificate = certify(graph, pairs, labels, random_state=0)
        certificate.check(graph, pairs)
        assert certificate.bound <= normalized_cut(graph, certificate.labels) * (1 + 1e-12)


def test_the_same_random_state_gives_the_same_bound(case):
    graph, pairs, certificate = case
    again = certify(graph, pairs, cluster(graph, pairs, random_state=0).labels, random_state=0, n_jobs=2, seconds=1e6)
    assert again.bound == certificate.bound


def test_a_better_clustering_is_found():
    graph, pairs = blobs(), Constraints.from_pairs(40, [], [(2, 33)])
    best = cluster(graph, pairs, random_state=0)
    worse = (best.labels + (np.arange(40) == 7)) % 2
    certificate = certify(graph, pairs, worse, random_state=0)
    assert certificate.improved
    assert certificate.cut == pytest.approx(best.cut)
    assert certificate.gap < 1e-3
    certificate.check(graph, pairs)


def test_an_interrupt_keeps_the_best_bound():
    graph, pairs = blobs(), Constraints.from_pairs(40, [(0, 1)], [(2, 33)])
    labels = cluster(graph, pairs, random_state=0).labels
    seen = []

    def interrupting(*report):
        seen.append(report)
        if len(seen) == 1:
            raise KeyboardInterrupt

    certificate = certify(graph, pairs, labels, random_state=0, gap=0, progress=interrupting)
    assert certificate.interrupted
    assert certificate.bound > 0
    certificate.check(graph, pairs)


def nothing_proven(**arrays):
    """The arrays of a proof of the Z form without content."""
    empty = {"assumed": np.zeros((0, 3), int), "triangles": np.zeros((0, 4), int), "multipliers": np.zeros(0)}
    return empty | {"y": np.zeros(1), "price": np.zeros(())} | arrays


def test_a_contradiction_for_two_clusters_is_none_for_three():
    """An odd cycle of cannot-links leaves no two clusters, so that the Z form has nothing to prove; three are left."""
    graph, odd = blobs(n=6), np.array([(0, 1, -1), (1, 2, -1), (0, 2, -1)])
    arrays = graph.weights, graph.vertex_weights, odd
    verifier.verify(*arrays, 2, 1.0, [nothing_proven()])
    with pytest.raises(ValueError, match="refused"):
        verifier.verify(*arrays, 3, 1.0, [nothing_proven()])


def test_what_is_no_graph_is_refused(case):
    graph, pairs, certificate = case
    n = graph.n_vertices
    for row, column, weight in ((0, 1, np.nan), (0, 1, -1.0), (0, 1, 1e200), (0, 2, 0.5)):
        weights = graph.weights.tolil()
        weights[row, column] = weight
        arrays = believed_pairs(pairs), 2, certificate.bound, certificate.proofs
        with pytest.raises(ValueError, match="refused"):
            verifier.verify(weights.tocsr(), graph.vertex_weights, *arrays)
    for vertex_weights in (np.zeros(n), -graph.vertex_weights, graph.vertex_weights * np.nan):
        with pytest.raises(ValueError, match="refused"):
            verifier.verify(graph.weights, vertex_weights, *arrays)


def test_numbers_near_the_end_of_the_range_are_refused():
    """There bound/V times a moment underflows, and the rounding is not what Lemma 1 says."""
    graph, pairs = blobs(n=8), Constraints.from_pairs(8, [], [(0, 7)])
    labels = cluster(graph, pairs, random_state=0).labels
    for edges, vertices in ((1e-130, 1.0), (1e-90, 1e90), (1e130, 1e130)):
        tiny = Graph(graph.weights * edges, graph.vertex_weights * vertices)
        certificate = certify(tiny, pairs, labels, random_state=0)
        certificate.check(tiny, pairs)
        assert certificate.bound <= certificate.cut


def test_integers_do_not_wrap_around(three):
    """Twice a very negative integer is positive in 64 bits, and would be added to the bound."""
    graph, pairs, certificate = three
    a = np.full(len(certificate.proofs[0]["a"]), -(2**62) - 1)
    assert not replace(forged(certificate, a=a), bound=1.0).verify(graph, pairs)
    with np.errstate(over="ignore"):
        small = certificate.proofs[0]["triangles"].astype(np.int8)
    narrow = forged(certificate, triangles=small)
    assert narrow.verify(graph, pairs)


def test_a_file_cannot_say_of_what_the_bound_is_or_ask_for_memory(case, tmp_path):
    graph, pairs, certificate = case
    with pytest.raises(ValueError, match="what it says of pairs is wrong"):
        replace(certificate, has_pairs=False).check(graph, pairs)
    deep = np.tile([(4, 5, 1)], (5000, 1))
    assert not forged(certificate, assumed=deep).verify(graph, pairs)
    certificate.save(tmp_path / "proof.npz")
    with np.load(tmp_path / "proof.npz") as file:
        arrays = dict(file)
    document = json.loads(bytes(arrays["document"])) | {"n_proofs": 10**12}
    np.savez(tmp_path / "proof.npz", **(arrays | {"document": np.frombuffer(json.dumps(document).encode(), np.uint8)}))
    assert not Certificate.load(tmp_path / "proof.npz").verify(graph, pairs)


def test_weights_in_single_precision_prove_nothing_false():
    """Their sums would round degrees up, and even a cut of 0 would seem to be larger."""
    rng = np.random.default_rng(0)
    while True:
        weights = np.triu(rng.random((12, 12)), 1).astype(np.float32)
        weights[:6, 6:] = 0
        single = sp.csr_array(weights + weights.T)
        excess = single.sum(axis=1) - single.astype(float).sum(axis=1)
        if min(excess[:6].sum(), excess[6:].sum()) > 0:
            break
    bound = min(excess[:6].sum(), excess[6:].sum()) / 24
    proof = nothing_proven(y=np.full(11, bound * 12 / 11 * (1 + 1e-9)))
    with pytest.raises(ValueError, match="refused"):
        verifier.verify(single, np.ones(12), np.array([(0, 6, -1)]), 2, bound, [proof])


@pytest.fixture(scope="module")
def doubtful():
    graph = blobs()
    beliefs = [0.5, 1.0, 0.25], [1.0, 0.75, 0.5]
    pairs = Constraints.from_pairs(40, [(0, 1), (25, 30), (3, 35)], [(2, 33), (5, 6), (8, 39)], *beliefs)
    labels = cluster(graph, pairs, max_violations=1, random_state=0).labels
    return graph, pairs, certify(graph, pairs, labels, max_violations=1, random_state=0)


def test_a_bound_where_pairs_may_be_violated(doubtful, tmp_path):
    graph, pairs, certificate = doubtful
    assert (certificate.form, certificate.max_violations) == ("Z", 1.0)
    assert certificate.gap < 1e-3
    assert "no two clusters that violate at most 1 of belief have a cut below" in str(certificate)
    certificate.save(tmp_path / "soft.npz")
    Certificate.load(tmp_path / "soft.npz").check(graph, pairs)
    all_kept = certify(graph, pairs, cluster(graph, pairs, random_state=0).labels, random_state=0)
    assert certificate.bound < 0.99 * all_kept.bound


def test_a_limit_or_beliefs_that_are_others_are_refused(doubtful):
    graph, pairs, certificate = doubtful
    for limit in (0.0, 0.9, 1.1, np.nan, -1.0, np.inf):
        assert not replace(certificate, max_violations=limit).verify(graph, pairs)
    links = pairs.must_link, pairs.cannot_link
    others = Constraints.from_pairs(40, *links, pairs.must_link_belief, pairs.cannot_link_belief * 0.999)
    assert not certificate.verify(graph, others)
    arrays, limit = (graph.weights, graph.vertex_weights), allowance(1.0)
    rows = believed_pairs(pairs)
    verifier.verify(*arrays, rows, 2, certificate.bound, certificate.proofs, limit)
    weaker = rows * [1, 1, 0.5]
    for own, more in ((rows, 3.0), (weaker, limit), (rows[:3], limit), (rows * [1, 1, np.nan], limit), (rows, np.nan)):
        with pytest.raises(ValueError, match="refused"):
            verifier.verify(*arrays, own, 2, certificate.bound, certificate.proofs, more)
    for price in (-1.0, np.nan, np.inf, 2 * certificate.proofs[0]["price"] + 1):
        assert not forged(certificate, price=np.array(price)).verify(graph, pairs)


def test_more_clusters_count_only_pairs_that_cannot_be_violated():
    graph = blobs(n=20)
    pairs = Constraints.from_pairs(20, [(0, 15)], [(2, 3), (4, 5)], [0.3], [0.4, 1.0])
    labels = cluster(graph, pairs, 3, max_violations=0.5, random_state=0).labels
    settings = {"random_state": 0, "gap": 1e-4}
    certificate = certify(graph, pairs, labels, max_violations=0.5, **settings)
    certificate.check(graph, pairs)
    hard = Constraints.from_pairs(20, cannot_link=[(4, 5)])
    alone = certify(graph, hard, cluster(graph, hard, 3, random_state=0).labels, **settings)
    assert certificate.bound == pytest.approx(alone.bound, rel=1e-3)


def test_small_products_are_computed_in_one_thread(case):
    """Threads of BLAS that wait for each other took nine tenths of the time on a loaded machine."""
    graph, pairs, certificate = case
    seen = []

    def look(*_):
        seen.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")

    with threadpool_limits(2):
        certify(graph, pairs, certificate.labels, random_state=0, progress=look)
    assert set(seen) == {1}
