"""Doctests are collected from every module of the package, except those whose libraries are not installed."""

from importlib.util import find_spec
from pathlib import Path

GPU = Path("src/tightcut/gpu")
NEED_NO_LIBRARY = {"__init__.py", "device.py"}
NEED_TRITON = {"fista_kernels.py", "row_kernels.py", "fista.py", "steps.py"}

here = Path(__file__).parent
modules = {module.name for module in (here / GPU).glob("*.py")} - NEED_NO_LIBRARY
missing = modules if not find_spec("torch") else NEED_TRITON if not find_spec("triton") else set()
collect_ignore = [str(GPU / module) for module in sorted(missing)]
