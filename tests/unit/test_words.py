"""The most distinctive words of groups of texts."""

import numpy as np
import pytest

from tightcut.features.words import WordCounts

TEXTS = ["the red apples", "the ripe red apples", "the late train", "the late trains", "the red train"]


def by_hand(texts, labels, n):
    """Class-based tf-idf, word by word."""
    groups = sorted(set(labels) - {-1})
    said = [[word for word in text.split() if word != "the"] for text in texts]
    words = {group: [w for s, g in zip(said, labels, strict=True) if g == group for w in s] for group in groups}
    spoken = [word for group in groups for word in words[group]]
    mean = len(spoken) / len(groups)
    found = {}
    for group in groups:
        own = [set(s) for s, g in zip(said, labels, strict=True) if g == group]
        others = [set(s) for s, g in zip(said, labels, strict=True) if g not in (group, -1)]
        weight = {}
        for word in sorted(set(words[group])):
            here, there = sum(word in text for text in own), sum(word in text for text in others)
            if here >= min(2, len(own)) and here / len(own) >= 2 * there / max(1, len(others)):
                weight[word] = words[group].count(word) / len(words[group]) * np.log1p(mean / spoken.count(word))
        found[group] = sorted(weight, key=lambda word: (-weight[word], word))[:n]
    return found


@pytest.mark.parametrize("labels", [[0, 0, 1, 1, 1], [0, 0, 3, 3, -1], [2, 2, 2, 2, 2], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("n", [1, 4])
def test_class_based_tf_idf(labels, n):
    assert WordCounts(TEXTS).distinctive(labels, n) == by_hand(TEXTS, labels, n)


def test_words_of_every_group_are_left_out():
    words = WordCounts(TEXTS).distinctive([0, 0, 1, 1, 1])
    assert not any("the" in some for some in words.values())


def test_texts_without_words():
    assert WordCounts(["", "12 3"]).distinctive([0, 1]) == {0: [], 1: []}
