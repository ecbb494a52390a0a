"""Doctests are collected from every module of the package, except those whose libraries are not installed."""

from importlib.util import find_spec

NEEDS = {"torch": ["fista", "neighbors", "scores", "slices"], "triton": ["_kernels", "fista"]}

collect_ignore = [
    f"src/tightcut/gpu/{module}.py"
    for library, modules in NEEDS.items()
    if not find_spec(library)
    for module in modules
]
