"""The words by which groups of texts differ: class-based tf-idf."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

WORD = r"\b[^\W\d_]\w+\b"  # two characters or more, the first of them a letter
LEAST_TEXTS = 2  # of a group in which a word occurs, if it has as many
LEAST_LIFT = 2.0  # how much more frequent a word is in texts of the group than in the others


class WordCounts:
    r"""How often each word occurs in each text, counted once for any number of groupings.

    Parameters
    ----------
    documents : sequence of str

    Notes
    -----
    The weight of word w in group g is

    .. math:: \frac{n_{wg}}{\sum_v n_{vg}} \log\left(1 + \frac{A}{\sum_h n_{wh}}\right),

    where n counts occurrences and A is the mean number of words of a group. Words that a single text of the group uses, and
    those nearly as frequent in the other texts are left out, as are scikit-learn's English stop words.

    Examples
    --------
    >>> from tightcut.features.words import WordCounts
    >>> counts = WordCounts(["red apples", "ripe red apples", "the late train", "a late train"])
    >>> counts.distinctive([0, 0, 1, 1], 2)
    {0: ['apples', 'red'], 1: ['late', 'train']}
    """

    def __init__(self, documents: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(token_pattern=WORD, stop_words="english")
        try:
            self._counts = sp.csr_array(counter.fit_transform(documents)).astype(np.float64)
            self._words = counter.get_feature_names_out()
        except ValueError:  # no text has a word
            self._counts, self._words = sp.csr_array((len(documents), 0)), np.empty(0, object)

    def distinctive(self, labels: Sequence[int] | np.ndarray, n: int = 4) -> dict[int, list[str]]:
        """Up to n words of each group, the most distinctive first.

        Parameters
        ----------
        labels : int array-like of shape (n_texts,)
            The group of each text; texts with -1 are left out.
        n : int
        """
        labels = np.asarray(labels)
        rows = np.flatnonzero(labels >= 0)
        groups, code = np.unique(labels[rows], return_inverse=True)
        member = sp.csr_array((np.ones(len(rows)), (code, rows)), shape=(len(groups), len(labels)))
        in_group, texts = (
            (member @ counts).toarray() for counts in (self._counts, (self._counts > 0).astype(np.float64))
        )
        size, total = np.bincount(code, minlength=len(groups))[:, None], in_group.sum(axis=1, keepdims=True)
        weight = in_group / np.maximum(total, 1) * np.log1p(total.mean() / np.maximum(in_group.sum(axis=0), 1))
        share, elsewhere = texts / size, (texts.sum(axis=0) - texts) / np.maximum(len(rows) - size, 1)
        weight[(texts < np.minimum(size, LEAST_TEXTS)) | (share < LEAST_LIFT * elsewhere)] = 0
        best = np.argsort(-weight, axis=1, kind="stable")[:, :n]
        return {
            group: [str(self._words[word]) for word in words if own[word] > 0]
            for group, words, own in zip(groups.tolist(), best, weight, strict=True)
        }


def distinctive_words(
    documents: Sequence[str], labels: Sequence[int] | np.ndarray, n_words: int = 6
) -> dict[int, list[str]]:
    """Up to `n_words` words of each group of texts, the most distinctive first; see `WordCounts`.

    Parameters
    ----------
    documents : sequence of str
    labels : int array-like of shape (n_texts,)
        The group of each text; texts with -1 are left out.
    n_words : int, default=6

    Returns
    -------
    dict of int to list of str
        By the number of the group.

    Examples
    --------
    >>> from tightcut.features import distinctive_words
    >>> documents = ["the late train", "the train is here", "the bread", "the bread and the salt"]
    >>> distinctive_words(documents, [0, 0, 1, 1], 2)
    {0: ['train'], 1: ['bread']}
    """
    return WordCounts(documents).distinctive(labels, n_words)
