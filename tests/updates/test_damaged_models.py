"""Damaged models: whatever a file holds, loading it ends in a model that works, or in an ArchiveError.

`TIGHTCUT_MUTATIONS=5000 pytest tests/updates/test_damaged_models.py` tries that many on each model.
"""

import io
import json
import os
import struct
import tracemalloc
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from tightcut import COSC, KnnAffinity
from tightcut.cli._models import rows_of
from tightcut.fitted.archive import MANIFEST, ArchiveError, read_archive
from tightcut.fitted.state import Rows

MUTATIONS = int(os.environ.get("TIGHTCUT_MUTATIONS", "60"))
JUNK = [
    None, True, -1, 0, 1, 2**31, 2**63, -(2**63) - 1, 10**30, 0.5, 1e308, "", "x", "auto", [], [1], [[1, 2]], {}, {"a": 1},
    {"tuple": []}, {"tuple": [1]}, {"strings": ["a"]}, {"strings": "abc"}, {"strings": [1]}, {"number": "nan"},
    {"number": "inf"}, {"array": "labels_.npy"}, {"array": MANIFEST}, {"array": "../x"}, {"ids": [[0, "x"]]},
    {"ids": [["0", 1]]}, {"mapping": [["a", 1]]}, {"mapping": {}}, {"changes": []}, {"constraints": {}}, {"View": {}},
    {"Setting": {}}, {"Choice": {"setting": 1, "reason": 2}}, {"ColumnScale": {"name": "none"}},
]  # fmt: skip


APART = KnnAffinity(connect=False)


def small_models():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2)) + 3 * (np.arange(12) % 2)[:, None]
    plain = COSC(2, n_neighbors=3, random_state=0, affinity=KnnAffinity(connect=False)).fit(
        X, must_link=[(0, 2)], cannot_link=[(0, 1)]
    )
    plain.name(1, "Anna")
    plain.update(X[:1] + 0.1, cannot_link=[(1, 12)])
    plain._state = replace(plain._state, rows=Rows([f"r{row}" for row in range(13)], "name", ("x", "y")))
    given = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    words = sp.csr_array(rng.poisson(1.0, size=(12, 5)) + np.eye(12, 5))
    settings = {"random_state": 0, "n_neighbors": 3}
    plain_weights = KnnAffinity(diffusion=0, connect=False)
    learned = KnnAffinity(learn_distances=True, connect=False)
    return {
        "plain": (plain, X[:2]),
        "given": (COSC(2, affinity="precomputed", random_state=0).fit(given), given[:2]),
        "paper": (COSC(3, method="paper", affinity=APART, **settings).fit(X), X[:2]),
        "sparse": (
            COSC(2, metric="cosine", affinity=plain_weights, **settings).fit(words),
            words[:2],
        ),
        "scaled": (
            COSC(2, scale="quantile", affinity=learned, **settings).fit(X, must_link=[(0, 2), (1, 3)]),
            X[:2],
        ),
        "standard": (
            COSC(2, scale="standard", max_violations=1, affinity=APART, **settings).fit(X, cannot_link=[(0, 1)]),
            X[:2],
        ),
    }


MODELS = ("plain", "given", "paper", "sparse", "scaled", "standard")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    made = small_models()
    for name, (model, _) in made.items():
        model.save(folder / f"{name}.tcut")
    return {name: ((folder / f"{name}.tcut").read_bytes(), new) for name, (_, new) in made.items()}


def entries_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(entries, **options):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", **options) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return stream.getvalue()


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()


def flipped(content, rng):
    broken = bytearray(content)
    for place in rng.choice(len(broken), int(rng.integers(1, 9))).tolist():
        broken[place] = int(rng.integers(256))
    return bytes(broken)


def cut(content, rng):
    start, end = np.sort(rng.choice(len(content), 2)).tolist()
    return [content[:end], content[start:], content[:start] + content[end:], content[:end] + content[start:]][
        rng.integers(4)
    ]


def exchanged(content, rng):
    entries = entries_of(content)
    one, other = rng.choice(sorted(entries), 2).tolist()
    entries[one] = entries[other]
    return packed(entries)


def places(value, above=()):
    """The places of all values in a JSON document."""
    yield above
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from places(item, (*above, key))


def edited(content, rng):
    entries = entries_of(content)
    manifest = json.loads(entries[MANIFEST])
    known = [place for place in places(manifest) if place]
    *way, last = known[rng.integers(len(known))]
    holder = manifest
    for key in way:
        holder = holder[key]
    kind = rng.integers(4)
    if kind == 0:
        del holder[last]
    elif kind == 1 and isinstance(holder[last], int | float):
        holder[last] += [-1, 1, 0.5, 10**12][rng.integers(4)]
    elif kind == 1 and isinstance(holder[last], list):
        holder[last] += holder[last]
    else:
        holder[last] = JUNK[rng.integers(len(JUNK))]
    entries[MANIFEST] = json.dumps(manifest).encode()
    return packed(entries)


def other_values(content, rng):
    """An array of another shape, another type, or with a value that is out of the way."""
    entries = entries_of(content)
    name = rng.choice(sorted(entry for entry in entries if entry.endswith(".npy")))
    array = np.lib.format.read_array(io.BytesIO(entries[name]))
    kind = rng.integers(8)
    if kind < 4 and array.size:
        value = [-1, 0, 1, 12, 13, 10**6, -(10**9), 2**31 - 1, np.nan, np.inf, 1e15, 1e-15][rng.integers(12)]
        with np.errstate(invalid="ignore"):
            array.flat[rng.integers(array.size)] = (
                value if array.dtype.kind == "f" else np.nan_to_num(value, posinf=7) % 2**31
            )
    elif kind == 4:
        array = array[:-1] if rng.integers(2) else np.concatenate([array, array])
    elif kind == 5:
        array = array.astype(
            [np.int8, np.float32, np.uint64, np.complex128, bool, object, "U8", ">f8", ">i4"][rng.integers(9)]
        )
    elif kind == 6:
        array = [array[None], array.ravel(), array.T, np.asfortranarray(array), array[:0], array.reshape(-1, 1)][
            rng.integers(6)
        ]
    else:
        array = rng.permutation(array)
    entries[name] = npy(np.asarray(array))
    return packed(entries)


def compressed(content, rng):
    return packed(
        entries_of(content), compression=[zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA][rng.integers(3)]
    )


WAYS = (flipped, flipped, cut, exchanged, edited, edited, edited, other_values, other_values, other_values, compressed)


def used(path, new):
    """Everything that a model can do; inputs are refused, but nothing fails for want of an attribute or a type."""
    model = COSC.load(path)
    repr(model.choice_), repr(model.constraints_), rows_of(model._state)
    model.choice_.to_dataframe(), model.changes_.to_dataframe(), model.changes_.to_dataframe(list(range(13)))
    uses = (
        lambda: model.predict(new),
        lambda: model.update(cannot_link=[(0, 1)]),
        lambda: model.update(must_link=[(3, 4)], keep="none", full=True),
        lambda: model.update(new[:1]),
        lambda: model.name(0, "Bob"),
        lambda: model.save(path),
    )
    for use in uses:
        try:
            use()
        except UnicodeError:
            raise
        except ValueError as error:
            if "broadcast" in str(error):
                raise


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_mutations(name, models, tmp_path):
    content, new = models[name]
    path, rng, loaded = tmp_path / "model.tcut", np.random.default_rng(MODELS.index(name)), 0
    for number in range(MUTATIONS):
        mutation = WAYS[number % len(WAYS)](content, rng)
        path.write_bytes(mutation)
        try:
            used(path, new)
            loaded += 1
        except ArchiveError as error:
            assert "model.tcut" in str(error)  # noqa: PT017
        except BaseException:
            (tmp_path / "failed.tcut").write_bytes(mutation)
            raise
    assert 0 < loaded < MUTATIONS


@pytest.mark.parametrize("name", MODELS)
def test_what_was_saved_is_read_to_the_last_bit(name, models, tmp_path):
    path = tmp_path / "model.tcut"
    path.write_bytes(models[name][0])
    COSC.load(path).save(tmp_path / "again.tcut")
    assert entries_of((tmp_path / "again.tcut").read_bytes()) == entries_of(models[name][0])


def with_manifest(content, change):
    entries = entries_of(content)
    manifest = json.loads(entries[MANIFEST])
    change(manifest)
    return packed(entries | {MANIFEST: json.dumps(manifest).encode()})


def huge_header(shape):
    return npy(np.zeros(1)).replace(b"'shape': (1,), }", f"'shape': {shape}, }}".encode())


def refused(path, content):
    """The message, and how much memory it took."""
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveError) as caught:
            read_archive(path)
        return str(caught.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_no_more_memory_than_the_file(models, tmp_path):
    """A megabyte that would unpack to a gigabyte, and headers that announce as much, are refused before any is taken."""
    content, _ = models["plain"]
    zeros = npy(np.zeros(1 << 22))
    bomb = packed(entries_of(content) | {"labels_.npy": zeros}, compression=zipfile.ZIP_DEFLATED)
    message, peak = refused(tmp_path / "x.tcut", bomb)
    assert "is compressed, which tightcut never does" in message
    assert peak < 1 << 20
    for shape in ("(1000000000000,)", "(1000000, 1000000)", "(-1,)", "(2,)", "(10,) * 1000", "(" * 500):
        message, peak = refused(tmp_path / "x.tcut", packed(entries_of(content) | {"labels_.npy": huge_header(shape)}))
        assert "labels_.npy" in message
        assert peak < 1 << 20


def test_entries_that_share_their_bytes(models, tmp_path):
    """One entry that is named a hundred times in the directory would be read a hundred times."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(MANIFEST, entries_of(models["plain"][0])[MANIFEST])
        archive.writestr("a.npy", npy(np.zeros(10_000)))
        first = archive.getinfo("a.npy")
        for number in range(100):
            again = zipfile.ZipInfo(f"{number}.npy")
            again.header_offset, again.file_size, again.compress_size = (
                first.header_offset,
                first.file_size,
                first.file_size,
            )
            again.CRC = first.CRC
            archive.filelist.append(again)
            archive.NameToInfo[again.filename] = again
    assert "larger than the file" in refused(tmp_path / "x.tcut", stream.getvalue())[0]


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_deep_nesting(models, tmp_path, depth):
    entries = entries_of(models["plain"][0])
    start, end = entries[MANIFEST].rstrip()[:-1].rstrip()[:-1], b', "x_": ' + b"[" * depth + b"]" * depth + b"}}"
    message, _ = refused(tmp_path / "x.tcut", packed(entries | {MANIFEST: start + end}))
    assert "recursion" in message


def test_two_entries_of_one_name(models, tmp_path):
    stream = io.BytesIO(models["plain"][0])
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("labels_.npy", npy(np.zeros(13, np.int64)))
    assert "the same name" in refused(tmp_path / "x.tcut", stream.getvalue())[0]


def test_an_encrypted_entry(models, tmp_path):
    content = bytearray(models["plain"][0])
    place = content.index(b"PK\x01\x02")
    struct.pack_into("<H", content, place + 8, 1)
    assert "is encrypted" in refused(tmp_path / "x.tcut", bytes(content))[0]


STATES = {
    "_index": "no attribute '_index'",
    "_view": "_view does not fit",
    "choice_": "choice_ does not fit",
    "_plain_affinity": "_plain_affinity does not fit",
    "_scales": "_scales does not fit",
    "names_": "names_ does not fit",
    "n_clusters_": "n_clusters_ does not fit",
    "_rows": "damaged",
}


@pytest.mark.parametrize("name", STATES)
def test_a_part_of_another_type(name, models, tmp_path):
    path = tmp_path / "x.tcut"
    path.write_bytes(with_manifest(models["plain"][0], lambda manifest: manifest["state"].update({name: "x"})))
    with pytest.raises(ArchiveError, match=STATES[name]):
        COSC.load(path)


@pytest.mark.parametrize(("name", "value"), [("metric", "taxi"), ("n_jobs", 0), ("effort", "much"), ("neighbors", [])])
def test_parameters_that_predictions_read(name, value, models, tmp_path):
    path = tmp_path / "x.tcut"
    path.write_bytes(with_manifest(models["plain"][0], lambda manifest: manifest["parameters"].update({name: value})))
    with pytest.raises(ArchiveError, match=f"parameter {name} does not fit"):
        COSC.load(path)


def test_violations_are_counted_whatever_a_file_says(models, tmp_path):
    path = tmp_path / "x.tcut"
    told = {"n_violations_": 7, "violated_must_link_": "x"}
    path.write_bytes(with_manifest(models["plain"][0], lambda manifest: manifest["state"].update(told)))
    model = COSC.load(path)
    assert model.n_violations_ == len(model.violated_must_link_) == 0


def test_rows_added_in_python_have_no_identifiers(models, tmp_path):
    path = tmp_path / "x.tcut"
    path.write_bytes(models["plain"][0])
    model = COSC.load(path).update([[0.0, 0.5]])
    assert rows_of(model._state).ids == [str(row) for row in range(14)]
    model.save(path)
    assert rows_of(COSC.load(path)._state).id_name == "row"
