"""Warnings point at the line that called the library."""

import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tightcut import COSC, knn_affinity
from tightcut.neighbors import KnnSettings, knn_graph

APART = np.repeat([[0.0], [100.0]], 12, axis=0) + np.arange(24)[:, None] / 100
SIMILARITIES = np.kron(np.eye(2), np.ones((4, 4)))
QUICK = {"effort": 0, "random_state": 0}


@pytest.mark.parametrize(
    "call",
    [
        lambda: knn_affinity(APART, 3),
        lambda: knn_graph(APART, KnnSettings(3)),
        lambda: COSC(n_neighbors=3, **QUICK).fit(APART),
        lambda: COSC(n_neighbors=3, **QUICK).fit_predict(APART),
        lambda: make_pipeline(StandardScaler(), COSC(n_neighbors=3, **QUICK)).fit(APART),
        lambda: COSC(affinity="precomputed", **QUICK).fit_predict(SIMILARITIES),
    ],
)
def test_the_line_is_the_callers(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    (warning,) = [entry for entry in caught if "connected components" in str(entry.message)]
    assert Path(warning.filename) == Path(__file__)
    assert warning.lineno == inspect.getsourcelines(call)[1]
