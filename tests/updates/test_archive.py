"""Models in files: what comes back, and what is refused."""

import io
import json
import os
import pickle
import stat
import zipfile
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tightcut import COSC
from tightcut.fitted.archive import MANIFEST, VERSION, ArchiveError, read_archive, write_archive


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    found = COSC(3, n_neighbors=4, random_state=0).fit(
        rng.normal(size=(40, 2)), must_link=[(0, 1)], cannot_link=[(2, 3)]
    )
    found.name(1, "Anna \N{SNOWMAN}")
    return found.update(rng.normal(size=(5, 2)), cannot_link=[(0, 41), (41, 42)])


def same(one, other):
    if sp.issparse(one):
        return (one != other).nnz == 0 and one.dtype == other.dtype
    if isinstance(one, np.ndarray):
        return one.dtype.kind == other.dtype.kind and np.array_equal(one, other)
    if hasattr(one, "n_points"):
        return same(one.must_link, other.must_link) and same(one.cannot_link, other.cannot_link)
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    return one == other


def test_everything_comes_back(model, tmp_path):
    model.save(tmp_path / "model.tcut")
    again = COSC.load(tmp_path / "model.tcut")
    assert again.get_params() == model.get_params()
    assert vars(again).keys() == vars(model).keys()
    assert all(same(value, getattr(again, name)) for name, value in vars(model).items() if name != "_state")
    new = np.random.default_rng(1).normal(size=(6, 2))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    np.testing.assert_array_equal(again.update(new).labels_, model.update(new).labels_)
    assert again.changes_ == model.changes_


@pytest.mark.parametrize("kind", ["precomputed", "paper", "frame", "soft"])
def test_models_of_every_kind(kind, tmp_path):
    rng = np.random.default_rng(0)
    X, settings, known = rng.normal(size=(30, 3)), {"random_state": 0}, {"must_link": [(0, 1)]}
    if kind == "precomputed":
        X, settings = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)), {"affinity": "precomputed", "random_state": 0}
    if kind == "paper":
        settings |= {"method": "paper", "n_clusters": 3}
    if kind == "frame":
        X = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])
    if kind == "soft":
        settings |= {"max_violations": "fewest"}
        known = {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]}
    model = COSC(**settings).fit(X, **known)
    model.save(tmp_path / "model.tcut")
    again = COSC.load(tmp_path / "model.tcut")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert getattr(again, "hierarchy_", None) is None or len(again.hierarchy_) == len(model.hierarchy_)
    if kind == "frame":
        assert again.feature_names_in_.tolist() == ["a", "b", "c"]
        with pytest.raises(ValueError, match="feature names"):
            again.predict(X.rename(columns={"a": "z"}))


def test_the_file_is_a_zip_of_arrays_and_json_without_pickle(model, tmp_path):
    path = tmp_path / "model.tcut"
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read(MANIFEST))
        assert (manifest["format"], manifest["version"]) == ("tightcut model", VERSION)
        for name in set(archive.namelist()) - {MANIFEST}:
            np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
    if os.name == "posix":
        mask = os.umask(0)
        os.umask(mask)
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    assert [file.name for file in tmp_path.iterdir()] == ["model.tcut"]


@pytest.mark.slow
@given(st.data())
def test_values_come_back(tmp_path_factory, data):
    scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    values = st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.lists(inner, max_size=3).map(tuple)
            | st.dictionaries(st.integers(), inner, max_size=3)
            | st.dictionaries(st.text(), inner, min_size=1, max_size=3)
        ),
        max_leaves=8,
    )
    state = {"value_": data.draw(values)}
    path = tmp_path_factory.mktemp("archive") / "x.tcut"
    write_archive(path, {}, state, "test")
    assert read_archive(path) == ({}, state)


def test_what_cannot_be_written_is_said_and_leaves_no_file(model, tmp_path):
    model.set_params(random_state=np.random.default_rng(0))
    with pytest.raises(TypeError, match=r"random_state is Generator.*set_params\(random_state="):
        model.save(tmp_path / "model.tcut")
    assert list(tmp_path.iterdir()) == []
    model.set_params(random_state=np.int64(3), effort=np.float32(0.5))
    model.save(tmp_path / "model.tcut")
    assert COSC.load(tmp_path / "model.tcut").random_state == 3
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "no folder" / "model.tcut")
    with pytest.raises(FileNotFoundError):
        COSC.load(tmp_path / "nothing.tcut")


def test_a_failure_while_writing_leaves_the_old_file(model, tmp_path, monkeypatch):
    path = tmp_path / "model.tcut"
    model.save(path)
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="No space left"):
        model.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model.tcut"]


@pytest.mark.parametrize("content", [b"", b"PK", b"name,x\na,1\n", pickle.dumps({"a": 1}), b"\x00" * 100])
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "x.tcut").write_bytes(content)
    with pytest.raises(ArchiveError, match="not a model that tightcut has saved, or it is damaged"):
        COSC.load(tmp_path / "x.tcut")


def test_other_zip_archives_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.zeros(3))
    with pytest.raises(ArchiveError, match="is a zip archive, but not a model"):
        COSC.load(tmp_path / "x.npz")


def rewritten(path, change):
    """Change the entries of an archive, given as a dict from names to bytes."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries[MANIFEST])
    change(manifest, entries)
    entries[MANIFEST] = entries.pop(MANIFEST) if manifest is None else json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def array_bytes(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()


def entry(name, array):
    return lambda _, entries: entries.update({name: array_bytes(array)})


def state(**values):
    return lambda manifest, _: manifest["state"].update(values)


DAMAGES = {
    "a later version": lambda manifest, _: manifest.update(version=VERSION + 1),
    "no version": lambda manifest, _: manifest.pop("version"),
    "no state": lambda manifest, _: manifest.pop("state"),
    "no labels": lambda manifest, _: manifest["state"].pop("labels_"),
    "a parameter nobody knows": lambda manifest, _: manifest["parameters"].update(temperature=3),
    "missing array": lambda _, entries: entries.pop("labels_.npy"),
    "unknown kind": state(cut_={"pickle": "x"}),
    "a method": state(predict="x"),
    "a dunder": state(__class__="x"),
    "changes that are none": state(changes_={"changes": [[1, 2]]}),
    "an array of objects": entry("labels_.npy", np.array([{}], dtype=object)),
    "other length": entry("labels_.npy", np.zeros(3, np.int64)),
    "labels of floats": entry("labels_.npy", np.zeros(45)),
    "negative labels": entry("labels_.npy", np.full(45, -1)),
    "indices out of range": entry("affinity_matrix_.indices.npy", np.full(10, 10**6, np.int32)),
    "pairs out of range": entry("constraints_.must_link.npy", np.array([[0, 10**9]])),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_refused(damage, model, tmp_path):
    path = tmp_path / "model.tcut"
    model.save(path)
    rewritten(path, DAMAGES[damage])
    with pytest.raises(ArchiveError, match="model.tcut"):
        COSC.load(path)


@pytest.mark.slow
def test_a_header_that_numpy_cannot_parse(model, tmp_path):
    path = tmp_path / "model.tcut"
    model.save(path)
    content = path.read_bytes()
    # Of a small array, zipfile reads everything at once, and the checksum is wrong before numpy sees the header.
    with zipfile.ZipFile(path) as archive:
        arrays = [entry for entry in archive.infolist() if entry.filename != MANIFEST]
    largest = max(arrays, key=lambda entry: entry.file_size)
    assert largest.file_size > 4096
    end = content.index(b"}", largest.header_offset)
    path.write_bytes(content[:end] + b"|" + content[end + 1 :])
    with pytest.raises(ArchiveError, match="is damaged"):
        COSC.load(path)


def test_no_flipped_byte_does_harm(model, tmp_path):
    path = tmp_path / "model.tcut"
    model.save(path)
    content = bytearray(path.read_bytes())
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.choice(len(content), 200, replace=False).tolist():
        broken = content.copy()
        broken[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(broken)
        try:
            again = COSC.load(path)
        except ArchiveError:
            refused += 1
        else:  # what the checksums do not cover, such as times, changes nothing
            np.testing.assert_array_equal(again.labels_, model.labels_)
    assert refused > 100
    for end in rng.choice(len(content), 20, replace=False).tolist():
        path.write_bytes(content[:end])
        with pytest.raises(ArchiveError):
            COSC.load(path)
