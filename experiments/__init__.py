"""Methods x datasets x numbers of pairs x trials, in one tidy table.

`run` fits every method on the same graphs and the same pairs, one *cell* at a time. Each finished cell is appended to
a file, so that an interrupted run goes on where it stopped; a cell that fails or takes too long is recorded as such.
`reproduce` runs the studies of the project (`STUDIES`) and writes tables, figures and a page; `compare` says who wins.
The methods that COSC is compared with are here too: `SpectralLearning`, `CSP`, `CCSR`, `SCLC`, `FastGE`, `PCKMeans`.
Tables are pandas data frames: ``pip install "tightcut[frames]"``.

Examples
--------
A method is any estimator with ``fit(X, must_link=..., cannot_link=...)`` and ``labels_``; its parameters `n_clusters`
and `random_state` are set for it where it has them, and a method with a parameter `affinity` is given the graph as a
precomputed one. A dataset is a name of `tightcut.datasets`, or a pair (X, y):

>>> import numpy as np
>>> from sklearn.base import BaseEstimator, ClusterMixin
>>> from tightcut import experiments
>>> class Halves(ClusterMixin, BaseEstimator):
...     def fit(self, X, y=None, *, must_link=None, cannot_link=None):
...         self.labels_ = (X[:, 0] > np.median(X[:, 0])).astype(int)
...         return self
>>> X, y = np.array([[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]]), [0, 0, 0, 1, 1, 1]
>>> table = experiments.run({"Halves": Halves()}, {"line": (X, y)}, n_pairs=[4], trials=2, n_neighbors=2)
>>> table[["dataset", "method", "n_pairs", "trial", "error", "violated", "status"]]
  dataset  method  n_pairs  trial  error  violated status
0    line  Halves        4      0    0.0       0.0     ok
1    line  Halves        4      1    0.0       0.0     ok
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tightcut.experiments._methods import Method, default_methods
from tightcut.experiments._pages import write_index
from tightcut.experiments._record import read_table
from tightcut.experiments._reproduce import reproduce
from tightcut.experiments._run import run
from tightcut.experiments._studies import STUDIES
from tightcut.experiments._summary import compare, unfinished

if TYPE_CHECKING:
    from tightcut.experiments.rivals import CCSR, CSP, SCLC, FastGE, PCKMeans, SpectralLearning

__all__ = [
    "CCSR",
    "CSP",
    "SCLC",
    "STUDIES",
    "FastGE",
    "Method",
    "PCKMeans",
    "SpectralLearning",
    "compare",
    "default_methods",
    "read_table",
    "reproduce",
    "run",
    "unfinished",
    "write_index",
]


def __getattr__(name: str) -> Any:
    """The rivals, imported on first use: they need scikit-learn's estimators, which take a second to load."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(__all__)}.")
    return getattr(import_module("tightcut.experiments.rivals"), name)
