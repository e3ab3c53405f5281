"""Suites with a known truth, and the protocol over any source of block values."""
