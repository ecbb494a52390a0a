"""Tables and arrays from every kind of file, packed or not, and from standard input; missing values and categories."""

import gzip
import io
import json
import sqlite3
import sys
from contextlib import closing

import numpy as np
import pytest

from tightcut.exceptions import MissingPackageError
from tightcut.files import DataOptions, InputError, read_data, read_pairs, read_table, sources
from tightcut.files.tables import SUGGESTIONS

CSV = "name,x,y\nann,1.5,2\nbob,3,4.25\n"
ROWS = [("ann", 1.5, 2.0), ("bob", 3.0, 4.25)]


def sqlite(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute('create table "my people" (name text, x real, y real)')
        database.executemany('insert into "my people" values (?, ?, ?)', ROWS)
        database.commit()


def duck(path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as database:
        database.execute('create table "my people" (name text, x double, y double)')
        database.executemany('insert into "my people" values (?, ?, ?)', ROWS)


def excel(path):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [("name", "x", "y"), (None, None, None), *ROWS]:
        book.active.append(row)
    book.create_sheet("notes").append(["nothing"])
    book.save(path)


def feather(path):
    pyarrow, module = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    columns = dict(zip(("name", "x", "y"), map(list, zip(*ROWS, strict=True)), strict=True))
    module.write_feather(pyarrow.table(columns), path)


def json_lines(path):
    objects = [dict(zip(("name", "x", "y"), row, strict=True)) for row in ROWS]
    path.write_text("\n\n".join(map(json.dumps, objects)))


def zstandard(path):
    path.write_bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(CSV.encode()))


WRITERS = {
    "data.csv.gz": lambda path: path.write_bytes(gzip.compress(CSV.encode())),
    "data.tsv.gz": lambda path: path.write_bytes(gzip.compress(CSV.replace(",", "\t").encode())),
    "data.csv.zst": zstandard,
    "data.jsonl": json_lines,
    "data.feather": feather,
    "data.xlsx": excel,
    "data.db": sqlite,
    "data.duckdb": duck,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_holds_the_same_table(tmp_path, name):
    WRITERS[name](tmp_path / name)
    table = read_table(tmp_path / name)
    assert table.names == ("name", "x", "y")
    assert table.texts("name") == ["ann", "bob"]
    assert table.numbers(["x", "y"]).tolist() == [[1.5, 2], [3, 4.25]]
    assert read_data(tmp_path / name, DataOptions(id="name")).ids == ["ann", "bob"]


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_files_have_a_message(tmp_path, name):
    WRITERS[name](tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(b"\x00garbage\xff" + content[len(content) // 2 :])
    with pytest.raises(InputError, match=name):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["data.db", "data.duckdb"])
def test_tables_of_a_database_are_named(tmp_path, name):
    WRITERS[name](tmp_path / name)
    source = f"{tmp_path / name}::my people"
    assert read_data(source, DataOptions(id="name")).points.tolist() == [[1.5, 2], [3, 4.25]]
    with pytest.raises(InputError, match=rf"{name} has no table 'my peple', but 'my people'. Did you mean 'my people'"):
        read_table(f"{tmp_path / name}::my peple")
    if name == "data.db":
        with closing(sqlite3.connect(tmp_path / name)) as database:
            database.execute("create table empty (x)")
            database.commit()
        with pytest.raises(InputError, match=r"several tables: 'my people', 'empty'. Say which: .*data.db::my people"):
            read_table(tmp_path / name)
        with pytest.raises(InputError, match="data.db::empty holds no rows"):
            read_table(f"{tmp_path / name}::empty")


def test_a_name_cannot_leave_its_quotes(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.execute('create table "a"" where 0 --" (x)')
        database.execute('insert into "a"" where 0 --" values (1)')
        database.commit()
    assert read_table(tmp_path / "a.db").numbers(["x"]).tolist() == [[1]]


def test_sheets_are_named(tmp_path):
    excel(tmp_path / "book.xlsx")
    assert read_table(f"{tmp_path}/book.xlsx::Sheet").n_rows == 2
    assert list(read_table(f"{tmp_path}/book.xlsx").lines) == [3, 4]
    with pytest.raises(InputError, match="no sheet 'note', but 'Sheet', 'notes'. Did you mean 'notes'"):
        read_table(f"{tmp_path}/book.xlsx::note")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"x": 1}\n{"x": \n', "line 2: not JSON"),
        ("[1, 2]\n", "line 1: an object such as"),
        ("{}\n", "holds no values"),
    ],
)
def test_broken_json_lines(tmp_path, content, message):
    (tmp_path / "a.jsonl").write_text(content)
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / "a.jsonl")


def test_lists_and_dates_are_no_numbers(tmp_path):
    pyarrow, module = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    (tmp_path / "a.jsonl").write_text('{"x": [1], "y": 1}\n{"x": [2], "y": 2}\n')
    dates = np.array(["2026-01-31", "2026-02-01"], "M8[s]")  # numpy makes counts from 1970 of them
    module.write_feather(pyarrow.table({"x": dates, "y": [1.5, 2.5]}), tmp_path / "a.feather")
    for name, example in (("a.jsonl", r"\[1\]"), ("a.feather", "2026-01-31")):
        with pytest.raises(InputError, match=f"column 'x' holds text such as '{example}"):
            read_data(tmp_path / name)


def test_names_that_a_record_lacks_are_missing_values(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"x": 1, "y": 2}\n{"y": 3}\n')
    with pytest.raises(InputError, match="line 2, column 'x': the cell is empty"):
        read_data(tmp_path / "a.jsonl")


def test_packed_arrays_and_graphs(tmp_path):
    stream = io.BytesIO()
    np.save(stream, np.eye(3))
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress(stream.getvalue()))
    assert read_data(tmp_path / "a.npy.gz").points.tolist() == np.eye(3).tolist()
    market = "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 2 1\n"
    (tmp_path / "a.mtx.gz").write_bytes(gzip.compress(market.encode()))
    assert read_data(tmp_path / "a.mtx.gz").affinity.nnz == 4


def test_a_database_cannot_be_packed(tmp_path):
    (tmp_path / "a.db.gz").write_bytes(gzip.compress(b"x"))
    with pytest.raises(InputError, match="read from disk only; unpack"):
        read_table(tmp_path / "a.db.gz")


@pytest.mark.parametrize("name", ["data.feather", "data.xlsx", "data.duckdb", "data.csv.zst"])
def test_a_missing_library_is_named_with_its_extra(tmp_path, monkeypatch, name):
    WRITERS[name](tmp_path / name)
    for module in ("pyarrow.feather", "pyarrow", "openpyxl", "duckdb", "zstandard"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingPackageError, match=r"needs (\w+), of the extra tightcut\[(files|frames)\]: pip install \1"
    ):
        read_table(tmp_path / name)


class TestStandardInput:
    @pytest.fixture
    def pipe(self, monkeypatch):
        def give(content):
            sources._standard_input.cache_clear()
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

        yield give
        sources._standard_input.cache_clear()

    def test_csv_also_packed(self, pipe):
        for content in (CSV.encode(), gzip.compress(CSV.encode())):
            pipe(content)
            data = read_data("-", DataOptions(id="name"))
            assert data.points.tolist() == [[1.5, 2], [3, 4.25]]

    def test_other_kinds_are_known_by_their_beginning(self, pipe):
        pipe(b'{"x": 1}\n{"x": 2}\n')
        assert read_data("-").points.tolist() == [[1], [2]]
        stream = io.BytesIO()
        np.save(stream, np.eye(2))
        pipe(stream.getvalue())
        assert read_data("-").points.tolist() == [[1, 0], [0, 1]]

    def test_it_is_read_once_and_used_twice(self, pipe):
        pipe(b"1,2\n2,3\n")
        assert read_data("-", DataOptions(graph=True)).affinity.nnz == 4

    def test_messages_name_it(self, pipe):
        pipe(b"x,y\n1,2\n3,four\n")
        with pytest.raises(InputError, match="standard input, line 3, column 'y': 'four' is not a number"):
            read_data("-")
        pipe(b"")
        with pytest.raises(InputError, match="Standard input is empty"):
            read_data("-")

    def test_a_terminal_is_not_waited_for(self, pipe, monkeypatch):
        pipe(b"")
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        with pytest.raises(InputError, match="nothing is piped into it"):
            read_data("-")


class TestCells:
    @pytest.fixture
    def cells(self, tmp_path):
        h5py = pytest.importorskip("h5py")
        counts = np.array([[0, 2, 0], [1, 0, 0], [0, 0, 3], [4, 0, 0]], dtype=np.float32)
        texts = h5py.string_dtype()
        with h5py.File(tmp_path / "cells.h5ad", "w") as file:
            matrix = file.create_group("X")
            matrix.attrs["encoding-type"], matrix.attrs["shape"] = "csr_matrix", counts.shape
            matrix["data"], matrix["indices"], matrix["indptr"] = counts[counts > 0], [1, 0, 2, 0], [0, 1, 2, 3, 4]
            for name, index in (("obs", ["c1", "c2", "c3", "c4"]), ("var", ["g1", "g2", "g3"])):
                frame = file.create_group(name)
                frame.attrs["_index"] = "barcode"
                frame.create_dataset("barcode", data=index, dtype=texts)
            kind = file["obs"].create_group("kind")
            kind.create_dataset("categories", data=["B", "T"], dtype=texts)
            kind["codes"] = np.array([0, 1, -1, 1], np.int8)
            file["obsm/X_pca"] = np.arange(8.0).reshape(4, 2)
        return tmp_path / "cells.h5ad", counts

    def test_the_matrix(self, cells):
        path, counts = cells
        data = read_data(path, DataOptions(labels="kind"))
        assert data.points.tolist() == counts.tolist()
        assert (data.ids, data.id_name, data.columns) == (["c1", "c2", "c3", "c4"], "cell", ("g1", "g2", "g3"))
        assert data.labels == ["B", "T", None, "T"]
        assert "cells.h5ad::X_pca would use its 2 principal components" in data.notes[0]

    def test_an_embedding(self, cells):
        data = read_data(f"{cells[0]}::X_pca")
        assert data.points.tolist() == np.arange(8.0).reshape(4, 2).tolist()
        assert data.columns == ("X_pca 1", "X_pca 2")
        with pytest.raises(InputError, match="no embedding 'X_pcb', but 'X', 'X_pca'. Did you mean 'X_pca'"):
            read_data(f"{cells[0]}::X_pcb")

    def test_a_graph(self, cells):
        h5py = pytest.importorskip("h5py")
        with h5py.File(cells[0], "a") as file:
            graph = file.create_group("obsp/connectivities")
            graph.attrs["encoding-type"], graph.attrs["shape"] = "csr_matrix", (4, 4)
            graph["data"], graph["indices"], graph["indptr"] = [0.5, 0.5, 1.0, 1.0], [1, 0, 3, 2], [0, 1, 2, 3, 4]
        data = read_data(f"{cells[0]}::connectivities", DataOptions(labels="kind"))
        assert data.affinity.toarray().tolist() == [[0, 0.5, 0, 0], [0.5, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
        assert (data.ids, data.id_name, data.labels) == (["c1", "c2", "c3", "c4"], "cell", ["B", "T", None, "T"])
        with pytest.raises(InputError, match="no embedding or graph 'distances', but 'X', 'X_pca', 'connectivities'"):
            read_data(f"{cells[0]}::distances")
        with pytest.raises(InputError, match="is a graph; leave out --columns"):
            read_data(f"{cells[0]}::connectivities", DataOptions(columns=("g1",)))

    def test_a_damaged_file(self, cells):
        cells[0].write_bytes(cells[0].read_bytes()[:300])
        with pytest.raises(InputError, match="not an .h5ad file"):
            read_data(cells[0])


class TestMissingValues:
    @pytest.fixture
    def holes(self, tmp_path):
        path = tmp_path / "holes.csv"
        path.write_text("name,x,y\na,1,10\nb,,20\nc,3,NA\nd,,\ne,5,60\n")
        return path

    @pytest.mark.parametrize(
        ("suggest", "message"),
        [
            (
                SUGGESTIONS,
                r"line 3, column 'x': .* Missing in all: 4 values \(2 in 'x', 2 in 'y'\), in 3 of 5 rows. --missing drop",
            ),
            ((), r"in 3 of 5 rows\.$"),
            (
                ("drop", "missing mean"),
                r"rows\. --missing mean fills in the mean of the column\. Or leave .* --drop x;",
            ),
        ],
    )
    def test_they_are_counted_and_what_a_command_has_is_suggested(self, holes, suggest, message):
        with pytest.raises(InputError, match=message):
            read_data(holes, DataOptions(id="name", suggest=suggest))

    def test_a_single_one(self, tmp_path):
        (tmp_path / "hole.csv").write_text("x,y\n1,2\n,3\n")
        with pytest.raises(
            InputError, match=r"remove the row. --missing drop gives the row no label, --missing mean fills"
        ):
            read_data(tmp_path / "hole.csv")

    def test_the_mean(self, holes):
        data = read_data(holes, DataOptions(id="name", missing="mean"))
        assert data.points.tolist() == [[1, 10], [3, 20], [3, 30], [3, 30], [5, 60]]
        assert data.notes == ("Filled in the mean of the column for 4 missing values in 3 rows.",)
        assert data.left_out == {}

    def test_rows_that_are_left_out_keep_their_place(self, holes):
        data = read_data(holes, DataOptions(id="name", missing="drop"))
        assert data.points.tolist() == [[1, 10], [5, 60]]
        assert data.left_out == {1: "b", 2: "c", 3: "d"}
        assert list(data.in_file_order([7, 8])) == [("a", 7), ("b", ""), ("c", ""), ("d", ""), ("e", 8)]
        assert "Left out 3 of 5 rows" in data.notes[0]

    def test_columns_and_tables_without_values(self, tmp_path):
        (tmp_path / "a.csv").write_text("x,y\n1,\n2,\n")
        for missing in ("drop", "mean"):
            with pytest.raises(InputError, match="no row has a value in column 'y'. Leave it out: --drop y"):
                read_data(tmp_path / "a.csv", DataOptions(missing=missing))
        (tmp_path / "a.csv").write_text("x,y\n1,\n,2\n")
        with pytest.raises(InputError, match="every row has a missing value; use --missing mean"):
            read_data(tmp_path / "a.csv", DataOptions(missing="drop"))

    def test_arrays(self, tmp_path):
        np.save(tmp_path / "a.npy", [[1.0, np.nan], [3.0, 4.0]])
        assert read_data(tmp_path / "a.npy", DataOptions(missing="drop")).points.tolist() == [[3, 4]]

    def test_a_graph_has_none(self, tmp_path):
        (tmp_path / "g.csv").write_text("source,target\n1,2\n")
        with pytest.raises(InputError, match="leave out --missing"):
            read_data(tmp_path / "g.csv", DataOptions(missing="drop"))


class TestCategories:
    @pytest.fixture
    def animals(self, tmp_path):
        path = tmp_path / "animals.csv"
        path.write_text("x,kind,y\n1,dog,5\n2,cat,6\n3,dog,7\n4,,8\n")
        return path

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({}, "column 'kind' holds text such as 'dog'.* --encode kind"),
            ({"encode": ("kind",)}, "line 5, column 'kind': the value is missing, as in 1 of 4 rows"),
            ({"encode": ("kind",), "drop": ("kind",)}, "column 'kind' is not used for clustering"),
        ],
    )
    def test_mistakes(self, animals, options, message):
        with pytest.raises(InputError, match=message):
            read_data(animals, DataOptions(**options))

    def test_each_value_becomes_a_column(self, animals):
        data = read_data(animals, DataOptions(encode=("kind",), missing="drop"))
        assert data.columns == ("x", "kind=cat", "kind=dog", "y")
        assert data.points.tolist() == [[1, 0, 1, 5], [2, 1, 0, 6], [3, 0, 1, 7]]
        assert data.notes[0] == "Column 'kind' became 2 columns of 0 and 1, one for each value."

    def test_missing_categories_become_the_share_of_each(self, animals):
        filled = read_data(animals, DataOptions(encode=("kind",), missing="mean"))
        np.testing.assert_allclose(filled.points[3], [4, 1 / 3, 2 / 3, 8])

    def test_names_are_no_categories(self, tmp_path):
        (tmp_path / "a.csv").write_text("name,x\n" + "".join(f"p{row},{row}\n" for row in range(150)))
        with pytest.raises(InputError, match="150 different values, such as 'p0'.*--id name"):
            read_data(tmp_path / "a.csv", DataOptions(encode=("name",)))


def test_pairs_from_a_workbook(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [("a", "b", "type"), ("ann", "bob", "must"), (1, 2.0, "cannot")]:
        book.active.append(row)
    book.save(tmp_path / "pairs.xlsx")
    pairs = read_pairs(tmp_path / "pairs.xlsx")
    assert pairs.names == ["ann", "bob", "1", "2"]
    assert pairs.must.tolist() == [True, False]


def test_a_file_without_parts(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    with pytest.raises(InputError, match="a.csv has no named parts; leave out ::people"):
        read_data(f"{tmp_path}/a.csv::people")


def test_two_colons_in_the_name_of_a_file(tmp_path):
    (tmp_path / "a::b.csv").write_text(CSV)
    assert read_table(tmp_path / "a::b.csv").n_rows == 2
