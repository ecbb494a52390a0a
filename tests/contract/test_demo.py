"""The demonstration and the warm-up."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import tightcut
from tightcut import demo

SIGNATURES = """
import numpy as np, scipy.sparse as sp
from tightcut import Constraints, Graph, _kernels, cluster, knn_affinity
from tightcut.warmup import warmup

def compiled():
    return {name: list(f.signatures) for name, f in vars(_kernels).items() if hasattr(f, "signatures")}

warmup()
before = compiled()
X = np.random.default_rng(0).normal(size=(150, 2))
constraints = Constraints.from_pairs(150, [(0, 1)], [(2, 3), (4, 5)])
for affinity in (knn_affinity(X), sp.csr_array(knn_affinity(X).toarray())):
    graph = Graph.from_affinity(affinity)
    cluster(graph, constraints, effort=0.2, n_init=1, random_state=0)
    cluster(graph, constraints, max_violations=1, effort=0.2, n_init=1, random_state=0, init=np.arange(150) % 2)
late = {name for name, signatures in compiled().items() if signatures != before[name]}
print("late:", *sorted(late))
"""


def test_nothing_is_compiled_after_the_warm_up():
    environment = os.environ | {"PYTHONPATH": str(Path(tightcut.__file__).parents[1])}
    run = subprocess.run([sys.executable, "-c", SIGNATURES], capture_output=True, text=True, env=environment)
    assert run.stdout == "late:\n", run.stdout + run.stderr


def test_the_demo_shows_what_constraints_do(tmp_path, capsys):
    demo.main(["--output", str(tmp_path / "demo.png")])
    shown = capsys.readouterr()
    assert "Compiling" in shown.err
    rows = {line.split()[0]: line.split() for line in shown.out.splitlines() if "constrained" in line}
    assert rows["constrained"][2:5] == ["0", "of", "60"]
    assert float(rows["constrained"][5].rstrip("%")) < 2 < float(rows["unconstrained"][5].rstrip("%"))
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_the_pairs_are_distinct_and_true():
    digits = np.arange(40) % 2
    constraints = demo.sample_pairs(digits, 60, 1)
    assert constraints.n_pairs == 60
    assert constraints.violations(digits).n_violations == 0
