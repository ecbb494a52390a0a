"""Heavy-edge matching on a device, in rounds of handshakes.

Every free vertex selects its best free neighbour, and two vertices that select each other are matched.
An edge is rated by |weight| / (mass of one end * mass of the other), the same from both ends, so the best edge left is
always matched. Ratings with the same power of two count as equal and are told apart by a number mixed from the seed and
the edge. So matchings with different seeds differ much, as random starts need, and a matching depends on the seed alone,
not on the device or the order in which threads run.
"""

from __future__ import annotations

import torch

from tightcut.gpu.rows import tiles
from tightcut.gpu.sparse import DeviceCsr

ROUNDS = 12
NOISE_BITS = 52  # all but the exponent of a rating. With 20, starts are alike, and cuts of MNIST are 0.15 % larger


def heavy_edge_matching(
    matrix: DeviceCsr,
    mass: torch.Tensor,
    heaviest: float,
    seed: int,
    apart: torch.Tensor | None = None,
    labels: torch.Tensor | None = None,
) -> torch.Tensor:
    """For each vertex the entry of the matrix that leads to its partner, or -1. Every round reads the arcs once.

    Parameters
    ----------
    matrix : DeviceCsr
        Symmetric; the sign of a weight does not matter.
    mass : Tensor of float64, shape (n,)
    heaviest : float
        No pair weighs more than this.
    apart : Tensor of int64, optional
        Keys row * n + column (both ways) of pairs that are never matched.
    labels : Tensor, optional
        Only vertices of the same label are matched.
    """
    from tightcut.gpu import row_kernels as kernels

    here, there = matrix.sources, matrix.indices
    allowed = (mass[here] + mass[there] <= heaviest) & (matrix.data != 0) & (here != there)
    if apart is not None and len(apart):
        allowed &= ~_contained(matrix.keys, apart)
    if labels is not None:
        allowed &= labels[here] == labels[there]
    rank = _ranked(matrix.data.abs() / (mass[here] * mass[there]), _noise(here, there, seed))
    rank *= allowed
    chosen = torch.full((matrix.n,), -1, dtype=torch.int64, device=rank.device)
    everyone = torch.arange(matrix.n, device=rank.device)
    wish = torch.empty_like(chosen)
    grid, shape = tiles(matrix.n, rank.device)
    for _ in range(ROUNDS if len(rank) else 0):
        free = (chosen < 0).to(torch.int8)
        kernels.favourite[grid](matrix.indptr, matrix.indices, rank, free, wish, matrix.n, **shape)
        wished = _targets(matrix, wish)
        mutual = (wished[wished] == everyone) & (wish >= 0)
        if not mutual.any():
            break
        chosen = torch.where(mutual, wish, chosen)
    return chosen


def pairs_as_units(matrix: DeviceCsr, chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Number the pairs and the single vertices 0, ..., m - 1 by their first vertex; returns (unit, sign).

    The sign is -1 at the first vertex of a pair that is tied by a negative weight.
    """
    everyone = torch.arange(matrix.n, device=chosen.device)
    partner = _targets(matrix, chosen)
    first = torch.minimum(everyone, partner)
    number = (first == everyone).cumsum(0) - 1
    leads = everyone < partner
    sign = torch.ones(matrix.n, dtype=torch.int8, device=chosen.device)
    sign[leads] = matrix.data[chosen[leads]].sign().to(torch.int8)
    return number[first], sign


def _targets(matrix: DeviceCsr, arcs: torch.Tensor) -> torch.Tensor:
    """Where the arc of each vertex leads; a vertex without one (-1) stays where it is."""
    everyone = torch.arange(matrix.n, device=arcs.device)
    if len(matrix.indices) == 0:
        return everyone
    return torch.where(arcs >= 0, matrix.indices[arcs.clamp(min=0)].long(), everyone)


def _contained(keys: torch.Tensor, some: torch.Tensor) -> torch.Tensor:
    """Which of the ascending keys are among some others."""
    found = torch.zeros(len(keys), dtype=torch.bool, device=keys.device)
    place = torch.searchsorted(keys, some)
    inside = place < len(keys)
    place, some = place[inside], some[inside]
    found[place[keys[place] == some]] = True
    return found


def _ranked(rating: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """Positive whole numbers in the order of the ratings: the bits of a positive float are ordered like the float."""
    mask = (1 << NOISE_BITS) - 1
    return (rating.view(torch.int64) & ~mask) | (noise & mask)


def _noise(here: torch.Tensor, there: torch.Tensor, seed: int) -> torch.Tensor:
    """A number per edge, the same from both ends: two rounds of multiplication and shifting."""
    there = there.long()
    mixed = seed ^ (torch.minimum(here, there) * -7046029254386353131 + torch.maximum(here, there))
    for factor in (-4658895280553007687, -7723592293110705685):
        mixed = (mixed ^ (mixed >> 31)) * factor
    return mixed >> 24
