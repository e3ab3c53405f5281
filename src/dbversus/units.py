"""Numbers as people write them: `10k` rows, `45m`, `2h30m`, `512m` of memory."""

import math
import re

from dbversus.errors import UsageError

_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_MEMORY = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_NONE = "±0 %"
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_count(text: str, what: str) -> int:
    """A positive whole number, with k, m or g for thousands, millions, billions. Raises UsageError naming `what`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)", text.strip().lower())
    count = float(match[1]) * _FACTORS[match[2]] if match else 0
    if count < 1 or count != int(count):
        raise UsageError(f"{what} is '{text}'; write a whole number from 1, such as 5000, 100k or 1m.")
    return int(count)


def show_count(count: int) -> str:
    """`10m`, `100k`, `1500rows`: what a number of rows is called where a name has it. Never a bare number."""
    for factor, unit in ((1_000_000, "m"), (1_000, "k")):
        if count % factor == 0:
            return f"{count // factor}{unit}"
    return f"{count}rows"


def count_of(count: int, what: str) -> str:
    """`1 row`, `1,200 rows`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def parse_memory(text: str, what: str) -> int:
    """Bytes, more than 0, of `512m`, `512MB`, `1.5GiB`: powers of 1024, as limits are written. UsageError names `what`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt])(?:i?b)?", text.strip().lower())
    count = int(float(match[1]) * _MEMORY[match[2]]) if match else 0
    if count < 1:
        raise UsageError(f"{what} is '{text}'; write an amount of memory with its unit, such as 512m or 4g.")
    return count


def show_memory(count: int) -> str:
    """`512m`, `1536k`: reads as the same by `parse_memory`, in whole kilobytes at least."""
    unit = next((unit for unit in reversed(_MEMORY) if count % _MEMORY[unit] == 0), "k")
    return f"{count // _MEMORY[unit]}{unit}"


def parse_duration(text: str, what: str) -> float:
    """Seconds, more than 0, of a duration such as `90s`, `45m`, `1h30m`. Raises UsageError naming `what`."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text.strip().lower())
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not seconds or "".join(number + unit for number, unit in parts) != text.strip().lower():
        raise UsageError(f"{what} is '{text}'; write a duration such as 90s, 45m or 1h30m.")
    return seconds


def show_duration(seconds: float) -> str:
    """`12 s`, `3 min 20 s`, `1 h 05 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def show_cores(cores: float) -> str:
    """`0.73 of a core`, `1.3 cores`."""
    return f"{cores:.2f} of a core" if round(cores, 2) < 1 else f"{cores:.1f} cores"


def show_change(ratio: float) -> str:
    """A ratio as a change: `+8.1 %`, `−12 %`; from a doubling on as a factor, `×4,490`; from a tenth down as `to 1/700`."""
    if ratio <= 0:
        return "to nothing"
    if ratio >= 2:
        return "from nothing" if math.isinf(ratio) else f"×{_three_digits(ratio)}"
    if ratio <= 0.1:
        return f"to 1/{_three_digits(1 / ratio)}"
    percent = (ratio - 1) * 100
    if abs(percent) < 0.05:
        return _NONE
    return f"{percent:+.{0 if abs(percent) >= 20 else 1}f} %".replace("-", "−")


def show_least(ratio: float) -> str:
    """The end of an interval that is nearer to no change, behind a change: `at least +2.0 %`."""
    said = show_change(ratio)
    return "more than 0 %" if said == _NONE else f"at least {said}"


def _three_digits(value: float) -> str:
    """`3.15`, `4,490`; more than a million is not told."""
    if value > 1e6:
        return "1,000,000 or more"
    return f"{float(f'{value:.3g}'):,g}"


def show_bytes(count: float) -> str:
    """`1.5 GB`, in powers of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
