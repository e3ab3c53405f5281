"""What an experiment has to come to for the exit status 0: `--fail-on` and `--require-verdicts`, or the file's own."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dbversus.errors import UsageError

CONDITIONS = ("regression", "small", "undecided", "unstable", "sla-failed", "wrong-result", "failed")


@dataclass(frozen=True)
class Demands:
    """`least_share` of the comparisons (one test on one target) needs a verdict; None: no demand. False without any demand."""

    fail_on: tuple[str, ...] = ()
    least_share: float | None = None

    def __bool__(self) -> bool:
        return bool(self.fail_on) or self.least_share is not None


def parse_demands(fail_on: Iterable[str] | None, require_verdicts: str | None) -> Demands:
    """Raises UsageError with one sentence for what is neither a condition nor a share."""
    share = None if require_verdicts is None else parse_share(require_verdicts, "--require-verdicts")
    return Demands(parse_conditions(fail_on or (), "--fail-on"), share)


def parse_conditions(texts: Iterable[str], what: str) -> tuple[str, ...]:
    """Conditions, in single texts or with commas between; each once."""
    found = [part.strip() for text in texts for part in text.split(",")]
    for condition in found:
        if condition not in CONDITIONS:
            raise UsageError(f"{what} '{condition}' is unknown; accepted: {', '.join(CONDITIONS)}.")
    return tuple(dict.fromkeys(found))


def parse_share(text: str, what: str) -> float:
    """`80%` as 0.8. The sign is needed: 0.8 and 1 could be read in two ways."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?%", text.strip())
    percent = float(match[1]) if match else 0
    if not 0 < percent <= 100:
        raise UsageError(f"{what} is '{text}'; accepted: a share above 0% and up to 100%, such as 80%.")
    return percent / 100
