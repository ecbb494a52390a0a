"""`tightcut cluster` and `ask` on columns of texts and on folders of pictures."""

import csv
import json

import numpy as np
import pytest

SUBJECTS = {
    "food": "apple bread cheese butter soup salad oven recipe kitchen salt",
    "trains": "train station late platform ticket track engine wagon signal rail",
}


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def mails(folder):
    """Forty texts of two subjects in two columns, two of them empty."""
    rng = np.random.default_rng(0)
    lines = ["id,subject,body,size,kind"]
    for number in range(40):
        kind = list(SUBJECTS)[number % 2]
        words = rng.permutation(SUBJECTS[kind].split())
        texts = f"about {words[0]},{' '.join(words[1:7])}" if number not in {8, 21} else ","
        lines.append(f"mail{number},{texts},{number},{kind}")
    (folder / "mails.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def photos(folder):
    """Twelve red and twelve blue pictures, in two folders, and a damaged file."""
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for channel, name in ((0, "red"), (2, "blue")):
        (folder / "photos" / name).mkdir(parents=True)
        for number in range(12):
            pixels = rng.integers(0, 60, (30, 40, 3)).astype(np.uint8)
            pixels[..., channel] += 150
            image.fromarray(pixels).save(folder / "photos" / name / f"{number:02d}.png")
    (folder / "photos" / "broken.jpg").write_text("no picture")
    return folder


def test_texts(works, mails):
    out, err = works(
        "cluster mails.csv -k 2 --text subject,body --missing drop -o labels.csv --report page.html --json"
    )
    assert "Read 40 rows of mails.csv: texts of 'subject', 'body', by their words." in err
    assert "2 rows have no text, or no word that another has: 'mail8', 'mail21'. They get no label." in err
    assert json.loads(out)["n_left_out"] == 2
    rows = rows_of(mails / "labels.csv")
    assert [row["cluster"] for row in rows if row["id"] in {"mail8", "mail21"}] == ["", ""]
    clusters = [{row["cluster"] for row in rows[start::2]} - {""} for start in (0, 1)]
    assert [len(found) for found in clusters] == [1, 1]
    assert clusters[0] != clusters[1]
    page = (mails / "page.html").read_text()
    assert "texts of &#x27;subject&#x27;, &#x27;body&#x27;, by their words" in page
    assert '<span class="told">bread</span>' in page
    out, _ = works("cluster mails.csv -k 2 --text body --missing drop")
    lines = out.partition("words that distinguish each cluster:\n")[2].splitlines()
    assert [
        sum(set(line.replace(",", "").split()[1:]) <= set(SUBJECTS[kind].split()) for line in lines)
        for kind in SUBJECTS
    ] == [1, 1]


def test_empty_texts_are_kept_and_named(works, mails):
    _, err = works("cluster mails.csv -k 2 --text body -o labels.csv")
    assert (
        "2 rows have no text, or no word that another has: 'mail8', 'mail21'. They are near each other and far from all others;"
        in err
    )
    assert all(row["cluster"] for row in rows_of(mails / "labels.csv"))


def test_pairs_and_classes_hold_for_texts(works, mails):
    (mails / "pairs.csv").write_text("a,b,type\nmail0,mail1,must\nmail2,mail4,cannot\n")
    works("cluster mails.csv -k 2 --text body --constraints pairs.csv -o labels.csv")
    label = {row["id"]: row["cluster"] for row in rows_of(mails / "labels.csv")}
    assert label["mail0"] == label["mail1"]
    assert label["mail2"] != label["mail4"]


@pytest.mark.parametrize(
    ("line", "message", "code"),
    [
        ("--text nothing", "mails.csv has no column 'nothing' (--text); its columns are", 1),
        (
            "--text body --columns size",
            "--text clusters by texts in place of all other columns; leave out --columns",
            1,
        ),
        ("--text body --metric precomputed", "--metric precomputed", 1),
        ("--text body --missing mean", "Texts have no mean; --missing drop gives rows without text no label.", 1),
        ("--text body --save model.tcut", "a model of texts or pictures could not read new ones", 2),
        ("--columns size --embed some-model", "--embed is for texts and for folders of pictures", 1),
        ("--text body --embed-url http://localhost/", "--embed-url needs the name of a model", 2),
        ("--text body --embed m --embed-url localhost", "'localhost' is not an address such as", 1),
        ("", "or, to cluster by what they say: --text subject,body,kind", 1),
    ],
)
def test_mistakes_about_texts(fails, mails, line, message, code):  # noqa: ARG001
    fails(f"cluster mails.csv -k 2 {line}", message, code=code)


def test_questions_about_texts(works, mails, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr("builtins.input", lambda _: "q")
    out, err = works("ask mails.csv --text body --console --answers answers.jsonl")
    assert "Question 1." in out
    assert "2 rows have no text" in err
    works("cluster mails.csv -k 2 --text body --constraints answers.jsonl")  # the same rows


def test_pictures(works, photos):
    out, err = works("cluster photos -k 2 -o labels.csv --report page.html --json")
    assert "Left out 1 of 25 pictures, which get no label: 'broken.jpg' (it is damaged, or no picture)." in err
    assert "Read 25 pictures of photos: pictures, by light, edges and colours." in err
    assert json.loads(out)["sizes"] == [12, 12]
    rows = rows_of(photos / "labels.csv")
    label = {row["file"]: row["cluster"] for row in rows}
    assert label.pop("broken.jpg") == ""
    assert len({label[f"red/{number:02d}.png"] for number in range(12)}) == 1
    assert (photos / "page.html").read_text().count("data:image/png") > 4


def test_pairs_of_pictures(works, photos):
    (photos / "pairs.csv").write_text("a,b,type\nred/00.png,blue/00.png,must\n")
    out, _ = works("check pairs.csv photos")
    assert "of 25 in the data" in out
    works("cluster photos -k 2 --constraints pairs.csv -o labels.csv")
    label = {row["file"]: row["cluster"] for row in rows_of(photos / "labels.csv")}
    assert label["red/00.png"] == label["blue/00.png"]


@pytest.mark.parametrize(
    ("line", "message", "code"),
    [
        ("cluster photos -k 2 --id name", "photos is a folder of pictures, which has no columns; leave out --id.", 1),
        ("cluster photos -k 2 --text name", "leave out --text.", 1),
        ("cluster photos -k 2 --graph", "photos is a folder of pictures; leave out --graph.", 1),
        ("cluster photos -k 2 --metric precomputed", "leave out --metric precomputed.", 1),
        ("cluster photos -k 2 --save model.tcut", "a model of texts or pictures could not read new ones", 2),
        ("cluster photos -k 2 --report page.html --images 3x3", "are shown as they are; leave it out.", 1),
        ("ask photos --console --images photos", "the pictures of photos are shown as they are; leave it out.", 1),
    ],
)
def test_mistakes_about_pictures(fails, photos, line, message, code):  # noqa: ARG001
    fails(line, message, code=code)


def test_questions_about_pictures(works, photos, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr("builtins.input", lambda _: "q")
    out, err = works("ask photos --console")
    assert "Question 1." in out
    assert "Answers are kept in photos.answers.jsonl." in err


def test_what_is_shown_of_pictures(photos):
    from tightcut.ask.page.read_items import read_items

    found = read_items(str(photos / "photos"))
    assert found.things.pictures.read(3).content == (photos / "photos" / "blue" / "03.png").read_bytes()
    assert found.things.describe(3, "image/{}".format)["name"] == "blue/03.png"


def test_documents_and_odd_texts(works, folder):
    """A cell of a CSV file may be longer than the csv module allows by default; NUL, emoji and one word are texts."""
    odd = ["train " * 34_000, "a\0b", "\N{GRINNING FACE}\N{RED APPLE}", "word", "", " "]
    texts = [f"{kind} {word}" for kind in SUBJECTS for word in SUBJECTS[kind].split()]
    with (folder / "odd.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["text"], *([text] for text in texts + odd)])
    _, err = works("cluster odd.csv -k 2 --text text -o labels.csv")
    assert "1 row has a text of more than 20,000 characters, of which the beginning counts: '20'." in err
    assert "rows have no text" in err
    assert len(rows_of(folder / "labels.csv")) == len(texts + odd) - 2  # blank lines are no rows
