"""The words that tell groups of texts apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

WORD = r"\b[^\W\d_]\w+\b"  # of two letters at least
FEWEST_TEXTS = 2  # of a group with a word that is said to be typical of it


def distinctive_words(documents: Sequence[str], labels: Any, n_words: int = 6) -> dict[int, list[str]]:
    r"""The words of each group that many of its texts have and few others, the most distinctive first.

    Parameters
    ----------
    documents : sequence of str
    labels : array-like of shape (n_texts,)
        The group of each text.
    n_words : int, default=6
        At most so many for each group; none where nothing tells it from the others.

    Returns
    -------
    dict of int to list of str
        By the number of the group.

    Notes
    -----
    This is tf-idf with groups in place of documents: a word that a share :math:`p` of the texts of a group has, and a share
    :math:`q` of all texts, weighs :math:`p \log(p / q)`. What is as frequent everywhere, such as "the", weighs nothing.

    Examples
    --------
    >>> from tightcut.features import distinctive_words
    >>> documents = ["the late train", "the train is here", "the bread", "the bread and the salt"]
    >>> distinctive_words(documents, [0, 0, 1, 1], 2)
    {0: ['train'], 1: ['bread']}
    """
    from sklearn.feature_extraction.text import CountVectorizer

    ids, codes = np.unique(np.asarray(labels), return_inverse=True)
    sizes = np.bincount(codes)
    counter = CountVectorizer(token_pattern=WORD, binary=True)
    try:
        present = sp.csr_array(counter.fit_transform(documents), dtype=np.float64)
    except ValueError:  # no text has a word
        return {group: [] for group in ids.tolist()}
    words = counter.get_feature_names_out()
    everywhere = np.asarray(present.sum(axis=0)).ravel() / len(codes)
    members = sp.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))))
    counts = sp.csr_array(members @ present)
    found = {}
    for place, group in enumerate(ids.tolist()):
        own = slice(*counts.indptr[place : place + 2])
        columns, share = counts.indices[own], counts.data[own] / sizes[place]
        weight = np.where(
            counts.data[own] >= min(FEWEST_TEXTS, sizes[place]), share * np.log(share / everywhere[columns]), 0
        )
        order = np.lexsort((columns, -weight))[:n_words]
        found[group] = [str(words[column]) for column in columns[order[weight[order] > 1e-12]]]
    return found
