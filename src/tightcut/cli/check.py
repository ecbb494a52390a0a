"""`tightcut check`: whether the constraints are consistent, and what is odd about them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tightcut.cli._app import BAD_INPUT, INCONSISTENT
from tightcut.cli._console import Console, in_columns
from tightcut.cli._options import FILE, console_options, data_options, n_clusters_option
from tightcut.utils.display import count_noun

if TYPE_CHECKING:
    from tightcut import Constraints, InconsistentConstraintsError
    from tightcut.files import Judgements

SHOWN = 10


@click.command(short_help="Say whether K clusters can satisfy PAIRS.")
@click.argument("pairs", type=FILE)
@click.argument("data", type=FILE, required=False)
@n_clusters_option(default=2)
@data_options
@console_options("as_json")
def check(pairs: Path, data: Path | None, n_clusters: int, console: Console, **options: Any) -> None:
    """Say whether K clusters can satisfy PAIRS, and if not, why not.

    Also lists repeated pairs, pairs of a point with itself, and, with DATA, names that DATA does not have. Without
    DATA there may be any number of points beside those that PAIRS names.

    The exit code is 0 if all is well, 3 for a contradiction, 1 for names that are unknown or paired with themselves.
    """
    from tightcut.cli._inputs import reading_options
    from tightcut.files import read_data, read_pairs

    judgements = read_pairs(pairs, options["decimal"])
    ids = None if data is None else read_data(data, reading_options(options, features=False)).ids
    findings = examine(judgements, ids, n_clusters)
    console.show(findings, _lines(findings))
    if findings["unknown"] and options["id"] is None:
        console.note("If a column of DATA holds the names, name it: --id COL")
    if not findings["consistent"]:
        raise click.exceptions.Exit(INCONSISTENT)
    if findings["unknown"] or findings["self_pairs"]:
        raise click.exceptions.Exit(BAD_INPUT)


def examine(judgements: Judgements, ids: list[str] | None, n_clusters: int) -> dict[str, Any]:
    """All findings as plain values. Lines with unknown names or self-pairs take no part in the question."""
    import numpy as np

    from tightcut.utils.contradictions import story

    table, names = judgements.table, judgements.names if ids is None else ids
    known = {identifier: row for row, identifier in enumerate(names)}
    rows = judgements.rows(known)
    usable = judgements.select((rows >= 0).all(axis=1) & (rows[:, 0] != rows[:, 1]))
    constraints, places = usable.constraints(names), usable.places(names)
    count, component = constraints.components()
    # Without data, each cluster may have a point that no pair names: none need be empty.
    error = contradiction(constraints, n_clusters, 0 if ids is not None else n_clusters)
    links = [] if error is None else error.witness
    return {
        "pairs": len(judgements),
        "n_must_link": constraints.n_must_link,
        "n_cannot_link": constraints.n_cannot_link,
        "points": None if ids is None else len(ids),
        "points_named": len(judgements.names),
        "components": count,
        "largest_component": int(np.bincount(component).max(initial=0)),
        "n_clusters": n_clusters,
        "points_needed": 0 if ids is not None or error is not None else max(0, n_clusters - count),
        "consistent": error is None,
        "proven": error is None or error.proven,
        "reason": None if error is None else story(error, names.__getitem__)[0],
        "contradiction": [
            {"type": kind, "first": names[i], "second": names[j], "place": places(kind, i, j)} for kind, i, j in links
        ],
        "repeated": [
            {
                **dict(zip(("first", "second"), judgements.pair(same[0]), strict=True)),
                "places": list(map(table.where, same)),
            }
            for same in judgements.repeated()
        ],
        "self_pairs": [{"name": judgements.pair(row)[0], "place": table.where(row)} for row in judgements.self_pairs()],
        "unknown": [{"name": name, "place": place} for name, place in judgements.unknown(known).items()],
    }


def contradiction(constraints: Constraints, n_clusters: int, n_others: int) -> InconsistentConstraintsError | None:
    """Why that many clusters of these points and `n_others` more cannot satisfy the constraints; None if they can."""
    import scipy.sparse as sp

    from tightcut import Constraints, InconsistentConstraintsError
    from tightcut.clustering.cluster import cluster
    from tightcut.problem.graph import Graph

    n = constraints.n_points + n_others
    known = Constraints.from_pairs(n, constraints.must_link, constraints.cannot_link)
    without_edges = Graph.from_affinity(sp.csr_array((n, n)), "ones")
    found = None
    for effort in (0, 1):
        try:
            # Every clustering that satisfies the constraints is as good as any other.
            cluster(without_edges, known, n_clusters, effort=effort, random_state=0)
        except InconsistentConstraintsError as error:
            found = error
            if error.proven:
                break
        else:
            return None
    return found


def _lines(findings: dict[str, Any]) -> Iterator[str]:
    points, alone = findings["points"], len(findings["self_pairs"]) == 1
    yield from in_columns(
        {
            "pairs": f"{count_noun(findings['pairs'], 'line')}: {count_noun(findings['n_must_link'], 'must-link')} and "
            f"{count_noun(findings['n_cannot_link'], 'cannot-link')}",
            "points": f"{findings['points_named']:,} named"
            + ("" if points is None else f", of {points:,} in the data"),
            "components": f"{findings['components']:,} once must-links have joined points, the largest of "
            f"{findings['largest_component']:,}",
        }
    )
    lists = {
        "repeated": [f"{row['first']}, {row['second']}: {_joined(row['places'])}" for row in findings["repeated"]],
        f"paired with {'itself' if alone else 'themselves'}": _placed(findings["self_pairs"]),
        "not in the data": _placed(findings["unknown"]),
    }
    for title, rows in lists.items():
        yield from _list(title, rows)
    yield ""
    if findings["consistent"]:
        needed = findings["points_needed"]
        others = f", if the data have at least {count_noun(needed, 'more point')}" if needed else ""
        which = "all others" if findings["self_pairs"] or findings["unknown"] else "all of them"
        yield f"Consistent: {count_noun(findings['n_clusters'], 'cluster')} can satisfy {which}{others}."
        return
    yield f"{'Inconsistent' if findings['proven'] else 'Not shown to be consistent'}: {findings['reason']}."
    for link in findings["contradiction"]:
        yield f"  {link['first']} {link['type']}-link {link['second']}  ({link['place']})"


def _placed(rows: list[dict[str, str]]) -> list[str]:
    return [f"{row['name']}: {row['place']}" for row in rows]


def _list(title: str, rows: list[str]) -> Iterator[str]:
    """The first rows below a title; nothing if there are none."""
    if rows:
        yield from ("", f"{len(rows):,} {title}:", *(f"  {row}" for row in rows[:SHOWN]))
    if len(rows) > SHOWN:
        yield f"  ... and {len(rows) - SHOWN:,} more"


def _joined(places: list[str]) -> str:
    """pairs.csv, line 3; pairs.csv, line 8 -> pairs.csv, line 3, line 8."""
    return ", ".join([places[0], *(place.rpartition(", ")[2] for place in places[1:])])
