"""Run the first block of Python in the README with the package that is installed, as a reader would."""

import re
import sys
from pathlib import Path

import tightcut

readme = Path(__file__).parents[1] / "README.md"
block = re.search(r"^```python\n(.*?)^```$", readme.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
assert block, "README.md has no block of Python"
assert Path(tightcut.__file__).is_relative_to(sys.prefix), f"not what is installed: {tightcut.__file__}"
exec(compile(block[1], readme.name, "exec"), {})
