"""Methods that do what methods sometimes do."""

# ruff: noqa: ARG002 (methods take what they are given)

import os
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin


class Odd(ClusterMixin, BaseEstimator):
    def fit(self, X, y=None, *, must_link=None, cannot_link=None):
        self.do(X, must_link, cannot_link)
        X = np.asarray(X)
        self.labels_ = (X[:, 0] > np.median(X[:, 0])).astype(int)
        return self


class Median(Odd):
    def do(self, X, must_link, cannot_link):
        print("methods may print")
        sys.stdout.flush()


class Raises(Odd):
    def do(self, X, must_link, cannot_link):
        raise ValueError("no luck,\n  not even a little")


class Crashes(Odd):
    def do(self, X, must_link, cannot_link):
        os._exit(7)


class Sleeps(Odd):
    """Leaves a file per fit, with the number of its process, before it goes to sleep."""

    def __init__(self, seconds=60.0, folder=None, random_state=None):
        self.seconds = seconds
        self.folder = folder
        self.random_state = random_state

    def do(self, X, must_link, cannot_link):
        if self.folder is not None:
            Path(self.folder, f"{len(must_link) + len(cannot_link)}-{self.random_state}").write_text(str(os.getpid()))
        time.sleep(self.seconds)


class Hoards(Odd):
    def __init__(self, gigabytes=1.0):
        self.gigabytes = gigabytes

    def do(self, X, must_link, cannot_link):
        np.ones(int(self.gigabytes * 2**27)).sum()


class Remembers(Odd):
    """Saves what it was given."""

    def __init__(self, folder=None, name=None, random_state=None, n_clusters=None):
        self.folder = folder
        self.name = name
        self.random_state = random_state
        self.n_clusters = n_clusters

    def do(self, X, must_link, cannot_link):
        path = Path(self.folder, f"{self.name}-{len(must_link) + len(cannot_link)}-{self.random_state}.npz")
        np.savez(path, must=must_link, cannot=cannot_link, n_clusters=self.n_clusters, X=np.asarray(X))


class RemembersGraph(Remembers):
    def __init__(self, affinity="knn", folder=None, name=None, random_state=None, n_clusters=None):
        super().__init__(folder, name, random_state, n_clusters)
        self.affinity = affinity

    def do(self, X, must_link, cannot_link):
        assert self.affinity == "precomputed"
        super().do(X.toarray(), must_link, cannot_link)

    def fit(self, X, y=None, *, must_link=None, cannot_link=None):
        self.do(X, must_link, cannot_link)
        self.labels_ = np.arange(X.shape[0]) % 2
        return self
