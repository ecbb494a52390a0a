"""Reading tables, data, graphs and pairs; writing whole files. Every mistake a file can hold has its own message."""

import stat
import time
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tightcut.files import (
    DataOptions,
    InputError,
    TableOptions,
    atomic_writer,
    read_data,
    read_pairs,
    read_table,
    write_rows,
)
from tightcut.files.tables import SUGGESTIONS, Table
from tightcut.files.text import read_rows, split_plain


@pytest.fixture
def save(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


WAYS = {
    "windows": b"a,b\r\n1,2\r\n3,4\r\n",
    "bom": b"\xef\xbb\xbfa,b\n1,2\n3,4\n",
    "utf-16": "a,b\n1,2\n3,4\n".encode("utf-16"),
    "semicolons": b"a;b\n1;2\n3;4\n",
    "tabs": b"a\tb\n1\t2\n3\t4\n",
    "bars": b"a|b\n1|2\n3|4\n",
    "blank lines": b"\na,b\n\n1,2\n3,4\n\n",
    "last comma": b"a,b,\n1,2,\n3,4,\n",
    "quotes": b'"a", "b"\n"1", 2\n3,4',
    "old mac": b"a,b\r1,2\r3,4\r",
}


class TestTables:
    def test_a_header_is_a_first_row_without_numbers(self, save):
        table = read_table(save("height,weight\n1.7,60\n1.8,75\n"))
        assert table.names == ("height", "weight")
        assert list(table.lines) == [2, 3]

    def test_without_a_header_columns_are_numbered_from_1(self, save):
        table = read_table(save("1.7,60\n1.8,75\n"))
        assert table.names == ("1", "2")
        assert table.numbers(["1", "2"]).tolist() == [[1.7, 60], [1.8, 75]]

    @pytest.mark.parametrize("header", [True, False])
    def test_the_caller_may_say_whether_there_is_a_header(self, save, header):
        assert read_table(save("2019,2020\n1,2\n"), TableOptions(header=header)).n_rows == 2 - header

    @pytest.mark.parametrize("content", WAYS.values(), ids=WAYS)
    def test_ways_to_write_the_same_table(self, save, content):
        table = read_table(save(content))
        assert table.names == ("a", "b")
        assert table.numbers(["a", "b"]).tolist() == [[1, 2], [3, 4]]

    def test_numbers_between_spaces(self, save):
        assert read_table(save("1.5  2\n3 4\n", "x.txt")).numbers(["1", "2"]).tolist() == [[1.5, 2], [3, 4]]
        assert read_table(save("x   y\n1.5 2\n\n3  4\n", "x.txt")).numbers(["x", "y"]).tolist() == [[1.5, 2], [3, 4]]
        assert read_table(save("full name\nAnn Lee\n", "x.txt")).names == ("full name",)
        assert read_table(save('"full name"\n', "x.txt"), TableOptions(header=False)).n_rows == 1

    def test_decimal_commas(self, save):
        path = save("a;b\n1,5;2\n2,5;3\n")
        with pytest.raises(InputError, match=r"'1,5' has a decimal comma. Write it with a decimal point."):
            read_table(path).numbers(["a"])
        with pytest.raises(InputError, match=r"line 2, column 'a': '1,5' has a decimal comma.* use --decimal \",\""):
            read_table(path).numbers(["a"], suggest=("decimal",))
        assert read_table(path, TableOptions(decimal=",")).numbers(["a"])[:, 0].tolist() == [1.5, 2.5]
        with pytest.raises(
            InputError, match=r"'1,500' has a decimal comma.* If the comma separates thousands, remove it."
        ):
            read_table(save("a;b\n1,500;2\n2,500;3\n")).numbers(["a"])

    def test_parquet(self, tmp_path):
        pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
        path = tmp_path / "data.parquet"
        pd.DataFrame({"name": ["ann", "bob"], "x": [1.5, np.nan]}).to_parquet(path)
        table = read_table(path)
        assert table.texts("name") == ["ann", "bob"]
        with pytest.raises(InputError, match=r"data.parquet, row 1, column 'x': the cell is empty"):
            table.numbers(["x"])

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "is empty"),
            ("\n \n", "only blank lines"),
            (",", "contains only empty cells"),
            ("a,b\n", "a header and no rows"),
            ("a,a\n1,2\n", "two columns named 'a'; rename"),
            ("a,b\n1,2\n3\n", r"line 3: 1 cell where line 1 has 2 \(separated by ','\)"),
            ("a,b\n1,2\n3,4,5\n", r"line 3: 3 cells .* Quote cells that contain the separator"),
            ("a,b\nx,1,2\ny,3,4\n", "give the header a name for it"),
            (b"name,x\ncaf\xe9,1\n", "line 2: byte 0xe9 is not UTF-8.*Save the file as UTF-8"),
        ],
        ids=["empty", "blank", "no cells", "no rows", "names", "short row", "long row", "row names", "encoding"],
    )
    def test_broken_tables(self, save, content, message):
        with pytest.raises(InputError, match=f"data.csv.*{message}"):
            read_table(save(content))

    @pytest.mark.parametrize(
        ("cell", "message"),
        [
            ("abc", r"'abc' is not a number"),
            ("1_2", "'1_2' is not a number"),  # it is 12 to Python
            ("", "the cell is empty; .*Fill it in or remove the row"),
            ("NA", "'NA' means a missing value"),
            ("inf", "'inf' is not a finite number. Correct the cell. Or leave"),
            ("1e999", "'1e999' is not a finite number. Correct the cell. Or leave"),
            ("9" * 400 + "x", "'9{56} ...' is not a number"),
        ],
    )
    def test_cells_that_are_no_numbers(self, save, cell, message):
        table = read_table(save(f"name,x y\nann,1\nbob,{cell}\neve,3\n"))
        with pytest.raises(InputError, match=rf"line 3, column 'x y': {message}.* --drop 'x y'; .* --id 'x y'"):
            table.numbers(["x y"], suggest=SUGGESTIONS)

    def test_whole_columns_of_text_are_named_together(self, save):
        table = read_table(save("name,city,x\nann,rome,1\nbob,oslo,2\n"))
        with pytest.raises(InputError, match=r"columns 'name', 'city' hold text such as 'ann'.* --drop name,city"):
            table.numbers(["name", "city", "x"], suggest=SUGGESTIONS)

    def test_a_header_with_numbers_in_it_is_suggested(self, save):
        with pytest.raises(InputError, match="line 1, column '1': 'year' is not a number.*use --header"):
            read_table(save("year,2020\n1,2\n3,4\n")).numbers(["1", "2"])

    @pytest.mark.parametrize("header", ["0,1,2,3", ",0,1,2,3", "0,1,2,3,class"])
    def test_columns_that_pandas_has_numbered(self, save, header):
        table = read_table(save(f"{header}\n" + f"{',5' * header.count(',')}\n".replace(",", "7,", 1) * 2))
        assert table.has_header
        assert table.n_rows == 2
        assert "3" in table.names

    @pytest.mark.parametrize("rows", ["0,1,2\n3,4,5\n", "0,1,2,3\n1,0,1,2\n2,1,0,1\n3,2,1,0\n", "0,2,1,3\n4,5,6,7\n"])
    def test_points_edges_and_distances_that_begin_with_0_1_2(self, save, rows):
        assert not read_table(save(rows)).has_header

    def test_an_unknown_column(self, save):
        with pytest.raises(InputError, match=r"no column 'Hight' \(--id\); .*'height', 'x'. Did you mean 'height'\?"):
            read_table(save("height,x\na,2\n")).find("Hight", "--id")

    def test_time_grows_with_the_number_of_columns_and_no_faster(self, save):
        n = 40_000
        row = ",".join(["1"] * n)
        path = save("\n".join([",".join(f"c{i}" for i in range(n)), row, row]))
        started = time.process_time()  # not the clock's, which a busy machine slows
        assert read_data(path).points.shape == (2, n)
        assert time.process_time() - started < 10  # 31 s before, 0.5 s now


class TestUnreadableFiles:
    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("flower.csv", r"flower.csv does not exist. Did you mean 'flowers.csv'\?"),
            ("nowhere/data.csv", "does not exist. Nor does the folder"),
            ("", "is a folder without pictures"),
            ("data.doc", r"tightcut does not read .doc files; use NPY.* CSV"),
            ("model.tcut", "model.tcut is a saved model, not data; tightcut update, predict and ask"),
            ("data.parquet", "not a Parquet file"),
        ],
    )
    def test_what_holds_no_data(self, save, tmp_path, name, message):
        pytest.importorskip("pyarrow")
        for existing in ("flowers.csv", "data.doc", "model.tcut", "data.parquet"):
            save("a,b\n1,2\n", existing)
        with pytest.raises(InputError, match=message):
            read_data(tmp_path / name)

    @pytest.mark.parametrize(
        ("error", "message"),
        [
            (PermissionError(13, "denied"), r"permission denied. Try: chmod u\+r"),
            (OSError(5, "Input/output error"), "cannot be read: Input/output error"),
        ],
    )
    def test_a_file_that_cannot_be_opened(self, save, monkeypatch, error, message):
        def refuse(*_, **__):
            raise error

        path = save("1,2\n")
        monkeypatch.setattr(Path, "open", refuse)
        with pytest.raises(InputError, match=message):
            read_data(path)


class TestPoints:
    def test_identifiers_columns_and_labels(self, save):
        path = save("name,x,y,z,class\nann,1,2,3,a\nbob,4,5,6,\neve,7,8,9,-1\n")
        data = read_data(path, DataOptions(id="name", labels="class", drop=("z",)))
        assert data.ids == ["ann", "bob", "eve"]
        assert data.columns == ("x", "y")
        assert data.labels == ["a", None, None]
        data = read_data(path, DataOptions(columns=("z,x",)))
        assert data.ids == ["0", "1", "2"]
        assert data.points.tolist() == [[3, 1], [6, 4], [9, 7]]

    @pytest.mark.parametrize("header", ["ID,x", ",x"])
    def test_an_id_column_is_noticed(self, save, header):
        data = read_data(save(f"{header}\n17,1\n18,2\n"))
        assert data.ids == ["17", "18"]
        assert data.points.tolist() == [[1], [2]]
        assert "taken for identifiers" in data.notes[0]

    @pytest.mark.parametrize("header", ["ID,name,x", ",name,x"])
    def test_a_column_that_numbers_the_rows_is_no_measurement(self, save, header):
        path = save(f"{header}\n0,ann,1\n1,bob,2\n")
        data = read_data(path, DataOptions(id="name"))
        assert data.ids == ["ann", "bob"]
        assert data.points.tolist() == [[1], [2]]
        assert "is left out, as it seems to number the rows" in data.notes[0]
        first = data.notes[0].split("'")[1]
        assert read_data(path, DataOptions(id="name", columns=(first, "x"))).points.tolist() == [[0, 1], [1, 2]]

    @pytest.mark.parametrize(
        ("content", "options", "message"),
        [
            ("n,x\nann,1\nann,2\n", {"id": "n"}, "line 3, column 'n': 'ann' already occurs in line 2"),
            ("n,x\nann,1\n,2\n", {"id": "n"}, "line 3, column 'n': the identifier is missing"),
            ("n,x\nann,1\n", {"id": "name"}, "no column 'name'"),
            ("n x\nann tall\n", {"id": "n"}, "no column 'n'.*Separate cells by commas"),
            ("n,x\nann,1\n", {"drop": ("z",)}, r"no column 'z' \(--drop\)"),
            ("n,x\nann,1\n", {"labels": "z"}, r"no column 'z' \(--labels\)"),
            ("n,x\nann,1\n", {"id": "n", "drop": ("x",)}, "no columns left to cluster by"),
            ("x,y\n1,\n2,\n", {"labels": "y"}, "no column 'y'|no row has a label"),
        ],
    )
    def test_mistakes(self, save, content, options, message):
        with pytest.raises(InputError, match=message):
            read_data(save(content), DataOptions(**options))

    def test_arrays(self, tmp_path):
        X = np.arange(6.0).reshape(3, 2)
        np.save(tmp_path / "a.npy", X)
        np.savez(tmp_path / "b.npz", X=X, y=np.array([0, -1, 1]), names=np.array(["a", "b", "c"]))
        assert read_data(tmp_path / "a.npy").points.tolist() == X.tolist()
        data = read_data(tmp_path / "b.npz", DataOptions(id="names", labels="y"))
        assert data.ids == ["a", "b", "c"]
        assert data.labels == ["0", None, "1"]
        assert data.points.tolist() == X.tolist()

    def test_arrays_that_nobody_asked_for_stay_in_the_file(self, tmp_path):
        np.savez_compressed(tmp_path / "b.npz", X=np.eye(3), y=[0, 1, 1], big=np.zeros(10**8, np.int8))
        tracemalloc.start()
        try:
            data = read_data(tmp_path / "b.npz", DataOptions(labels="y"))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert data.labels == ["0", "1", "1"]
        assert peak < 10**7
        with pytest.raises(InputError, match=r"array 'big' has shape \(100000000,\); it needs one value per point, 3"):
            read_data(tmp_path / "b.npz", DataOptions(id="big"))
        with pytest.raises(InputError, match=r"no column 'bog'.* Did you mean 'big'\?"):
            read_data(tmp_path / "b.npz", DataOptions(id="bog"))

    def test_files_by_a_wrong_name(self, tmp_path):
        np.save(tmp_path / "one.npy", np.eye(3))
        np.savez(tmp_path / "many.npz", X=np.eye(3))
        (tmp_path / "one.npy").rename(tmp_path / "one.npz")
        (tmp_path / "many.npz").rename(tmp_path / "many.npy")
        with pytest.raises(InputError, match="rename it to one.npy"):
            read_data(tmp_path / "one.npz")
        with pytest.raises(InputError, match="rename it to many.npz"):
            read_data(tmp_path / "many.npy")

    @pytest.mark.parametrize(
        ("array", "message"),
        [
            (np.arange(3.0), r"shape \(3,\).*reshape\(-1, 1\)"),
            (np.ones((4, 3, 3)), r"shape \(4, 3, 3\).* save X.reshape\(len\(X\), -1\)"),
            (np.ones((0, 3)), r"is empty: it holds an array of shape \(0, 3\)"),
            (np.array([["a", "b"]]), "values of type <U1"),
            (np.array([[1.0, np.nan]]), "row 0, column '2': the cell is empty"),
            (np.array([[None, 1]]), "Python objects"),
        ],
    )
    def test_useless_arrays(self, tmp_path, array, message):
        np.save(tmp_path / "a.npy", array, allow_pickle=True)
        with pytest.raises(InputError, match=message):
            read_data(tmp_path / "a.npy")

    def test_what_is_no_array(self, save, tmp_path):
        with pytest.raises(InputError, match="a.npy is not an array of numbers"):
            read_data(save("hello", "a.npy"))
        np.savez(tmp_path / "b.npz", points=np.eye(2), y=np.ones(2))
        with pytest.raises(InputError, match=r"no array X, but 'points', 'y'. Save it with numpy.savez"):
            read_data(tmp_path / "b.npz")


MATRIX_MARKET = """%%MatrixMarket matrix coordinate real symmetric
% a path and a branch
4 4 3

2 1 2
3 2 1.0
4 1 1e0
"""


class TestGraphs:
    EDGES = "source,target,weight\na,b,2\nb,c,1\nb,a,2\nc,c,5\n"

    def test_an_edge_list_is_known_by_its_header(self, save):
        data = read_data(save(self.EDGES))
        assert data.ids == ["a", "b", "c"]
        assert data.affinity.toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]

    @pytest.mark.parametrize("content", ["10,9\n9,8\n", "u,v,w\n10,9,1\n9,8,1\n", "10,9,1.0\n9,8,1.0\n"])
    def test_graph_forces_an_edge_list(self, save, content):
        data = read_data(save(content), DataOptions(graph=True))
        assert data.ids == ["8", "9", "10"]
        assert data.affinity.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]

    def test_digits_of_other_scripts_are_letters_of_a_name(self, save):
        names = ["12", "1\N{ARABIC-INDIC DIGIT TWO}", "3"]
        data = read_data(save("\n".join(f"{a},{b}" for a, b in pairwise(names)) + "\n"), DataOptions(graph=True))
        assert data.ids == names

    def test_no_edge_is_lost_to_a_header(self, save):
        assert read_data(save("a,b\nb,c\n"), DataOptions(graph=True)).ids == ["a", "b", "c"]

    def test_no_graph_forces_points(self, save):
        assert read_data(save("from,to\n1,2\n3,4\n"), DataOptions(graph=False)).points.tolist() == [[1, 2], [3, 4]]

    def test_extra_columns_are_ignored(self, save):
        data = read_data(save("Source,Target,Type,Id,Weight\na,b,Undirected,0,3\n"))
        assert data.affinity.toarray().tolist() == [[0, 3], [3, 0]]

    @pytest.mark.parametrize("name", ["g.npz", "g.npy", "g.csv"])
    def test_matrices(self, tmp_path, name):
        W = np.array([[0, 2, 0, 1], [2, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], dtype=float)
        writers = {
            "g.npz": lambda path: sp.save_npz(path, sp.csr_array(W)),
            "g.npy": lambda path: np.save(path, W),
            "g.csv": lambda path: np.savetxt(path, W, delimiter=","),
        }
        writers[name](tmp_path / name)
        options = DataOptions(graph=True if name in {"g.npy", "g.csv"} else None)
        assert read_data(tmp_path / name, options).affinity.toarray().tolist() == W.tolist()

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("source,target,weight\na,b,-1\n", "line 2, column 'weight': the weight -1 is negative"),
            ("source,target,weight\na,b,1\nb,a,2\n", r"line 3: the edge 'b' to 'a' weighs 2 here and 1 in line 2"),
            ("source,target,weight\na,b,x\n", "column 'weight' holds text such as 'x'"),
            ("source,target\na,\n", "line 2, column 'target': a name is missing"),
            ("a,b,c,d\n1,2,3,4\n", "has 4 columns; a list of edges has two"),
            ("a\n1\n2\n", "needs two columns"),
        ],
    )
    def test_mistakes(self, save, content, message):
        with pytest.raises(InputError, match=message):
            read_data(save(content), DataOptions(graph=True))

    def test_a_matrix_that_is_not_square(self, tmp_path):
        np.save(tmp_path / "g.npy", np.ones((2, 3)))
        with pytest.raises(InputError, match=r"g.npy: An affinity matrix must be square"):
            read_data(tmp_path / "g.npy", DataOptions(graph=True))

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            (MATRIX_MARKET, [[0, 2, 0, 1], [2, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]),
            ("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n", [[0, 1], [1, 0]]),
            ("%%matrixmarket MATRIX Coordinate Integer General\n%c\n2 2 3\n1 2 7\n2 1 7\n1 1 5\n", [[0, 7], [7, 0]]),
            ("%%MatrixMarket matrix array real general\n2 2\n0\n3\n3\n0\n", [[0, 3], [3, 0]]),
            ("%%MatrixMarket matrix array real symmetric\n2 2\n0\n3\n0\n", [[0, 3], [3, 0]]),
            ("%%MatrixMarket matrix coordinate real general\n2 2 0\n", [[0, 0], [0, 0]]),
        ],
        ids=["symmetric", "pattern", "integer", "dense", "dense symmetric", "no edges"],
    )
    def test_matrix_market(self, save, content, expected):
        assert read_data(save(content, "g.mtx")).affinity.toarray().tolist() == expected

    @pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "dia"])
    @pytest.mark.parametrize("container", [sp.coo_array, sp.coo_matrix])
    def test_sparse_matrices_of_every_format(self, tmp_path, kind, container):
        values = np.random.default_rng(0).random((30, 30))
        W = np.where(values + values.T > 1.5, values + values.T, 0)
        np.fill_diagonal(W, 0)
        sp.save_npz(tmp_path / "g.npz", container(W).asformat(kind))
        np.testing.assert_array_equal(read_data(tmp_path / "g.npz").affinity.toarray(), W)

    def test_a_sparse_matrix_with_unused_room(self, tmp_path):
        matrix = sp.csr_array(np.ones((3, 3)) - np.eye(3))
        matrix.data, matrix.indices = np.append(matrix.data, 7.0), np.append(matrix.indices, 99)
        sp.save_npz(tmp_path / "g.npz", matrix)
        assert read_data(tmp_path / "g.npz").affinity.toarray().tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]

    def test_similarities_below_the_column_names_of_pandas(self, save):
        rows = ["0,1,2,3,4", *(",".join(str(int(i != j)) for j in range(5)) for i in range(5))]
        data = read_data(save("\n".join(rows)), DataOptions(graph=True))
        assert data.affinity.toarray().tolist() == (1 - np.eye(5)).tolist()

    @pytest.mark.parametrize("symmetric", [False, True])
    def test_matrix_market_as_scipy_writes_it(self, tmp_path, symmetric):
        values = np.random.default_rng(0).random((30, 30))
        W = sp.coo_array(np.where(values + values.T > 1.5, values + values.T, 0))
        scipy_io = pytest.importorskip("scipy.io")
        scipy_io.mmwrite(str(tmp_path / "g.mtx"), W, symmetry="symmetric" if symmetric else "general", precision=17)
        found = read_data(tmp_path / "g.mtx").affinity.toarray()
        expected = W.toarray()
        np.fill_diagonal(expected, 0)
        np.testing.assert_allclose(found, expected, rtol=1e-12)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("1 2 3\n", "not a Matrix Market file"),
            ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "complex is not supported"),
            ("%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n", "skew-symmetric is not supported"),
            ("%%MatrixMarket matrix coordinate real general\n2 2\n1 2 1\n", "'2 2' announces other entries"),
            (
                "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n",
                "'2 2 2' announces other entries than the 1 there are",
            ),
            ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", "outside the matrix"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n", "outside the matrix"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1.5 1 1\n", "outside the matrix"),
            ("%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 1 1\n", "size must be wrong"),
            ("%%MatrixMarket matrix array real symmetric\n2 2\n1\n", "announces other entries"),
            ("%%MatrixMarket matrix coordinate real general\n-2 2 0\n", "'-2 2 0' are not sizes"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 0_0\n", "'2 2 0_0' are not sizes"),
        ],
    )
    def test_broken_matrix_market(self, save, content, message):
        with pytest.raises(InputError, match=f"g.mtx.*{message}"):
            read_data(save(content, "g.mtx"))

    def test_columns_do_not_apply(self, save):
        with pytest.raises(InputError, match="has no columns; leave out --id"):
            read_data(save(self.EDGES), DataOptions(id="source"))


class TestPairs:
    def test_columns_by_name(self, save):
        pairs = read_pairs(save("type,one,belief,two\nSame,a,0.5,b\ncannot_link,a,1,c\n"))
        assert [pairs.pair(row) for row in range(2)] == [("a", "b"), ("a", "c")]
        assert pairs.must.tolist() == [True, False]
        assert pairs.belief.tolist() == [0.5, 1]

    @pytest.mark.parametrize("content", ["a,b,must\na,c,cannot\n", "0;1;1\n0;2;-1\n"])
    def test_without_header(self, save, content):
        pairs = read_pairs(save(content))
        assert len(pairs) == 2
        assert pairs.must.tolist() == [True, False]

    def test_as_constraints(self, save):
        known = read_pairs(save("a,b,type\nann,eve,must\nbob,eve,cannot\n")).constraints(["ann", "bob", "eve"])
        assert known.must_link.tolist() == [[0, 2]]
        assert known.cannot_link.tolist() == [[1, 2]]

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("a,b,type\nann,bob,maybe\n", "line 2, column 'type': 'maybe' is neither .* Write must"),
            ("a,b,type\nann,bob,\n", "line 2, column 'type': the type is missing"),
            ("a,b,type\nann,,must\n", "line 2, column 'b': a name is missing"),
            ("a,b\nann,bob\n", "has 2 columns; pairs need three"),
            ("a,b,relation\nann,bob,must\n", "no column named type; its columns are 'a', 'b', 'relation'"),
            (
                "a,b,must_link\nann,bob,1\nbob,eve,0\n",
                "line 1: a column named 'must_link' above numbers. Write must or",
            ),
            ("a,b,different\nann,bob,true\n", "line 1: a column named 'different' above numbers"),
            ("a,type,belief\nann,must,1\n", "two columns of names"),
            ("a,b,type,belief\nann,bob,must,2\n", "line 2, column 'belief': 2 is not a belief"),
        ],
    )
    def test_mistakes(self, save, content, message):
        with pytest.raises(InputError, match=message):
            read_pairs(save(content, "pairs.csv"))

    @pytest.mark.parametrize(
        ("content", "ids", "message"),
        [
            (
                "ann,zoe,must\nann,yve,must\n",
                ["ann", "bob"],
                r"line 1, column '2': 'zoe' is not an identifier .*2 such",
            ),
            ("ann,ann,must\n", ["ann"], "line 1: 'ann' is paired with itself"),
            ("1,3,must\n", ["0", "1", "2"], r"'3' is not a row .* 0 to 2. Do yours start at 1\?"),
            ("ann,bob,must\n", ["0", "1", "2"], r"'ann' is not a row .* --id COLUMN"),
        ],
    )
    def test_unknown_names(self, save, content, ids, message):
        with pytest.raises(InputError, match=message):
            read_pairs(save(content, "pairs.csv")).constraints(ids)

    def test_repeated_pairs(self, save):
        pairs = read_pairs(save("c,d,must\na,b,must\nb,a,same\na,b,cannot\nd,c,ml\na,b,1\n"))
        assert pairs.repeated() == [[0, 4], [1, 2, 5]]

    def test_names_in_order_of_appearance(self, save):
        pairs = read_pairs(save("z,b,must\nb,a,same\na,z,must\n"))
        assert pairs.names == ["z", "b", "a"]
        assert pairs.ends.tolist() == [[0, 1], [1, 2], [2, 0]]

    def test_places(self, save):
        places = read_pairs(save("z,b,must\nb,a,cannot\nb,z,must\n", "pairs.csv")).places(["a", "b", "z"])
        assert places("must", 1, 2).endswith("pairs.csv, line 1")
        assert places("cannot", 1, 0).endswith("pairs.csv, line 2")
        assert places("must", 0, 1) is None

    def test_places_in_files_without_lines(self, tmp_path):
        frame = pytest.importorskip("pandas").DataFrame({"a": ["x", "y"], "b": ["y", "z"], "type": ["must", "cannot"]})
        pytest.importorskip("pyarrow")
        frame.to_parquet(tmp_path / "pairs.parquet")
        pairs = read_pairs(tmp_path / "pairs.parquet")
        for _ in range(2):
            pairs = pairs.select(~pairs.must)
            assert pairs.places(["x", "y", "z"])("cannot", 1, 2).endswith("pairs.parquet, row 1")

    @pytest.mark.parametrize("dtype", ["int64", "int32", "float64", "str"])
    def test_columns_of_any_type(self, tmp_path, dtype):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        frame = pandas.DataFrame({"a": np.array([3, 1]).astype(dtype), "b": [1, 0], "type": [True, False]})
        frame.to_parquet(tmp_path / "pairs.parquet")
        pairs = read_pairs(tmp_path / "pairs.parquet")
        assert pairs.names == ["3", "1", "0"]
        assert pairs.constraints(["0", "1", "2", "3"]).must_link.tolist() == [[1, 3]]

    @pytest.mark.parametrize("cells", [[3, 0, 3, 1], [-1, 5, -1, 2], [10**12, 7, 10**12, 7], [4, 4, 4, 4]])
    @pytest.mark.parametrize("dtype", ["int64", "uint64", "int32"])
    def test_numbers_are_told_apart(self, cells, dtype):
        if (dtype == "uint64" and min(cells) < 0) or (dtype == "int32" and max(cells) > 2**31):
            pytest.skip("out of range")
        texts, rows = Table(Path("x"), ("a",), (np.array(cells, dtype),)).distinct("a")
        assert [texts[row] for row in rows] == list(map(str, cells))

    def test_columns_of_lists_are_refused(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        frame = pandas.DataFrame({"a": [[3], [1]], "b": [1, 0], "type": ["must", "must"]})
        frame.to_parquet(tmp_path / "pairs.parquet")
        with pytest.raises(InputError, match="column 'a' holds lists"):
            read_pairs(tmp_path / "pairs.parquet")


CELLS = st.lists(
    st.sampled_from(["a", "7", "-1.5", "", " ", "b c", '"q"', '"x,y"', "\u00e9", "\t", "\u2028", "\x0b"]), max_size=3
)


class TestPlainText:
    @given(
        st.lists(CELLS, min_size=1, max_size=5),
        st.sampled_from([",", ";", "\t"]),
        st.sampled_from(["\n", "\r\n", "\r"]),
    )
    @settings(max_examples=500)
    def test_what_is_plain_reads_as_the_csv_module_reads_it(self, rows, separator, newline):
        text = newline.join(separator.join(row) for row in rows) + newline
        columns = split_plain(text, separator)
        if columns is not None:
            expected, lines = read_rows(Path("pairs.csv"), text, separator)
            assert list(map(list, zip(*columns, strict=True))) == expected
            assert lines == list(range(1, len(expected) + 1))

    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_a_plain_table_is_seen_as_one(self, newline):
        text = newline.join(["a,b,type", "0,12,must", "7,,cannot"])
        columns = [["a", "0", "7"], ["b", "12", ""], ["type", "must", "cannot"]]
        assert split_plain(text, ",") == split_plain(text + newline, ",") == columns


class TestWriting:
    def test_rows(self, tmp_path):
        write_rows(tmp_path / "a.csv", ["id", "cluster"], [("x,y", 1)])
        write_rows(tmp_path / "a.tsv", ["id", "cluster"], [("x", 1)])
        assert (tmp_path / "a.csv").read_text() == 'id,cluster\n"x,y",1\n'
        assert (tmp_path / "a.tsv").read_text() == "id\tcluster\nx\t1\n"

    @pytest.mark.parametrize("mode", [None, 0o600, 0o640, 0o666])
    def test_permissions_are_those_of_the_file_that_is_replaced_or_of_any_new_one(self, tmp_path, mode):
        path, model = tmp_path / "a.csv", tmp_path / "plain"
        model.touch()
        if mode is not None:
            path.touch()
            path.chmod(mode)
            model.chmod(mode)
        write_rows(path, ["x"], [], force=True)
        assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(model.stat().st_mode)

    def test_cells_that_look_like_formulas(self, tmp_path):
        rows = [("=1+2", 1), ("@a", -2), ("-3", 0), ("-a", 0), ("+4.5", 0), ("a=b", 0)]
        write_rows(tmp_path / "a.csv", ["=id", "n"], rows)
        write_rows(tmp_path / "b.csv", ["=id", "n"], rows, spreadsheet=True)
        assert (tmp_path / "a.csv").read_text().splitlines() == ["=id,n", *(f"{name},{n}" for name, n in rows)]
        assert (tmp_path / "b.csv").read_text() == "'=id,n\n'=1+2,1\n'@a,-2\n-3,0\n'-a,0\n+4.5,0\na=b,0\n"

    def test_existing_files_are_safe_without_force(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text("mine")
        with pytest.raises(InputError, match="already exists. Use --force"):
            write_rows(path, ["x"], [])
        assert path.read_text() == "mine"
        write_rows(path, ["x"], [], force=True)
        assert path.read_text() == "x\n"

    @pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
    def test_a_failure_leaves_what_was_there(self, tmp_path, error):
        path = tmp_path / "a.csv"
        path.write_text("mine")

        def write():
            with atomic_writer(path, force=True) as stream:
                stream.write("half")
                raise error

        with pytest.raises(error):
            write()
        assert path.read_text() == "mine"
        assert [entry.name for entry in tmp_path.iterdir()] == ["a.csv"]

    def test_a_file_that_appears_meanwhile_is_not_replaced(self, tmp_path):
        path = tmp_path / "a.csv"

        def write():
            with atomic_writer(path) as stream:
                stream.write("late")
                path.write_text("early")

        with pytest.raises(InputError, match="already exists"):
            write()
        assert path.read_text() == "early"
        assert len(list(tmp_path.iterdir())) == 1

    def test_a_link_stays_a_link(self, tmp_path):
        (tmp_path / "real.csv").write_text("old")
        (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
        write_rows(tmp_path / "link.csv", ["x"], [], force=True)
        assert (tmp_path / "link.csv").is_symlink()
        assert (tmp_path / "real.csv").read_text() == "x\n"

    def test_places_that_cannot_be_written(self, tmp_path):
        with pytest.raises(InputError, match="is a directory"):
            write_rows(tmp_path, ["x"], [])
        with pytest.raises(InputError, match="folder .* does not exist. Create it first: mkdir"):
            write_rows(tmp_path / "no" / "a.csv", ["x"], [])
        with pytest.raises(InputError, match="not a regular file"):
            write_rows(tmp_path.__class__("/dev/null"), ["x"], [], force=True)
