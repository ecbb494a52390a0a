"""Sentence models and endpoints: what is sent, what is kept on disk, what is tried again, what is said of failures."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from tightcut.exceptions import MissingPackageError
from tightcut.features import embedder, embedding, texts
from tightcut.features.cache import VectorCache, cache_folder
from tightcut.features.embedding import BATCH, Embedder, EmbeddingError, Endpoint, SentenceModel

TEXTS = ["one", "two", "three", "two"]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TIGHTCUT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TIGHTCUT_EMBED_KEY", raising=False)
    return tmp_path / "cache"


class Letters:
    """As much of a sentence model as is used: a vector of the length and the first letter."""

    max_seq_length = 128

    def __init__(self):
        self.seen = []

    def encode(self, items, **_):
        self.seen += items
        return np.array([[len(item), ord(item[0])] for item in items], dtype=np.float32)


class TestModel:
    def test_vectors_are_computed_once(self):
        model, notes = Letters(), []
        first = Embedder(SentenceModel("letters", model), notes.append)(TEXTS)
        assert first.tolist() == [[3, ord("o")], [3, ord("t")], [5, ord("t")], [3, ord("t")]]
        assert model.seen == ["one", "two", "three"]
        assert notes[0].startswith("3 texts for letters; 0 are known from ")
        assert str(Embedder(SentenceModel("letters", model))) == "letters"
        assert notes[1] == "letters reads the first 128 tokens of each text, some words fewer."
        again = Embedder(SentenceModel("letters", model))([*TEXTS, "four"])
        assert model.seen == ["one", "two", "three", "four"]
        assert np.array_equal(again[:4], first)

    def test_pictures_are_known_by_their_pixels(self):
        """Objects of Pillow print as an address in memory, which the next picture may have."""
        image = pytest.importorskip("PIL.Image")
        colours = [(9, 0, 0), (0, 9, 0), (9, 0, 0)]

        class Reds(Letters):
            def encode(self, items, **_):
                self.seen += items
                return np.array([[item.getpixel((0, 0))[0], 1] for item in items], dtype=np.float32)

        model, notes = Reds(), []
        for _ in range(2):
            vectors = Embedder(SentenceModel("clip", model), notes.append)(
                [image.new("RGB", (2, 2), c) for c in colours]
            )
            assert vectors[:, 0].tolist() == [9, 0, 9]
        assert len(model.seen) == 2
        assert notes[0].startswith("2 pictures for clip; 0 are known from ")

    def test_an_endpoint_takes_no_pictures(self):
        image = pytest.importorskip("PIL.Image")
        with pytest.raises(EmbeddingError, match="takes texts; for pictures --embed names a model on this machine"):
            embedder("m", "http://127.0.0.1:9/v1/embeddings")([image.new("RGB", (2, 2))])

    def test_models_do_not_share_vectors(self):
        one, other = Letters(), Letters()
        Embedder(SentenceModel("one", one))(TEXTS)
        Embedder(SentenceModel("other", other))(TEXTS)
        assert other.seen == ["one", "two", "three"]

    def test_points_of_texts(self):
        points = texts(["aa", "bbb"], Embedder(SentenceModel("letters", Letters())))
        np.testing.assert_allclose(points[0] / points[0, 0], [1, ord("a") / 2], rtol=1e-4)

    def test_a_missing_package_is_named_with_its_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        with pytest.raises(MissingPackageError, match=r"tightcut\[embed\]"):
            embedder("some-model")(["text"])

    def test_a_model_that_cannot_be_loaded(self, monkeypatch):
        class Hub:
            @staticmethod
            def SentenceTransformer(_):
                raise OSError("no such model.\nsecond line")

        monkeypatch.setitem(sys.modules, "sentence_transformers", Hub)
        with pytest.raises(
            EmbeddingError, match=r"some-model is neither a folder .* could be loaded: no such model\.$"
        ):
            embedder("some-model")(["text"])

    def test_wrong_arrays(self):
        class Wrong(Letters):
            def encode(self, items, **_):
                return np.ones((len(items) + 1, 2))

        with pytest.raises(EmbeddingError, match=r"wrong gave an array of shape \(2, 2\) where 1 rows"):
            Embedder(SentenceModel("wrong", Wrong()))(["a"])

    def test_a_model_that_has_changed(self):
        class Wider(Letters):
            def encode(self, items, **_):
                return np.ones((len(items), 5), np.float32)

        Embedder(SentenceModel("letters", Letters()))(["a"])
        with pytest.raises(EmbeddingError, match="vectors of 2 and 5 numbers: it is not the model that it was"):
            Embedder(SentenceModel("letters", Wider()))(["a", "b"])

    def test_nothing_is_named(self):
        with pytest.raises(ValueError, match="Name a model"):
            embedder()


class TestCache:
    def test_it_survives_many_texts_and_strange_ones(self, cache):
        kept = VectorCache("m")
        names = [f"text {number}" for number in range(1200)] + ["\ud800", "\0", "é"]
        kept.put(names, np.arange(2 * len(names)).reshape(-1, 2))
        found = kept.get([*names, "unknown"])
        assert len(found) == len(names)
        assert found["é"].tolist() == [2 * len(names) - 2, 2 * len(names) - 1]
        assert kept.path == cache / "embeddings.sqlite"

    def test_a_damaged_one_is_named(self, cache):
        cache.mkdir()
        (cache / "embeddings.sqlite").write_text("no database, but longer than the header of one would be" * 9)
        with pytest.raises(EmbeddingError, match=r"The cache of embeddings, .*embeddings\.sqlite, cannot be used"):
            Embedder(SentenceModel("letters", Letters()))(["a"])

    def test_its_folder(self, monkeypatch, tmp_path):
        monkeypatch.delenv("TIGHTCUT_CACHE")
        monkeypatch.setattr("sys.platform", "linux")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert cache_folder() == tmp_path / "tightcut"


@pytest.fixture
def server(monkeypatch):
    """An endpoint on loopback: `server.answers` are statuses or contents to give before it answers as it should."""
    monkeypatch.setattr(embedding, "FIRST_WAIT", 0.001)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.server.asked.append(asked)
            self.server.keys.append(self.headers["Authorization"])
            answer = self.server.answers.pop(0) if self.server.answers else 200
            status, content = (answer, None) if isinstance(answer, int) else (200, answer)
            if content is None and status == 200:
                rows = [{"index": place, "embedding": [len(text), 1.0]} for place, text in enumerate(asked["input"])]
                content = json.dumps({"data": rows[::-1]}).encode()  # in any order
            elif content is None:
                content = json.dumps({"error": {"message": "not now"}}).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked, server.keys, server.answers = [], [], []
        server.url = f"http://127.0.0.1:{server.server_port}/v1/embeddings"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class TestEndpoint:
    def test_texts_are_sent_in_batches_and_once(self, server):
        documents = [f"{'x' * (number % 7)}{number}" for number in range(BATCH + 10)]
        vectors = embedder("small", server.url)(documents)
        assert vectors[:, 0].tolist() == list(map(len, documents))
        assert [len(asked["input"]) for asked in server.asked] == [BATCH, 10]
        assert server.asked[0]["model"] == "small"
        assert server.keys == [None, None]
        embedder("small", server.url)([*documents, "new"])
        assert [asked["input"] for asked in server.asked[2:]] == [["new"]]

    def test_the_key_comes_from_the_environment(self, server, monkeypatch):
        monkeypatch.setenv("TIGHTCUT_EMBED_KEY", "secret")
        embedder("small", server.url)(["a"])
        assert server.keys == ["Bearer secret"]

    def test_failures_that_may_pass_are_tried_again(self, server):
        server.answers = [503, 429, 500]
        assert len(embedder("small", server.url)(["a", "b"])) == 2
        assert len(server.asked) == 4

    def test_batches_before_a_failure_are_kept(self, server):
        server.answers = [200, 400]
        documents = list(map(str, range(BATCH + 5)))
        with pytest.raises(EmbeddingError, match=r"status 400 Bad Request \(not now\)\. What came before is kept\."):
            embedder("small", server.url)(documents)
        embedder("small", server.url)(documents)
        assert [len(asked["input"]) for asked in server.asked] == [BATCH, 5, 5]

    def test_a_missing_key_is_named(self, server):
        server.answers = [401]
        with pytest.raises(EmbeddingError, match="the environment variable TIGHTCUT_EMBED_KEY is not set"):
            embedder("small", server.url)(["a"])
        assert len(server.asked) == 1

    def test_texts_and_key_go_to_no_other_address(self, server, monkeypatch):
        monkeypatch.setenv("TIGHTCUT_EMBED_KEY", "secret")
        server.answers = [302]
        with pytest.raises(EmbeddingError, match="status 302 Found"):
            embedder("small", server.url)(["a"])
        assert len(server.asked) == 1

    def test_it_gives_up(self, server, monkeypatch):
        monkeypatch.setattr(embedding, "ATTEMPTS", 3)
        server.answers = [503] * 9
        with pytest.raises(EmbeddingError, match=r"after 3 attempts: status 503"):
            embedder("small", server.url)(["a"])
        assert len(server.asked) == 3

    def test_nobody_answers(self, server, monkeypatch):
        monkeypatch.setattr(embedding, "ATTEMPTS", 2)
        server.shutdown()
        server.server_close()
        with pytest.raises(EmbeddingError, match="gave no embeddings after 2 attempts"):
            embedder("small", server.url)(["a"])

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"<html>", "does not answer in JSON"),
            (b'{"data": []}', r"gave an array of shape \(0,\) where 1 rows"),
            (b'{"object": "list"}', "does not answer as an endpoint of embeddings does, but"),
            (b'{"data": [{"index": 0, "embedding": ["x"]}]}', "does not answer as an endpoint of embeddings does"),
            (b'{"data": [{"index": 0, "embedding": [NaN]}]}', "not finite"),
        ],
    )
    def test_other_answers(self, server, content, message):
        server.answers = [content]
        with pytest.raises(EmbeddingError, match=message):
            embedder("small", server.url)(["a"])

    @pytest.mark.parametrize("url", ["ftp://host/x", "host", "http://", "file:///etc/passwd"])
    def test_what_is_no_address(self, url):
        with pytest.raises(EmbeddingError, match="is not an address such as"):
            Endpoint(url, "small")
