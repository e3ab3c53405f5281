"""Statements that a server has counted, or logged as slow, as the start of a suite."""
