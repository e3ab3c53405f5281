"""Comparisons of a build with a copy of itself, each a run of its own: planned, measured, counted. `independent.py` runs them."""
