"""The fused FISTA pass of `tightcut.gpu.fista_kernels.advance` once more, in CUDA C through CuPy, to compare the two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SOURCE = r"""
extern "C" __global__ void advance(
    const int* bases, const int* widths, const int* indices, const float* weights, const float* steps,
    const float* target, const float* norm, const float* value, const float* flow, float* past, float* result,
    const float before, const float now) {
    const long long piece = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const int width = widths[blockIdx.x];
    const float own = value[piece];
    float total = 0.0f;
    for (int column = 0; column < width; ++column) {
        const long long arc = (long long)bases[blockIdx.x] + (long long)column * blockDim.x + threadIdx.x;
        const float current = flow[arc], limit = weights[arc];
        float moved = current + before * (current - past[arc]) + steps[arc] * (own - value[indices[arc]]);
        moved = fminf(fmaxf(moved, -limit), limit);
        past[arc] = moved;
        total += moved + now * (moved - current);
    }
    result[piece] = (target[piece] - total) / norm[piece];
}
"""


def cupy_pass(solver: Any, goal: Any) -> tuple[Callable[[], None], Callable[[], Any]]:
    """One iteration on copies of the arrays of a `CudaFistaProx` (float32, whole rows); and what it leaves behind."""
    import cupy

    from tightcut.gpu.slices import SLICE

    kernel = cupy.RawKernel(SOURCE, "advance")
    slices, view = solver._slices, cupy.from_dlpack
    arcs = (solver._indices, solver._weights, solver._steps)
    fixed = [slices.bases, slices.widths, *arcs, goal, solver._vertex_weights_there]
    value, flow, past = (array.clone() for array in (solver._value, solver._flow, solver._past))
    outflow = value.clone()
    arguments = tuple(view(array) for array in (*fixed, value, flow, past, outflow))
    inertia = solver._inertia[:2].tolist()
    factors = tuple(cupy.float32(factor) for factor in inertia)
    return lambda: kernel((slices.n_slices,), (SLICE,), (*arguments, *factors)), lambda: outflow
