"""Texts as points: words and pieces of words, weighted by how rare they are, in fifty columns.

A text is a sum of words, and a word is itself and the pieces of three to five letters it is made of, so that *cluster* and
*clustering* are near each other. Both are weighted by tf-idf, and a truncated singular value decomposition keeps the
directions in which the texts differ most (latent semantic analysis). Rows have length 1: euclidean distances order them
as cosines do.

What it cannot tell: that *car* and *automobile* mean the same, unless they occur beside the same words. A sentence model
can; see `tightcut.features.embedder`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.utils.display import count_noun
from tightcut.utils.warning import warn

Embed = Callable[[Sequence[Any]], np.ndarray]

LONGEST_TEXT = 20_000  # characters, about ten pages
N_COLUMNS = 50
PIECES = (3, 5)  # letters
WORDS_SHARE = 0.5  # of the squared length of a word; the rest are its pieces
MOST_TEXTS = 0.5  # words of a larger share of the texts, such as "the", tell nothing
DECIMALS = 6  # what another version of a library would change is less


@dataclass(frozen=True, eq=False)
class TextPoints:
    """Points, and the rows of texts that were not taken as they are."""

    points: np.ndarray
    blank: np.ndarray
    cut: np.ndarray


def texts(documents: Sequence[str], embed: Embed | None = None) -> np.ndarray:
    """One row of length 1 for each text, to be clustered with `metric="cosine"`.

    Parameters
    ----------
    documents : sequence of str
        What is longer than 20,000 characters is cut there, with a warning. Texts without a word that another
        has are kept, with a warning: they are near each other and far from all others.
    embed : callable, optional
        From a list of texts to an array with a row for each, such as `tightcut.features.embedder` returns.

    Returns
    -------
    ndarray of shape (n_texts, at most 51 without `embed`)
        The same for the same texts, whatever the number of threads.

    Examples
    --------
    >>> from tightcut.features import texts
    >>> points = texts(["red apples", "a green apple", "the train is late", "two late trains"])
    >>> similarity = points @ points.T
    >>> bool(similarity[0, 1] > similarity[0, 2]), bool(similarity[2, 3] > similarity[2, 1])
    (True, True)
    """
    found = text_points(documents, embed)
    if len(found.cut):
        warn(
            f"{count_noun(len(found.cut), 'text is', 'texts are')} longer than {LONGEST_TEXT:,} characters, the first of them "
            f"row {found.cut[0]}; only the beginning counts."
        )
    if len(found.blank):
        warn(
            f"{count_noun(len(found.blank), 'text has', 'texts have')} no word that another has, the first of them row "
            f"{found.blank[0]}; they are near each other and far from all others."
        )
    return found.points


def text_points(documents: Sequence[str], embed: Embed | None = None) -> TextPoints:
    """As `texts`, without warnings."""
    strange = next((row for row, text in enumerate(documents) if not isinstance(text, str)), None)
    if strange is not None:
        raise ValueError(
            f"Row {strange} is {documents[strange]!r}, not a text; write an empty text where there is none."
        )
    cut = np.flatnonzero([len(text) > LONGEST_TEXT for text in documents])
    documents = [text[:LONGEST_TEXT].strip() for text in documents]
    present = np.flatnonzero([text != "" for text in documents])
    if len(present) == 0:
        raise ValueError(f"There is no text in {count_noun(len(documents), 'row')}.")
    vectors = np.asarray((embed or weighted_words)([documents[row] for row in present]), dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(present) or not np.isfinite(vectors).all():
        raise ValueError(
            f"The embedding of {len(present):,} texts must be as many rows of finite numbers; it has shape {vectors.shape}."
        )
    points, blank = unit_rows(vectors, present, len(documents))
    return TextPoints(points, blank, cut)


def unit_rows(vectors: np.ndarray, rows: np.ndarray, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of length 1, and those that have no direction: they share one of their own, a last column.

    Parameters
    ----------
    vectors : ndarray of shape (m, d)
    rows : ndarray of shape (m,)
        Which rows of the result they are; the others have no direction.
    n_rows : int

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.features.texts import unit_rows
    >>> points, blank = unit_rows(np.array([[0.0, 2.0]]), np.array([1]), 2)
    >>> points.tolist(), blank.tolist()
    ([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]], [0])
    """
    length = np.linalg.norm(vectors, axis=1)
    some = length > 1e-9 * length.max(initial=0.0)
    points = np.zeros((n_rows, vectors.shape[1] + 1))
    points[rows[some], :-1] = vectors[some] / length[some, None]
    blank = np.setdiff1d(np.arange(n_rows), rows[some])
    points[blank, -1] = 1.0
    points = np.round(points, DECIMALS) + 0.0  # no negative zeros
    return (points if len(blank) else points[:, :-1]), blank


def weighted_words(documents: Sequence[str]) -> np.ndarray:
    r"""Latent semantic analysis of texts that are not empty; rows of zeros for those without a word.

    Notes
    -----
    Pieces do not cross the ends of words, so that how often they occur in the texts is the product :math:`N P` of the
    counts :math:`N` of words in texts and :math:`P` of pieces in words: each word is taken apart once, however often it
    occurs. Decomposed is :math:`(\sqrt{a}\, T(N), \sqrt{1 - a}\, T(N P))`, with tf-idf weights :math:`T`.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.utils.extmath import randomized_svd
    from threadpoolctl import threadpool_limits

    counter = CountVectorizer(token_pattern=r"\b\w+\b")  # noqa: S106 (no password)
    try:
        words = sp.csr_array(counter.fit_transform(documents))
    except ValueError:  # no text has a word
        return np.zeros((len(documents), 1))
    cutter = CountVectorizer(analyzer="char_wb", ngram_range=PIECES, lowercase=False)
    pieces = words @ sp.csr_array(cutter.fit_transform(counter.get_feature_names_out()))
    counts = _useful(words, sp.csr_array(pieces))
    shares = np.sqrt([WORDS_SHARE, 1 - WORDS_SHARE])
    weights = sp.csr_array(sp.hstack([share * _tf_idf(part) for share, part in zip(shares, counts, strict=True)]))
    n_columns = min(N_COLUMNS, min(weights.shape) - 1)
    if n_columns < 2:
        return weights.toarray()
    with threadpool_limits(1):  # the last bits would depend on the number of threads
        left, values, _ = randomized_svd(weights, n_columns, random_state=0)
    return left * values


def _useful(*parts: sp.csr_array) -> list[sp.csr_array]:
    """The counts without columns of a single text and without those of most texts, unless a text has no others."""
    found_in = [np.bincount(counts.indices, minlength=counts.shape[1]) for counts in parts]
    most = max(MOST_TEXTS * parts[0].shape[0], 2)
    kept = [(n_texts > 1) & (n_texts <= most) for n_texts in found_in]
    bare = np.all([np.diff(counts[:, own].indptr) == 0 for counts, own in zip(parts, kept, strict=True)], axis=0)
    useful = []
    for counts, n_texts, own in zip(parts, found_in, kept, strict=True):
        needed = np.bincount(counts[bare].indices, minlength=len(own)) > 0
        chosen = own | (needed & (n_texts > 1))
        useful.append(counts[:, chosen] if chosen.any() else counts)
    return useful


def _tf_idf(counts: sp.csr_array) -> sp.csr_array:
    """1 + log of the counts, times the logarithm of how rare a column is; rows have length 1."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts.astype(np.float64)))
