"""What the two forms have in common: rounds that improve multipliers, of which a proof is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tightcut.certificates.verify import Proof


@dataclass(frozen=True)
class Candidate:
    """Multipliers, and the bound that they seem to give, which eigenvalues estimate and nothing proves."""

    estimate: float
    multipliers: Any


class Form(Protocol):
    """A semidefinite relaxation of the clusterings of a problem; cuts are those of the scaled graph."""

    def improve(self, target: float, deadline: float) -> None:
        """One round: find violated inequalities, and multipliers for those known, that may prove the target."""

    def candidate(self, target: float) -> Candidate:
        """The best multipliers at present."""

    def prove(self, candidate: Candidate, cut: float) -> tuple[float, Proof]:
        """A bound up to the cut that the verifier accepts, with its proof: 0 if there is none."""

    def undecided(self) -> tuple[int, int] | None:
        """Two vertices of which the solution does not say whether they are together; None if there are no two units."""

    def rounded(self, rng: np.random.Generator) -> list[np.ndarray]:
        """Clusterings of the vertices near the solution of the relaxation, to search from; pairs may be violated."""
