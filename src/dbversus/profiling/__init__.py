"""Profiles: where servers' CPU time goes, recorded with perf, as microseconds per operation and function."""
