"""Sparse matrices on a device, as three tensors in CSR order.

Entries with the same row and column are combined by sorting and segmented reduction, never by atomic additions: the
same input gives the same bits every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch

FEW = 8  # members of the largest group up to which sums are taken member by member, not group by group


@dataclass(frozen=True, eq=False)
class DeviceCsr:
    """A square sparse matrix.

    Attributes
    ----------
    indptr : Tensor of int64, shape (n + 1,)
    indices : Tensor of int32, shape (nnz,)
        Sorted within each row.
    data : Tensor, shape (nnz,)
    """

    indptr: torch.Tensor
    indices: torch.Tensor
    data: torch.Tensor

    @classmethod
    def from_scipy(cls, matrix: sp.csr_array, device: torch.device | str) -> DeviceCsr:
        """Transfer a matrix; its indices are sorted on the way."""
        matrix = matrix if matrix.has_sorted_indices else matrix.sorted_indices()
        return cls(send(matrix.indptr, device).long(), send(matrix.indices, device).int(), send(matrix.data, device))

    @classmethod
    def from_keys(cls, keys: torch.Tensor, data: torch.Tensor, n: int) -> DeviceCsr:
        """The n x n matrix with these entries at row * n + column; keys ascend."""
        rows = keys // n
        indptr = torch.searchsorted(rows, torch.arange(n + 1, device=keys.device))
        return cls(indptr, (keys - rows * n).int(), data)

    def to_scipy(self) -> sp.csr_array:
        """Back to the host, with 32-bit indices where they fit."""
        short = torch.int32 if len(self.data) <= np.iinfo(np.int32).max else torch.int64
        indptr, indices = (part.to(short).cpu().numpy() for part in (self.indptr, self.indices))
        return sp.csr_array((self.data.cpu().numpy(), indices, indptr), shape=(self.n, self.n))

    @property
    def n(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def sources(self) -> torch.Tensor:
        """The row of each entry."""
        return torch.arange(self.n, device=self.data.device).repeat_interleave(self.indptr.diff())

    @property
    def keys(self) -> torch.Tensor:
        """The keys row * n + column of the entries, ascending."""
        return self.sources * self.n + self.indices

    def row_sums(self, values: torch.Tensor) -> torch.Tensor:
        """The sum of some numbers, one for each entry, over every row."""
        return torch.segment_reduce(values, "sum", offsets=self.indptr)


@dataclass(frozen=True, eq=False)
class Groups:
    """Equal keys side by side.

    Attributes
    ----------
    keys : Tensor
        The distinct keys, ascending.
    order : Tensor of int64
        The order that sorts the keys as they were given.
    lengths : Tensor of int64
        How often each distinct key occurs.
    """

    keys: torch.Tensor
    order: torch.Tensor
    lengths: torch.Tensor

    @classmethod
    def of(cls, keys: torch.Tensor) -> Groups:
        ordered, order = keys.sort(stable=True)
        distinct, lengths = ordered.unique_consecutive(return_counts=True)
        return cls(distinct, order, lengths)

    @cached_property
    def longest(self) -> int:
        """The members of the largest group."""
        return int(self.lengths.max())

    def reduce(self, values: torch.Tensor, reduction: str = "sum") -> torch.Tensor:
        """Combine the values of each group."""
        if len(values) == 0:
            return values
        if reduction != "sum" or self.longest > FEW:
            return torch.segment_reduce(values[self.order], reduction, lengths=self.lengths)
        begin = self.lengths.cumsum(0) - self.lengths
        total = values[self.order[begin]]
        for place in range(1, self.longest):
            more = self.order[(begin + place).clamp(max=len(self.order) - 1)]
            total = total + torch.where(self.lengths > place, values[more], 0)
        return total


def send(array: np.ndarray, device: torch.device | str, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A copy of an array on the device."""
    writable = array if array.flags.writeable else array.copy()  # PyTorch warns about views of read-only arrays
    moved = torch.from_numpy(np.ascontiguousarray(writable)).to(device)
    moved = moved.clone() if moved.device.type == "cpu" else moved
    return moved if dtype is None else moved.to(dtype)
