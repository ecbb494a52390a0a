"""The search for the smallest cut: one algorithm, for two clusters and for more."""
