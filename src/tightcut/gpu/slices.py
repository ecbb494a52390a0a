"""A sparse matrix as sliced rows, the layout in which neighbouring threads read neighbouring numbers (SELL).

Rows are renumbered by decreasing length. Most edges of a neighbourhood graph lead to few popular vertices, which then
lie side by side in the cache. Long rows are cut into pieces of at most `PIECE` entries, so that no thread works on a row
much longer than the others. `SLICE` consecutive pieces form a slice, stored column by column and padded to the longest of
them, which costs next to nothing among rows of similar length. Entry c of piece p then lies at

    bases[p // SLICE] + c * SLICE + p % SLICE,

and the SLICE threads of a program, one per piece, read SLICE consecutive numbers in each step c.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

SLICE = 128
PIECE = 256


@dataclass(frozen=True, eq=False)
class Slices:
    """Where everything is; all on the device.

    Attributes
    ----------
    rank : Tensor of shape (n,)
        New number of each row, and of each column.
    order : Tensor of shape (n,)
        The inverse of `rank`.
    pieces : Tensor of shape (n + 1,)
        First piece of each (renumbered) row.
    rows : Tensor of shape (n_slices * SLICE,)
        Row of each piece; 0 for padding.
    bases, widths : Tensor of shape (n_slices,)
        Place of the first entry of each slice, and its number of columns.
    places : Tensor of shape (nnz,)
        Where each entry of the CSR matrix went.
    sources : Tensor of shape (nnz,)
        Its renumbered row.
    size : int
        Number of places, padding included.
    """

    rank: torch.Tensor
    order: torch.Tensor
    pieces: torch.Tensor
    rows: torch.Tensor
    bases: torch.Tensor
    widths: torch.Tensor
    places: torch.Tensor
    sources: torch.Tensor
    size: int

    @classmethod
    def from_indptr(cls, starts: torch.Tensor) -> Slices:
        """The layout of a CSR matrix whose rows start at these entries (int64, on the device)."""
        n, n_entries, device = len(starts) - 1, int(starts[-1]), starts.device
        # `lengths` and `order` are in the new numbering: row i was order[i].
        lengths, order = starts.diff().sort(descending=True, stable=True)
        rank = torch.empty_like(order)
        rank[order] = torch.arange(n, device=device)
        # Pieces of a row differ by less than their number in length: ceil(length / count) each, the last one the rest. An
        # empty row has one empty piece, so that every row has a piece to which its result is written.
        count = (-(-lengths // PIECE)).clamp(min=1)
        share = -(-lengths // count)
        pieces = torch.cat([count.new_zeros(1), count.cumsum(0)])
        n_pieces = int(pieces[-1])
        n_slices = -(-n_pieces // SLICE)
        rows = torch.arange(n, device=device).repeat_interleave(count)
        before = (torch.arange(n_pieces, device=device) - pieces[rows]) * share[rows]
        in_piece = torch.zeros(n_slices * SLICE, dtype=torch.int64, device=device)
        in_piece[:n_pieces] = torch.minimum(share[rows], lengths[rows] - before)
        # A slice is as wide as its longest piece.
        widths = in_piece.view(n_slices, SLICE).amax(dim=1)
        ends = (widths * SLICE).cumsum(0)
        bases = ends - widths * SLICE
        # Each entry, in CSR order: its row, its place in that row, its piece, and its place in memory.
        sources = rank.repeat_interleave(starts.diff())
        at = torch.arange(n_entries, device=device) - starts[order[sources]]
        piece = pieces[sources] + at // share[sources].clamp(min=1)
        places = bases[piece // SLICE] + at % share[sources].clamp(min=1) * SLICE + piece % SLICE
        padded = torch.zeros(n_slices * SLICE, dtype=torch.int32, device=device)
        padded[:n_pieces] = rows
        size = int(ends[-1])
        # Addresses of 32 bits wherever they suffice.
        short = torch.int32 if size <= torch.iinfo(torch.int32).max else torch.int64
        return cls(rank, order, pieces.int(), padded, bases.to(short), widths.int(), places, sources, size)

    @property
    def n_slices(self) -> int:
        return len(self.bases)

    @property
    def whole_rows(self) -> bool:
        """Whether no row was cut: piece p is row p."""
        return int(self.pieces[-1]) == len(self.order)

    def renumber(self, values: torch.Tensor, padding: float = 0.0) -> torch.Tensor:
        """One value per row, in the new order, with room for one per piece."""
        result = torch.full((len(self.rows),), padding, dtype=values.dtype, device=values.device)
        result[: len(values)] = values[self.order]
        return result

    def spread(self, entries: torch.Tensor) -> torch.Tensor:
        """Entries in CSR order, moved to their places; zeros elsewhere."""
        result = torch.zeros(self.size, dtype=entries.dtype, device=entries.device)
        result[self.places] = entries
        return result
