"""Generators to start from, for parameters of which some values may have been seen."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from dbversus.suites.writing.statements.literals import Value
from dbversus.suites.writing.statements.normal import Slot
from dbversus.suites.writing.toml_text import Value as TomlValue
from dbversus.suites.writing.toml_text import excerpt

LIST_COUNT = 10
"""Length of a list whose own is not known."""
_MOST_TEXTS = 20


@dataclass(frozen=True)
class Guess:
    """A generator to start from; `seen`: it covers the values that were seen, so nobody has to fill it in.

    `example`: the only value that was seen.
    """

    generator: dict[str, TomlValue]
    seen: bool = False
    example: Value = None

    @property
    def words(self) -> str:
        """For the comment behind it."""
        if self.seen:
            return "as seen"
        example = f"x'{self.example.hex()}'" if isinstance(self.example, bytes) else self.example
        return "fill in" if example is None else f"fill in; seen: {excerpt(str(example), 40)}"


def guess(name: str, slots: Sequence[Slot], of_insert: bool) -> Guess:
    """Of the slots that one parameter has in all executions."""
    values = [value for slot in slots for value in slot.values if value is not None]
    numbers = [value for value in values if isinstance(value, int | float)]
    texts = [value for value in values if isinstance(value, str)]
    counts = [slot.count for slot in slots]
    of_list: dict[str, TomlValue] = {"count": _usual(counts) or LIST_COUNT} if counts[0] is not None else {}
    if of_insert and name == "id":
        return Guess({"gen": "sequence", "start": "table_size + 1"})
    if numbers and len(numbers) == len(values):
        return _of_numbers(name, numbers, of_list)
    if texts and len(texts) == len(values):
        return _of_texts(texts, of_list)
    if values and isinstance(values[0], bytes):
        return Guess({"gen": "bytes", "length": max(1, len(values[0]))}, example=values[0])
    if name.endswith("_like"):
        return Guess({"gen": "text", "template": "@%"})
    if name in ("limit", "offset"):
        return Guess({"gen": "constant", "value": 10 if name == "limit" else 0})
    return Guess(_anything() | of_list)


def _anything() -> dict[str, TomlValue]:
    return {"gen": "uniform", "low": 1, "high": "table_size"}


def _of_numbers(name: str, numbers: Sequence[int | float], of_list: dict[str, TomlValue]) -> Guess:
    low, high = min(numbers), max(numbers)
    digits = max(_digits(number) for number in numbers)
    of_type: dict[str, TomlValue] = (
        {"type": "float8", "round": digits} if any(isinstance(one, float) for one in numbers) else {}
    )
    if max(-low, high) >= 2**63:
        return Guess(_anything() | of_list, example=low)
    if low != high:
        return Guess({"gen": "uniform", "low": low, "high": high} | of_type | of_list, True)
    if name in ("limit", "offset"):
        return Guess({"gen": "constant", "value": low}, True)
    constant: dict[str, TomlValue] = {"gen": "constant", "value": low}
    return Guess((constant if of_type else _anything()) | of_list, example=low)


def _digits(number: float) -> int:
    """After the point."""
    exponent = Decimal(str(number)).normalize().as_tuple().exponent
    return min(17, max(0, -exponent)) if isinstance(exponent, int) else 0


def _of_texts(texts: Sequence[str], of_list: dict[str, TomlValue]) -> Guess:
    found = Counter(texts).most_common(_MOST_TEXTS)
    names = [text for text, _ in found]
    is_all = len(set(texts)) == len(found)
    if of_list:
        return Guess({"gen": "sample", "of": names} | {"count": min(len(names), int(str(of_list["count"])))}, is_all)
    if len(found) == 1:
        return Guess({"gen": "constant", "value": names[0]})
    weights = [times for _, times in found]
    equal = len(set(weights)) == 1
    return Guess({"gen": "choice", "of": names} | ({} if equal else {"weights": weights}), is_all)


def _usual(counts: Sequence[int | None]) -> int:
    known = sorted(count for count in counts if count)
    return known[len(known) // 2] if known else 0
