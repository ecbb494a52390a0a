"""What a number depends on besides the data: version, commit, graph and machine."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from hashlib import sha1
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import tightcut

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
REPOSITORY = Path(__file__).resolve().parents[1]
UNKNOWN = "unknown"


def commit() -> str:
    """The commit of the source that runs, with a + if files were changed since; "unknown" outside the repository.

    On a machine that has a copy of the tree but no repository, TIGHTCUT_COMMIT says it.
    """
    if "TIGHTCUT_COMMIT" in os.environ:
        return os.environ["TIGHTCUT_COMMIT"]
    if Path(tightcut.__file__).resolve().parents[2] != REPOSITORY:  # an installed package, of whatever commit
        return UNKNOWN
    try:
        changed = _git("status", "--porcelain", "--", "src", "experiments")
        return _git("rev-parse", "--short=12", "HEAD") + "+" * bool(changed)
    except (OSError, subprocess.CalledProcessError):
        return UNKNOWN


def checksum(affinity: sp.csr_array) -> str:
    """Twelve characters that change with any edge of a graph or its weight."""
    ordered = affinity.sorted_indices()
    digest = sha1(str(ordered.shape).encode(), usedforsecurity=False)
    for part, dtype in ((ordered.indptr, np.int64), (ordered.indices, np.int64), (ordered.data, np.float64)):
        digest.update(np.ascontiguousarray(part, dtype=dtype).data)
    return digest.hexdigest()[:12]


def circumstances() -> dict[str, Any]:
    """Versions and machine, without which seconds say little."""
    return {
        "versions": {"tightcut": tightcut.__version__, "python": platform.python_version()}
        | {package: version(package) for package in PACKAGES},
        "machine": f"{platform.system()} {platform.machine()}, {_processor()}, {os.cpu_count()} cores; one thread per fit",
    }


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(REPOSITORY), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603


def _processor() -> str:
    """The model of the processor, where the system tells."""
    facts = Path("/proc/cpuinfo")
    models = re.findall(r"^model name\s*: (.*)$", facts.read_text() if facts.exists() else "", flags=re.MULTILINE)
    return models[0] if models else platform.processor() or "unknown processor"
