"""Files in and out, with errors that name the file, the line and the column.

`read_data` reads points or a graph, `open_points` maps points larger than memory, `read_pairs` reads judgements on
pairs, `read_table` any table; `atomic_writer` writes a file whole or not at all.
"""

from tightcut.files.content import Data, DataOptions
from tightcut.files.data import read_data
from tightcut.files.errors import InputError
from tightcut.files.large import open_points
from tightcut.files.pairs import Judgements, read_pairs
from tightcut.files.tables import Table, TableOptions, read_table
from tightcut.files.write import atomic_writer, check_writable, write_rows

__all__ = [
    "Data",
    "DataOptions",
    "InputError",
    "Judgements",
    "Table",
    "TableOptions",
    "atomic_writer",
    "check_writable",
    "open_points",
    "read_data",
    "read_pairs",
    "read_table",
    "write_rows",
]
