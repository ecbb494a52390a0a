"""`tightcut verify`: check the proof that `tightcut certify` has written, with none of the code that found it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console
from tightcut.cli._models import read_model

if TYPE_CHECKING:
    from tightcut.problem import Constraints
    from tightcut.problem.graph import Graph


@click.command(cls=opt.Command, short_help="Check a PROOF that tightcut certify has written.")
@click.argument("proof", type=opt.FILE)
@click.argument("graph", type=opt.FILE, metavar="MODEL_OR_GRAPH")
@click.argument("pairs", type=opt.FILE, required=False)
@opt.choice("--criterion", "ncut rcut", "Of GRAPH: what the clusters are balanced by.")
@opt.console_options("as_json", "quiet")
def verify(proof: Path, graph: Path, pairs: Path | None, criterion: str, console: Console) -> None:
    """Check that no clustering of a graph that respects the pairs has a cut below the bound of PROOF.

    The graph and the pairs are those of a model, a .tcut file, or of the files GRAPH and PAIRS. The exit code is 1 if the
    proof is refused.
    """
    from tightcut.certificates import Certificate

    certificate = Certificate.load(proof)
    certificate.check(*_read(graph, pairs, criterion))
    facts = {"verified": True, "cut": certificate.cut, "bound": certificate.bound, "gap": certificate.gap}
    console.show(facts, [f"verified: {certificate}"])


def _read(path: Path, pairs: Path | None, criterion: str) -> tuple[Graph, Constraints]:
    from tightcut.files import DataOptions, InputError, read_data, read_pairs
    from tightcut.problem import Constraints
    from tightcut.problem.graph import Graph

    if path.suffix.lower() == ".tcut":
        model = read_model(path)
        return model.graph, model.constraints
    data = read_data(path, DataOptions(graph=True))
    if data.affinity is None:
        raise InputError(f"{path} is not a graph; give the model, or a file of similarities.")
    graph = Graph.from_affinity(data.affinity, "degree" if criterion == "ncut" else "ones")
    known = Constraints.from_pairs(graph.n_vertices)
    return graph, known if pairs is None else read_pairs(pairs).constraints(data.ids)
