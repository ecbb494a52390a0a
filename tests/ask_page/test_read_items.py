"""What is read from files, and what is shown of it."""

import csv
import os
import threading

import numpy as np
import pytest

from tightcut.ask.page.items import Things
from tightcut.ask.page.read_items import read_items
from tightcut.ask.page.terminal import converse
from tightcut.drawing.pictures import ArrayPictures, files_named, png
from tightcut.files import DataOptions, InputError

TABLE = "name,job,age,picture\nann,cook,31,a.png\nbob,smith,30,sub/b.png\ncid,<b>nurse</b>,52,../secret.png\n"


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    (inside / "people.csv").write_text(TABLE, encoding="utf-8")
    picture = png(np.zeros((4, 4), np.uint8))
    for name in ("inside/a.png", "inside/sub/b.png", "secret.png", "inside/ann.png"):
        (tmp_path / name).write_bytes(picture)
    (inside / "bob.svg").write_text("<svg onload='alert(1)'/>", encoding="utf-8")
    return inside


def test_a_table(folder):
    source = read_items(str(folder / "people.csv"), DataOptions(id="name"), show=["job,age"])
    assert source.X.tolist() == [[31.0], [30.0], [52.0]]
    assert source.things.describe(2) == {"row": 2, "name": "cid", "fields": [["job", "<b>nurse</b>"], ["age", "52"]]}
    assert "'job'" in source.notes[-1]


def test_decimal_commas(folder):
    path = folder / "commas.csv"
    path.write_text("id;length;width;class\na;1,5;NA;0\nb;2,25;2,5;1\nc;3,0;3,5;1\n")
    with pytest.raises(InputError, match="line 2, column 'length': '1,5' has a decimal comma. If all .* --decimal"):
        read_items(str(path), DataOptions(missing="mean"))
    source = read_items(str(path), DataOptions(missing="mean", decimal=","))
    assert source.X.tolist() == [[1.5, 3, 0], [2.25, 2.5, 1], [3, 3.5, 1]]
    assert source.things.describe(1)["fields"][0] == ["length", "2,25"]
    path.write_text('id,x,address\na,1,"1,2"\nb,2,Ulm\n')
    assert "'address'" in read_items(str(path)).notes[-1]  # one such cell makes no column of numbers


def test_differing_fields():
    things = Things(["a", "b"], fields={"town": ["Ulm", "Ulm"], "age": ["30", "80"], "job": ["cook", "smith"]})
    assert list(things.differences(0, 1)) == [1, 2]
    assert things.differences(0, 1)[1] == ([("3", True), ("0", False)], [("8", True), ("0", False)])
    numbers = Things(["a", "b", "c"], fields={"taxes": ["5000000", "5400000", "90000000"], "age": [30.0, 30.0, 31.0]})
    assert list(numbers.differences(0, 1)) == [0]  # close to each other, and not the same
    assert list(numbers.differences(0, 2)) == [0, 1]


def test_long_texts_are_shown_as_texts(folder):
    path = folder / "letters.csv"
    path.write_text("id,x,letter\n1,0.5," + "words " * 40 + "\n2,1.5,short\n", encoding="utf-8")
    source = read_items(str(path), show=["letter"])
    assert source.things.describe(0)["text"].startswith("words words")
    assert "fields" not in source.things.describe(0)
    chosen_by_nobody = read_items(str(path)).things.describe(0)
    assert chosen_by_nobody["text"].startswith("words words")
    assert chosen_by_nobody["fields"] == [["x", "0.5"]]


def test_several_long_texts_have_headings(folder):
    path = folder / "letters.csv"
    path.write_text(f"id,x,letter,reply\n1,0.5,{'words ' * 40},\n2,1.5,short,{'more ' * 40}\n", encoding="utf-8")
    things = read_items(str(path)).things
    assert things.describe(0)["text"].startswith("letter:\nwords words")
    assert "reply" not in things.describe(0)["text"]
    assert things.describe(1)["text"].startswith("letter:\nshort\n\nreply:\nmore more")


def test_numbers_are_shown_with_the_digits_that_matter(folder):
    path = folder / "numbers.csv"
    path.write_text("name,x,code\na,5.328969629460202,1234567890\nb,1.5,12345678901234.5\n", encoding="utf-8")
    things = read_items(str(path), DataOptions(id="name")).things
    assert things.describe(0)["fields"] == [["x", "5.32897"], ["code", "1234567890"]]
    assert things.describe(1)["fields"] == [["x", "1.5"], ["code", "12345678901234"]]


def test_edges_between_named_vertices(tmp_path):
    (tmp_path / "friends.csv").write_text("source,target,weight\nann,bob,1\nbob,cy,2\n")
    source = read_items(str(tmp_path / "friends.csv"))
    assert (source.affinity, list(source.things.names)) == ("precomputed", ["ann", "bob", "cy"])


def test_columns_that_are_clustered_by_their_words_are_shown_as_texts(tmp_path):
    (tmp_path / "titles.csv").write_text("id,title\n1,red apples\n2,ripe apples\n3,late trains\n4,late buses\n")
    source = read_items(str(tmp_path / "titles.csv"), DataOptions(text=("title",)))
    assert list(source.things.texts) == ["red apples", "ripe apples", "late trains", "late buses"]


def test_rows_without_identifiers(tmp_path):
    """A person sees that it is a row; tables to download have the numbers that other commands take."""
    np.save(tmp_path / "rows.npy", np.zeros((4, 48)))
    for images in ([], ["8x6"]):
        things = read_items(str(tmp_path / "rows.npy"), images=images).things
        assert list(things.names) == ["0", "1", "2", "3"]
        assert things.describe(3)["name"] == "row 3"


def test_a_column_of_pictures_stays_in_the_folder(folder):
    source = read_items(str(folder / "people.csv"), DataOptions(id="name"), images=["picture"])
    assert [source.things.pictures.has(row) for row in range(3)] == [True, True, False]
    assert source.things.describe(0, lambda row: f"image/{row}")["image"] == "image/0"


def test_a_folder_of_pictures_by_name(folder):
    source = read_items(str(folder / "people.csv"), DataOptions(id="name", drop=("picture",)), images=[str(folder)])
    assert [source.things.pictures.has(row) for row in range(3)] == [True, False, False]  # no SVG: it may hold scripts


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs symbolic links")
def test_links_out_of_the_folder_are_not_followed(folder):
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    assert files_named(["link", "../secret.png", str(folder.parent / "secret.png")], folder) == [None, None, None]


def test_what_is_no_folder(folder):
    with pytest.raises(InputError, match="neither a folder nor a column"):
        read_items(str(folder / "people.csv"), DataOptions(id="name"), images=["nowhere"])
    with pytest.raises(InputError, match="no column 'size'"):
        read_items(str(folder / "people.csv"), DataOptions(id="name"), show=["size"])


@pytest.mark.parametrize("shape", [(5, 8, 6), (5, 8, 6, 1), (5, 8, 6, 3), (5, 8, 6, 4)])
@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.int16, bool])
def test_arrays_of_pictures(tmp_path, shape, kind):
    pixels = np.random.default_rng(0).integers(0, 2 if kind is bool else 200, size=shape).astype(kind)
    np.save(tmp_path / "pictures.npy", pixels)
    np.savez(tmp_path / "pictures.npz", X=pixels)
    for name in ("pictures.npy", "pictures.npz"):
        source = read_items(str(tmp_path / name))
        assert source.X.shape == (5, int(np.prod(shape[1:])))
        assert source.things.pictures.read(4).content.startswith(b"\x89PNG")


def test_rows_of_pixels(tmp_path):
    np.save(tmp_path / "rows.npy", np.zeros((4, 48)))
    assert read_items(str(tmp_path / "rows.npy"), images=["8x6"]).things.pictures.pixels.shape == (4, 8, 6, 1)
    with pytest.raises(InputError, match="does not fit"):
        read_items(str(tmp_path / "rows.npy"), images=["7x6"])
    assert len(read_items(str(tmp_path / "rows.npy")).things.describe(0)["fields"]) == 40


def test_a_png_is_what_another_program_reads():
    image = pytest.importorskip("matplotlib.image")
    from io import BytesIO

    pixels = np.arange(24, dtype=np.uint8).reshape(4, 6) * 10
    assert np.rint(image.imread(BytesIO(png(pixels))) * 255).astype(np.uint8).tolist() == pixels.tolist()


def test_digits():
    source = read_items("digits")
    assert source.X.shape == (1797, 64)
    assert isinstance(source.things.pictures, ArrayPictures)


@pytest.mark.parametrize(
    ("kind", "lines", "choices"),
    [
        ("pair", ["y", "what", "n", "u", "", "q"], ["same", "unsure"]),
        ("pick", ["0", "99", "1", "bars", "q"], ["none", "the first", "none"]),
    ],
)
def test_in_the_terminal(controller, kind, lines, choices):
    written, waiting = [], iter(lines)
    converse(controller.session, controller.things, lambda _: next(waiting), written.append, kind)
    given = [
        "the first" if (answer.choice,) == answer.shown[:1] else answer.choice for answer in controller.session.answers
    ]
    assert given == choices
    assert any("is not an answer" in text or "There is no group 99" in text for text in written)


def test_the_terminal_knows_groups_by_what_it_calls_them(controller):
    """The label that is shown, in capitals or not, is that group and no new one; undo says what it has undone."""
    written, waiting = [], iter(["group a", "bars", "0", "BARS", "u", "q"])
    converse(controller.session, controller.things, lambda _: next(waiting), written.append, "pick")
    assert [(group.id, group.name) for group in controller.session.groups] == [(0, None), (1, "bars")]
    assert "Undone: the last answer." in written


def test_a_name_in_digits_of_another_script_is_a_name(controller):
    waiting = iter(["\N{ARABIC-INDIC DIGIT ONE}", "q"])
    converse(controller.session, controller.things, lambda _: next(waiting), [].append, "pick")
    assert [group.name for group in controller.session.groups][-1] == "\N{ARABIC-INDIC DIGIT ONE}"


def test_the_command_in_the_terminal(tmp_path, monkeypatch, capsys):
    pytest.importorskip("click")
    from tightcut.cli import main

    rng = np.random.default_rng(0)
    np.savetxt(
        tmp_path / "heaps.csv", rng.normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0), delimiter=","
    )
    monkeypatch.chdir(tmp_path)
    lines = iter(["y", "q"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    assert main(["ask", "heaps.csv", "--console", "--kind", "pair"]) == 0
    assert "1 answer, " in capsys.readouterr().out
    assert (tmp_path / "heaps.answers.jsonl").exists()


def test_the_command_leaves_no_answers_behind(tmp_path, monkeypatch, capsys):
    """Notes of a person are no journal; a journal that is deleted while the command runs is written once more."""
    pytest.importorskip("click")
    from tightcut.cli import main

    points = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0)
    np.savetxt(tmp_path / "heaps.csv", points, delimiter=",")
    monkeypatch.chdir(tmp_path)
    notes, journal = tmp_path / "notes.txt", tmp_path / "heaps.answers.jsonl"
    notes.write_text("my notes")
    assert main(["ask", "heaps.csv", "--console", "--answers", "notes.txt"]) == 1
    assert "not a journal of answers" in capsys.readouterr().err
    assert notes.read_text() == "my notes"
    lines = iter(["y", "q"])

    def read(_):
        line = next(lines)
        if line == "q":
            journal.unlink()
        return line

    monkeypatch.setattr("builtins.input", read)
    assert main(["ask", "heaps.csv", "--console", "--kind", "pair"]) == 0
    error = capsys.readouterr().err
    assert "was deleted or moved. All answers are in" in error
    assert len(journal.read_text().splitlines()) == 2


@pytest.mark.usefixtures("controller")
def test_a_journal_of_other_data_is_refused_before_a_page_opens(tmp_path, monkeypatch, capsys, answers):
    pytest.importorskip("click")
    from tightcut.cli import main

    np.save(tmp_path / "other.npy", np.random.default_rng(0).normal(size=(90, 4)))
    monkeypatch.chdir(tmp_path)
    assert main(["ask", "other.npy", "--console", "--answers", str(answers)]) == 1
    assert "answers about other data" in capsys.readouterr().err
    assert main(["ask", "other.npy", "--console", "--answers", "nowhere/answers.jsonl"]) == 1
    assert "nowhere does not exist. Create it first" in capsys.readouterr().err


def test_a_missing_package_is_named(monkeypatch, capsys):
    pytest.importorskip("click")
    import importlib.util

    from tightcut.cli import main

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "uvicorn" else found(name, *rest)
    )
    assert main(["ask", "digits"]) == 1
    assert "of the extra tightcut[ask]: pip install " in capsys.readouterr().err


def test_the_terminal_renames_and_joins_groups(controller):
    waiting, written = (
        iter(["apes", "A=monkeys", "2 = great apes", "8=apes", "zebras=apes", "monkeys=great apes", "q"]),
        [],
    )
    converse(controller.session, controller.things, lambda _: next(waiting), written.append, "pick")
    text = "\n".join(written)
    assert "That group is called monkeys now." in text
    assert "That group is called great apes now." in text
    assert "There is no group '8' to name" in text
    assert "There is no group 'zebras' to name; there are monkeys, great apes." in text
    assert "The two groups named great apes are one now." in text
    assert [group.name for group in controller.session.groups] == ["great apes"]


@pytest.fixture
def heaps(tmp_path, monkeypatch):
    """Two heaps in the current folder, and the command at a terminal where the lines are typed."""
    pytest.importorskip("click")
    from tightcut.cli import main

    points = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0)
    np.savetxt(tmp_path / "heaps.csv", points, delimiter=",")
    monkeypatch.chdir(tmp_path)

    def type_lines(*lines, options="-o labels.csv"):
        waiting = iter(lines)

        def read(_):
            line = next(waiting)
            if line == "Ctrl-C":
                raise KeyboardInterrupt
            return line

        monkeypatch.setattr("builtins.input", read)
        return main(["ask", "heaps.csv", "--console", *options.split()])

    return type_lines


def test_labels_are_written_at_every_stop(heaps, tmp_path, capsys):
    written = tmp_path / "labels.csv"
    for lines in (["high", "high", "low", "q"], ["Ctrl-C"], ["q"]):
        heaps(*lines)
        header, *rows = csv.reader(written.read_text().splitlines())
        assert header == ["id", "cluster", "name", "confidence"]
        assert len(rows) == 60
        assert all(0 < float(row[3]) <= 1 for row in rows)
        written_first = written.read_text()
    assert {row[2] for row in rows} >= {"low", "high"}
    assert heaps("2 = low", "0", "q", options="-o labels.csv --as Bea") == 0
    assert '"who": "Bea"' in (tmp_path / "heaps.answers.jsonl").read_text()
    written_first = written.read_text()
    written.write_text("mine")
    assert heaps("q") == 1
    assert "labels.csv already exists. Use --force to replace it" in capsys.readouterr().err
    assert written.read_text() == "mine"
    assert heaps("q", options="-o labels.csv --force") == 0
    assert written.read_text() == written_first


def test_labels_are_written_when_the_page_stops(heaps, tmp_path, monkeypatch):
    from tightcut.cli import main

    del heaps

    def stop(controller, *_):
        preparing = next(thread for thread in threading.enumerate() if thread.name == "tightcut-ask")
        preparing.join()
        assert controller.session is not None
        assert (controller.who, controller.things.nouns) == ("Ann", ("person", "people"))
        raise KeyboardInterrupt

    monkeypatch.setattr("tightcut.ask.page.server.serve", stop)
    assert (
        main(["ask", "heaps.csv", "--no-browser", *["-o", "labels.csv", "--as", "Ann", "--noun", "person/people"]]) == 0
    )
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 61


@pytest.mark.slow
def test_names_travel_from_the_answers_to_clusters(heaps, tmp_path):
    from tightcut.cli import main

    assert heaps("high", "high", "low", "q") == 0
    journal = "heaps.answers.jsonl"
    line = (
        f"cluster heaps.csv -k 2 --constraints {journal} -o clusters.csv --save model.tcut --report report.html --quiet"
    )
    assert main(line.split()) == 0
    assert {row.split(",")[2] for row in (tmp_path / "clusters.csv").read_text().split()[1:]} == {"low", "high"}
    assert "high" in (tmp_path / "report.html").read_text(encoding="utf-8")
    (tmp_path / "new.csv").write_text("9.1,8.9\n")
    assert main(["update", "model.tcut", "new.csv", "-o", "grown.csv", "--quiet"]) == 0
    assert (tmp_path / "grown.csv").read_text().splitlines()[-1].endswith(",high")
