"""How far a ratio is from 1: four shades of two colours, in words for style sheets. They stand beside numbers, never alone."""

from itertools import pairwise

STEPS = (1.1, 1.25, 1.5)
"""Where one shade ends and the next begins: 10 %, 25 %, 50 %, or as much the other way."""

NAMES = frozenset(f"{side}-{depth}" for side in ("better", "worse") for depth in range(1, len(STEPS) + 2))


def shade(ratio: float, *, higher_is_better: bool) -> str:
    """`worse-1` to `worse-4` or `better-1` to `better-4`; 1 itself is neither, and empty."""
    if ratio == 1:
        return ""
    factor = max(ratio, 1 / ratio) if ratio > 0 else float("inf")
    depth = 1 + sum(factor >= step for step in STEPS)
    return f"{'better' if (ratio > 1) == higher_is_better else 'worse'}-{depth}"


def spans() -> list[str]:
    """What each shade stands for, from the palest on."""
    percents = [f"{(step - 1) * 100:g}" for step in STEPS]
    between = [f"{low} to {high} %" for low, high in pairwise(percents)]
    return [f"under {percents[0]} %", *between, f"{percents[-1]} % and more"]
