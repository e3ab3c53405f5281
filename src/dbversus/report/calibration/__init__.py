"""Calibrations in words and tables."""
