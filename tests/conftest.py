"""Settings shared by all tests."""

import os
import sys
from pathlib import Path

from hypothesis import settings

# Tests are folders, not packages: this is how they find `strategies`.
sys.path.insert(0, str(Path(__file__).parent))

# Every run of "ci" sees the same examples; HYPOTHESIS_PROFILE=default searches afresh.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
