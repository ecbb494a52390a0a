"""The oldest versions that pyproject.toml promises, as constraints for pip: ``python .ci/oldest.py > constraints.txt``."""

import re
import tomllib
from itertools import chain
from pathlib import Path

project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
requirements = project["dependencies"] + list(chain(*project["optional-dependencies"].values()))
# "numpy>=1.26" becomes "numpy==1.26", which pip reads as 1.26.0.
bounds = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement) for requirement in requirements]
print("\n".join(sorted({f"{bound[1]}=={bound[2]}" for bound in bounds if bound})))
