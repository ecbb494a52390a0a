"""What a row is stamped with."""

import subprocess

import numpy as np
import scipy.sparse as sp

from experiments import stamp


def test_a_checksum_changes_with_any_edge_and_its_weight():
    path = sp.csr_array(np.diag([1.0, 1.0], 1))
    other_types = sp.csr_array((path.data, path.indices.astype(np.int64), path.indptr.astype(np.int64)), shape=(3, 3))
    assert stamp.checksum(path) == stamp.checksum(other_types)
    ordered = sp.csr_array(([1.0, 2.0], [0, 1], [0, 2]), shape=(1, 2))
    unordered = sp.csr_array(([2.0, 1.0], [1, 0], [0, 2]), shape=(1, 2))
    assert stamp.checksum(ordered) == stamp.checksum(unordered)
    others = [2 * path, path.T.tocsr(), sp.csr_array(np.diag([1.0, 1.0, 0.0], 1)), sp.csr_array(np.diag([1.0, 0.0], 1))]
    assert len({stamp.checksum(graph) for graph in (path, *others)}) == 5


def test_the_commit_says_whether_the_source_was_changed(monkeypatch):
    answers = {"status": "", "rev-parse": "0123456789ab"}
    monkeypatch.setattr(stamp, "_git", lambda command, *_: answers[command])
    assert stamp.commit() == "0123456789ab"
    answers["status"] = " M src/tightcut/search/evolve.py"
    assert stamp.commit() == "0123456789ab+"


def test_a_package_from_elsewhere_or_no_repository_has_no_commit(monkeypatch, tmp_path):
    def fails(*_):
        raise subprocess.CalledProcessError(128, "git")

    with monkeypatch.context() as patch:
        patch.setattr(stamp, "_git", fails)
        assert stamp.commit() == "unknown"
    monkeypatch.setattr(stamp.tightcut, "__file__", str(tmp_path / "lib" / "tightcut" / "__init__.py"))
    assert stamp.commit() == "unknown"
