"""Spectral Learning: pairs edit the affinities, then spectral clustering as usual."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.rivals._base import GraphClusterer, kmeans_labels, largest_eigenvectors, pair_matrix


class SpectralLearning(GraphClusterer):
    r"""Spectral Learning (Kamvar, Klein and Manning 2003).

    Parameters
    ----------
    n_clusters, affinity, n_neighbors, random_state
        As in `tightcut.COSC`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_clusters)
        The eigenvectors, before their rows are scaled to length 1.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Decreasing; the first is 1.

    Notes
    -----
    A must-link sets :math:`A_{ij} = 1`, a cannot-link :math:`A_{ij} = 0`. With the additive normalisation

    .. math:: N = (A + d_{\max} I - D) / d_{\max},

    the rows of the eigenvectors of the `n_clusters` largest eigenvalues are scaled to length 1 and clustered by
    k-means. N is doubly stochastic and has the eigenvectors of the unnormalised Laplacian D - A.

    The paper's affinities lie in [0, 1]; where larger ones are given, a must-link takes the largest.

    *Beliefs* are ignored. *Cost*: one sparse eigenproblem, which needs more iterations the larger
    :math:`d_{\max}` is against the typical degree. *Limits*: a pair changes one entry of A, so few pairs change
    little; nothing keeps a cannot-link apart if the points are connected through others. With many pairs the result may get
    worse: must-links of weight 1 stand out among the other affinities, and the smoothest eigenvectors of the unnormalised
    Laplacian are then those of small sets that few edges tie to the rest. The symmetric normalisation
    :math:`D^{-1/2} A D^{-1/2}` suffers less from that, but it is not the one that the publication prescribes.

    References
    ----------
    S. D. Kamvar, D. Klein and C. D. Manning, "Spectral Learning", IJCAI 2003.
    """

    def _partition(self, data: Graph, constraints: Constraints, rng: np.random.Generator) -> np.ndarray:
        matrix = additive_normalization(constrained_affinity(data.weights, constraints))
        self.eigenvalues_, self.embedding_ = largest_eigenvectors(matrix, self.n_clusters, rng)
        return kmeans_labels(normalize(self.embedding_), self.n_clusters, rng)


def constrained_affinity(weights: sp.csr_array, constraints: Constraints) -> sp.csr_array:
    """The affinities with must-links at their maximum and cannot-links at 0; a pair of both kinds ends at 0."""
    n = constraints.n_points
    largest = max(1.0, weights.data.max(initial=0.0))
    raised = sp.csr_array(weights.maximum(pair_matrix(n, constraints.must_link, largest)))
    forbidden = pair_matrix(n, constraints.cannot_link, 1.0)
    return sp.csr_array(raised - raised.multiply(forbidden))


def additive_normalization(weights: sp.csr_array) -> sp.csr_array:
    """(A + d_max I - D) / d_max; the identity where there is no edge at all."""
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    largest = degrees.max()
    if largest == 0:
        return sp.csr_array(sp.eye_array(len(degrees)))
    return sp.csr_array((weights + sp.diags_array(largest - degrees)) / largest)
