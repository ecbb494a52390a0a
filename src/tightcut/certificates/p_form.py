"""The P form: any number of clusters, as the matrix P = sum over clusters of 1 1'/vol.

For the units that must-links join, with weights d, D = Diag(d) and the Laplacian L, every clustering has cut = <L, P> and

    P d = 1,  <D, P> = k,  0 <= D P D <= D,  P_uv >= 0,  P_uv = 0 on cannot-links,  P_uu - P_uv - P_uw + P_vw >= 0.

P is held as 11'/V + XX' with d'X = 0, times V/k so that its diagonal is near 1. An augmented Lagrangian finds out which
inequalities matter, with rough multipliers; then L-BFGS-B raises the smoothed bound of Fan's theorem in the multipliers
alone, the least of <B, Y> + alpha/2 |Y|^2 over 0 <= Y <= I with trace k - 1, whose exact value is always a bound.
"""

from __future__ import annotations

import time
from contextlib import suppress

import numpy as np
from scipy.optimize import minimize

from tightcut import kernels
from tightcut.certificates.p_proof import PartitionMultipliers, low_spectrum, p_matrix, prove_p
from tightcut.certificates.relaxation import Candidate
from tightcut.certificates.triangles import (
    LEAST_VIOLATION,
    Pairs,
    new_rows,
    pair_keys,
    partition_sides,
    violated_partition_triangles,
)
from tightcut.certificates.units import Problem
from tightcut.certificates.verify import Proof

FURTHER_COLUMNS = 10  # of X, beyond k
PENALTY, LARGEST_PENALTY, GROWTH = 0.15, 0.6, 1.03  # of an inequality, as a share of the mean degree over V/k
SPECTRAL_PENALTY = 0.1  # of D P D <= D, as a share of the cut
FIRST_ROUNDS, ROUNDS, STEPS = 12, 4, 40
UNITS_PER_ROUND = 10  # fewer units begin with fewer rounds
EVALUATIONS = 40  # of the smoothed bound in one ascent
SMOOTHING, LEAST_SMOOTHING = 5e-3, 5e-4  # alpha, as a share of the cut
SMOOTHED_VALUES = 12  # eigenvalues beyond k - 1 that the smoothed bound sees
NEGATIVE_PER_UNIT, BLOCK = 4, 512
BRANCHED = 60  # heaviest units that a case may be about


class PForm:
    """See `tightcut.certificates.relaxation.Form`."""

    def __init__(
        self, problem: Problem, labels: np.ndarray, cut: float, rng: np.random.Generator, n_jobs: int | None
    ) -> None:
        self.problem, self.units, self._cut, self._rng, self._n_jobs = problem, problem.linked, cut, rng, n_jobs
        units, k = self.units, problem.n_clusters
        self._k, self._scale, self._constant = k, k / units.volume, 1 / k
        self._radius = np.sqrt(units.volume * (k - 1) / k)
        rank = min(k + FURTHER_COLUMNS, units.n_units)
        of_unit = np.zeros(units.n_units, np.int64)
        of_unit[units.unit] = labels
        volumes = np.bincount(of_unit, units.weights, k)
        X = 0.1 * rng.normal(size=(units.n_units, rank))
        X[np.arange(units.n_units), of_unit] += np.sqrt(1 / self._scale / volumes[of_unit])
        self._X = self._centred(X)[0]
        self._spectral = np.zeros((rank, rank))
        self._penalty, self._smoothing, self._started = PENALTY, SMOOTHING * cut, False
        self._light = np.minimum(units.weights / units.weights.mean(), 1.0)  # light units have small multipliers
        self._apart = pair_keys(units.n_units, *units.apart.T)
        none = np.zeros(0, np.int64)
        self._best = Candidate(-np.inf, PartitionMultipliers.none())
        self._set(np.zeros((0, 3), np.int64), np.zeros(0), none, np.zeros(0), np.zeros(len(self._apart)))

    def improve(self, target: float, deadline: float) -> None:
        """Rounds of the augmented Lagrangian, half of the time left at first, then an ascent."""
        half = (time.monotonic() + deadline) / 2
        first = min(FIRST_ROUNDS, 2 + self.units.n_units // UNITS_PER_ROUND)
        for _ in range(ROUNDS if self._started else first):
            self._separate()
            for _ in range(3):
                self._minimise(STEPS)
                self._X = self._X + 1e-3 * self._rng.normal(size=self._X.shape)
            self._penalty = min(GROWTH * self._penalty, LARGEST_PENALTY)
            if time.monotonic() > (deadline if self._started else half):
                break
        self._started = True
        before = self._best.estimate
        self._ascend(target, deadline)
        if self._best.estimate < before + 0.01 * self._cut:
            self._smoothing = max(self._smoothing / 1.5, LEAST_SMOOTHING * self._cut)

    def candidate(self, target: float) -> Candidate:  # noqa: ARG002 - the ascent keeps the best
        return self._best

    def prove(self, candidate: Candidate, cut: float) -> tuple[float, Proof]:  # noqa: ARG002 - no proof exceeds it
        return prove_p(self.problem, candidate.multipliers, self._rng)

    def undecided(self) -> tuple[int, int] | None:
        """Two heavy units with P between 0 and the value of units that are together."""
        units = self.units
        if units.n_units <= self._k:
            return None
        heavy = np.argsort(-units.weights, kind="stable")[:BRANCHED]
        P = self._constant + self._X[heavy] @ self._X[heavy].T
        own, weight = np.sqrt(P.diagonal()), np.sqrt(units.weights[heavy])
        share = np.clip(P / np.outer(own, own), 0, 1)
        u, v = np.triu_indices(len(heavy), 1)
        doubt = (share * (1 - share) * np.outer(weight, weight))[u, v]
        doubt[np.isin(pair_keys(units.n_units, heavy[u], heavy[v]), self._apart)] = -np.inf
        if doubt.max(initial=-np.inf) <= 0:
            return None
        u, v = heavy[u[np.argmax(doubt)]], heavy[v[np.argmax(doubt)]]
        return int(units.first[u]), int(units.first[v])

    def rounded(self, rng: np.random.Generator) -> list[np.ndarray]:
        """K-means of the rows of X."""
        from sklearn.cluster import KMeans

        seed = int(rng.integers(2**31))
        groups = KMeans(self._k, n_init=3, random_state=seed).fit(self._X, sample_weight=self.units.weights)
        return [groups.labels_[self.units.unit].astype(np.int64)]

    def _set(
        self, triangles: np.ndarray, mu: np.ndarray, keys: np.ndarray, nu: np.ndarray, of_apart: np.ndarray
    ) -> None:
        """Inequalities with their multipliers, all of them for V/k P; `keys` are those of pairs with P >= 0."""
        units, sides = self.units, partition_sides(self.units.n_units, triangles)
        graph_keys, cost = units.couplings
        self._triangles, self._mu, self._keys = triangles, mu, keys
        self._nu = np.concatenate([of_apart, nu])
        self._pairs = Pairs.of(units.n_units, graph_keys, self._apart, keys, sides.ravel())
        self._ends = self._pairs.ends
        self._cost = self._pairs.spread(graph_keys, self._scale * cost)
        self._corners = np.column_stack([triangles[:, 0], self._pairs.place(sides)]).astype(np.int32)
        self._places = self._pairs.place(np.concatenate([self._apart, keys]))
        self._free = np.arange(len(self._places)) < len(self._apart)
        self._light_triangles = self._light[triangles].min(axis=1, initial=1.0)
        self._light_pairs = np.minimum(*(self._light[end[self._places]] for end in self._ends))
        self._inner, self._slope = np.empty_like(self._cost), np.empty_like(self._cost)
        self._own, self._own_slope = np.empty(units.n_units), np.empty(units.n_units)

    def _centred(self, X: np.ndarray) -> tuple[np.ndarray, float]:
        """X with d'X = 0 and <D, XX'> = V (k - 1)/k, and what it was divided by."""
        d = self.units.weights
        X = X - (d @ X) / self.units.volume
        size = float(np.sqrt((d[:, None] * X * X).sum())) / self._radius
        return X / size, size

    def _steps(self) -> tuple[np.ndarray, np.ndarray]:
        penalty = self._penalty * self._scale * float(self.units.laplacian.diagonal().mean())
        return penalty * self._light_triangles, penalty * self._light_pairs

    def _lagrangian(self, X: np.ndarray, gradient: np.ndarray) -> float:
        triangle_step, pair_step = self._steps()
        own_cost = self._scale * self.units.laplacian.diagonal()
        return kernels.partition_lagrangian(
            X, self._constant, *self._ends, self._cost, own_cost, self._corners, self._mu, triangle_step,
            self._places, self._free, self._nu, pair_step,
            gradient, self._inner, self._own, self._slope, self._own_slope,
        )  # fmt: skip

    def _minimise(self, steps: int) -> None:
        """Over X, then update all multipliers."""
        d, shape = self.units.weights, self._X.shape
        gradient, penalty = np.empty(shape), SPECTRAL_PENALTY * self._cut
        root = np.sqrt(d / d.mean())[:, None]

        def lagrangian(X: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            value = self._lagrangian(X, gradient)
            excess = self._scale * (X.T @ (d[:, None] * X)) - np.eye(shape[1])
            w, v = np.linalg.eigh(self._spectral + penalty * excess)
            w = np.maximum(w, 0)
            spectral = (v * w) @ v.T
            value += ((w**2).sum() - (self._spectral**2).sum()) / (2 * penalty)
            return value, gradient + 2 * self._scale * d[:, None] * (X @ spectral), spectral

        def value_and_slope(flat: np.ndarray) -> tuple[float, np.ndarray]:
            X, size = self._centred(flat.reshape(shape) / root)
            value, slope, _ = lagrangian(X)
            slope = (slope - d[:, None] * X * ((slope * X).sum() / self._radius**2)) / size
            slope -= np.outer(d, slope.sum(0)) / self.units.volume
            return value, (slope / root).ravel()

        options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 8, "gtol": 1e-9, "ftol": 0}
        found = minimize(value_and_slope, (self._X * root).ravel(), jac=True, method="L-BFGS-B", options=options)
        self._X = self._centred(found.x.reshape(shape) / root)[0]
        self._spectral = lagrangian(self._X)[2]
        triangle_step, pair_step = self._steps()
        self._mu = np.maximum(self._mu - triangle_step * self._triangle_values(), 0)
        self._nu = self._nu - pair_step * self._inner[self._places]
        self._nu = np.where(self._free, self._nu, np.maximum(self._nu, 0))

    def _triangle_values(self) -> np.ndarray:
        u, a, b, c = self._corners.T
        return self._own[u] - self._inner[a] - self._inner[b] + self._inner[c]

    def _separate(self) -> None:
        """Drop inequalities without a multiplier, and add violated ones."""
        n_apart, n = len(self._apart), self.units.n_units
        active, kept = self._mu > 0, self._nu[n_apart:] > 0
        triangles, mu = self._triangles[active], self._mu[active]
        keys, nu = self._keys[kept], self._nu[n_apart:][kept]
        self._set(triangles, mu, keys, nu, self._nu[:n_apart])
        own = self._constant + (self._X**2).sum(1)
        found = violated_partition_triangles(self._X, self._constant, own, self._pairs, self._n_jobs)
        found = new_rows(found, triangles, n)
        negative = self._negative_pairs()
        negative = negative[~np.isin(negative, keys) & ~np.isin(negative, self._apart)]
        more, zeros = np.concatenate([keys, negative]), np.zeros(len(negative))
        self._set(
            np.vstack([triangles, found]), np.concatenate([mu, np.zeros(len(found))]),
            more, np.concatenate([nu, zeros]), self._nu[:n_apart],
        )  # fmt: skip

    def _negative_pairs(self) -> np.ndarray:
        """Keys of the most negative entries of P in each row, a few rows at a time."""
        X, n = self._X, self.units.n_units
        count = min(NEGATIVE_PER_UNIT, n - 1)
        found = []
        for first in range(0, n, BLOCK):
            P = X[first : first + BLOCK] @ X.T + self._constant
            columns = np.argpartition(P, count, axis=1)[:, :count]
            row, place = np.nonzero(np.take_along_axis(P, columns, 1) < -LEAST_VIOLATION)
            found.append(pair_keys(n, row + first, columns[row, place]))
        return np.unique(np.concatenate(found))

    def _multipliers(self) -> PartitionMultipliers:
        """For P itself."""
        keys, scale = np.concatenate([self._apart, self._keys]), 1 / self._scale
        pairs = np.column_stack(np.divmod(keys, self.units.n_units))
        return PartitionMultipliers(self._triangles, self._mu * scale, pairs, self._nu * scale)

    def _ascend(self, target: float, deadline: float) -> None:
        """Raise the smoothed bound; keeps the multipliers with the best exact one."""
        units, k, X = self.units, self._k, self._X
        light, n_triangles = np.concatenate([self._light_triangles, self._light_pairs]), len(self._mu)
        start = np.concatenate([self._mu, self._nu]) / light
        state = {"start": self._rng.normal(size=units.n_units), "best": start}

        def value_and_slope(flat: np.ndarray) -> tuple[float, np.ndarray]:
            self._mu, self._nu = np.split(flat * light, [n_triangles])
            multipliers = self._multipliers()
            matrix = p_matrix(units, multipliers)
            fan, values, vectors = low_spectrum(units, matrix, k - 1 + SMOOTHED_VALUES, 1e-4, state["start"])
            if len(values) >= k - 1:
                exact = fan + float(values[: k - 1].sum())
                if exact > self._best.estimate:
                    self._best, state["best"] = Candidate(exact, multipliers), flat.copy()
            if len(values) < k - 1 or self._best.estimate >= target or time.monotonic() > deadline:
                raise _Enough
            state["start"] = (vectors * np.sqrt(units.weights)[:, None]).sum(1)
            share = _capped_shares(values, self._smoothing, k - 1)
            smooth = fan + share @ values + self._smoothing / 2 * (share @ share)
            seen = share > 0
            self._measure(np.sqrt(1 / self._scale) * vectors[:, seen] * np.sqrt(share[seen]))
            slope = np.concatenate([self._triangle_values(), self._inner[self._places]]) * light
            return -smooth, slope

        signed = np.concatenate([np.ones(n_triangles, bool), ~self._free])
        bounds = np.column_stack([np.where(signed, 0, -np.inf), np.full(len(start), np.inf)])
        options = {"maxiter": EVALUATIONS, "maxfun": EVALUATIONS, "maxcor": 15, "ftol": 0, "gtol": 1e-12}
        with suppress(_Enough):
            if len(start) == 0:  # the spectral bound, with nothing to raise
                value_and_slope(start)
                return
            found = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
            state["best"] = found.x
        self._mu, self._nu = np.split(state["best"] * light, [n_triangles])
        self._X = X

    def _measure(self, X: np.ndarray) -> None:
        """The entries of P = constant + XX' that inequalities speak of."""
        head, tail = self._ends
        self._own = self._constant + (X**2).sum(1)
        self._inner = self._constant + np.einsum("pq,pq->p", X[head], X[tail])


class _Enough(Exception):  # noqa: N818 - the ascent has reached its target or the end of its time
    pass


def _capped_shares(values: np.ndarray, smoothing: float, total: int) -> np.ndarray:
    """The shares min(max((t - w)/alpha, 0), 1) of eigenvalues w, for the t at which they add up to `total`."""
    low, high = values[0], values[-1] + smoothing
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip((middle - values) / smoothing, 0, 1).sum() > total:
            high = middle
        else:
            low = middle
    return np.clip((low - values) / smoothing, 0, 1)
