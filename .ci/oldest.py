"""The oldest versions that pyproject.toml promises, as constraints for pip: ``python .ci/oldest.py > constraints.txt``."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
requirements = set(project["dependencies"]).union(*project["optional-dependencies"].values())
for requirement in sorted(requirements):
    # "numpy>=1.26" becomes "numpy==1.26", which pip reads as 1.26.0; "tightcut[frames]" only repeats another extra.
    bound = re.fullmatch(r"([\w.-]+)(\[[\w,]+\])?>=([\w.]+)", requirement)
    if bound:
        print(f"{bound[1]}=={bound[3]}")
    elif not requirement.startswith(f"{project['name']}["):
        sys.exit(f"{requirement!r} has no lower bound: write it as name>=version")
