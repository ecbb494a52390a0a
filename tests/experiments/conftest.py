"""`odd_methods` must be importable here and, through sys.path, in the processes that fit."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def keep_workers():
    """Idle workers serve the next test as well: starting one takes a second."""
    from tightcut.experiments import _run, _worker

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_run, "close_idle_workers", lambda: None)
        yield
    _worker.close_idle_workers()


@pytest.fixture(scope="session")
def blobs():
    """Two groups of twenty points that touch."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    return rng.normal(size=(40, 2)) + 2.5 * y[:, None], y
