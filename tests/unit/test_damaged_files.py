"""Damaged files: every mutation of every format reads as something sound, or is refused by name. Nothing crashes."""

import struct
import zipfile
from zlib import crc32

import numpy as np
import pytest
import scipy.sparse as sp

from tightcut.files import InputError, large, read_data, read_pairs

MUTATIONS = 250
RING = np.roll(np.eye(12), 1, axis=0) + np.roll(np.eye(12), -1, axis=0)
NUMBERS = (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\x00" * 8, b"-1", b"9" * 9, b"nan", b",")


def write_csv(path):
    rows = [f"p{i},{i % 5}.25,{i * i % 7}" for i in range(12)]
    path.write_text("\n".join(["id,x,y", *rows, ""]))


def write_quoted(path):
    path.write_text('"id";"x";"y"\n' + "".join(f'"p;{i}";{i};"{i}.5"\n' for i in range(12)))


def write_edges(path):
    path.write_text("source,target,weight\n" + "".join(f"{i},{(i + 1) % 12},1.5\n" for i in range(12)))


def write_pairs(path):
    path.write_text("a,b,type,belief\n" + "".join(f"p{i},p{i + 1},must,0.5\n" for i in range(12)))


def write_matrix_market(path):
    entries = "".join(f"{i + 2} {i + 1} 1.5\n" for i in range(11))
    path.write_text(f"%%MatrixMarket matrix coordinate real symmetric\n% a path\n12 12 11\n{entries}")


def write_dense_market(path):
    path.write_text("%%MatrixMarket matrix array real general\n12 12\n" + "\n".join(map(str, RING.ravel())))


def write_parquet(path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = [f"p{i}" for i in range(40)]
    parquet.write_table(pyarrow.table({"id": names, "x": np.arange(40.0), "y": np.arange(40) % 7}), path)


def write_lists(path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"id": ["a", "b"], "x": [[1], [2, 3]]}), path, compression="none")


WRITERS = {
    "points.csv": write_csv,
    "quoted.csv": write_quoted,
    "edges.csv": write_edges,
    "pairs.csv": write_pairs,
    "path.mtx": write_matrix_market,
    "dense.mtx": write_dense_market,
    "points.parquet": write_parquet,
    "lists.parquet": write_lists,
    "points.npy": lambda path: np.save(path, np.arange(60.0).reshape(20, 3)),
    "points.npz": lambda path: np.savez(path, X=np.eye(9), id=np.array(list("abcdefghi"))),
    "small.npz": lambda path: np.savez_compressed(path, X=np.eye(9), id=np.array(list("abcdefghi"))),
    "csr.npz": lambda path: sp.save_npz(path, sp.csr_array(RING), compressed=False),
    "csc.npz": lambda path: sp.save_npz(path, sp.csc_array(RING)),
    "bsr.npz": lambda path: sp.save_npz(path, sp.bsr_array(RING, blocksize=(2, 2)), compressed=False),
    "coo.npz": lambda path: sp.save_npz(path, sp.coo_array(RING), compressed=False),
    "dia.npz": lambda path: sp.save_npz(path, sp.dia_array(RING), compressed=False),
}


def mutated(content, rng):
    """The bytes with one to three small injuries."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(len(content) + 1))
        length = int(rng.choice([1, 1, 2, 4, 16, 64]))
        match rng.integers(6):
            case 0:
                content[place : place + length] = rng.bytes(length)
            case 1:
                del content[place : place + length]
            case 2:
                content[place:place] = content[place : place + length]
            case 3:
                content[place : place + length] = NUMBERS[rng.integers(len(NUMBERS))]
            case 4:
                content = content[: max(place, 1)]
            case 5 if place < len(content):
                content[place] ^= 1 << int(rng.integers(8))
    return bytes(content) or b"\n"


def with_members_mutated(content, path, rng):
    """An NPZ file that is sound as an archive, whose arrays are not: their checksums are made to fit."""
    path.write_bytes(content)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    victim = list(members)[rng.integers(len(members))]
    members[victim] = mutated(members[victim], rng)
    with zipfile.ZipFile(path, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)


def read_soundly(path):
    """Read a file and use what it holds, as a clustering would."""
    if path.name.startswith("pairs"):
        pairs = read_pairs(path)
        usable = pairs.select(pairs.ends[:, 0] != pairs.ends[:, 1])
        assert usable.constraints(pairs.names).n_points == len(pairs.names)
        return
    data = read_data(path)
    assert len(set(data.ids)) == data.n_rows
    if data.is_graph:
        assert np.isfinite(data.affinity @ np.ones(data.n_rows)).all()
        sp.csgraph.connected_components(data.affinity, directed=False)
        assert data.affinity.shape == (data.n_rows, data.n_rows)
    else:
        assert data.points.shape == (data.n_rows, len(data.columns))


@pytest.mark.parametrize(
    ("name", "large_file"),
    [*((name, large.LARGE_FILE) for name in WRITERS), ("points.npy", 0), ("points.parquet", 0), ("lists.parquet", 0)],
)
def test_no_mutation_causes_more_than_a_message(tmp_path, monkeypatch, name, large_file):
    monkeypatch.setattr(large, "LARGE_FILE", large_file)
    path = tmp_path / name
    WRITERS[name](path)
    read_soundly_or_refuse(path)
    content = path.read_bytes()
    rng = np.random.default_rng(crc32(name.encode()))
    refused = 0
    for _ in range(MUTATIONS):
        if name.endswith(".npz") and rng.random() < 0.6:
            with_members_mutated(content, path, rng)
        else:
            path.write_bytes(mutated(content, rng))
        refused += read_soundly_or_refuse(path)
    assert refused > MUTATIONS / 10


def read_soundly_or_refuse(path):
    try:
        read_soundly(path)
    except InputError as error:
        if path.name not in str(error):
            pytest.fail(f"does not name the file: {error}")
        return True
    return False


@pytest.mark.parametrize(("array", "value"), [("indices", 2**30), ("indptr", -7)])
def test_wild_indices_are_refused(tmp_path, array, value):
    matrix = sp.csr_array(RING)
    getattr(matrix, array)[5] = value
    sp.save_npz(tmp_path / "g.npz", matrix)
    with pytest.raises(InputError, match="g.npz is damaged"):
        read_data(tmp_path / "g.npz")


@pytest.mark.parametrize("name", ["points.npy", "csr.npz", "path.mtx"])
def test_a_parser_warns_of_nothing(tmp_path, recwarn, name):
    """Not of headers that look like those of Python 2, nor of files that end after their sizes."""
    path = tmp_path / name
    WRITERS[name](path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"(20, 3)", b"(20L,3)").replace(b"(12,)", b"(12L)").partition(b"2 1 1.5")[0])
    read_soundly_or_refuse(path)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("offset", "value", "message"),
    [(6, 1, "password|encrypted"), (8, 99, "compression method|not supported")],
    ids=["encrypted", "unknown compression"],
)
def test_archives_that_cannot_be_unpacked(tmp_path, offset, value, message):
    path = tmp_path / "points.npz"
    np.savez(path, X=np.eye(9))
    content = bytearray(path.read_bytes())
    struct.pack_into("<H", content, offset, value)
    central = content.index(b"PK\x01\x02")
    struct.pack_into("<H", content, central + offset + 2, value)
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"points.npz is damaged.*({message})"):
        read_data(path)
