"""Smaller graphs on a device: contraction by sorting, and the regions on which clusterings agree."""

from __future__ import annotations

import torch

from tightcut.gpu.sparse import DeviceCsr, Groups


def contract(
    matrix: DeviceCsr, unit: torch.Tensor, m: int, sign: torch.Tensor | None = None
) -> tuple[DeviceCsr, float]:
    """Merge vertices into m units, with signs if there are any; returns the arcs between units and what stays cut.

    As the kernel `contract` on the CPU: arcs of the same two units add up, arcs inside a unit disappear. A sort of the
    arcs.
    """
    here, there = unit[matrix.sources], unit[matrix.indices]
    value = matrix.data
    if sign is not None:
        value = value * (sign[matrix.sources] * sign[matrix.indices])
    between = here != there
    groups = Groups.of((here * m + there)[between])
    if sign is None:
        total, offset = groups.reduce(value[between]), 0.0
    else:
        frustrated = value[~between].clamp(max=0).sum()
        value = value[between]
        positive, negative = groups.reduce(value.clamp(min=0)), groups.reduce(value.clamp(max=0))
        total, offset = positive + negative, 0.5 * float(torch.minimum(positive, -negative).sum() - frustrated)
    left = total != 0
    return DeviceCsr.from_keys(groups.keys[left], total[left], m), offset


def contradictory_units(relations: DeviceCsr, unit: torch.Tensor) -> torch.Tensor:
    """Units whose members have opposite relations (must and cannot) to the same other unit."""
    if not (relations.data < 0).any():
        return unit[:0]
    m = int(unit.max()) + 1
    groups = Groups.of(unit[relations.sources] * m + unit[relations.indices])
    opposite = (groups.reduce(relations.data, "min") < 0) & (groups.reduce(relations.data, "max") > 0)
    return (groups.keys[opposite] // m).unique()


def connected_regions(matrix: DeviceCsr, code: torch.Tensor | None = None) -> torch.Tensor:
    """Number the connected regions (of equal code) of a symmetric matrix 0, 1, ... by their first vertex.

    Every tree hooks its root under the smallest root next to it, then all trees are flattened; about log(n) rounds.
    """
    here, there = matrix.sources, matrix.indices.long()
    if code is not None:
        same = code[here] == code[there]
        here, there = here[same], there[same]
    everyone = torch.arange(matrix.n, device=here.device)
    root = everyone
    while True:
        ours, theirs = root[here], root[there]
        hooked = root.scatter_reduce(0, ours, theirs, "amin")
        if torch.equal(hooked, root):
            break
        root = hooked
        while not torch.equal(root[root], root):
            root = root[root]
        # What has become one tree needs no further look.
        apart = root[here] != root[there]
        here, there = here[apart], there[apart]
    first = root == everyone
    return (first.cumsum(0) - 1)[root]


def common_code(population: list[torch.Tensor]) -> torch.Tensor:
    """A number for each vertex, equal where all the given labellings, of labels from 0 on, are."""
    code, n_codes = torch.zeros_like(population[0], dtype=torch.int64), 1
    for labels in population:
        k = int(labels.max()) + 1
        if n_codes * k > 2**62:
            found, code = code.unique(return_inverse=True)
            n_codes = len(found)
        code, n_codes = code * k + labels, n_codes * k
    return code
