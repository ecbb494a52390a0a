"""Settings shared by all tests."""

import os

from hypothesis import settings

# Every run of "ci" sees the same examples; HYPOTHESIS_PROFILE=default searches afresh.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
