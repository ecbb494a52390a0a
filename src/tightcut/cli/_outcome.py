"""The result of `tightcut cluster` as a summary, as JSON and as a report."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from tightcut.cli._inputs import Inputs
from tightcut.utils.display import count_noun, shown_sizes
from tightcut.utils.rounding import BELIEF_ROUNDING

if TYPE_CHECKING:
    import numpy as np

    from tightcut.audit import Audit
    from tightcut.certificates import Certificate
    from tightcut.files import Data
    from tightcut.fitted.state import FittedState

SIZES_SHOWN, COLUMNS_SHOWN, VIOLATED_SHOWN = 20, 15, 10
COLUMNS_COMPARED, ROWS_COMPARED = 200, 20_000  # with the clusters
COPY = 0.99  # share of the points of which a column and the clusters tell each other
CLUSTERS_DESCRIBED = 20  # at most, on the terminal
EXPENSIVE = 1.5  # times the cut without pairs


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted model, and what its pairs cost where that was asked for."""

    inputs: Inputs
    model: FittedState
    options: dict[str, Any]
    images: np.ndarray | None = None
    free_cut: float | None = None
    prices: Audit | None = None
    certificate: Certificate | None = None

    def priced(self, *, each: bool) -> Outcome:
        """With the cut without pairs and, if wanted, the price of each."""
        from tightcut.audit import cut_without_constraints

        seed = self.options["random_state"]
        if each:
            prices = self.model.audit(random_state=seed, progress=self.inputs.console.progress())
            return replace(self, free_cut=min(prices.free_cut, self.model.result.cut), prices=prices)
        return replace(self, free_cut=cut_without_constraints(self.model.graph, self.model.labels, seed))

    def doubts(self) -> Iterator[str]:
        """Notes on what may not be as the person wants it."""
        followed = columns_followed(self.inputs.data, self.model.labels)
        if followed:
            from tightcut.files.errors import listed

            column = f"column{'s' if len(followed) > 1 else ''} {listed(followed)}"
            yield (
                f"Note: the clusters say the same as {column}. If that is not what you look for, leave "
                f"{'them' if len(followed) > 1 else 'it'} out: --drop {shlex.quote(','.join(followed))}"
            )
        price = self._price_of_pairs()
        if price is not None:
            yield price

    def _price_of_pairs(self) -> str | None:
        """A note if the pairs make the cut much larger."""
        ratio = self.model.result.cut / self.free_cut if self.free_cut else 1.0
        if ratio <= EXPENSIVE:
            return None
        size = f"{ratio:.1f} times as large as" if ratio < 100 else "far larger than"
        return f"Note: the pairs make the cut {size} without them. Some may be wrong: tightcut audit shows what each costs."

    def violated(self) -> Iterator[str]:
        """A line for each of the first violated pairs."""
        from tightcut.utils.contradictions import link_lines

        pairs = [("must", i, j) for i, j in self.model.result.violations.must_link.tolist()]
        pairs += [("cannot", i, j) for i, j in self.model.result.violations.cannot_link.tolist()]
        if pairs:
            yield "violated:"
            yield from link_lines(pairs[:VIOLATED_SHOWN], self.inputs.data.ids.__getitem__, self.inputs.place)
        if len(pairs) > VIOLATED_SHOWN:
            yield f"  ... and {len(pairs) - VIOLATED_SHOWN:,} more; --json lists them all"

    def described(self) -> Iterator[str]:
        """A line for each cluster, if there are few: its means in the columns, or the words, that distinguish it."""
        import numpy as np

        from tightcut.features import distinctive_words
        from tightcut.report.clusters import distinctive_columns

        data, model = self.inputs.data, self.model
        ids, codes = np.unique(model.labels, return_inverse=True)
        if not 1 < len(ids) <= CLUSTERS_DESCRIBED or self.images is not None:
            return
        if data.texts is not None:
            told = [", ".join(words) for words in distinctive_words(data.texts, codes).values()]
        elif data.points is not None and data.columns and not data.made_by:
            found = distinctive_columns(data.points, _shown_columns(data), codes)
            told = [", ".join(f"{column} = {mean:.4g}" for column, mean, _ in own) for own in found]
        else:
            return
        yield f"{'words' if data.texts is not None else 'means'} that distinguish each cluster:"
        titles = [
            f"{cluster}" + (f" {model.names[cluster]}" if cluster in model.names else "") for cluster in ids.tolist()
        ]
        width = max(map(len, titles))
        yield from (f"  {title:<{width}}  {line or 'nothing'}" for title, line in zip(titles, told, strict=True))

    def facts(self, found: dict[str, Any]) -> dict[str, Any]:
        """What a person is shown of a summary."""
        from tightcut.files.errors import listed
        from tightcut.report import CRITERIA

        suspects, without = found["columns_like_the_answer"], found["cut_without_pairs"]
        violated = violated_pairs(self.model)
        if found["violated_belief"] != found["n_violations"]:
            violated += f" (belief {found['violated_belief']:g})"
        if found["n_violations"] and found["violated_belief_bound"]:
            bound = found["violated_belief_bound"]
            fewest = found["violated_belief"] <= bound + BELIEF_ROUNDING
            violated += ", no clustering violates less" if fewest else f"; every clustering violates at least {bound:g}"
        n_columns = len(self.inputs.data.columns)
        columns = f"{n_columns:,}, with {listed(suspects)}, which looks like the answer (--drop leaves it out)"
        free = "" if without is None else f"; {without:.6g} without pairs"
        return {
            "points": f"{found['n_points']:,}"
            + (f", {found['n_left_out']:,} without a label" if found["n_left_out"] else ""),
            "columns": columns if suspects else None,
            "clusters": f"{len(found['sizes']):,}, of {shown_sizes(found['sizes'], SIZES_SHOWN)} points",
            "cut": f"{found['cut']:.6g} ({CRITERIA[found['criterion']]}{free})",
            "proven": None if self.certificate is None else str(self.certificate),
            "violated": violated,
            "seconds": found["seconds"],
        }

    def summary(self, seconds: float) -> dict[str, Any]:
        """What --json prints."""
        import numpy as np

        data, model = self.inputs.data, self.model
        violated = {kind: getattr(model.result.violations, kind).tolist() for kind in ("must_link", "cannot_link")}
        return {
            "data": str(data.path),
            "n_points": data.n_rows,
            "n_left_out": len(data.left_out),
            "columns_like_the_answer": list(data.suspects),
            "n_edges": model.graph.weights.nnz // 2,
            "neighbor_recall": None if data.is_graph else model.built.recall,
            "n_clusters": model.n_clusters,
            "sizes": np.unique(model.labels, return_counts=True)[1].tolist(),
            "criterion": model.parameters.criterion,
            "cut": model.result.cut,
            "cut_without_pairs": self.free_cut,
            **({} if self.certificate is None else {"bound": self.certificate.bound, "gap": self.certificate.gap}),
            "n_must_link": model.constraints.n_must_link,
            "n_cannot_link": model.constraints.n_cannot_link,
            "n_violations": model.result.n_violations,
            "violated_belief": model.result.violated_belief,
            "violated_belief_bound": model.result.violated_belief_bound,
            **{f"violated_{kind}": [[data.ids[i], data.ids[j]] for i, j in pairs] for kind, pairs in violated.items()},
            "settings": asdict(model.choice.setting),
            "settings_reason": model.choice.reason,
            "seconds": round(seconds, 3),
            "seed": model.parameters.random_state,
        }

    def page(self, seconds: float) -> str:
        """The report."""
        data = self.inputs.data
        return model_page(
            self.model,
            data.ids,
            data.path.stem,
            {**self._page_facts(), "Time": f"{seconds:.1f} s"},
            columns=() if self.images is not None else _shown_columns(data),  # a pixel distinguishes nothing
            texts=data.texts,
            prices=self.prices,
            places=self.inputs.place,
            free_cut=self.free_cut,
            certificate=self.certificate,
            images=self.images,
            layout=self.options["map"],
        )

    def _page_facts(self) -> dict[str, str]:
        from tightcut.selection import SCALED_TO

        data, options, model = self.inputs.data, self.options, self.model
        setting = model.choice.setting
        facts = {"File": data.path.name}
        if model.parameters.metric == "precomputed":
            facts["Distances"] = "as given"
        elif data.made_by:
            facts["Points"] = data.made_by
        elif not data.is_graph:
            hidden = len(data.columns) - COLUMNS_SHOWN
            columns = ", ".join(data.columns[:COLUMNS_SHOWN]) + (f" and {hidden} more" if hidden > 0 else "")
            columns = count_noun(len(data.columns), "column") if _are_numbered(data) else columns
            learned = ", distances learned from must-links" if setting.learn_distances else ""
            facts["Columns"] = f"{columns} ({SCALED_TO[setting.scale]}{learned})"
        if not data.is_graph:
            facts["Neighbours of each point"] = str(setting.n_neighbors)
            if setting.diffusion > 0:
                facts["Steps of diffusion"] = str(setting.diffusion)
            if setting.symmetrize == "mean":
                facts["Weight of an edge"] = "mean of its two ends"
            if model.built.recall is not None and model.built.recall < 1:
                facts["Share of them that are true neighbours"] = f"{model.built.recall:.1%}"
        pairs = self.inputs.pairs.table
        if pairs is not None:
            facts["Pairs"] = f"{pairs.path.name}, {len(pairs):,} lines"
        if self.inputs.labels_column is not None:
            facts["Known classes"] = f"column {self.inputs.labels_column!r}"
        if not model.constraints.is_empty:
            limit = options["max_violations"]
            facts["Violations allowed"] = "as few as possible" if limit == "fewest" else f"{limit:g}"
        if options["method"] == "paper":
            facts["Method"] = "the paper's algorithm"
        if setting.influence > 0:
            facts["Influence on neighbours"] = f"{setting.influence:g}"
        facts["Chosen"] = self.model.choice.reason
        facts["Effort, seed"] = f"{options['effort']:g}, {options['random_state']}"
        return facts


def columns_followed(data: Data, labels: np.ndarray) -> list[str]:
    """Columns of categories, encoded or of few whole numbers, of which the clusters are a copy."""
    import numpy as np

    from tightcut.files.features import MOST_CLASSES
    from tightcut.selection.categories import category_groups

    # Sparse columns are words or distances, and not categories.
    if not isinstance(data.points, np.ndarray) or data.made_by or len(data.columns) > COLUMNS_COMPARED:
        return []
    if len(np.unique(labels)) < 2:
        return []
    points = data.points[:ROWS_COMPARED]
    clusters = np.unique(labels[:ROWS_COMPARED], return_inverse=True)[1]
    codes: dict[str, np.ndarray] = {}
    encoded = category_groups(points)
    for group in encoded:
        codes[data.columns[group.start].rpartition("=")[0] or data.columns[group.start]] = points[:, group].argmax(
            axis=1
        )
    inside = {place for group in encoded for place in range(group.start, group.stop)}
    for place, name in enumerate(data.columns):
        if place not in inside:
            values, found = np.unique(points[:, place], return_inverse=True)
            if 1 < len(values) <= MOST_CLASSES and (values % 1 == 0).all():
                codes[name] = found
    return [name for name, column in codes.items() if _is_copy(column, clusters)]


def _is_copy(column: np.ndarray, clusters: np.ndarray) -> bool:
    """Whether nearly every value belongs to one cluster, and every cluster to one value."""
    import numpy as np

    table = np.zeros((column.max() + 1, clusters.max() + 1), dtype=np.int64)
    np.add.at(table, (column, clusters), 1)
    return bool(min(table.max(axis=0).sum(), table.max(axis=1).sum()) >= COPY * len(clusters))


def _are_numbered(data: Data) -> bool:
    """Whether the columns have numbers in place of names."""
    return list(data.columns) == [str(number + 1) for number in range(len(data.columns))]


def _shown_columns(data: Data) -> Sequence[str]:
    return [f"column {name}" for name in data.columns] if _are_numbered(data) else data.columns


def violated_pairs(model: FittedState) -> str:
    n_pairs = model.constraints.n_pairs
    return (
        f"{model.result.n_violations:,} of {count_noun(n_pairs, 'constraint')}" if n_pairs else "no constraints given"
    )


def model_page(model: FittedState, ids: Sequence[str], name: str, facts: dict[str, str], **page: Any) -> str:
    """The report on a fitted model; `page` are further arguments of `tightcut.report.render`."""
    from datetime import datetime

    from tightcut.report import CRITERIA, render

    return render(
        model.graph,
        model.labels,
        model.constraints,
        points=model.points,
        ids=ids,
        names=model.names,
        title=f"Clusters of {name}",
        criterion=CRITERIA[model.parameters.criterion],
        facts=facts,
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
        **page,
    )


def pictures(data: Data, shape: tuple[int, int] | None) -> np.ndarray | None:
    """The rows as pictures of that height and width, in grey or in three colours; None without a size."""
    from tightcut.files import InputError

    if data.pictures is not None:
        if shape is not None:
            raise InputError(f"--images: the pictures of {data.path} are shown as they are; leave it out.")
        return data.pictures.thumbnails
    if shape is None:
        return None
    size = 0 if data.points is None else data.points.shape[1]
    if data.points is None or size not in {shape[0] * shape[1], 3 * shape[0] * shape[1]}:
        found = "is a graph" if data.points is None else f"has rows of {size:,} values"
        raise InputError(f"--images {shape[0]}x{shape[1]}: {data.path} {found}, which does not fit.")
    return data.points.reshape(data.n_rows, *shape, *([] if size == shape[0] * shape[1] else [3]))
