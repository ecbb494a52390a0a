"""What `device` accepts, and the errors where there is no GPU. PyTorch itself is not needed."""

import sys
from dataclasses import replace
from importlib.machinery import ModuleSpec
from types import SimpleNamespace

import numpy as np
import pytest

from tightcut import COSC, Constraints, Graph, cluster, knn_affinity, tradeoff_path
from tightcut.clustering import arguments
from tightcut.exceptions import NoGpuError
from tightcut.gpu import device as module
from tightcut.gpu.device import resolve_device
from tightcut.relaxation.prox import FistaProx
from tightcut.search.evolve import search

POINTS = np.random.default_rng(0).normal(size=(30, 2))
PAIRS = Constraints.from_pairs(30, [(0, 1)], [(2, 3)])


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda _: None)


@pytest.fixture(params=[True, False])
def with_torch(request, monkeypatch):
    """A PyTorch that finds a GPU, or finds none."""
    cuda = SimpleNamespace(is_available=lambda: request.param)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, __version__="2.4.0"))
    monkeypatch.setattr(module, "find_spec", lambda name: ModuleSpec(name, None))
    return request.param


@pytest.mark.usefixtures("without_torch")
def test_the_cpu_needs_nothing():
    assert resolve_device("cpu") == "cpu"


@pytest.mark.usefixtures("without_torch")
def test_auto_without_torch_is_the_cpu():
    assert resolve_device("auto") == "cpu"


def test_auto_with_torch(with_torch):
    assert resolve_device("auto") == ("cuda" if with_torch else "cpu")


def test_cuda_with_torch(with_torch):
    if with_torch:
        assert resolve_device("cuda") == "cuda"
    else:
        with pytest.raises(NoGpuError, match='needs an NVIDIA GPU, and PyTorch 2.4.0 finds none.*device="auto"'):
            resolve_device("cuda")


@pytest.mark.parametrize("device", ["gpu", "cuda:1", None, 0])
def test_another_device_is_named(device):
    with pytest.raises(ValueError, match=f"device must be one of 'cpu', 'cuda', 'auto'; got {device!r}"):
        resolve_device(device)


@pytest.mark.usefixtures("without_torch")
@pytest.mark.parametrize(
    "call",
    [
        lambda **device: knn_affinity(POINTS, **device),
        lambda **device: cluster(Graph.from_affinity(knn_affinity(POINTS)), **device),
        lambda **device: COSC(**device).fit(POINTS),
        lambda **device: tradeoff_path(Graph.from_affinity(knn_affinity(POINTS)), PAIRS, effort=0, **device),
    ],
    ids=["knn_affinity", "cluster", "COSC", "tradeoff_path"],
)
def test_every_entrance_says_what_to_install(call):
    with pytest.raises(ImportError, match=r"of the extra tightcut\[gpu\]: pip install torch, or pass"):
        call(device="cuda")
    call(device="auto")


COMMANDS = [
    "cluster points.npy -k 2 --effort 0",
    "tradeoff points.npy --constraints pairs.csv --effort 0",
    "audit points.npy -k 2 --constraints pairs.csv --effort 0",
]


@pytest.fixture
def main(tmp_path, monkeypatch):
    """The command line, in a folder with the files of `COMMANDS`."""
    pytest.importorskip("click", reason="needs click: pip install click")
    from tightcut.cli import main

    monkeypatch.chdir(tmp_path)
    np.save("points.npy", POINTS)
    (tmp_path / "pairs.csv").write_text("a,b,type\n0,1,must\n2,3,cannot\n")
    return main


@pytest.mark.usefixtures("without_torch")
@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_line_says_what_to_install(command, main, capsys):
    assert main([*command.split(), "--device", "cuda"]) == 1
    told = "--device cuda needs PyTorch, of the extra tightcut[gpu]: pip install torch, or use --device cpu."
    assert told in capsys.readouterr().err
    assert main([*command.split(), "--device", "auto"]) == 0


@pytest.mark.usefixtures("with_torch")
@pytest.mark.parametrize("with_torch", [False], indirect=True)
@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_line_without_a_gpu(command, main, capsys):
    assert main([*command.split(), "--device", "cuda"]) == 1
    error = capsys.readouterr().err
    assert "--device cuda needs an NVIDIA GPU" in error
    assert "Use --device cpu, or --device auto" in error


def test_a_gpu_without_triton(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "triton" else ModuleSpec(name, None))
    assert resolve_device("auto") == "cpu"
    with pytest.raises(ImportError, match="needs Triton"):
        resolve_device("cuda")


class Recorder:
    """A back end that notes what it is asked for, and lets the CPU do it."""

    def __init__(self, limit):
        self.limit, self.asked = limit, []

    def search(self, problem, rng, options, known):
        self.asked.append("search")
        return search(problem, rng, replace(options, backend=None), known)

    def contract(self, graph, labels):
        self.asked.append("contract")
        return graph.contract(labels)

    def inner(self, weights, vertex_weights, tolerance):
        self.asked.append("inner")
        return FistaProx(weights, vertex_weights, tolerance)


@pytest.mark.parametrize(
    ("k", "settings", "asked"),
    [(2, {}, {"search"}), (3, {}, {"contract", "search"}), (2, {"method": "paper"}, {"inner"})],
)
@pytest.mark.parametrize("limit", [10, 100])
def test_large_problems_go_to_the_back_end(k, settings, asked, limit, monkeypatch):
    recorder = Recorder(limit)
    graph = Graph.from_affinity(knn_affinity(POINTS))
    settings = {**settings, "effort": 0.1, "random_state": 0}
    expected = cluster(graph, PAIRS, k, **settings)
    monkeypatch.setattr(arguments, "backend_of", lambda _: recorder)
    found = cluster(graph, PAIRS, k, **settings)
    # FISTA is the back end's at every size: a descent takes many steps in one graph.
    assert set(recorder.asked) == (asked if limit < 30 or "inner" in asked else set())
    np.testing.assert_array_equal(found.labels, expected.labels)
