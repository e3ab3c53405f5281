"""Experiments under faults, again and again: `python -m tests.soak --minutes 120 --seed 7`."""
