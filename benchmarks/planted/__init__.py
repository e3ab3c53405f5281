"""Planted causes: pairs of targets of which it is known why they differ, measured by commands that are not told."""
