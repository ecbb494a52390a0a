"""Exact nearest neighbours on a GPU.

1. Scores: score(x, y) = |y|^2 / 2 - <x, y> orders all y by their distance to x. One matrix product in TF32 (operands
   rounded to 11 bits, sums in float32) per block of queries; for uint8 in bfloat16, which holds them exactly.
2. Candidates: the k + `EXTRA` smallest scores, read off the smallest score of each of many groups of columns. The m
   smallest scores lie in the m groups with the smallest minima, so the large array is read only once.
3. Ranking: the candidates' distances by float64 differences.
4. Certificate: no point outside the candidates can be nearer than the k-th, given the rounding error of the scores.
   Rows that fail it, such as those of very dense data, are done again with float64 scores.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from tightcut.gpu.scores import GROUP, ByteScores, Scores, tf32
from tightcut.gpu.sparse import send

EXTRA = 22  # candidates beyond k
BLOCK_BYTES = 4 << 30  # device memory for one block of queries, at most
CONVERTED = 1 << 24  # entries converted at a time


class DeviceNeighbors:
    """Points held on the device, with the part of `sklearn.neighbors.NearestNeighbors` that a graph needs.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        float64, float32 or uint8. Transferred once, as it is.
    device : str, default="cuda"
        A PyTorch device.

    Attributes
    ----------
    n_repeated : int
        Rows of the last search that needed float64 scores.

    Notes
    -----
    Device memory: the points as given, a float32 copy (bfloat16 for uint8), the result, and a block (`BLOCK_BYTES`, or a
    quarter of what is free). A search in float64 holds a float64 copy for as long as it runs.
    """

    def __init__(self, points: np.ndarray, device: str = "cuda") -> None:
        self._points = send(points, device)
        bytes_ = self._points.dtype == torch.uint8
        self._centre = self._points.sum(dim=0, dtype=torch.float64) / len(points)
        if bytes_:
            self._centre.round_()  # differences stay whole numbers of 8 bits
        # Any shift and any scale leave the neighbours as they are: this one keeps float32 from over- and underflow,
        # rounding errors small, and, as a power of two, differences exact.
        largest = float(torch.stack([(part - self._centre).abs().max() for part in self._parts()]).max())
        self._scale = float(2.0 ** np.ceil(np.log2(largest))) if largest > 0 else 1.0
        copy = self._copy(torch.bfloat16 if bytes_ else torch.float32)
        self._single = ByteScores(copy, len(points)) if bytes_ else Scores(copy, len(points))
        self.n_repeated = 0

    def kneighbors(self, X: np.ndarray | None = None, n_neighbors: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """See `tightcut.neighbors.tree.Neighbors`; the smaller number first among equals, as int32."""
        distances, neighbors = self.nearest(X, n_neighbors)
        return distances.cpu().numpy(), neighbors.int().cpu().numpy()

    def nearest(self, X: np.ndarray | None = None, n_neighbors: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
        """`kneighbors` with its result left on the device, as float64 and int64."""
        queries = self._points if X is None else send(X, self._points.device)
        shape, place = (len(queries), n_neighbors), queries.device
        distances = torch.empty(shape, dtype=torch.float64, device=place)
        neighbors = torch.empty(shape, dtype=torch.int64, device=place)
        rows = torch.arange(len(queries), device=place)
        if queries.dtype == self._points.dtype or self._points.dtype != torch.uint8:
            with tf32():
                rows = self._search(self._single, queries, rows, X is None, distances, neighbors)
        self.n_repeated = len(rows)
        if self.n_repeated:
            double = Scores(self._copy(torch.float64), len(self._points))
            self._search(double, queries, rows, X is None, distances, neighbors)
        return distances.mul_(self._scale), neighbors

    def _search(
        self,
        scores: Scores,
        queries: torch.Tensor,
        rows: torch.Tensor,
        own: bool,  # noqa: FBT001
        distances: torch.Tensor,
        neighbors: torch.Tensor,
    ) -> torch.Tensor:
        """Write the neighbours of some rows; returns the rows without a certificate."""
        k, n = distances.shape[1], len(self._points) - own
        m = min(k + EXTRA, n)
        uncertified = []
        bytes_per_row = scores.bytes_per_row + 24 * m * queries.shape[1]
        for block in rows.split(max(1, _block_bytes(queries.device) // bytes_per_row)):
            raw = queries[block]
            x = self._normal(raw)
            bound, found = scores.smallest(x, m, block if own else None)
            squared, found = self._ranked(raw, found)
            distances[block] = squared[:, :k].sqrt()
            neighbors[block] = found[:, :k]
            if m < n:
                uncertified.append(block[~scores.certified(x, squared[:, k - 1], bound)])
        return torch.cat(uncertified) if uncertified else rows[:0]

    def _ranked(self, raw: torch.Tensor, found: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The candidates by increasing distance, then by number, with their squared distances (scaled)."""
        found = found.sort(dim=1).values
        difference = self._points[found].double().sub_(raw[:, None, :]).div_(self._scale)
        squared, order = difference.square_().sum(dim=2).sort(dim=1, stable=True)
        return squared, found.gather(1, order)

    def _normal(self, raw: torch.Tensor) -> torch.Tensor:
        return (raw - self._centre) / self._scale

    def _parts(self) -> Iterator[torch.Tensor]:
        yield from self._points.split(max(1, CONVERTED // self._points.shape[1]))

    def _copy(self, dtype: torch.dtype) -> torch.Tensor:
        """Centred and scaled points, with rows of zeros up to a multiple of `GROUP`."""
        n, n_features = self._points.shape
        copy = torch.zeros((-(-n // GROUP) * GROUP, n_features), dtype=dtype, device=self._points.device)
        start = 0
        for part in self._parts():
            copy[start : start + len(part)] = self._normal(part)
            start += len(part)
        return copy


def _block_bytes(device: torch.device) -> int:
    return min(BLOCK_BYTES, torch.cuda.mem_get_info(device)[0] // 4) if device.type == "cuda" else BLOCK_BYTES // 16
