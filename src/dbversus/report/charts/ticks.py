"""Round numbers for axes."""

import math
from collections.abc import Iterator, Sequence

FEWEST = 3


def linear(low: float, high: float) -> list[float]:
    """From three to seven multiples of 1, 2 or 5 times a power of ten, between `low` and `high`."""
    found: list[float] = []
    for step in _steps_from(high - low):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        found = [float(f"{number * step:.12g}") for number in range(first, last + 1)]
        if len(found) >= FEWEST:
            break
    return found


def logarithmic(low: float, high: float) -> list[float]:
    """Powers of ten, between them 2 and 5 where these are few, or what a linear axis has; three at least."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    powers = [10.0**exponent for exponent in exponents]
    for digits in ((1,), (1, 2, 5)):
        found = _within([digit * power for power in powers for digit in digits], low, high)
        if len(found) >= FEWEST:
            return found
    return linear(low, high)


def _within(values: Sequence[float], low: float, high: float) -> list[float]:
    return [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]


def _steps_from(span: float) -> Iterator[float]:
    """Ever smaller steps, the first of which fits at most three times."""
    exponent = math.floor(math.log10(span))
    while True:
        yield from (digit * 10.0**exponent for digit in (5, 2, 1))
        exponent -= 1
