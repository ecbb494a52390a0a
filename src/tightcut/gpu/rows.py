"""Sums over the rows of a matrix on a device and over labels, always in the same order; and how kernels share the rows."""

from __future__ import annotations

import torch

from tightcut.gpu.sparse import DeviceCsr

WIDTH, LABELS = 16, 16  # of a tile: arcs of a row, and labels, at a time
BLOCK = 512  # vertices whose values are added up by one program


def weight_within(matrix: DeviceCsr, labels: torch.Tensor) -> torch.Tensor:
    """The weight of each row's entries in columns of its own label."""
    from tightcut.gpu import _row_kernels as kernels

    within = torch.zeros(matrix.n, dtype=torch.float64, device=labels.device)
    if len(matrix.data):
        grid, rows = tiles(matrix.n, labels.device)
        kernels.sum_within[grid](
            matrix.indptr, matrix.indices, matrix.data, labels, within, matrix.n, ROWS=rows, WIDTH=WIDTH
        )
    return within


def sums_by_label(values: torch.Tensor, labels: torch.Tensor, k: int) -> torch.Tensor:
    """The sums of each row of values over the columns of each label, shape (rows, k)."""
    from tightcut.gpu import _row_kernels as kernels

    rows, n = values.shape
    blocks = -(-n // BLOCK)
    sums = torch.empty((rows, blocks, k), dtype=torch.float64, device=labels.device)
    kernels.sum_by_label[(blocks, rows)](values, labels, sums, n, k, BLOCK=BLOCK, LABELS=LABELS)
    return sums.sum(dim=1)


def tiles(n: int, device: torch.device, depth: int = 1) -> tuple[tuple[int], int]:
    """The grid of programs for n rows, and the rows of each. An interpreted program had better take many."""
    rows = max(32 // depth, 8) if device.type == "cuda" else 512
    return (-(-n // rows),), rows
