"""The library's messages in the words of the command line: options instead of arguments."""

from __future__ import annotations

import re

WORDS = (
    (r' or pass on_inconsistent="soft"', " or use --on-inconsistent soft"),
    (r'on_inconsistent="soft"', "--on-inconsistent soft"),
    (r",? or pass connect=False to [^.]*", ""),
    (r'\bPass device="(\w+)"', r"Say --device \1"),
    (r'\bpass device="(\w+)"', r"say --device \1"),
    (r'\bdevice="(\w+)"', r"--device \1"),
    (r'\bstrategy="(\w+)"', r"--strategy \1"),
    (r"\bpartial_labels or cannot-links", "--labels or --constraints"),
    (r"\binit and no max_violations\b", "--max-violations"),
    (r"\bmax_violations\b", "--max-violations"),
    (r"\bn_neighbors\b", "--n-neighbors"),
    (r"\bRaise effort\b", "Raise --effort"),
    (r" The best attempt is in \.best_labels\.", ""),
)


def in_options(message: str) -> str:
    """A message as a user of the command line should read it.

    Examples
    --------
    >>> from tightcut.cli._words import in_options
    >>> in_options("Raise n_neighbors for a denser graph, or pass connect=False to keep the components apart.")
    'Raise --n-neighbors for a denser graph.'
    """
    for pattern, replacement in WORDS:
        message = re.sub(pattern, replacement, message)
    return message
