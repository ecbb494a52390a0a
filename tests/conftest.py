"""Settings shared by all tests."""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

# Tests are folders, not packages: this is how they find `strategies`.
sys.path.insert(0, str(Path(__file__).parent))

# Every run of "ci" sees the same examples; HYPOTHESIS_PROFILE=search looks for new ones.
slow_is_fine = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a busy machine is no failure
settings.register_profile("ci", derandomize=True, **slow_is_fine)
settings.register_profile("search", **slow_is_fine)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
