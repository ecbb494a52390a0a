"""Read pairs from a table or from the journal of `tightcut ask`, and report contradictions in the user's words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightcut.cli._console import Console
from tightcut.utils.contradictions import Wording

if TYPE_CHECKING:
    from tightcut import Constraints
    from tightcut.files import Judgements
    from tightcut.fitted.state import FittedState

Place = Callable[[str, int, int], str]  # of a link, given its kind, "must" or "cannot", and its points

# What the remedies are called here.
OPTIONS = Wording(
    pairs="lines",
    effort="--effort",
    limit="--max-violations",
    fewer="ask for fewer clusters (-k)",
    more="ask for more clusters (-k)",
    fewest="use --max-violations fewest to violate as little as possible",
)


@dataclass(frozen=True, eq=False)
class KnownPairs:
    """What `--constraints` names: a table of pairs, a journal of answers, or nothing."""

    table: Judgements | None = None
    answers: Path | None = None

    @classmethod
    def read(cls, path: Path | None, decimal: str) -> KnownPairs:
        """The table is read at once; a journal, which is about certain rows, when those are known."""
        from tightcut.files import read_pairs
        from tightcut.files.sources import check_readable

        if path is None:
            return cls()
        if path.suffix != ".jsonl":
            return cls(read_pairs(path, decimal))
        check_readable(path)
        return cls(answers=path)

    def constraints(self, ids: Sequence[str], source: str, X: Any, affinity: str) -> Constraints | None:
        """On the rows with these ids; a journal must be about `X`, to which the ids may add others at the end."""
        from tightcut import Constraints
        from tightcut.ask import read_constraints

        if self.table is not None:
            return self.table.constraints(ids, source)
        if self.answers is None:
            return None
        known = read_constraints(self.answers, X.shape[0], X=X, affinity=affinity)
        beliefs = known.must_link_belief, known.cannot_link_belief
        return Constraints.from_pairs(len(ids), known.must_link, known.cannot_link, *beliefs)

    def places(self, ids: Sequence[str], elsewhere: str) -> Place:
        """A function that says where a link comes from: a line of the table, the journal, or elsewhere."""
        if self.answers is not None:
            return lambda *_: str(self.answers)
        find = (lambda *_: None) if self.table is None else self.table.places(ids)
        return lambda *link: find(*link) or elsewhere


def with_names(model: FittedState, answers: Path, console: Console) -> FittedState:
    """Name clusters as the answers name groups, where neither has a name yet."""
    import numpy as np

    from tightcut.ask.journal.replay import read_named_rows

    for name, members in read_named_rows(answers).items():
        ids, counts = np.unique(model.labels[members], return_counts=True)
        cluster = int(ids[counts.argmax()])
        if cluster not in model.names and name not in model.names.values():
            model = model.named(cluster, name)
        elif model.names.get(cluster) != name:
            console.note(f"Note: group {name!r} of {answers} is in cluster {cluster}, which keeps its name.")
    return model


@contextmanager
def contradictions_explained(
    ids: Sequence[str], places: Callable[[], Place], n_clusters: int | None, advice: str | None = None
) -> Iterator[None]:
    """Tell contradictions by the names of rows, the places of pairs and the options of commands."""
    from tightcut.exceptions import InconsistentConstraintsError
    from tightcut.utils.contradictions import explain

    try:
        yield
    except InconsistentConstraintsError as error:
        error.n_clusters = n_clusters or error.n_clusters
        error.args = (explain(error, ids.__getitem__, places(), OPTIONS, advice),)
        raise
