"""Experiments on the protocol itself: what its choices (slots, rows, blocks, looks) cost and buy. `tune.py` runs them."""
