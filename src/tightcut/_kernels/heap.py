"""A binary heap of vertices with changeable keys, as three arrays.

`heap[0:size]` holds vertices, the one with the smallest `key` first; `place[v]` is where v stands in it.
"""

from __future__ import annotations

from tightcut._kernels.compiled import compiled

ABSENT, LOCKED = -1, -2  # places of vertices that are not in the heap


@compiled
def sift_up(heap, key, place, at):
    u = heap[at]
    while at > 0:
        above = (at - 1) >> 1
        if key[heap[above]] <= key[u]:
            break
        heap[at] = heap[above]
        place[heap[at]] = at
        at = above
    heap[at] = u
    place[u] = at


@compiled
def sift_down(heap, size, key, place, at):
    u = heap[at]
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and key[heap[below + 1]] < key[heap[below]]:
            below += 1
        if key[heap[below]] >= key[u]:
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = u
    place[u] = at
