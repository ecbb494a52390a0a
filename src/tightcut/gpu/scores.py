"""Nearest candidates by the score |y|^2 / 2 - <x, y>, with a bound on its rounding error (see `tightcut.gpu.neighbors`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

GROUP = 64  # columns of which only the smallest score is ranked

# Relative errors (of a product of two rounded operands, of one addition): TF32 keeps 11 bits of an operand, and a
# tensor core may cut off a sum instead of rounding it.
ROUNDING = {
    torch.bfloat16: (0.0, 2.0**-22),  # see `ByteScores`
    torch.float32: (2.0**-10, 2.0**-22),
    torch.float64: (2.0**-52, 2.0**-51),
}


class Scores:
    """Scores of queries against all points, in one precision.

    Parameters
    ----------
    points : Tensor of shape (multiple of GROUP, n_features)
        Entries at most 1 in size.
    n : int
        How many rows are points; the rest is padding and never found.
    """

    def __init__(self, points: torch.Tensor, n: int) -> None:
        self._columns = points.T
        self._half_norms = points.square().sum(dim=1, dtype=torch.float64).div_(2).to(points.dtype)
        self._half_norms[n:] = torch.inf

    @property
    def bytes_per_row(self) -> int:
        return self._columns.shape[1] * max(self._columns.element_size(), 4)

    def of(self, x: torch.Tensor) -> torch.Tensor:
        """The score of every point for every query."""
        return torch.addmm(self._half_norms, -x.to(self._columns.dtype), self._columns)

    def smallest(self, x: torch.Tensor, m: int, own: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        """The m-th smallest score of each query and the columns of the m smallest, in no order.

        Parameters
        ----------
        own : Tensor of int64, optional
            One column per query that does not count.
        """
        scores = self.of(x)
        if own is not None:
            scores.scatter_(1, own[:, None], torch.inf)
        # Column c belongs to group c % n_groups. The m smallest scores lie in the m groups with the smallest minima: a group
        # that is not among these has m scores below all of its own.
        groups = scores.view(len(x), GROUP, -1)
        n_groups = groups.shape[2]
        chosen = groups.amin(dim=1).topk(min(m, n_groups), largest=False).indices
        members = groups.gather(2, chosen[:, None, :].expand(-1, GROUP, -1)).flatten(1)
        values, place = members.topk(m, largest=False)
        width = chosen.shape[1]
        return values[:, -1], place // width * n_groups + chosen.gather(1, place % width)

    def certified(self, x: torch.Tensor, squared: torch.Tensor, bound: torch.Tensor) -> torch.Tensor:
        """Whether no column with a score of at least `bound` can be nearer than the root of `squared`.

        Such a point y would have a norm of at most |x| plus that root, which limits the rounding error of its score.
        """
        product, addition = ROUNDING[self._columns.dtype]
        size = x.square().sum(dim=1)
        norm = size.sqrt()
        reach = norm + squared.sqrt()
        error = ((product + len(self._columns) * addition) * norm + 4 * addition * reach) * reach
        return (squared + 2 * error < 2 * bound.double() + size) | (squared == 0)


class ByteScores(Scores):
    """Scores of small whole numbers (up to 8 bits, times a power of two), which bfloat16 holds exactly.

    Products are exact, sums in float32: half the time of TF32 and a smaller error. The halved squared norms are three
    more features, 8 bits each, where every query has a 1.
    """

    def __init__(self, points: torch.Tensor, n: int) -> None:
        rest = points.float().square_().sum(dim=1, dtype=torch.float64).div_(2)
        norms = torch.zeros((len(points), 3), dtype=points.dtype, device=points.device)
        # Each part takes the leading 8 bits of what is left; bfloat16 holds them exactly.
        for part in range(3):
            norms[:, part] = rest
            rest = rest - norms[:, part]
        norms[n:, 0] = torch.inf
        self._columns = _padded(points, norms).T

    def of(self, x: torch.Tensor) -> torch.Tensor:
        queries = _padded(-x.to(self._columns.dtype), x.new_ones((len(x), 3)))
        if queries.device.type == "cuda":
            return torch.mm(queries, self._columns, out_dtype=torch.float32)
        return queries.float() @ self._columns.float()


def _padded(points: torch.Tensor, more: torch.Tensor) -> torch.Tensor:
    """More features side by side, up to a multiple of 8 by zeros: tensor cores want rows of whole 16 bytes."""
    width = points.shape[1] + more.shape[1]
    return torch.cat([points, more.to(points.dtype), points.new_zeros((len(points), -width % 8))], dim=1)


@contextmanager
def tf32() -> Iterator[None]:
    """float32 matrix products in TF32 where the device has it; PyTorch's own setting comes back at the end."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
