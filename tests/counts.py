"""How many tests and random examples there are: `python tests/counts.py` writes the table in docs/testing.md.

Numbers are rounded down to two digits: the page changes rarely. `tests/contract/test_docs.py` fails if one is off by more
than a quarter.
"""

import re
import sys
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "testing.md"
TABLE = re.compile(r"(?<=<!-- counts: python tests/counts.py -->\n).*?(?=<!-- end of counts -->)", flags=re.DOTALL)
ABOUT = {
    "tests/unit": "files, formats, constraints, neighbours, one piece at a time",
    "tests/paper": "the lemmas and theorems of the paper",
    "tests/oracle": "results against slow and obvious programs",
    "tests/contract": "what users rely on: scikit-learn's checks, imports, this documentation",
    "tests/cli": "the command line",
    "tests/certificates": "proven bounds against enumeration, and forged proofs",
    "tests/ask": "questions, journals",
    "tests/ask_page": "the page, its server, a browser",
    "tests/updates": "updates and saved models",
    "tests/distributed": "graphs and points larger than memory",
    "tests/experiments": "the paper's experiments",
    "tests/rivals": "other methods",
    "tests/gpu": "on a GPU, or its code on the CPU",
    "tests/fuzz": "fuzzers, a little of each",
    "src": "examples in docstrings",
    "experiments": "examples in docstrings of the experiments",
}
ALLOWED = 0.25


class Counts:
    """A plugin of pytest that counts what was collected."""

    def __init__(self):
        self.tests, self.examples = Counter(), Counter()

    def pytest_collection_finish(self, session):
        for item in session.items:
            parts = item.nodeid.split("/")
            folder = parts[0] if parts[0] in ("src", "experiments") else "/".join(parts[:2])
            self.tests[folder] += 1
            test = getattr(item, "obj", None)
            if getattr(test, "is_hypothesis_test", False):
                self.examples[folder] += test._hypothesis_internal_use_settings.max_examples


def collected():
    counts = Counts()
    with redirect_stdout(StringIO()) as out:
        status = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}"], plugins=[counts])
    if status:
        sys.exit(out.getvalue()[-3000:])
    return counts


def rounded(count):
    """Down to two digits: 4,581 is 4,500."""
    scale = 10 ** max(0, len(str(count)) - 2)
    return count // scale * scale


def table(counts):
    folders = [*(folder for folder in ABOUT if folder in counts.tests), *sorted(set(counts.tests) - set(ABOUT))]
    rows = [(f"`{name}`", ABOUT.get(name, ""), counts.tests[name], counts.examples[name]) for name in folders]
    rows.append(("all", "", counts.tests.total(), counts.examples.total()))
    lines = [
        f"| {name} | {about} | {rounded(tests):,} | {rounded(examples):,} |" for name, about, tests, examples in rows
    ]
    return "\n".join(["| folder | what | tests | random examples |", "|---|---|---|---|", *lines, ""])


def figures(text):
    """The numbers of each line of a table, by its first cell."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    return {row[0]: [int(cell.replace(",", "")) for cell in row[2:]] for row in cells}


def differences(text, counts):
    """Lines of the page that are off by more than a quarter."""
    said, found = figures(text), figures(table(counts))
    close = lambda a, b: abs(a - b) <= ALLOWED * max(a, b)  # noqa: E731
    return [name for name in found if name not in said or not all(map(close, said[name], found[name]))]


def main():
    counts = collected()
    PAGE.write_text(TABLE.sub(lambda _: table(counts), PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
