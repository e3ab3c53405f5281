"""Calibrations as they are kept: what they say, and where they lie."""
