"""`tightcut check`: whether the constraints are consistent, and what is odd about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tightcut.cli._app import BAD_INPUT, INCONSISTENT
from tightcut.cli._console import print_facts, print_json
from tightcut.cli._options import FILE, data_options, n_clusters_option

if TYPE_CHECKING:
    from tightcut import Constraints, InconsistentConstraintsError
    from tightcut.files import Judgements

SHOWN = 10


@click.command()
@click.argument("pairs", type=FILE)
@click.argument("data", type=FILE, required=False)
@n_clusters_option(default=2, show_default=True)
@data_options
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def check(pairs: Path, data: Path | None, n_clusters: int, as_json: bool, **reading: Any) -> None:
    """Say whether K clusters can satisfy PAIRS, and if not, why not.

    Also lists pairs that are repeated, pairs of a point with itself, and, with DATA, names that DATA does not have.
    The exit code is 0 if all is well, 3 for a contradiction, 1 for names that are unknown or paired with themselves.
    """
    from tightcut.cli._problem import data_options as as_data_options
    from tightcut.files import read_data, read_pairs

    judgements = read_pairs(pairs)
    ids = judgements.names if data is None else read_data(data, as_data_options(features=False, **reading)).ids
    findings = examine(judgements, ids, n_clusters)
    if as_json:
        print_json(findings)
    else:
        _print(findings, n_clusters, known_data=data is not None)
    if not findings["consistent"]:
        raise click.exceptions.Exit(INCONSISTENT)
    if findings["unknown"] or findings["self_pairs"]:
        raise click.exceptions.Exit(BAD_INPUT)


def examine(judgements: Judgements, ids: list[str], n_clusters: int) -> dict[str, Any]:
    """All findings as plain values. Lines with unknown names or self-pairs are left out of the question."""
    from tightcut.cli._contradiction import headline

    table = judgements.table
    known = {identifier: row for row, identifier in enumerate(ids)}
    unknown = judgements.unknown(known)
    rows = judgements.rows(known)
    usable = judgements.select((rows >= 0).all(axis=1) & (rows[:, 0] != rows[:, 1]))
    constraints = usable.constraints(ids)
    error = contradiction(constraints, n_clusters)
    places = usable.places(ids)
    count, component = constraints.components()
    links = [] if error is None else error.witness
    reason = None
    if error is not None:
        reason = headline(links, ids, n_clusters).rstrip(":") if links else str(error)
    return {
        "pairs": len(judgements),
        "n_must_link": constraints.n_must_link,
        "n_cannot_link": constraints.n_cannot_link,
        "points": len(ids),
        "points_named": len(judgements.names),
        "components": count,
        "largest_component": max(_sizes(component), default=0),
        "n_clusters": n_clusters,
        "consistent": error is None,
        "proven": True if error is None else error.proven,
        "reason": reason,
        "contradiction": [
            {"type": kind, "first": ids[i], "second": ids[j], "place": places.find(kind, i, j)} for kind, i, j in links
        ],
        "repeated": [
            {
                "first": judgements.pair(same[0])[0],
                "second": judgements.pair(same[0])[1],
                "places": list(map(table.where, same)),
            }
            for same in judgements.repeated()
        ],
        "self_pairs": [{"name": judgements.pair(row)[0], "place": table.where(row)} for row in judgements.self_pairs()],
        "unknown": [{"name": name, "place": place} for name, place in unknown.items()],
    }


def contradiction(constraints: Constraints, n_clusters: int) -> InconsistentConstraintsError | None:
    """Why that many clusters cannot satisfy the constraints, or None if they can."""
    import numpy as np
    import scipy.sparse as sp

    from tightcut import Graph, InconsistentConstraintsError
    from tightcut.search.contradiction import explain
    from tightcut.search.feasibility import find_colouring
    from tightcut.search.partition import merge_must_links
    from tightcut.search.two_clusters import reduce_to_units

    n = constraints.n_points
    edgeless = Graph(sp.csr_array((n, n)), np.ones(n))
    try:
        if n_clusters == 1:
            if constraints.n_cannot_link:
                i, j = constraints.cannot_link[0].tolist()
                return InconsistentConstraintsError([("cannot", i, j)], "One cluster cannot keep two points apart.")
        elif n_clusters == 2:
            reduce_to_units(edgeless, constraints)
        else:
            reduced = merge_must_links(edgeless, constraints, n_clusters)
            answer = find_colouring(reduced.graph, n_clusters, np.random.default_rng(0))
            if answer.colours is None:
                return explain(constraints, reduced.component, answer, n_clusters)
    except InconsistentConstraintsError as error:
        return error
    return None


def _sizes(component: Any) -> list[int]:
    import numpy as np

    return np.bincount(component).tolist()


def _print(findings: dict[str, Any], n_clusters: int, *, known_data: bool) -> None:
    print_facts(
        {
            "pairs": f"{findings['pairs']:,} lines, {findings['n_must_link']:,} different must-links, "
            f"{findings['n_cannot_link']:,} cannot",
            "points": f"{findings['points_named']:,} named"
            + (f", of {findings['points']:,} in the data" if known_data else ""),
            "components": f"{findings['components']:,} sets of must-linked points, the largest of "
            f"{findings['largest_component']:,}",
        }
    )
    _print_list(
        "repeated", findings["repeated"], lambda row: f"{row['first']}, {row['second']}: {_joined(row['places'])}"
    )
    _print_list("paired with themselves", findings["self_pairs"], lambda row: f"{row['name']}: {row['place']}")
    _print_list("not in the data", findings["unknown"], lambda row: f"{row['name']}: {row['place']}")
    if findings["consistent"]:
        click.echo(f"\nConsistent: {n_clusters} clusters can satisfy all of them.")
        return
    click.echo(f"\n{'Inconsistent' if findings['proven'] else 'Not shown to be consistent'}: {findings['reason']}")
    for link in findings["contradiction"]:
        click.echo(f"  {link['first']} {link['type']}-link {link['second']}  ({link['place']})")


def _print_list(title: str, rows: list[dict[str, Any]], text: Any) -> None:
    if rows:
        click.echo(f"\n{len(rows):,} {title}:")
        for row in rows[:SHOWN]:
            click.echo(f"  {text(row)}")
        if len(rows) > SHOWN:
            click.echo(f"  ... and {len(rows) - SHOWN:,} more")


def _joined(places: list[str]) -> str:
    """pairs.csv, line 3; pairs.csv, line 8 -> pairs.csv, line 3, line 8."""
    return ", ".join([places[0], *(place.rpartition(", ")[2] for place in places[1:])])
