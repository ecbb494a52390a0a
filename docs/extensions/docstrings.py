"""Docstrings are written for people in a terminal: tables as in Markdown, |x| for absolute values. Sphinx is given reST."""

import re
from itertools import groupby

# `n_features_in_` in the type of a parameter would be a link in reST.
TRAILING_UNDERSCORE = re.compile(r"(?<![`\w])(\w+_)(?=[,)])")


def convert(_app, what, _name, _obj, _options, lines):
    if what == "module":
        _headings_to_rubrics(lines)
    result = []
    for is_table, group in groupby(lines, key=lambda line: line.strip().startswith("|")):
        block = list(group)
        result += _list_table(block) if is_table else map(_escape, block)
    lines[:] = result


def setup(app):
    # Before numpydoc, which listens with the default priority of 500.
    app.connect("autodoc-process-docstring", convert, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _headings_to_rubrics(lines):
    """Several modules share a page, where each heading may occur once only."""
    for at in range(1, len(lines)):
        if lines[at] and set(lines[at]) == {"-"} and len(lines[at]) == len(lines[at - 1]):
            lines[at - 1], lines[at] = f".. rubric:: {lines[at - 1]}", ""


def _escape(line):
    if line.lstrip().startswith((">>>", "...", "..")) or "`" in line:
        return line
    return TRAILING_UNDERSCORE.sub(r"``\1``", line.replace("|", r"\|"))


def _list_table(rows):
    indent = rows[0][: len(rows[0]) - len(rows[0].lstrip())]
    cells = [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in rows]
    if len(cells) < 2 or set("".join(cells[1])) - set("-: "):
        return rows
    table = ["", ".. list-table::", "   :header-rows: 1", ""]
    for row in [cells[0], *cells[2:]]:
        first, *others = row
        table += [f"   * - {first}", *(f"     - {cell}" for cell in others)]
    return [indent + line if line else "" for line in [*table, ""]]
