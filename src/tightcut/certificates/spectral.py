"""The spectral bound: the sum of the lowest k eigenvalues of D^-1/2 L D^-1/2 (Fan). Cannot-links do not enter."""

from __future__ import annotations

import numpy as np

from tightcut.certificates.p_proof import PartitionMultipliers, low_spectrum, p_matrix, prove_p
from tightcut.certificates.units import Problem
from tightcut.certificates.verify import Proof


def spectral_bound(problem: Problem, rng: np.random.Generator) -> tuple[float, Proof]:
    """The bound with its proof: the P form without multipliers."""
    return prove_p(problem, PartitionMultipliers.none(), rng)


def spectral_estimate(problem: Problem, rng: np.random.Generator) -> float:
    """The same from Lanczos alone, in the memory of the graph: an estimate, proven by nothing."""
    units = problem.linked
    start, k = rng.normal(size=units.n_units), problem.n_clusters
    fan, values, _ = low_spectrum(units, p_matrix(units, PartitionMultipliers.none()), k - 1, 1e-5, start)
    return max(fan + float(values.sum()), 0.0)
