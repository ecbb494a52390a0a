"""The demonstration and the warm-up."""

import os
import subprocess
import sys
from pathlib import Path

import tightcut
from tightcut import Constraints, demo

SIGNATURES = """
import pkgutil, warnings
from importlib import import_module
from unittest import mock
import numpy as np
import scipy.sparse as sp
from tightcut import COSC, Constraints, Graph, KnnAffinity, cluster, knn_affinity, tradeoff_path
from tightcut import kernels as _kernels
from tightcut.neighbors import projections
from tightcut.search import polish
from tightcut.search.k_way import ManyClusters
from tightcut.search.two_way import TwoClusters
from tightcut.warmup import warmup

def compiled():
    modules = [import_module(f"tightcut.kernels.{module.name}") for module in pkgutil.iter_modules(_kernels.__path__)]
    return {name: list(f.signatures) for home in modules for name, f in vars(home).items() if hasattr(f, "signatures")}

LIMITS = [(ManyClusters, "direct_limit"), (TwoClusters, "direct_limit"), (polish, "POLISH_LIMIT")]
SMALL = {"MIN_POINTS": 400, "SAMPLE": 100, "QUERIES": 20, "MAX_COMPONENTS": 64, "DIFFERENCE_COST": 0}
warmup()
before = compiled()
warnings.simplefilter("ignore")
quick = {"effort": 0.2, "random_state": 0}
X = np.random.default_rng(0).normal(size=(400, 2))
constraints = Constraints.from_pairs(400, [(0, 1)], [(2, 3), (4, 5)])
clique = Constraints.from_pairs(400, cannot_link=[(i, j) for i in range(5) for j in range(i)])
graph = Graph.from_affinity(knn_affinity(X))
for _ in range(2):
    cluster(graph, constraints, **quick)
    cluster(graph, constraints, max_violations=1, init=np.arange(400) % 2, **quick)
    cluster(graph, constraints, 3, influence=1, **quick)
    cluster(graph, constraints, 3, method="paper", **quick)
    cluster(graph, clique, 5, **quick)
    cluster(graph, clique, 3, max_violations="fewest", **quick)
    tradeoff_path(graph, constraints, **quick)
    for home, name in LIMITS:  # the second time as on large graphs
        mock.patch.object(home, name, 50).start()
for dtype in (np.float64, np.float32, np.uint8):
    points = (30 * np.abs(X)).astype(dtype)
    COSC(affinity=KnnAffinity(neighbors="blocked"), **quick).fit(points).predict(points)
    with mock.patch.multiple(projections, **SMALL):
        knn_affinity(np.repeat(points, 40, axis=1), neighbors="blocked")
sparse = sp.csr_array(np.random.default_rng(0).binomial(1, 0.05, size=(200, 300)).astype(float))
knn_affinity(sparse)
late = {name for name, signatures in compiled().items() if signatures != before[name]}
print("late:", *sorted(late))
"""


def test_nothing_is_compiled_after_the_warm_up():
    environment = os.environ | {"PYTHONPATH": str(Path(tightcut.__file__).parents[1])}
    run = subprocess.run([sys.executable, "-c", SIGNATURES], capture_output=True, text=True, env=environment)
    assert run.stdout == "late:\n", run.stdout + run.stderr


def test_the_demo_shows_what_constraints_do(tmp_path, capsys):
    demo.main(tmp_path / "demo.png")
    shown = capsys.readouterr()
    assert "Compiling" in shown.err
    rows = {line.split()[0]: line.split() for line in shown.out.splitlines() if "constrained" in line}
    assert rows["constrained"][2:5] == ["0", "of", "4"]
    assert float(rows["constrained"][5].rstrip("%")) < 2
    assert float(rows["unconstrained"][5].rstrip("%")) > 20
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_the_pairs_are_true():
    _, digits = demo.load()
    pairs = Constraints.from_pairs(len(digits), demo.MUST_LINK, demo.CANNOT_LINK)
    assert pairs.violations(digits).n_violations == 0
