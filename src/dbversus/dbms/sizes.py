"""Sizes as settings say them."""

import re

_SUFFIXES = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50, "e": 2**60}
_SIZE = re.compile(r"(-?\d+(?:\.\d+)?)\s*([kmgtpe]?)(b?)", re.IGNORECASE)

VALUE_BYTES_PER_ROW = 188
"""Of the values in a row of sysbench's table, two integers and two texts."""

BYTES_PER_ROW = 260
"""Of the sysbench table with its indexes, with usual settings: what `data` in config files is made of."""

WRITTEN_BYTES = 600_000_000
"""What the tests of a block write to logs that are kept until its end, measured with the sysbench suite."""


def size_bytes(text: str, unit_bytes: int = 1) -> float | None:
    """`128M`, `1GB`, `16384` (of `unit_bytes` each); None for anything else."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    letter, byte = match[2].lower(), match[3]
    factor = _SUFFIXES[letter] if letter else 1 if byte else unit_bytes
    return float(match[1]) * factor
