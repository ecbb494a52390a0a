"""The parameters of a fit, checked before any time is spent."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from tightcut.clustering.arguments import ClusterOptions, check_number
from tightcut.neighbors import GIVEN, METRICS, KnnSettings
from tightcut.selection.graph_config import AUTO, N_NEIGHBORS, KnnAffinity, Setting
from tightcut.selection.scale import SCALES
from tightcut.utils.validation import check_choice, check_count

VERTEX_WEIGHTS = {"ncut": "degree", "rcut": "ones"}
OF_THE_GRAPH = tuple(field.name for field in fields(KnnAffinity))


@dataclass(frozen=True)
class Parameters:
    """Those of `tightcut.COSC`, which documents them."""

    n_clusters: int | str = 2
    criterion: str = "ncut"
    affinity: str | KnnAffinity = "knn"
    metric: str = "euclidean"
    scale: str = AUTO
    n_neighbors: int | str = AUTO
    max_violations: float | str = 0
    method: str = "search"
    effort: float = 1.0
    influence: float | str = AUTO
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    device: str = "cpu"

    @classmethod
    def of(cls, estimator: Any) -> Parameters:
        return cls(**{field.name: getattr(estimator, field.name) for field in fields(cls)})

    @classmethod
    def from_flat(cls, **given: Any) -> Parameters:
        """From names of which some belong to `KnnAffinity`, as on the command line and in saved models."""
        graph = KnnAffinity(**{name: given.pop(name) for name in OF_THE_GRAPH if name in given})
        if given.get("affinity", "knn") == "knn" and graph != KnnAffinity():
            given["affinity"] = graph
        return cls(**given)

    def flat(self) -> dict[str, Any]:
        """The inverse of `from_flat`."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return own | asdict(self.graph) | {"affinity": "precomputed" if self.is_precomputed else "knn"}

    @property
    def is_precomputed(self) -> bool:
        return isinstance(self.affinity, str) and self.affinity == "precomputed"

    @property
    def graph(self) -> KnnAffinity:
        return self.affinity if isinstance(self.affinity, KnnAffinity) else KnnAffinity()

    @property
    def wanted(self) -> dict[str, Any]:
        """What `Setting` has; whatever is "auto" is chosen."""
        return {
            name: getattr(self.graph if name in OF_THE_GRAPH else self, name)
            for name in (field.name for field in fields(Setting))
        }

    @property
    def knn(self) -> KnnSettings:
        """What all graphs share."""
        return KnnSettings(
            N_NEIGHBORS,
            metric=self.metric,
            neighbors=self.graph.neighbors,
            connect=self.graph.connect,
            n_jobs=self.n_jobs,
            device=self.device,
        )

    @property
    def vertex_weights(self) -> str:
        """Those of the criterion."""
        return VERTEX_WEIGHTS[self.criterion]

    def check(self) -> None:
        """Refuse a wrong value, or one that would have no effect."""
        check_choice("criterion", self.criterion, VERTEX_WEIGHTS)
        if not isinstance(self.affinity, KnnAffinity):
            check_choice("affinity", self.affinity, ("knn", "precomputed"))
        check_choice("metric", self.metric, METRICS)
        check_count("n_clusters", self.n_clusters, 1, AUTO)
        check_choice("scale", self.scale, (AUTO, *SCALES))
        check_count("n_neighbors", self.n_neighbors, 1, AUTO)
        if self.is_precomputed:
            self._check_given_similarities()
        if self.metric == GIVEN:
            self._check_given_distances()
        influence = 0.0 if self.influence == AUTO else self.influence
        check_number("influence", influence, 'a number >= 0, or "auto"')
        ClusterOptions(self.max_violations, self.method, self.effort, influence, self.n_jobs, self.device)  # type: ignore[arg-type]

    def _check_given_similarities(self) -> None:
        """Refuse what has no effect on a graph that is given."""
        if self.metric == GIVEN:
            raise ValueError(
                'affinity="precomputed" says that X holds similarities, and metric="precomputed" that it holds distances. '
                'For distances leave affinity="knn"; for similarities leave metric="euclidean".'
            )
        for name, allowed in (("scale", (AUTO, "none")), ("metric", ("euclidean",)), ("n_neighbors", (AUTO,))):
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is for making a graph from points, and with "
                    f'affinity="precomputed" X is the graph. Leave it out, or pass points with affinity="knn".'
                )

    def _check_given_distances(self) -> None:
        """Refuse what has no meaning for distances that are given."""
        for name, value, default in (
            ("scale", self.scale, "none"),
            ("learn_distances", self.graph.learn_distances, False),
        ):
            if value not in (AUTO, default):
                raise ValueError(
                    f'{name}={value!r} applies to columns, and metric="{GIVEN}" has distances instead. Leave it out.'
                )
        KnnSettings(metric=GIVEN, neighbors=self.graph.neighbors)
