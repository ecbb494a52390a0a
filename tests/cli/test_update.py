"""`tightcut update`, `predict`, `--save` and `--init`, and questions about a saved model."""

import csv
import json

import numpy as np
import pytest

from tightcut import COSC

pytestmark = pytest.mark.slow
CLUSTER = "cluster monday.csv -k 2 --id name --drop class --save model.tcut -o monday_labels.csv -q"


@pytest.fixture
def days(folder):
    """The moons, of which the last rows of each arrive on Tuesday."""
    header, *lines = (folder / "moons.csv").read_text().splitlines()
    late = {*range(24, 30), *range(54, 60)}
    for name, chosen in (("monday", lambda i: i not in late), ("tuesday", lambda i: i in late)):
        rows = [line for i, line in enumerate(lines) if chosen(i)]
        (folder / f"{name}.csv").write_text("\n".join([header, *rows, ""]))
    return folder


def rows_of(path):
    with path.open() as file:
        return {row[0]: row[1:] for row in list(csv.reader(file))[1:]}


def test_a_model_goes_through_a_week(days, run, works):
    assert run(CLUSTER)[0] == 0
    before = rows_of(days / "monday_labels.csv")
    (days / "more.csv").write_text("a,b,type\nm24,m00,must\nm54,m00,cannot\n")
    out, _ = works(
        "update model.tcut tuesday.csv --constraints more.csv -o labels.csv --changes changes.csv --report page.html"
    )
    assert "12 joined" in out
    after = rows_of(days / "labels.csv")
    assert len(after) == 60
    assert {name: after[name] for name in before} == before
    assert after["m24"] == after["m00"] != after["m54"]
    changes = list(csv.DictReader((days / "changes.csv").open()))
    assert {row["row"] for row in changes if row["change"] == "joined"} == after.keys() - before.keys()
    assert "The changes of the last update" in (days / "page.html").read_text()
    model = COSC.load(days / "model.tcut")
    assert len(model.labels_) == 60


def test_updates_add_up_and_the_same_rows_are_refused(days, run, fails):
    run(CLUSTER)
    assert run("update model.tcut tuesday.csv --save later.tcut -q")[0] == 0
    assert len(COSC.load(days / "model.tcut").labels_) == 48
    before = (days / "later.tcut").read_bytes()
    fails("update later.tcut tuesday.csv", "'m24' is a row of the model already")
    assert (days / "later.tcut").read_bytes() == before


def test_names_travel_through_files(days, run, works):
    run(CLUSTER)
    model = COSC.load(days / "model.tcut")
    model.name(1, "=Anna, <b>")
    model.save(days / "model.tcut")
    assert run("update model.tcut tuesday.csv -o labels.csv --report page.html -q")[0] == 0
    assert "What distinguishes it" in (days / "page.html").read_text()
    labels = rows_of(days / "labels.csv")
    assert {tuple(row) for row in labels.values()} == {("0", ""), ("1", "=Anna, <b>")}
    assert "=Anna, &lt;b&gt;" in (days / "page.html").read_text()
    assert (
        run("cluster moons.csv -k 2 --id name --drop class --init labels.csv -o again.csv --report two.html -q")[0] == 0
    )
    again = rows_of(days / "again.csv")
    assert {tuple(row) for row in again.values()} == {("0", ""), ("1", "=Anna, <b>")}
    assert sum(again[name] == labels[name] for name in labels) > 50
    assert "=Anna, &lt;b&gt;" in (days / "two.html").read_text()
    out, _ = works("predict model.tcut tuesday.csv -q")
    assert {name: row[:2] for name, row in rows_of_text(out).items()} == {
        name: labels[name] for name in rows_of_text(out)
    }


def rows_of_text(text):
    return {row[0]: row[1:] for row in list(csv.reader(text.splitlines()))[1:]}


def test_predict_leaves_the_model_as_it_is(days, run, works):
    run(CLUSTER)
    before = (days / "model.tcut").read_bytes()
    out, _ = works("predict model.tcut tuesday.csv")
    assert out.splitlines()[0] == "name,cluster,confidence,far"
    assert len(out.splitlines()) == 13
    assert run("predict model.tcut tuesday.csv -o predicted.csv -q")[0] == 0
    assert (days / "predicted.csv").read_text() == out
    assert (days / "model.tcut").read_bytes() == before


def test_how_sure_a_prediction_is(days, run, works):
    """A row between the moons is shared by both; one far from them is marked, whatever its share."""
    run(CLUSTER)
    points, label = (
        np.loadtxt(days / name, delimiter=",", skiprows=1, usecols=columns, ndmin=2)
        for name, columns in (("monday.csv", (1, 2)), ("monday_labels.csv", 1))
    )
    one, other = (points[label[:, 0] == cluster] for cluster in (0, 1))
    apart = np.square(one[:, None] - other).sum(axis=2)
    i, j = np.unravel_index(apart.argmin(), apart.shape)
    x, y = (one[i] + other[j]) / 2
    (days / "new.csv").write_text(f"name,x,y\nbetween,{x},{y}\nfar,40,40\n")
    out, err = works("predict model.tcut new.csv")
    between, far = list(csv.DictReader(out.splitlines()))
    assert 0.4 < float(between["confidence"]) < 0.95
    assert (between["far"], far["far"]) == ("", "yes")
    assert "Note: 1 row is far from all rows of the model: 'far'." in err


def test_json_and_a_contradiction_in_the_users_names(days, run, works, fails):
    run(CLUSTER)
    (days / "more.csv").write_text("a,b,type\nm00,m24,must\nm01,m24,must\nm00,m01,cannot\n")
    before = (days / "model.tcut").read_bytes()
    err = fails(
        "update model.tcut tuesday.csv --constraints more.csv -o labels.csv",
        "more.csv",
        "m24",
        "The model is as it was. Correct or remove new pairs",
        code=3,
    )
    assert "fewest" not in err
    assert not (days / "labels.csv").exists()
    assert (days / "model.tcut").read_bytes() == before
    (days / "more.csv").write_text("a,b,type\nm24,m00,cannot\nm24,m40,cannot\n")
    out, _ = works("update model.tcut tuesday.csv --constraints more.csv --json --keep all -q")
    told = json.loads(out)
    assert told["n_clusters"] == 3
    (born,) = [change for change in told["changes"] if change["kind"] == "born"]
    assert "m24" in born["rows"]
    assert born["constraint"][0] == "cannot"


def test_a_model_of_rows_without_names_and_of_arrays(days, run, works):
    points = np.load(days / "moons.npy")
    np.save(days / "first.npy", points[:50])
    np.save(days / "rest.npy", points[50:])
    assert run("cluster first.npy -k 2 --save model.tcut -q")[0] == 0
    (days / "more.csv").write_text("a,b,type\n50,0,cannot\n")
    out, _ = works("update model.tcut rest.npy --constraints more.csv -o - -q")
    labels = rows_of_text(out)
    assert list(labels) == [str(row) for row in range(60)]
    assert labels["50"] != labels["0"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("update model.tcut", "nothing to do"),
        ("update moons.csv tuesday.csv", "not a model"),
        ("update missing.tcut tuesday.csv", "missing.tcut"),
        ("update model.tcut tuesday.csv -o model.tcut", "would be overwritten"),
        ("update model.tcut tuesday.csv --save tuesday.csv", "would be overwritten"),
        ("update model.tcut tuesday.csv --save monday_labels.csv", "--force"),
        ("update model.tcut tuesday.csv -o - --json", "choose one"),
        ("update model.tcut pairs.csv", "column"),
        (
            "update model.tcut tuesday.csv --constraints pairs_of_others.csv",
            "'nobody' is not an identifier of the model and",
        ),
        ("update model.tcut --constraints no.jsonl", "no.jsonl does not exist."),
        ("update model.tcut --constraints pairs_of_others.csv", "'nobody' is not an identifier of the model ("),
        ("predict model.tcut pairs.csv", "column"),
        ("predict pairs.csv tuesday.csv", "not a model"),
        ("cluster moons.csv -k 2 --id name --drop class --init monday_labels.csv", "no cluster for 'm24'"),
        ("cluster moons.csv -k 2 --id name --drop class --init pairs.csv", "column named cluster"),
        ("cluster monday.csv -k 2 --id name --drop class --save monday.csv", "would be overwritten"),
    ],
)
def test_what_cannot_be_done_is_said(days, run, line, message):
    run(CLUSTER)
    (days / "pairs_of_others.csv").write_text("a,b,type\nnobody,m00,must\n")
    files = {path: path.read_bytes() for path in days.iterdir()}
    code, _, err = run(line)
    assert code in (1, 2)
    assert message in err
    assert {path: path.read_bytes() for path in days.iterdir()} == files


def test_a_model_of_a_graph_takes_pairs_but_no_rows(days, run, works, fails):
    (days / "edges.csv").write_text("source,target,weight\na,b,2\nb,c,2\nc,d,0.1\nd,e,2\ne,f,2\n")
    assert run("cluster edges.csv -k 2 --save graph.tcut -q")[0] == 0
    (days / "more.csv").write_text("a,b,type\nc,b,cannot\n")
    out, _ = works("update graph.tcut --constraints more.csv -o - -q")
    labels = rows_of_text(out)
    assert labels["c"] != labels["b"]
    fails("update graph.tcut tuesday.csv", "made of a graph")


def test_questions_about_a_saved_model_and_its_names(days, run, works, monkeypatch):
    run(CLUSTER)
    model = COSC.load(days / "model.tcut")
    model.name(int(model.labels_[0]), "upper")
    model.save(days / "model.tcut")
    replies = iter(["s", "q", "q", "q", "q"])
    monkeypatch.setattr("builtins.input", lambda *_: next(replies))
    _, err = works("ask model.tcut --console --kind pair")
    events = [json.loads(line) for line in (days / "model.answers.jsonl").read_text().splitlines()]
    founded = [event for event in events if event.get("founds_name")]
    assert [event["founds_name"] for event in founded] == ["upper"]
    assert model.labels_[founded[0]["first"]] == model.labels_[0]
    assert "tightcut update model.tcut --constraints model.answers.jsonl" in err
    _, err = works("update model.tcut --constraints model.answers.jsonl -o labels.csv")
    assert "upper" in (days / "labels.csv").read_text()
    for option in ("--id name", "--missing mean"):
        assert run(f"ask model.tcut --console {option}")[0] == 2
    (days / "model.tcut").rename(days / "model")  # as --save may have named it
    code, _, err = run("ask model --console")
    assert (code, "tightcut update model --constraints" in err) == (0, True)


def test_groups_named_in_answers_name_clusters(days, run, works):
    from tightcut.ask import Session

    run(CLUSTER)
    model = COSC.load(days / "model.tcut")
    session = Session(model._state.points, 2, answers=days / "answers.jsonl", random_state=0)
    session.move(0, "upper")
    session.move(30, "lower")
    session.close()
    out, _ = works("update model.tcut --constraints answers.jsonl -o labels.csv")
    assert "upper, lower" in out
    names = COSC.load(days / "model.tcut").names_
    labels = COSC.load(days / "model.tcut").labels_
    assert names[int(labels[0])] == "upper"
    assert names[int(labels[30])] == "lower"


def test_columns_that_the_model_names_are_not_called_options(run, fails, folder):
    (folder / "old.csv").write_text("name,x,y\n" + "".join(f"p{i},{i % 3},{i % 5}\n" for i in range(30)))
    (folder / "new.csv").write_text("name,x,z\nq,1,2\n")
    (folder / "other.csv").write_text("who,x,y\nq,1,2\n")
    assert run("cluster old.csv --id name -k 2 --save old.tcut -q")[0] == 0
    fails("predict old.tcut new.csv", "new.csv has no column 'y', which the model was fitted to; its columns are")
    assert "'name', which names the rows of the model; --id names another" in run("predict old.tcut other.csv")[2]
    assert "(--id)" in run("predict old.tcut other.csv --id nom")[2]
    assert run("predict old.tcut other.csv --id who")[0] == 0


def test_categories_of_new_rows_are_encoded_as_those_of_the_model(run, works, fails, folder):
    colours = ("red", "blue", "light=green")
    (folder / "old.csv").write_text(
        "name,x,colour\n" + "".join(f"p{i},{i % 3 * 4},{colours[i % 3]}\n" for i in range(30))
    )
    assert run("cluster old.csv --id name --encode colour -k 3 --scale none --save old.tcut -o labels.csv -q")[0] == 0
    cluster = dict(line.split(",") for line in (folder / "labels.csv").read_text().split()[1:])
    (folder / "new.csv").write_text("name,colour,x\nq,light=green,8\nr,red,0\n")
    code, out, err = run("predict old.tcut new.csv")
    assert (code, out) == (0, f"name,cluster,confidence,far\nq,{cluster['p2']},1.0,\nr,{cluster['p0']},1.0,\n"), err
    (folder / "new.csv").write_text("name,x,colour\nq,0,pink\n")
    out, err = works("update old.tcut new.csv -o -")
    assert out.endswith(f"q,{cluster['p0']}\n")
    assert "The model does not know 'colour=pink'; rows that have it count as none of its values." in err
    (folder / "new.csv").write_text("name,x,colour\ns,0,\n")
    fails("predict old.tcut new.csv", "line 2, column 'colour': the value is missing, as in 1 of 1 rows.\n")
    (folder / "new.csv").write_text("name,x\ns,0\n")
    assert "no column 'colour=blue', which the model was fitted to" in run("predict old.tcut new.csv")[2]
