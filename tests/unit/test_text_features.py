"""Texts as points: what is near what, blank and long texts, and the same points every time."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from tightcut.features import distinctive_words, texts
from tightcut.features.texts import LONGEST_TEXT, text_points

FRUIT = ["red apples and pears", "an apple, a pear", "pears are ripe", "ripe apples in the orchard"]
TRAINS = ["the train was late", "late trains at the station", "a station without trains", "every train is late"]


def test_texts_of_one_subject_are_nearer_to_each_other():
    points = texts([*FRUIT, *TRAINS])
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=1e-5)
    similarity = points @ points.T
    np.fill_diagonal(similarity, np.nan)
    within = [np.nanmean(similarity[:4, :4]), np.nanmean(similarity[4:, 4:])]
    assert min(within) > similarity[:4, 4:].max()


def test_words_of_one_stem_are_near_each_other():
    points = texts(["clustering", "clusters", "apples", "apple", "cluster", "pineapple"])
    similarity = points @ points.T
    assert similarity[0, 1] > similarity[0, [2, 3, 5]].max()
    assert similarity[3, 5] > similarity[3, [0, 1, 4]].max()


def test_the_same_points_with_any_number_of_threads():
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(300)]
    documents = [" ".join(rng.choice(words, 12)) for _ in range(200)]
    found = []
    for threads in (1, 2, 1):
        with threadpool_limits(threads):
            found.append(texts(documents))
    assert found[0].shape == (200, 50)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_blank_texts_share_a_direction_of_their_own():
    with pytest.warns(UserWarning, match="3 texts have no word that another has, the first of them row 1"):
        points = texts([FRUIT[0], "", FRUIT[1], " \n", TRAINS[0], "!?"])
    assert points[[1, 3, 5], -1].tolist() == [1, 1, 1]
    assert (points[[1, 3, 5]] @ points[[0, 2, 4]].T == 0).all()


def test_texts_of_frequent_words_alone_are_no_blank_ones(recwarn):
    """Words of more than half of the texts tell little, but a text may have no others."""
    documents = ["late train"] * 7 + ["bread soup"] * 5
    points = texts(documents)
    assert len(recwarn) == 0
    similarity = points @ points.T
    assert similarity[:7, :7].min() > 0.99
    assert similarity[7:, 7:].min() > 0.99
    assert np.abs(similarity[:7, 7:]).max() < 0.01


def test_long_texts_are_cut():
    long = "apple " * LONGEST_TEXT
    with pytest.warns(UserWarning, match=r"1 text is longer than 20,000 characters, the first of them row 2"):
        cut = texts([*FRUIT[:2], f"{long} train", *TRAINS])
    with pytest.warns(UserWarning, match="longer"):
        other = texts([*FRUIT[:2], f"{long} station", *TRAINS])
    assert np.array_equal(cut, other)


@pytest.mark.parametrize(
    "documents",
    [
        ["one"],
        ["same"] * 4,
        ["a", "b"],
        ["日本語の文章", "日本語の本", "数学の本"],
        ["x " * 9, "é\N{COMBINING ACUTE ACCENT}"],
    ],
)
def test_few_and_strange_texts(documents):
    points = text_points(documents).points
    assert len(points) == len(documents)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (["a", None], "Row 1 is None, not a text; write an empty text where there is none."),
        (["", " "], "There is no text in 2 rows."),
        ([], "There is no text in 0 rows."),
    ],
)
def test_what_is_no_text(documents, message):
    with pytest.raises(ValueError, match=message):
        texts(documents)


def test_an_embedding_of_ones_own():
    def lengths(documents):
        assert "" not in documents
        return np.array([[len(text), 1.0] for text in documents])

    found = text_points(["ab", "", "abcd"], lengths)
    np.testing.assert_allclose(found.points[[0, 2], 0] / found.points[[0, 2], 1], [2, 4], rtol=1e-4)
    with pytest.raises(ValueError, match=r"it has shape \(1, 2\)"):
        texts(["a", "b"], lambda _: np.ones((1, 2)))
    with pytest.raises(ValueError, match="finite"):
        texts(["a", "b"], lambda _: np.full((2, 2), np.nan))


class TestWords:
    def test_what_many_texts_of_a_group_have_and_few_others(self):
        documents = [
            "the late train",
            "The TRAIN is here",
            "a train, the 14:05",
            "the bread",
            "bread and the salt",
            "bread",
        ]
        found = distinctive_words(documents, [7, 7, 7, 2, 2, 2])
        assert found == {2: ["bread"], 7: ["train"]}

    def test_a_text_counts_once(self):
        found = distinctive_words(["cat " * 50 + "dog", "dog", "dog", "owl", "owl"], [0, 0, 0, 1, 1], 1)
        assert found == {0: ["dog"], 1: ["owl"]}

    def test_a_single_group_has_its_frequent_words_and_texts_without_words_have_none(self):
        assert distinctive_words(["one word", "another word"], [0, 0]) == {0: ["word"]}
        assert distinctive_words(["", "1 2 3"], [0, 1]) == {0: [], 1: []}
