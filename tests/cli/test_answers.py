"""The answers of `tightcut ask` where pairs are taken: of these rows, in this order, or not at all."""

import json

import numpy as np
import pytest

from tightcut.ask import Session, read_constraints
from tightcut.files import DataOptions, read_data

TRUTH = np.repeat([0, 1], 30)
OTHER = "holds answers about other data: as many rows, but other values, columns or order"


@pytest.fixture
def answered(folder):
    """A table of two moons that 4 questions were asked about, its rows in another order, and the two as a model."""
    header, *rows = (folder / "moons.csv").read_text().split()
    shuffled = [rows[row] for row in np.random.default_rng(0).permutation(len(rows))]
    (folder / "shuffled.csv").write_text("\n".join([header, *shuffled, ""]))
    points = np.array([[float(cell) for cell in row.split(",")[1:3]] for row in rows])
    session = Session(points, answers=folder / "answers.jsonl", random_state=0)
    for question in session.questions(4):
        session.answer(question, "same" if TRUTH[question.first] == TRUTH[question.second] else "different")
    session.close()
    return folder, points


GIVEN = "--id name --drop class --constraints answers.jsonl --quiet"


@pytest.mark.slow
@pytest.mark.usefixtures("answered")
@pytest.mark.parametrize("command", ["cluster %s -k 2", "audit %s -k 2", "tradeoff %s"])
def test_a_table_in_another_order_is_refused(run, command):
    assert run(f"{command % 'moons.csv'} {GIVEN}")[0] == 0
    code, out, err = run(f"{command % 'shuffled.csv'} {GIVEN}")
    assert (code, out) == (1, "")
    assert f"answers.jsonl {OTHER}" in err
    assert "Pairs, CSV" in err


@pytest.mark.slow
@pytest.mark.usefixtures("answered")
def test_a_model_of_another_order_is_refused(run):
    for table, code in ("moons.csv", 0), ("shuffled.csv", 1):
        run(f"cluster {table} -k 2 --id name --drop class --save model.tcut --force --quiet")
        found = run("update model.tcut --constraints answers.jsonl --quiet")
        assert found[0] == code
        assert (OTHER in found[2]) == (code == 1)


@pytest.mark.slow
def test_other_columns_of_the_rows_that_were_asked_about(run, answered):
    """`ask` took x and y by default; a search may leave one out, or take known classes, and the rows are the same."""
    folder, _ = answered
    text = (folder / "moons.csv").read_text()
    for number in range(2):  # a column of words, which ask shows and does not cluster by
        text = text.replace(f",{number}\n", f",{'up' if number else 'down'}\n")
    (folder / "words.csv").write_text(text)
    given = "--id name --constraints answers.jsonl --quiet"
    assert run(f"cluster words.csv -k 2 --columns x {given}")[0] == 0
    assert run(f"cluster words.csv -k 2 --encode class {given}")[0] == 0
    (folder / "words.csv").write_text(text.replace("m00,", "m00,9"))
    assert OTHER in run(f"cluster words.csv -k 2 --columns y {given}")[2]


def test_in_python_with_the_data(answered):
    folder, points = answered
    path = folder / "answers.jsonl"
    assert read_constraints(path, X=points).n_pairs == read_constraints(path).n_pairs > 0
    assert read_constraints(path, X=points.tolist()).n_pairs
    with pytest.raises(ValueError, match=OTHER):
        read_constraints(path, X=points[::-1])
    with pytest.raises(ValueError, match="60 rows, and X has 59"):
        read_constraints(path, X=points[1:])


@pytest.mark.usefixtures("answered")
@pytest.mark.parametrize("command", ["check answers.jsonl moons.csv", "evaluate answers.jsonl moons.csv"])
def test_where_a_table_is_needed_a_journal_is_named_as_what_it_is(fails, command):
    fails(command, "answers.jsonl holds the answers of tightcut ask", "--constraints")


FLOWERS = "length,width,{}\n" + "".join(f"{i / 7:.3f},{(i * i % 31) / 5:.1f},{i // 20}\n" for i in range(60))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["class", "Target", "y"])
def test_a_column_that_looks_like_the_answer_is_named(run, works, folder, name):
    (folder / "flowers.csv").write_text(FLOWERS.format(name))
    out, err = works("cluster flowers.csv -k 3")
    assert err.count(f"Note: Column '{name}' looks like the answer") == 1
    assert f"--drop {name}\n" in err
    assert f"columns   3, with '{name}', which looks like the answer (--drop leaves it out)\n" in out
    assert json.loads(run("cluster flowers.csv -k 3 --json")[1])["columns_like_the_answer"] == [name]
    for choice in (f"--drop {name}", f"--labels {name}", f"--columns length,width,{name}"):  # told, or asked for
        out, err = works(f"cluster flowers.csv -k 3 {choice}")
        assert "looks like the answer" not in out + err


def test_columns_that_only_have_such_a_name(folder):
    rows = [(i / 7, i % 7, i, i / 3, i % 3) for i in range(60)]
    text = "".join(",".join(map(str, row)) + "\n" for row in rows)
    (folder / "points.csv").write_text("x,y,label,target,kind\n" + text)
    assert read_data("points.csv").suspects == ()  # y stands beside x; the others count rows, or measure
    (folder / "words.csv").write_text("x,species\n1,ape\n2,bat\n4,ape\n5,bat\n")
    assert read_data("words.csv", DataOptions(encode=("species",))).suspects == ("species",)
