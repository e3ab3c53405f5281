"""Findings taken together, over the levels of a factor: contrast.py has the statistics, the others which levels there are."""
