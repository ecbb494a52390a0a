"""`Certificate`: a clustering, the bound below which no clustering's cut is, and the proof of the bound."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.certificates.units import believed_pairs
from tightcut.certificates.verify import INTEGERS, Proof, verify
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import normalized_cut
from tightcut.utils.atomic import replace_file
from tightcut.utils.rounding import BELIEF_ROUNDING

VERSION = 1
DIGITS = 4  # of a bound in a sentence
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
REFUSED = (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError, MemoryError)


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """How good a clustering is: its cut, and a proven bound below which no cut is.

    Made by `certify`.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        The clustering: the one that was given, or a better one.
    cut : float
    bound : float
        No `n_clusters` clusters of this graph that respect the pairs have a smaller cut; with `max_violations`, none that
        violate at most that much belief.
    n_clusters : int
    form : {"Z", "P", "spectral", "none"}
        What the bound is made of; "none" for the bound 0.
    proofs : list of dict of ndarray
        What `verify` checks, described in `tightcut.certificates.verify`. Several are of branches of the problem.
    fingerprint : str
        SHA-256 of graph, vertex weights and pairs.
    given_cut : float
        Cut of the clustering that was given.
    max_violations : float
        Units of belief that may be violated.
    interrupted : bool
        Whether the work ended with Ctrl-C, and not at its aim or after its time.
    history : ndarray of shape (m, 3)
        Seconds, bound and cut while the proof was made; bounds before the last row are estimates.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import Constraints, Graph
    >>> from tightcut.certificates import certify
    >>> ring = Graph.from_affinity(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    >>> pairs = Constraints.from_pairs(6, [(0, 1)], [(1, 2)])
    >>> certificate = certify(ring, pairs, [0, 0, 1, 1, 1, 0], random_state=0)
    >>> certificate.verify(ring, pairs), certificate.gap < 1e-3
    (True, True)
    """

    labels: np.ndarray
    cut: float
    bound: float
    n_clusters: int
    form: str
    fingerprint: str
    proofs: list[Proof] = field(default_factory=list)
    given_cut: float = math.nan
    has_pairs: bool = True
    max_violations: float = 0.0
    interrupted: bool = False
    history: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))

    @property
    def gap(self) -> float:
        """The share of the cut that lies above the bound: (cut - bound) / cut; 0 for a cut of 0."""
        return max(self.cut - self.bound, 0.0) / self.cut if self.cut > 0 else 0.0

    @property
    def improved(self) -> bool:
        """Whether the clustering is a better one than the one that was given."""
        return self.cut < self.given_cut

    def __str__(self) -> str:
        """One sentence that says what is proven.

        Digits of the bound are cut off, not rounded: what is printed is proven.
        """
        if self.n_clusters == 1:
            return "cut 0: one cluster has no border"
        count = WORDS[self.n_clusters] if self.n_clusters < len(WORDS) else f"{self.n_clusters:,}"
        who = f"violate at most {self.max_violations:g} of belief" if self.max_violations > 0 else "respect the pairs"
        which = f"no {count} clusters{f' that {who}' if self.has_pairs else ''} have a cut below"
        if self.bound == 0 and self.cut > 0:
            return f"cut {self.cut:.{DIGITS}g}; nothing is proven about smaller ones"
        small = ", the smallest to four digits" if self.gap < 1e-4 else ""
        return f"cut {self.cut:.{DIGITS}g}{small}; {which} {_cut_off(self.bound)} (gap {_rounded_up(100 * self.gap)} %)"

    def __repr__(self) -> str:
        return f"Certificate(cut={self.cut:.6g}, bound={self.bound:.6g}, gap={self.gap:.2g}, form={self.form!r})"

    def verify(self, graph: Graph, constraints: Constraints | None = None) -> bool:
        """Whether bound and cut hold for this graph and these pairs; `check` says why they do not."""
        try:
            self.check(graph, constraints)
        except ValueError:
            return False
        return True

    def check(self, graph: Graph, constraints: Constraints | None = None) -> None:
        """Raise ValueError unless the bound is proven for this graph and these pairs, and the clustering has the cut.

        Takes nothing from the certificate on trust. The proof is checked by `tightcut.certificates.verify`, which has none
        of the code that found it.
        """
        constraints = Constraints.from_pairs(graph.n_vertices) if constraints is None else constraints
        limit = allowance(self.max_violations)
        if fingerprint(graph, constraints, self.max_violations) != self.fingerprint:
            raise ValueError("The certificate is refused: it was made for another graph, other pairs or other weights.")
        if self.has_pairs == constraints.is_empty:
            raise ValueError("The certificate is refused: what it says of pairs is wrong.")
        labels = self.labels
        if labels.shape != (graph.n_vertices,) or not np.array_equal(np.unique(labels), np.arange(self.n_clusters)):
            raise ValueError(f"The certificate is refused: its labels are not those of {self.n_clusters} clusters.")
        violated = constraints.violations(labels)
        if violated.n_violations and violated.belief > limit:
            raise ValueError("The certificate is refused: its labels violate pairs.")
        if not math.isclose(normalized_cut(graph, labels), self.cut, rel_tol=1e-9):
            raise ValueError(f"The certificate is refused: the cut of its labels is not {self.cut}.")
        arrays = graph.weights, graph.vertex_weights, believed_pairs(constraints)
        try:
            verify(*arrays, self.n_clusters, self.bound, self.proofs, limit)
        except REFUSED as error:
            if str(error).startswith("The certificate is refused"):
                raise
            raise ValueError(f"The certificate is refused: it is damaged ({error}).") from error

    def save(self, path: Any) -> None:
        """Write a .npz file of plain arrays, which `load` and `numpy.load` read; no pickle."""
        facts = {name: getattr(self, name) for name in FACTS}
        document = json.dumps({"certificate": VERSION, "n_proofs": len(self.proofs)} | facts).encode()
        arrays: dict[str, Any] = {
            "document": np.frombuffer(document, np.uint8),
            "labels": self.labels,
            "history": self.history,
        }
        for number, proof in enumerate(self.proofs):
            arrays |= {f"{number}.{name}": _narrow(name, array) for name, array in proof.items()}
        with replace_file(Path(path), "wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: Any) -> Certificate:
        """The certificate in a file; ValueError if there is none. Nothing in it is trusted before `verify`."""
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return cls(**_read(arrays))
        except FileNotFoundError:
            raise
        except Exception as error:  # numpy's reader raises anything for damaged bytes, even TokenError
            raise ValueError(
                f"{path} is not a certificate that tightcut has written, or it is damaged; tightcut certify writes one."
            ) from error


FACTS: dict[str, Any] = {"cut": float, "bound": float, "n_clusters": int, "form": str, "fingerprint": str}
FACTS |= {"given_cut": float, "has_pairs": bool, "interrupted": bool, "max_violations": float}


def _read(arrays: Any) -> dict[str, Any]:
    """The arguments of a `Certificate` from the arrays of its file."""
    document = json.loads(bytes(arrays["document"]))
    if document["certificate"] != VERSION:
        raise ValueError(f"it is of version {document['certificate']}, and this tightcut reads {VERSION}")
    proofs: list[Proof] = [{} for _ in range(min(int(document["n_proofs"]), len(arrays.files)))]
    for name in arrays.files:
        number, dot, key = name.partition(".")
        if dot:
            proofs[int(number)][key] = _wide(key, arrays[name])
    facts = {name: kind(document[name]) for name, kind in FACTS.items()}
    history = arrays["history"].astype(np.float64).reshape(-1, 3)
    return facts | {"labels": arrays["labels"].astype(np.int64), "proofs": proofs, "history": history}


def allowance(max_violations: float) -> float:
    """Up to which beliefs of violated pairs may add up, rounding included, as in the search; 0 allows none."""
    return max_violations + BELIEF_ROUNDING if max_violations > 0 else 0.0


def fingerprint(graph: Graph, constraints: Constraints, max_violations: float = 0.0) -> str:
    """SHA-256 of everything that a bound speaks of; beliefs matter only where pairs may be violated."""
    w, digest = graph.weights, sha256()
    doubtful = [constraints.must_link_belief, constraints.cannot_link_belief, np.array([max_violations])]
    for array, kind in (
        *((own, "<f8") for own in doubtful if max_violations > 0),
        (w.indptr, "<i8"),
        (w.indices, "<i8"),
        (w.data, "<f8"),
        (graph.vertex_weights, "<f8"),
        (constraints.must_link, "<i8"),
        (constraints.cannot_link, "<i8"),
    ):
        digest.update(f"{kind}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
    return digest.hexdigest()


def _narrow(name: str, array: np.ndarray) -> np.ndarray:
    return array.astype(np.int32) if name in INTEGERS and array.max(initial=0) < 2**31 else array


def _wide(name: str, array: np.ndarray) -> np.ndarray:
    return array.astype(np.int64 if name in INTEGERS else np.float64)


def _cut_off(value: float) -> str:
    """The digits of a positive number, the rest cut off: what is shown is at most the number."""
    shown = f"{value:.{DIGITS}g}"
    if float(shown) > value:
        shown = f"{value - 0.5 * 10.0 ** (math.floor(math.log10(value)) - DIGITS + 1):.{DIGITS}g}"
    return shown


def _rounded_up(value: float) -> str:
    """Two digits of a number, at least the number."""
    if value == 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / unit - 1e-9) * unit:.2g}"
