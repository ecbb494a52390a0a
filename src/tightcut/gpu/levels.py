"""What problems on a device have in common: where their states and levels go."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from threading import RLock

import numpy as np
import torch

from tightcut.gpu.sparse import send
from tightcut.search.options import SearchOptions
from tightcut.search.problem import Contraction, Problem, Solution
from tightcut.search.starts import restarts

# One thread at a time uses the device: its work would only queue there, with more levels in memory at once.
DEVICE_LOCK = RLock()
LIMIT = 60_000  # units; smaller problems are searched on the CPU


class OnDevice(Problem):
    """The steps of `Problem` that are the same for two clusters and for more.

    States are arrays on the host. Levels stay on the device as long as they are large.
    """

    direct_limit = 0  # whatever is on a device is too large for generations in the graph itself

    @abstractmethod
    def on_host(self) -> Problem:
        """The same problem in the memory of the CPU."""

    @abstractmethod
    def at_full_price(self) -> OnDevice:
        """The same problem with no low price: refinement then keeps every constraint that holds."""

    def halve(self, heaviest: float, rng: np.random.Generator) -> Contraction:
        """Heavy-edge matching; where it ends, the CPU goes on."""
        return self.matched(heaviest, rng) or self.on_host().halve(heaviest, rng)

    @abstractmethod
    def matched(self, heaviest: float, rng: np.random.Generator, state: np.ndarray | None = None) -> Contraction | None:
        """Pairs merged, only where a given state allows it; None if too few can be."""

    def start(self, rng: np.random.Generator) -> Solution:
        return self.on_host().start(rng)

    def explore(self, found: list[Solution], rng: np.random.Generator) -> list[Solution]:  # noqa: ARG002
        return restarts(self, rng)

    def exchange(self, population: list[Solution], rng: np.random.Generator, options: SearchOptions) -> list[Solution]:  # noqa: ARG002
        """Whole clusters are exchanged in the small problems that solutions are joined in."""
        return population

    finish = exchange


@dataclass(frozen=True, eq=False)
class Ties:
    """Labels, or spins with signs, of vertices and of the units they were merged into; `unit` is on the device."""

    unit: torch.Tensor
    n_units: int
    sign: torch.Tensor | None = None

    def lift(self, state: np.ndarray) -> np.ndarray:
        with DEVICE_LOCK:
            lifted = send(state, self.unit.device)[self.unit]
            return (lifted if self.sign is None else lifted * self.sign).cpu().numpy()

    def project(self, state: np.ndarray) -> np.ndarray:
        """The inverse, for states that respect the ties."""
        with DEVICE_LOCK:
            there = send(state, self.unit.device)
            small = torch.zeros(self.n_units, dtype=there.dtype, device=there.device)
            small[self.unit] = there if self.sign is None else there * self.sign
            return small.cpu().numpy()
