"""Layouts of points and images of rows, without a plotting library."""
