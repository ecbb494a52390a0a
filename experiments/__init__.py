"""Methods x datasets x numbers of pairs x trials, in one tidy table; see README.md.

A method is any estimator with ``fit(X, must_link=..., cannot_link=...)`` and ``labels_``. A dataset is a name of
`tightcut.datasets`, or (X, y), or (X, y, affinity), or a function that returns one of these.

Examples
--------
>>> import numpy as np
>>> from experiments.run import run
>>> from tightcut.rivals import PCKMeans
>>> X, y = np.array([[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]]), [0, 0, 0, 1, 1, 1]
>>> table = run({"PCKMeans": PCKMeans()}, {"line": (X, y)}, n_pairs=[4], trials=2, n_neighbors=2)
>>> table[["dataset", "method", "n_pairs", "trial", "error", "violated", "status"]]
  dataset    method  n_pairs  trial  error  violated status
0    line  PCKMeans        4      0    0.0       0.0     ok
1    line  PCKMeans        4      1    0.0       0.0     ok
"""
