"""Names with commas between, and help with those that are not known."""

import difflib
from collections.abc import Iterable


def split_names(text: str) -> list[str]:
    """Those between commas, without spaces around them; empty ones are left out."""
    return [name.strip() for name in text.split(",") if name.strip()]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ " Did you mean 'x'?" with the nearest known names, or nothing when none is near."""
    matches = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(repr(match) for match in matches)}?" if matches else ""


def did_you_mean_inline(name: str, known: Iterable[str]) -> str:
    """As `did_you_mean`, for the middle of a sentence: " (did you mean 'x'?)"."""
    matches = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {matches[0]!r}?)" if matches else ""
