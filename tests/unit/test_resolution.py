"""Scored pairs in, clusters out: tables of every kind, rules, and what the result promises."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tightcut
from tightcut import InconsistentConstraintsError, Resolution, resolve
from tightcut.files import InputError
from tightcut.resolution import Columns

SPLINK = {"unique_id_l": [1, 2, 1], "unique_id_r": [2, 3, 3], "match_probability": [0.99, 0.7, 0.02]}
CHAIN = [("ann", "anna", 0.99), ("anna", "anne", 0.7), ("ann", "anne", 0.02)]


@st.composite
def scored_pairs(draw, most=12):
    n = draw(st.integers(2, most))
    pairs = st.sampled_from(list(itertools.combinations(range(n), 2)))
    chosen = draw(st.lists(pairs, min_size=1, max_size=3 * n, unique=True))
    scores = st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])
    return [(i, j, draw(scores)) for i, j in chosen]


@st.composite
def problems(draw):
    """Pairs, and rules that some clustering keeps."""
    rows = draw(scored_pairs())
    ids = sorted({i for row in rows for i in row[:2]})
    truth = {i: draw(st.integers(0, 3)) for i in ids}
    judged = draw(st.lists(st.sampled_from(list(itertools.combinations(ids, 2))), max_size=5))
    rules = {
        "must_link": [pair for pair in judged if truth[pair[0]] == truth[pair[1]]],
        "cannot_link": [pair for pair in judged if truth[pair[0]] != truth[pair[1]]],
        # Within an entity every record has a group of its own; different entities may share groups.
        "groups": {i: sum(truth[j] == truth[i] for j in ids if j < i) for i in ids if draw(st.booleans())},
        "labels": {i: f"entity {truth[i]}" for i in ids if draw(st.integers(0, 3)) == 0},
    }
    return rows, rules


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_the_kind_of_ids_do_not_matter(problem, random):
    rows, rules = problem
    found = resolve(rows, **rules)
    shuffled = [(j, i, p) if random.random() < 0.5 else (i, j, p) for i, j, p in rows]
    random.shuffle(shuffled)
    again = resolve(shuffled, **rules)
    assert again.clusters["id"].tolist() == found.clusters["id"].tolist()
    assert again.labels.tolist() == found.labels.tolist()
    assert again.disagreement == found.disagreement
    assert repr(again.cut_edges) == repr(found.cut_edges)
    assert repr(again.doubtful) == repr(found.doubtful)
    as_text = {name: renamed(rule) for name, rule in rules.items()}
    texts = resolve([(str(i), str(j), p) for i, j, p in rows], **as_text)
    assert texts.ids.tolist() == list(map(str, found.ids.tolist()))
    assert texts.labels.tolist() == found.labels.tolist()


def renamed(rule):
    if isinstance(rule, dict):
        return {str(i): value for i, value in rule.items()}
    return [(str(i), str(j)) for i, j in rule]


@given(problems())
def test_rules_hold_and_each_cut_edge_is_there_with_a_true_reason(problem):
    rows, rules = problem
    found = resolve(rows, **rules)
    cluster = dict(zip(found.ids.tolist(), found.labels.tolist(), strict=True))
    assert all(cluster[i] == cluster[j] for i, j in rules["must_link"])
    assert all(cluster[i] != cluster[j] for i, j in rules["cannot_link"])
    for i, j in itertools.combinations(cluster, 2):
        if i in rules["groups"] and rules["groups"].get(j) == rules["groups"][i]:
            assert cluster[i] != cluster[j]
        if i in rules["labels"] and j in rules["labels"]:
            assert (cluster[i] == cluster[j]) == (rules["labels"][i] == rules["labels"][j])
    expected = {tuple(sorted(row[:2])) for row in rows if row[2] > 0.5 and cluster[row[0]] != cluster[row[1]]}
    cut = found.cut_edges
    assert set(zip(cut["a"].tolist(), cut["b"].tolist(), strict=True)) == expected
    scores = {tuple(sorted(row[:2])): row[2] for row in rows}
    for a, b, reason, one, other in zip(
        *(cut[name].tolist() for name in ("a", "b", "reason", "because_a", "because_b")), strict=True
    ):
        assert (cluster[one], cluster[other]) == (cluster[a], cluster[b])
        if reason == "cannot_link":
            assert (one, other) in rules["cannot_link"] or (other, one) in rules["cannot_link"]
        elif reason == "groups":
            assert rules["groups"][one] == rules["groups"][other]
        elif reason == "labels":
            assert rules["labels"][one] != rules["labels"][other]
        else:
            assert scores[tuple(sorted((one, other)))] < 0.5


@given(problems())
def test_doubtful_decisions_are_rules_that_change_nothing(problem):
    rows, rules = problem
    found = resolve(rows, **rules)
    doubtful = found.doubtful
    assert (np.diff(doubtful["margin"]) >= 0).all()
    pairs = list(zip(doubtful["a"].tolist(), doubtful["b"].tolist(), doubtful["type"].tolist(), strict=True))
    agreed = {
        "must_link": [*rules["must_link"], *((a, b) for a, b, kind in pairs if kind == "must")],
        "cannot_link": [*rules["cannot_link"], *((a, b) for a, b, kind in pairs if kind == "cannot")],
    }
    again = resolve(rows, **(rules | agreed))
    assert again.disagreement == pytest.approx(found.disagreement, abs=1e-6)


def test_small_components_are_proven_one_by_one():
    rows = [(10 * c + i, 10 * c + j, p) for c in range(50) for i, j, p in [(0, 1, 0.9), (1, 2, 0.8), (0, 2, 0.1)]]
    found = resolve(rows)
    assert (found.n_components, found.n_proven, found.n_clusters) == (50, 50, 100)
    assert found.disagreement == pytest.approx(found.lower_bound)
    assert found.labels.tolist() == [label for c in range(50) for label in (2 * c, 2 * c, 2 * c + 1)]


def test_a_large_component_says_how_far_from_the_best_it_may_be():
    rng = np.random.default_rng(0)
    n = 300
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    pairs = pairs[rng.random(len(pairs)) < 0.1]
    odds = rng.normal(np.where(pairs[:, 0] % 20 == pairs[:, 1] % 20, 3, -1.5), 2)
    table = {"a": pairs[:, 0], "b": pairs[:, 1], "probability": 1 / (1 + np.exp(-odds))}
    found = resolve(table)
    planted = np.abs(odds[(pairs[:, 0] % 20 == pairs[:, 1] % 20) != (odds > 0)]).sum()
    assert found.n_proven < found.n_components
    assert 0 < found.lower_bound < found.disagreement <= planted


@pytest.mark.parametrize("seed", range(3))
def test_rules_hold_in_large_components(seed):
    rng = np.random.default_rng(seed)
    n, truth = 400, np.repeat(np.arange(80), 5)
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    scored = same | (rng.random(len(pairs)) < 0.02)
    pairs, same = pairs[scored], same[scored]
    probability = 1 / (1 + np.exp(-rng.normal(np.where(same, 2, -1), 2)))
    judged = rng.random(len(pairs)) < 0.05
    must, cannot = pairs[judged & same], pairs[judged & ~same]
    source = np.tile(np.arange(5), 80)
    known = {int(i): f"entity {truth[i]}" for i in rng.choice(n, 40, replace=False)}
    table = {"a": pairs[:, 0], "b": pairs[:, 1], "probability": probability}
    groups = {"id": np.arange(n), "group": source}
    found = resolve(table, must_link=must, cannot_link=cannot, groups=groups, labels=known)
    labels = found.labels
    assert found.n_proven < found.n_components
    assert (labels[must[:, 0]] == labels[must[:, 1]]).all()
    assert (labels[cannot[:, 0]] != labels[cannot[:, 1]]).all()
    assert len(set(zip(labels.tolist(), source.tolist(), strict=True))) == n
    for i, j in itertools.combinations(known, 2):
        assert (labels[i] == labels[j]) == (known[i] == known[j])
    planted = np.abs(np.log(probability / (1 - probability))[same != (probability > 0.5)]).sum()
    assert found.lower_bound <= found.disagreement <= planted


def test_a_pair_scored_twice_counts_the_mean_of_its_log_odds():
    twice = resolve([("a", "b", 0.9), ("b", "a", 0.1), ("b", "c", 0.2)])
    assert twice.n_clusters == 3
    assert resolve([("a", "b", 0.9), ("b", "a", 0.2)]).n_clusters == 1
    weight = float(np.log(9) - np.log(4)) / 2
    assert resolve([("a", "b", 0.9), ("b", "a", 0.2)], cannot_link=[("a", "b")]).disagreement == pytest.approx(weight)


def test_no_score_outweighs_everything():
    rows = [
        ("a", "b", 1.0),
        ("a", "c", 0.0001),
        ("b", "c", 0.0001),
        ("c", "a", 0.0001),
        ("b", "d", 1.0),
        ("a", "d", 0.0),
    ]
    found = resolve(rows)
    assert np.isfinite(found.disagreement)
    assert found.n_clusters == 3


def test_the_prior_is_the_probability_that_says_nothing():
    rows = [("a", "b", 0.8), ("b", "c", 0.6)]
    assert resolve(rows).n_clusters == 1
    assert resolve(rows, prior=0.7).n_clusters == 2
    assert resolve(rows, prior=0.8).n_clusters == 3
    assert resolve([("a", "b", 0.3)], prior=0.2).n_clusters == 1


@pytest.mark.parametrize("prior", [0, 1, -0.5, float("nan"), "half", True, None])
def test_a_prior_is_a_probability(prior):
    with pytest.raises(ValueError, match="prior must be a probability"):
        resolve(CHAIN, prior=prior)


def test_known_labels_join_records_without_a_score_and_keep_others_apart():
    found = resolve(
        [("a", "b", 0.9), ("c", "d", 0.9), ("b", "d", 0.9)], labels={"a": "x", "c": "y", "e": "x", "f": None}
    )
    cluster = dict(zip(found.ids, found.labels, strict=True))
    assert cluster["a"] == cluster["e"] != cluster["c"]
    assert cluster["f"] not in (cluster["a"], cluster["c"])
    assert found.cut_edges["reason"].tolist() == ["labels"]


def test_a_table_may_give_a_record_several_groups():
    table = {"id": ["a", "b", "b", "c"], "group": ["photo 1", "photo 1", "photo 2", "photo 2"]}
    found = resolve([("a", "b", 0.9), ("b", "c", 0.9), ("a", "c", 0.6)], groups=table)
    assert found.labels.tolist() == [0, 1, 0]


def test_what_a_cut_hangs_on_may_be_a_choice_between_two():
    """Both records of the clinic match the one of the register; only a little speaks for the first."""
    found = resolve([("r", "c1", 0.9), ("r", "c2", 0.89)], groups={"c1": "clinic", "c2": "clinic", "r": "register"})
    doubt = next(found.doubtful.rows())
    assert doubt[:3] == ("c2", "r", "cannot")
    assert doubt[-1] == pytest.approx(np.log(9) - np.log(0.89 / 0.11))


class TestTables:
    @pytest.mark.parametrize(
        "kind", ["pandas", "polars", "lazy", "pyarrow", "arrays", "records", "rows", "csv", "parquet"]
    )
    def test_of_every_kind(self, kind, tmp_path):
        columns = {"match_weight": [6.6, 1.2, -5.6], **SPLINK}
        if kind in ("pandas", "csv", "parquet"):
            table = pytest.importorskip("pandas").DataFrame(columns)
            if kind == "csv":
                table.to_csv(tmp_path / "edges.csv", index=False)
                table = tmp_path / "edges.csv"
            elif kind == "parquet":
                pytest.importorskip("pyarrow")
                table.to_parquet(tmp_path / "edges.parquet")
                table = str(tmp_path / "edges.parquet")
        elif kind in ("polars", "lazy"):
            table = pytest.importorskip("polars").DataFrame(columns)
            table = table.lazy() if kind == "lazy" else table
        elif kind == "pyarrow":
            table = pytest.importorskip("pyarrow").table(columns)
        elif kind == "arrays":
            table = {name: np.array(column) for name, column in columns.items()}
        elif kind == "records":
            table = np.array(list(zip(*SPLINK.values(), strict=True)), [("id_l", int), ("id_r", int), ("score", float)])
        else:
            table = list(zip(*SPLINK.values(), strict=True))
        found = resolve(table, must_link=np.array([[3, 4]]))
        assert found.ids.tolist() == [1, 2, 3, 4]
        assert found.ids.dtype == np.int64
        assert found.labels.tolist() == [0, 0, 1, 1]

    def test_whose_ids_splink_was_told_the_name_of(self):
        table = dict(zip(("row_id_l", "row_id_r", "match_probability"), SPLINK.values(), strict=True))
        assert resolve(table | {"name_l": ["x"] * 3, "name_r": ["y"] * 3}).labels.tolist() == [0, 0, 1]
        with pytest.raises(InputError, match="no columns whose names are usual for two ids"):
            resolve(table | {"other_id_l": [1] * 3, "other_id_r": [2] * 3})

    def test_of_dedupe(self):
        scores = np.array([((7, 8), 0.9), ((8, 9), 0.1)], dtype=[("pairs", "i8", 2), ("score", "f4")])
        assert resolve(scores).labels.tolist() == [0, 0, 1]
        texts = np.array([(("x", "y"), 0.9)], dtype=[("pairs", "<U256", 2), ("score", "f4")])
        assert resolve(texts).ids.tolist() == ["x", "y"]

    def test_of_splink_with_several_datasets(self):
        table = SPLINK | {"source_dataset_l": ["a", "a", "a"], "source_dataset_r": ["a", "b", "b"]}
        table["unique_id_r"] = [2, 1, 1]
        found = resolve(table, groups="source")
        assert found.clusters["id"].tolist() == ["a-__-1", "a-__-2", "b-__-1"]
        assert found.clusters["source_dataset"].tolist() == ["a", "a", "b"]
        assert found.clusters["unique_id"].tolist() == [1, 2, 1]
        assert found.labels.tolist() == [0, 1, 1]

    def test_whose_columns_are_named(self):
        table = {"left_key": ["x"], "right_key": ["y"], "other": [0.1], "similarity": [0.9]}
        with pytest.raises(InputError, match="no columns whose names are usual for two ids"):
            resolve(table)
        assert resolve(table, columns=("left_key", "right_key", "similarity")).n_clusters == 1
        with pytest.raises(InputError, match="no column 'simlarity'"):
            resolve(table, columns=("left_key", "right_key", "simlarity"))
        with pytest.raises(ValueError, match="columns must name three"):
            resolve(table, columns=("left_key", "right_key"))

    def test_ids_are_compared_as_they_are_written(self, tmp_path):
        """Python reads the digits of every script as numbers; 12 and this are two records all the same."""
        strange = "1\N{ARABIC-INDIC DIGIT TWO}"
        (tmp_path / "edges.csv").write_text(f"id1,id2,score\n12,5,0.01\n{strange},7,0.99\n")
        found = resolve(tmp_path / "edges.csv")
        assert found.ids.tolist() == ["12", strange, "5", "7"]
        assert found.labels[0] != found.labels[1]
        (tmp_path / "groups.csv").write_text(f"id,group\n{strange},x\n")
        with pytest.raises(InputError, match=f"'{strange}' is not a whole number"):
            resolve([(12, 5, 0.9)], groups=tmp_path / "groups.csv")

    def test_text_files_follow_the_kind_of_the_other_ids(self, tmp_path):
        (tmp_path / "edges.csv").write_text("id1,id2,score\n1,2,0.9\n2,10,0.9\n")
        (tmp_path / "groups.csv").write_text("id,group\n1,x\n10,x\n")
        found = resolve(tmp_path / "edges.csv", groups=tmp_path / "groups.csv")
        assert found.ids.tolist() == [1, 2, 10]
        assert resolve(tmp_path / "edges.csv", groups={"1": "x", "10": "x"}).ids.tolist() == ["1", "2", "10"]
        (tmp_path / "groups.csv").write_text("id,group\n1,x\nten,x\n")
        texts = resolve(tmp_path / "edges.csv", groups=tmp_path / "groups.csv")
        assert texts.ids.tolist() == ["1", "10", "2", "ten"]
        with pytest.raises(InputError, match=r"groups.csv, line 3, column 'id': 'ten' is not a whole number"):
            resolve([(1, 2, 0.9)], groups=tmp_path / "groups.csv")

    def test_without_rows(self):
        empty = resolve([])
        assert (len(empty.ids), empty.n_clusters, empty.disagreement) == (0, 0, 0.0)
        assert resolve([], labels={"a": 1, "b": 1, "c": 2}).labels.tolist() == [0, 0, 1]

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([("a", "b", 1.5)], "edges, row 0, column 'probability': 1.5 is not a probability between 0 and 1"),
            ([("a", "b", 95.0), ("a", "c", 10.0)], "Percentages"),
            (
                [("a", "b", 0.5), ("a", "b", float("nan"))],
                "row 1, column 'probability': the cell is empty; every value is needed",
            ),
            ([("a", "b", "high")], "column 'probability' holds text such as 'high', not numbers"),
            ([("a", "a", 0.5)], "row 0, column 'a': 'a' is paired with itself"),
            ([("a", None, 0.5)], "column 'b': the id is missing"),
            ([("a", "", 0.5)], "the id is missing"),
            ([(1.5, 2, 0.5)], "1.5 is not an id"),
            ([(True, False, 0.5)], "True is not an id"),
            ([(2**70, 1, 0.5)], "does not fit into 64 bits"),
            ([("a", 2, 0.5)], "is text, but .* the whole number 2"),
            ([("a", "b")], r"row 0: expected \(a, b, probability\)"),
            (7, "must be a table"),
            (np.zeros((2, 2)), "got shape"),
            ({"a": ["x"], "b": ["y", "z"], "p": [0.1]}, "different lengths"),
        ],
    )
    def test_that_cannot_be_used(self, rows, message):
        with pytest.raises((ValueError, TypeError), match=message):
            resolve(rows)

    def test_of_pandas_with_its_own_kinds_of_columns(self):
        pd = pytest.importorskip("pandas")
        table = pd.DataFrame(
            {
                "a": pd.Categorical(["x", "y"]),
                "b": pd.array(["y", "z"], dtype="string"),
                "p": pd.array([0.9, 0.8], dtype="Float64"),
            }
        )
        assert resolve(table, groups=pd.Series({"x": 1, "z": 1})).labels.tolist() == [0, 0, 1]
        table["b"] = pd.array(["y", None], dtype="string")
        with pytest.raises(InputError, match="row 1, column 'b': the id is missing"):
            resolve(table)
        table["a"], table["b"] = pd.array([1, 2], dtype="Int64"), [np.int64(2), np.int64(3)]
        assert resolve(table).ids.tolist() == [1, 2, 3]
        with pytest.raises(InputError, match="groups, row 0: {} is not a name"):
            resolve(table, groups=[(1, {}), (2, "x")])

    def test_rules_about_other_records_altogether_are_refused(self):
        with pytest.raises(InputError, match=r"No id of groups occurs in edges: .* 'ANN' there and like 'ann' here"):
            resolve(CHAIN, groups={"ANN": 1})
        with pytest.raises(InputError, match="row 0, column 'id': the id 'ann' is text, but"):
            resolve([(1, 2, 0.5)], labels={"ann": 1})
        with pytest.raises(InputError, match="neither a file nor in two columns"):
            resolve(CHAIN, groups="source")
        with pytest.raises(InputError, match="paired with itself"):
            resolve(CHAIN, must_link=[("ann", "ann")])

    def test_an_id_in_two_sources_is_not_one_record(self):
        table = {"id_l": [1, 1], "id_r": [2, 3], "score": [0.9, 0.8], "shop_l": ["x", "y"], "shop_r": ["y", "y"]}
        with pytest.raises(InputError, match="the id 1 is in the groups 'x' and 'y'"):
            resolve(table, groups="shop")


class TestContradictions:
    @pytest.mark.parametrize(
        ("rules", "story"),
        [
            (
                {"must_link": [("ann", "anna"), ("anna", "anne")], "cannot_link": [("anne", "ann")]},
                "'ann' is 'anna' (must_link), 'anna' is 'anne' (must_link), but 'ann' is not 'anne' (cannot_link)",
            ),
            (
                {"must_link": [("ann", "anna")], "groups": {"ann": "register", "anna": "register"}},
                "'ann' is 'anna' (must_link), but 'ann' is not 'anna' (both are in the group 'register')",
            ),
            (
                {"labels": {"ann": 1, "anna": 1}, "cannot_link": [("ann", "anna")]},
                "'ann' is 'anna' (both have the label 1), but 'ann' is not 'anna' (cannot_link)",
            ),
            (
                {"labels": {"ann": "x", "anne": "y"}, "must_link": [("ann", "anna"), ("anne", "anna")]},
                "but 'ann' is not 'anne' (labels 'x', 'y')",
            ),
        ],
    )
    def test_are_told_in_the_ids(self, rules, story):
        with pytest.raises(InconsistentConstraintsError) as caught:
            resolve(CHAIN, **rules)
        assert story in str(caught.value)
        assert caught.value.reason == "contradiction"
        kinds = [kind for kind, _, _ in caught.value.witness]
        assert kinds == ["must"] * (len(kinds) - 1) + ["cannot"]
        for (_, _, end), (_, start, _) in itertools.pairwise(caught.value.witness):
            assert end == start

    def test_of_an_id_with_two_labels(self):
        with pytest.raises(InconsistentConstraintsError, match="labels"):
            resolve(CHAIN, labels={"id": ["ann", "ann"], "label": ["x", "y"]})


def test_the_result_is_frozen_and_its_tables_are_frames():
    found = resolve(CHAIN)
    assert isinstance(found, Resolution)
    with pytest.raises(AttributeError):
        found.disagreement = 0
    pd = pytest.importorskip("pandas")
    assert pd.DataFrame(found.clusters).to_dict("list") == found.clusters.to_dataframe().to_dict("list")
    assert found.clusters.to_dataframe()["cluster"].tolist() == [0, 0, 1]
    assert list(found.doubtful)[:3] == ["a", "b", "type"]


def test_long_tables_are_shown_in_part():
    shown = repr(Columns(number=np.arange(2000), share=np.zeros(2000)))
    assert shown.splitlines()[0] == " number  share"
    assert shown.splitlines()[-1] == " ... 2,000 rows"
    assert len(shown.splitlines()) == 8


def test_compiling_is_said_once(monkeypatch, caplog):
    caplog.set_level("WARNING", logger="tightcut")  # --quiet of another test may have raised it
    from tightcut.resolution import result
    from tightcut.utils import compiling

    def solve(*problem):
        compiling.report_compiling()
        return solved(*problem)

    solved = result.solve
    monkeypatch.setattr(result, "solve", solve)
    compiling._log_once.cache_clear()
    resolve([("a", "b", 0.9)])
    assert [record.message for record in caplog.records if "compiling once" in record.message]
    compiling._log_once.cache_clear()
    caplog.clear()
    heard = []
    with compiling.compiling_reported(lambda *report: heard.append(report)):
        resolve([("a", "b", 0.9)])
    assert [stage for stage, *_ in heard] == ["compiling"]
    assert not caplog.records


@pytest.mark.slow
def test_the_warm_up_compiles_all_that_is_needed():
    """In a process of its own, whose kernels have the types of the warm-up alone."""
    program = """
import numpy as np
from tightcut import resolve
from tightcut import kernels
from tightcut.warmup import warmup
warmup()
names = ["join_components", "improve_components", "solve_components", "solve_parts", "bound_components", "weigh_branches"]
before = {name: len(getattr(kernels, name).signatures) for name in names}
rng = np.random.default_rng(0)
for n in (3, 12, 60):
    ends, scores = rng.integers(0, n, (8 * n, 2)), rng.random(8 * n)
    pairs = [(int(a), int(b), float(p)) for (a, b), p in zip(ends, scores) if a != b]
    resolve(pairs, groups={i: i % 5 for i in range(n)})
    resolve(pairs)
after = {name: len(getattr(kernels, name).signatures) for name in names}
print(before == after == dict.fromkeys(names, 1), before, after)
"""
    environment = os.environ | {"PYTHONPATH": str(Path(tightcut.__file__).parents[1])}
    finished = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert finished.stdout.startswith("True"), finished.stdout + finished.stderr
