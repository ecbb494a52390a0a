"""A binary heap of vertices with changeable keys, as three arrays.

`heap[0:size]` holds vertices, the one with the smallest `key` first; `place[v]` is where v stands in it.
"""

from __future__ import annotations

from tightcut.kernels.compiled import compiled

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


@compiled
def heapify(heap, size, key, place):
    for at in range(size // 2 - 1, -1, -1):
        sift_down(heap, size, key, place, at)


@compiled
def pop(heap, size, key, place):
    """Take the first vertex out and lock it; returns the new size."""
    place[heap[0]] = LOCKED
    size -= 1
    if size > 0:
        heap[0] = heap[size]
        sift_down(heap, size, key, place, 0)
    return size


@compiled
def renew(v, heap, size, key, place):
    """Put v where its new key belongs, entering it if it is absent; returns the new size."""
    if place[v] == ABSENT:
        heap[size] = v
        place[v] = size
        size += 1
        sift_up(heap, key, place, size - 1)
    else:
        sift_up(heap, key, place, place[v])
        sift_down(heap, size, key, place, place[v])
    return size
