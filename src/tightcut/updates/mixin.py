"""Methods of a fitted model: new points and constraints, names for its clusters, saving and loading."""

from __future__ import annotations

from inspect import signature
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from tightcut._support.choices import check_choice
from tightcut._support.interruption import interruptible
from tightcut.clustering import Settings, as_generator
from tightcut.constraints import Constraints
from tightcut.constraints.violations import Violations
from tightcut.inputs import check_is_fitted, gather_constraints, seed_of
from tightcut.relaxation.objective import normalized_cut
from tightcut.result import ClusteringResult
from tightcut.search.release import satisfied
from tightcut.updates.archive import ArchiveError, damage_reported, read_archive, write_archive
from tightcut.updates.changes import Changes, list_changes
from tightcut.updates.growth import Growth, for_all_points, grown, on_more_points
from tightcut.updates.loaded import check_parameters, checked_state
from tightcut.updates.local import Effort, Situation, settle

if TYPE_CHECKING:
    from tightcut.choosing import Choice, View
    from tightcut.neighbors import KnnGraph
    from tightcut.neighbors.projected import ProjectedNeighbors

KEEP = ("named", "all", "none")
TRANSIENT = ("_index", "_neighbors_found", "_viewed")  # not written, since it can be computed again


class UpdateMixin:
    """Updates, names and files of a fitted `COSC`.

    Clusters have ids. A fit numbers them 0, ..., k - 1; an update gives new clusters the next numbers and never reuses
    the number of a cluster that has ended, so that `labels_` may have gaps. `n_clusters_` is the number of clusters.
    """

    labels_: np.ndarray
    names_: dict[int, str]
    changes_: Changes
    constraints_: Constraints
    affinity_matrix_: sp.csr_array
    vertex_weights_: np.ndarray
    n_clusters_: int
    n_clusters_reason_: str
    n_features_in_: int
    _training_points: Any
    _n_ids: int
    _rows: dict[str, Any]  # what the command line knows of the rows
    _scales: np.ndarray | None  # distances to the k-th neighbours
    _plain_affinity: sp.csr_array | None  # the graph before its diffusion
    _index: ProjectedNeighbors | None = None  # for neighbours of new points
    _neighbors_found: KnnGraph | None = None  # by the fit that is under way

    if TYPE_CHECKING:
        affinity: str
        metric: str
        criterion: str
        effort: float
        n_jobs: int | None
        random_state: Any
        device: str

        choice_: Choice
        _view: View | None
        _viewed: Any

        def _read_new(self, X: Any) -> Any: ...

        def _viewed_points(self, view: View) -> Any: ...

    def update(
        self,
        X_new: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        partial_labels: Any = None,
        cannot_link_groups: Any = None,
        constraints: Constraints | None = None,
        vertex_weights: Any = None,
        keep: str = "named",
        full: bool = False,
    ) -> Self:
        """Add new points and new constraints, and change the rest of the clustering as little as possible.

        New points get the next row numbers and join the clusters of their neighbours. Old points change their cluster
        only if a constraint forces them to, or if the cut falls clearly: if their edges to the other cluster outweigh
        those to their own by a tenth of their total weight. Every constraint holds afterwards, old or new. `changes_`
        lists what has changed, and why.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features), or similarities of shape (n_new, n_samples + n_new), optional
            New points; with `affinity="precomputed"` their similarities to the old points and among themselves.
        must_link, cannot_link : sequence of pairs, array of shape (m, 2), data frame or sparse matrix, optional
            Pairs of rows, as in `fit`. Rows from n_samples on are those of `X_new`.
        partial_labels, cannot_link_groups : array-like of shape (n_samples + n_new,) or (n_new,), optional
            Known classes and groups, as in `fit`, of all points or of the new ones.
        constraints : Constraints, optional
            On all n_samples + n_new points.
        vertex_weights : array-like of shape (n_new,), optional
            Those of the new points, if the model was fitted with weights of your own.
        keep : {"named", "all", "none"}, default="named"
            Which old points leave their cluster only if a constraint forces them to: those of clusters with a name, all,
            or none. With "none" the others move for any gain of the cut, however small.
        full : bool, default=False
            Search among all points that need not be kept, as `fit` does, instead of only near new points and constraints.

        Returns
        -------
        self

        Raises
        ------
        InconsistentConstraintsError
            If the constraints contradict each other. The model stays as it was.

        Notes
        -----
        *New clusters* are created where constraints exclude a point from every existing cluster, for example by a
        cannot-link to a member of each. Such a cluster has a new id, and `n_clusters_` grows. A cluster ends when
        must-links take all its points into others.

        *Violated pairs.* Constraints that the fit was allowed to violate may still be violated; all others hold.

        *Work* is the search for neighbours of the new points, a local search near new points and constraints, and a few
        passes over the edges of the graph.

        Examples
        --------
        Two groups on a line, and a new point in each:

        >>> from tightcut import COSC
        >>> model = COSC(n_neighbors=3, random_state=0).fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
        >>> model.name(0, "low")
        >>> model.update([[0.5], [6.5]]).labels_.tolist()
        [0, 0, 0, 1, 1, 1, 0, 1]

        Point 7 must be in neither, so a new cluster is created:

        >>> model.update(cannot_link=[(0, 7), (4, 7)], keep="all").labels_.tolist()
        [0, 0, 0, 1, 1, 1, 0, 2]
        >>> model.changes_[0].kind, model.changes_[0].reason
        ('split', '4 cannot-link 7')
        """
        check_is_fitted(self)
        check_choice("keep", keep, KEEP)
        if not isinstance(full, bool):
            raise TypeError(f"full must be True or False; got {full!r}.")
        with interruptible():
            growth = grown(self, X_new, vertex_weights)
            n, n_old = growth.graph.n_vertices, len(self.labels_)
            fresh = gather_constraints(
                Constraints.from_pairs(n, must_link, cannot_link),
                constraints,
                for_all_points(partial_labels, n_old, n, "partial_labels"),
                for_all_points(cannot_link_groups, n_old, n, "cannot_link_groups"),
            )
            held = on_more_points(satisfied(self.constraints_, self.labels_), n) | fresh
            before = np.append(self.labels_, np.full(n - n_old, -1))
            ids, codes = np.unique(self.labels_, return_inverse=True)
            situation = Situation(
                growth.graph,
                held,
                np.isin(np.arange(n), np.concatenate([fresh.must_link, fresh.cannot_link])),
                np.append(codes, np.full(n - n_old, -1)),
                (before >= 0) & ((keep == "all") | ((keep == "named") & np.isin(before, list(self.names_)))),
                any_gain=keep == "none",
            )
            options = Settings(effort=self.effort, n_jobs=self.n_jobs, device=self.device).options(None)
            effort = Effort(self.choice_.setting.influence, options if full else None)
            found = settle(situation, effort, as_generator(seed_of(self.random_state)))
        labels, n_ids = self._identified(found, situation.before, ids)
        everything = on_more_points(self.constraints_, n) | fresh
        names = {cluster: name for cluster, name in self.names_.items() if (labels == cluster).any()}
        changes = list_changes(before, labels, held, fresh, names)
        # Nothing above touches the model: an update that raises leaves it as it was.
        self._adopt(growth, labels, everything)
        self._n_ids, self.names_, self.changes_ = n_ids, names, changes
        return self

    def name(self, cluster: int, name: str) -> None:
        """Give a cluster a name. By default the members of a cluster with a name are kept in updates.

        Names are in `names_`, a dict from ids to names, and stay with the model in `update`, `save` and `load`; `fit`
        begins without any. ``del model.names_[cluster]`` takes a name away.

        Parameters
        ----------
        cluster : int
            Its number in `labels_`.
        name : str
            Each name belongs to one cluster.

        Examples
        --------
        >>> from tightcut import COSC
        >>> model = COSC(n_neighbors=3, random_state=0).fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
        >>> model.name(1, "Anna")
        >>> model.names_
        {1: 'Anna'}
        """
        check_is_fitted(self)
        known = np.unique(self.labels_).tolist()
        if isinstance(cluster, bool) or not isinstance(cluster, Integral) or int(cluster) not in known:
            shown = ", ".join(map(str, known[:20])) + (", ..." if len(known) > 20 else "")
            raise ValueError(f"There is no cluster {cluster!r}; the clusters are {shown}.")
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"A name must be a string that is not empty; got {name!r}.")
        for other, text in self.names_.items():
            if text == name and other != cluster:
                raise ValueError(f"Cluster {other} is named {name!r} already; names must differ.")
        self.names_[int(cluster)] = name

    def save(self, path: Any) -> None:
        """Write the fitted model into a file, for `COSC.load`.

        The file is a zip archive of arrays (NPY) and one JSON document; no pickle, so that loading a file runs no code. It
        holds the parameters, the graph, the constraints, the points of `affinity="knn"`, labels and names. An existing file
        is replaced, whole or not at all.

        Parameters
        ----------
        path : path-like
            Its name usually ends in `.tcut`.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tightcut import COSC
        >>> model = COSC(n_neighbors=3, random_state=0).fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(Path(folder, "model.tcut"))
        ...     again = COSC.load(Path(folder, "model.tcut"))
        >>> again.predict([[6.2]]).tolist()
        [1]
        """
        from tightcut import __version__

        check_is_fitted(self)
        parameters = {name: getattr(self, name) for name in signature(type(self)).parameters}
        state = {name: value for name, value in vars(self).items() if name not in parameters and name not in TRANSIENT}
        write_archive(Path(path), parameters, state, __version__)

    @classmethod
    def load(cls, path: Any) -> Self:
        """The model that `save` has written.

        Raises
        ------
        ValueError
            If the file is not a model, is damaged, or was written by a version of tightcut whose files this version
            cannot read.
        """
        parameters, state = read_archive(Path(path))
        try:
            model = cls(**parameters)
        except TypeError as error:
            raise ArchiveError(
                f"{path} has parameters that this version of tightcut does not know: {error}."
            ) from error
        with damage_reported(path):
            check_parameters(parameters)
            for name, value in checked_state(state).items():
                if not _is_state(name) or hasattr(cls, name):
                    raise ValueError(f"a model has no attribute {name!r:.40}")
                setattr(model, name, value)
        return model

    def _begin(self, result: ClusteringResult) -> None:
        """Take the result of a fit, without names and changes."""
        self.labels_, self.cut_ = result.labels, result.cut
        self._note_violations(result.violations, result.violated_belief_bound)
        for name, value in (("history_", result.history), ("hierarchy_", result.hierarchy)):
            vars(self).pop(name, None)
            if value is not None:
                setattr(self, name, value)
        self._n_ids, self.names_, self.changes_ = int(self.labels_.max()) + 1, {}, Changes()
        found = self._neighbors_found
        for name in (*TRANSIENT, "_rows", "neighbor_recall_"):
            vars(self).pop(name, None)
        self._scales = self._plain_affinity = None
        if found is not None:
            if self.choice_.setting.diffusion:
                self._plain_affinity = found.plain
            from tightcut.neighbors.projected import ProjectedNeighbors

            self._scales, self._index = found.distances[:, -1].copy(), ProjectedNeighbors.over(found.index, self.n_jobs)

    def _note_violations(self, violations: Violations, bound: float | None = None) -> None:
        self.violated_belief_bound_ = bound
        self.n_violations_, self.violated_belief_ = violations.n_violations, violations.belief
        self.violated_must_link_, self.violated_cannot_link_ = violations.must_link, violations.cannot_link

    def _identified(self, found: np.ndarray, before: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, int]:
        """Ids for the clusters that `settle` has found, and how many ids have been given so far."""
        codes, place = np.unique(found, return_inverse=True)
        alive = np.unique(found[found == before])
        kept = np.isin(codes, alive)
        given = np.empty(len(codes), np.int64)
        given[kept] = ids[codes[kept]]
        n_born = int((~kept).sum())
        given[~kept] = self._n_ids + np.arange(n_born)
        return given[place], self._n_ids + n_born

    def _adopt(self, growth: Growth, labels: np.ndarray, constraints: Constraints) -> None:
        graph = growth.graph
        if growth.neighbourhoods is not None:
            self._scales, self._index = growth.neighbourhoods.scales, growth.neighbourhoods.index
            self._plain_affinity, self._viewed = growth.plain, growth.viewed
        ids, codes = np.unique(labels, return_inverse=True)
        if len(ids) != self.n_clusters_:
            self.n_clusters_reason_ = f"{len(ids)} are left after an update; the fit had {self.n_clusters_}."
        if self._training_points is None:
            self.n_features_in_ = graph.n_vertices
            vars(self).pop("feature_names_in_", None)
        self._training_points, self.labels_, self.n_clusters_ = growth.points, labels, len(ids)
        self.affinity_matrix_, self.vertex_weights_ = graph.weights, graph.vertex_weights
        self.constraints_, self.cut_ = constraints, normalized_cut(graph, codes)
        self._note_violations(constraints.violations(labels))
        for name in ("history_", "hierarchy_"):  # of the fit
            vars(self).pop(name, None)
        if "_rows" in vars(self) and len(self._rows["ids"]) != len(labels):
            del self._rows  # new rows have no identifiers


def _is_state(name: str) -> bool:
    return name.isidentifier() and not name.startswith("__") and (name.startswith("_") or name.endswith("_"))
