"""What a new user tries: every kind of odd file gives a result or a message that helps, never a traceback."""

import json
import os
import subprocess
import sys

import pytest

GOOD = "x,y\n" + "\n".join(f"{i % 7}.5,{i * i % 11}" for i in range(20)) + "\n"
HEADERLESS = GOOD.split("\n", 1)[1]


def numbered(text):
    header, *rows = text.strip().split("\n")
    return "\n".join([f"name,{header}", *(f"p{number},{row}" for number, row in enumerate(rows))]) + "\n"


@pytest.mark.parametrize(
    "content",
    [
        GOOD.encode(),
        HEADERLESS.encode(),
        GOOD.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace(",", ";").encode(),
        GOOD.replace(",", "\t").encode(),
    ],
    ids=["header", "no header", "windows", "byte-order mark", "semicolons", "tabs"],
)
def test_files_that_work(works, folder, content):
    (folder / "data.csv").write_bytes(content)
    out, _ = works("cluster data.csv -k 2 --effort 0.1")
    assert "points    20" in out


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (
            GOOD.replace("3.5,9", "3.5,nine"),
            "",
            "data.csv, line 5, column 'y': 'nine' is not a number. Correct the cell.",
        ),
        (GOOD.replace("3.5,9", "3.5,"), "", "data.csv, line 5, column 'y': the cell is empty; every value is needed."),
        (
            numbered(GOOD),
            "",
            "column 'name' holds text such as 'p0', not numbers. Leave the column out: --drop name; or",
        ),
        (numbered(GOOD).replace("p7", "p2"), "--id name", "line 9, column 'name': 'p2' already occurs in line 4"),
        ("", "", "data.csv is empty."),
        (GOOD.replace("3.5,9", "3.5,9,1"), "", "data.csv, line 5: 3 cells where line 1 has 2 (separated by ',')."),
        (GOOD, "--drop z", "data.csv has no column 'z' (--drop); its columns are 'x', 'y'."),
        (GOOD.replace(".", ",").replace(",", ";", 1), "", "data.csv, line 2"),
        ("x,y\n1,2\n", "", "data.csv has 1 point; there must be at least two to cluster."),
    ],
    ids=["text", "missing", "names", "same id", "empty", "ragged", "unknown column", "mixed separators", "one row"],
)
def test_files_that_do_not(fails, folder, content, options, message):
    (folder / "data.csv").write_text(content)
    err = fails(f"cluster data.csv -k 2 {options}", message)
    assert err.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize(
    ("line", "message", "code"),
    [
        ("cluster . -k 2", ". is a folder without pictures. Name a file, or a folder of JPEG", 1),
        ("cluster mons.csv -k 2", "mons.csv does not exist. Did you mean 'moons.csv'?", 1),
        ("cluster moons.csv -k 2 --decimal=", "'' is not one character", 2),
        (
            "cluster moons.npy -k 2 --constraints pairs.csv",
            "'m00' is not a row of moons.npy, which are numbered 0 to 59.",
            1,
        ),
    ],
)
def test_names_of_nothing(fails, line, message, code):
    fails(line, message, code=code)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-k 500", "500 clusters need at least that many points; there are 60."),
        ("--answers .", "--answers . is a directory; name a file in it, such as answers.jsonl."),
    ],
)
def test_questions_that_cannot_be_asked(fails, options, message):
    pytest.importorskip("uvicorn")
    fails(f"ask moons.csv --id name --no-browser {options}", message)


def test_questions_about_a_folder_of_pictures(fails, folder):
    (folder / "pictures").mkdir()
    fails(
        "ask pictures --console",
        "pictures is a folder without pictures. Name a file, or a folder of JPEG, PNG, WebP or TIFF files.",
    )


def test_questions_about_texts_alone(fails, folder):
    (folder / "mails.csv").write_text("id,text\na,hello\nb,good bye\n")
    fails(
        "ask mails.csv --console",
        "mails.csv has no column of numbers to cluster by; its columns are 'id', 'text'.",
        "--text text",
    )


def test_questions_about_a_table_with_a_hole(works, fails, folder, monkeypatch):
    (folder / "data.csv").write_text(GOOD.replace("3.5,9", "3.5,"))
    fails("ask data.csv --console", "--missing mean", "--missing drop")
    monkeypatch.setattr("builtins.input", lambda _: "q")
    out, err = works("ask data.csv --console --missing mean")
    assert "Filled in the mean of the column for 1 missing value in 1 row." in err
    assert "Question 1." in out


def test_rows_without_values_are_not_asked_about(run, works, fails, folder, monkeypatch):
    lines = (folder / "moons.csv").read_text().splitlines()
    lines[5] = "m04,,0.5,0"
    (folder / "holes.csv").write_text("\n".join(lines) + "\n")
    given = iter("1212qqqq")
    monkeypatch.setattr("builtins.input", lambda _: next(given))
    works("ask holes.csv --id name --drop class --console --missing drop -o asked.csv --answers journal.jsonl")
    rows = [line.split(",") for line in (folder / "asked.csv").read_text().splitlines()[1:]]
    assert [row[0] for row in rows] == [line.split(",")[0] for line in lines[1:]]
    assert rows[4] == ["m04", "", "", ""]
    assert all(row[1] for row in rows if row[0] != "m04")
    line = "cluster holes.csv -k 2 --id name --constraints journal.jsonl"
    assert run(f"{line} --drop class --missing drop")[0] == 0
    fails(f"{line} --drop class --missing mean", "journal.jsonl")  # other rows


@pytest.mark.parametrize(
    "options", ["--scale quantile", "--scale none --metric cosine", "--encode kind", "--encode kind --scale standard"]
)
def test_questions_take_the_options_of_cluster(works, folder, monkeypatch, options):
    kinds = "".join(f"r{i},{i % 7 + 1},{1000 * (i % 3) + i},{'red' if i % 2 else 'blue'}\n" for i in range(40))
    (folder / "kinds.csv").write_text(f"id,x,size,kind\n{kinds}")
    given = iter("1212qqqq")
    monkeypatch.setattr("builtins.input", lambda _: next(given))
    _, err = works(f"ask kinds.csv --console {options} --answers journal.jsonl -o asked.csv")
    assert ("became 2 columns" in err) == ("--encode" in options)
    encoded = "--encode kind" if "--encode" in options else "--drop kind"
    works(
        f"cluster kinds.csv -k 2 {encoded} --constraints journal.jsonl"
    )  # the journal is about the points as they are


def test_a_folder_without_parquet_files(fails, folder):
    (folder / "points").mkdir()
    fails("cluster-graph --points points -k 2", "points holds no Parquet files", code=2)


def test_classes_as_pandas_writes_floats(run, works, folder):
    lines = [f"{row},{row % 3 + row / 50:.2f},{(0.0, -1.0, 2.0, 1.0)[row % 4]}" for row in range(24)]
    (folder / "data.csv").write_text("\n".join(["id,x,known", *lines, ""]))
    out, _ = works("cluster data.csv -k 4 --id id --labels known --json")
    assert json.loads(out)["n_must_link"] == 3 * 5  # and none between rows of class -1.0
    _, err = works("evaluate data.csv data.csv --id id --labels-column x --truth-column known")
    assert "Left out 6 rows without a class." in err
    (folder / "edges.csv").write_text("id_l,id_r,match_probability\n1,5,0.1\n")
    (folder / "known.csv").write_text("id,known\n1,-1.0\n5,-1.0\n")
    code, out, _ = run("resolve edges.csv --labels known.csv -o -")
    assert (code, out) == (0, "id,cluster\n1,0\n5,1\n")
    (folder / "pairs.csv").write_text("a,b,type\n0,1,1.0\n0,2,0.0\n")
    assert "1 must-link and 1 cannot-link" in run("check pairs.csv")[1]


def test_decimal_commas_of_beliefs(run, fails, folder):
    (folder / "pairs.csv").write_text("a;b;type;belief\nm00;m10;must;0,5\n")
    (folder / "moons.csv").write_text((folder / "moons.csv").read_text().replace(",", ";").replace(".", ","))
    for line in ("cluster moons.csv -k 2 --id name --drop class --constraints pairs.csv", "check pairs.csv"):
        fails(f"{line} --decimal .", """'0,5' has a decimal comma. If all numbers do, use --decimal ",".""")
        assert run(f"{line} --decimal ,")[0] == 0


def test_no_option_is_suggested_that_the_command_does_not_have(run, fails, folder):
    (folder / "edges.csv").write_text("id_l;id_r;match_probability\na;b;0,9\n")
    fails("resolve edges.csv", "'0,9' has a decimal comma. Write it with a decimal point.")
    assert run("cluster moons.csv -k 2 --id name --drop class --save model.tcut -q")[0] == 0
    (folder / "new.csv").write_text("name,x,y\nnew,1,2\nnew,3,4\n")
    fails(
        "predict model.tcut new.csv", "Identifiers must differ: remove one of the rows, or use another column: --id.\n"
    )


def test_a_file_without_permission(fails, folder):
    (folder / "data.csv").write_text(GOOD)
    (folder / "data.csv").chmod(0)
    if os.access(folder / "data.csv", os.R_OK):
        pytest.skip("root may read everything")
    fails("cluster data.csv -k 2", "permission denied. Try: chmod u+r data.csv")


def test_pairs_with_an_unknown_name(fails, folder):
    (folder / "pairs.csv").write_text("a,b,type\nm00,m99,must\n")
    fails(
        "cluster moons.csv -k 2 --id name --drop class --constraints pairs.csv",
        "pairs.csv, line 2, column 'b': 'm99' is not an identifier of moons.csv (they look like 'm00', 'm01').",
    )


def test_pairs_of_row_numbers(run, folder):
    (folder / "rows.csv").write_text("0,10,must\n5,45,cannot\n")
    assert run("cluster moons.npy -k 2 --constraints rows.csv --effort 0.1")[0] == 0


def test_rows_without_values_stay_in_the_output_without_a_label(run, works, fails, folder):
    lines = (folder / "moons.csv").read_text().splitlines()
    for row in (3, 7):
        name, _, y, kind = lines[row].split(",")
        lines[row] = f"{name},,{y},{kind}"
    (folder / "moons.csv").write_text("\n".join(lines))
    (folder / "pairs.csv").write_text("a,b,type\nm00,m10,must\nm02,m45,cannot\n")
    command = "cluster moons.csv -k 2 --id name --drop class --constraints pairs.csv --effort 0.1 -o labels.csv"
    fails(command, "Missing in all: 2 values (2 in 'x'), in 2 of 60 rows")
    out, err = works(f"{command} --missing drop")
    assert "58, 2 without a label" in out
    assert "Left out 2 of 60 rows" in err
    assert "1 pair of pairs.csv named rows that were left out" in err
    labels = [line.split(",") for line in (folder / "labels.csv").read_text().splitlines()[1:]]
    assert [name for name, _ in labels] == [f"m{i:02d}" for i in range(60)]
    assert [name for name, label in labels if label == ""] == ["m02", "m06"]
    assert run(f"{command} --missing mean --force")[0] == 0


def test_categories(run, works, folder):
    rows = [f"{'cat' if i % 3 else 'dog'},{i % 7}.5,{i * i % 11}" for i in range(20)]
    (folder / "mixed.csv").write_text("\n".join(["kind,x,y", *rows]))
    assert "--encode kind" in run("cluster mixed.csv -k 2")[2]
    _, err = works("cluster mixed.csv -k 2 --encode kind --effort 0.1")
    assert "Column 'kind' became 2 columns of 0 and 1" in err
    assert "20 rows and 4 columns" in err


def test_what_a_cluster_is_like_is_said_in_the_units_of_the_file(works, folder):
    lines = "".join(f"r{i},{(i % 2) * 30 + i % 5 + 18},{i % 3}\n" for i in range(40))
    (folder / "people.csv").write_text(f"id,age,children\n{lines}")
    out, _ = works("cluster people.csv -k 2 --scale standard")
    said = out.partition("means that distinguish each cluster:\n")[2].splitlines()
    assert {line.split(maxsplit=1)[1] for line in said} == {"age = 20", "age = 50"}


def test_standard_input(folder, child_environment):
    command = [
        sys.executable,
        *["-m", "tightcut", "cluster", "-", "-k", "2", "--id", "name", "--drop", "class", "-o", "-"],
    ]
    with (folder / "moons.csv").open() as stream:
        done = subprocess.run(command, stdin=stream, capture_output=True, text=True, env=child_environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("name,cluster\nm00,0\n")
    assert "columns of standard input; names from 'name'" in done.stderr
