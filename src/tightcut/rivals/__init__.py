"""The methods of the paper's comparison, and two that came later, each from its publication.

| class | publication | clusters | beliefs | reaches |
|---|---|---|---|---|
| `SpectralLearning` | Kamvar, Klein and Manning 2003 | k | ignored | sparse eigenproblem: 10^5 points |
| `CSP` | Wang and Davidson 2010; Wang, Qian and Davidson 2014 | k | used | dense eigenproblem: 3,000 points |
| `CCSR` | Li, Liu and Tang 2009 | k | ignored | sparse eigenproblem and a small SDP: 10^5 points |
| `SCLC` | Xu, Li and Schuurmans 2009 | 2 | ignored | sparse eigenproblem: 10^5 points |
| `FastGE` | Cucuringu, Koutis, Chawla, Miller and Peng 2016 | k | used | linear systems in a Laplacian: 10^5 points |
| `PCKMeans` | Basu, Banerjee and Mooney 2004 | k | used | like k-means |

All are scikit-learn estimators with ``fit(X, must_link=..., cannot_link=...)`` and `labels_`, as `tightcut.COSC`; those
that cut graphs share its `affinity` and `n_neighbors`. None of them promises to satisfy the constraints.

Examples
--------
>>> import numpy as np
>>> from tightcut.rivals import SCLC
>>> line, pairs = np.array([[0.0], [1.0], [2.2], [3.4], [5.0], [6.0]]), {"must_link": [(0, 1)], "cannot_link": [(1, 3)]}
>>> labels = SCLC(n_neighbors=2, random_state=0).fit_predict(line, **pairs)
>>> bool(labels[0] == labels[1]), bool(labels[1] != labels[3])
(True, True)
"""

from tightcut.rivals.ccsr import CCSR
from tightcut.rivals.csp import CSP
from tightcut.rivals.fast_ge import FastGE
from tightcut.rivals.pckmeans import PCKMeans
from tightcut.rivals.sclc import SCLC
from tightcut.rivals.spectral_learning import SpectralLearning

__all__ = ["CCSR", "CSP", "SCLC", "FastGE", "PCKMeans", "SpectralLearning"]
