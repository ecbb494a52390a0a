"""Pictures without a plotting library."""
