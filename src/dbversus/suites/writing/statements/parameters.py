"""Names for the values of a statement, from what stands before them, and generators to start from."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dbversus.suites.writing.sql_text import unique, verb
from dbversus.suites.writing.statements.normal import Normal, Slot, Value, fill
from dbversus.suites.writing.toml_text import Value as TomlValue

_COLUMN = r"([A-Za-z_]\w*)[`\"]?\s*"
_BEFORE = (
    (re.compile(_COLUMN + r"BETWEEN\s*$", re.IGNORECASE), "{}_from"),
    (re.compile(_COLUMN + r"BETWEEN\s+\S+\s+AND\s*$", re.IGNORECASE), "{}_to"),
    (re.compile(_COLUMN + r">=?\s*$"), "{}_from"),
    (re.compile(_COLUMN + r"<=?\s*$"), "{}_to"),
    (re.compile(_COLUMN + r"(?:NOT\s+)?IN\s*\(\s*$", re.IGNORECASE), "{}_list"),
    (re.compile(_COLUMN + r"(?:NOT\s+)?I?LIKE\s*$", re.IGNORECASE), "{}_like"),
    (re.compile(_COLUMN + r"!?~~?\*?\s*$"), "{}_like"),
    (re.compile(_COLUMN + r"(?:=|<>|!=|[-+*/%]|\|\|)\s*(?:ANY\s*\(\s*)?$", re.IGNORECASE), "{}"),
    (re.compile(r"\b(LIMIT|OFFSET)\s*$", re.IGNORECASE), "{}"),
    (re.compile(r"\b(LIMIT)\s+\S+\s*,\s*$", re.IGNORECASE), "{}"),
    (re.compile(r"\b(INTERVAL|DATE|TIMESTAMP)\s*$", re.IGNORECASE), "{}"),
)
_NOT_COLUMNS = {"and", "or", "not", "where", "on", "when", "then", "select"}
_INSERT = re.compile(r"\(([^()]*)\)\s*VALUES?\s*\(", re.IGNORECASE)
LIST_COUNT = 10
"""Length of a list whose own is not known."""


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
        return "fill in" if self.example is None else f"fill in; seen: {self.example}"


@dataclass(frozen=True)
class Named:
    """A statement's text with names of parameters, and what is guessed of their values."""

    sql: str
    guesses: dict[str, Guess]


def name_parameters(forms: Sequence[Normal]) -> Named:
    """Of one statement, seen once or more often: all have the same text."""
    text = forms[0].text
    guesses: dict[str, Guess] = {}

    def named(number: int, before: str) -> str:
        slots = [form.slots[number] for form in forms]
        if (literal := _always_the_same(slots)) is not None:
            return literal
        plain = _name(before, number, text)
        name = unique(plain, guesses, "_")
        begins = f"{plain.removesuffix('_to')}_from"
        if plain.endswith("_to") and begins in guesses and _is_integer(guesses[begins]):
            guesses[name] = Guess({"gen": "ref", "of": begins, "add": 10})
        else:
            guesses[name] = _guess(plain, slots, verb(text) in ("insert", "replace"))
        return f":{name}"

    return Named(_castable(fill(text, named)), guesses)


def _always_the_same(slots: Sequence[Slot]) -> str | None:
    """The literal, where several executions had the same: it is no parameter then."""
    first = slots[0]
    if len(slots) < 2 or first.count is not None or any(slot != first for slot in slots):
        return None
    return _literal(first.values[0])


def _literal(value: Value) -> str | None:
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
    return None if value is None else str(value)


def _name(before: str, number: int, text: str) -> str:
    name = _of_insert(before, text)
    for pattern, form in _BEFORE if not name else ():
        found = pattern.search(before)
        if found and found[1].lower() not in _NOT_COLUMNS:
            name = form.format(found[1])
            break
    lower = re.sub(r"\W", "", name.lower()).lstrip("_")
    return lower if re.match("[a-z]", lower) else "value"


def _of_insert(before: str, text: str) -> str:
    """The column to which the next value of an INSERT goes."""
    columns = _INSERT.search(before)
    if not columns or verb(text) not in ("insert", "replace"):
        return ""
    rest = before[columns.end() :]
    if rest.count("(") < rest.count(")"):  # behind the row
        return ""
    names = [name.strip(' `"') for name in columns[1].split(",")]
    position = rest.count(",")
    return names[position] if position < len(names) else ""


def _guess(name: str, slots: Sequence[Slot], of_insert: bool) -> Guess:
    values = [value for slot in slots for value in slot.values if value is not None]
    numbers = [value for value in values if isinstance(value, int)]
    counts = [slot.count for slot in slots]
    of_list: dict[str, TomlValue] = {"count": _usual(counts) or LIST_COUNT} if counts[0] is not None else {}
    anything: dict[str, TomlValue] = {"gen": "uniform", "low": 1, "high": "table_size"}
    if of_insert and name == "id":
        return Guess({"gen": "sequence", "start": "table_size + 1"})
    if numbers and len(numbers) == len(values):
        seen: dict[str, TomlValue] = {"gen": "uniform", "low": min(numbers), "high": max(numbers)}
        is_range = len(set(numbers)) > 1
        return Guess(seen | of_list, True) if is_range else Guess(anything | of_list, example=numbers[0])
    if values and not of_list:
        return Guess({"gen": "constant", "value": str(Counter(map(str, values)).most_common(1)[0][0])})
    if name.endswith("_like"):
        return Guess({"gen": "text", "template": "@%"})
    if name in ("limit", "offset"):
        return Guess({"gen": "constant", "value": 10 if name == "limit" else 0})
    return Guess(anything | of_list)


def _is_integer(guess: Guess) -> bool:
    return guess.generator["gen"] == "uniform"


def _usual(counts: Sequence[int | None]) -> int:
    known = sorted(count for count in counts if count)
    return known[len(known) // 2] if known else 0


def _castable(sql: str) -> str:
    """PostgreSQL counts `interval '1 day'` as `interval $1`, which it does not accept itself."""
    return re.sub(
        r"\b(interval|date|timestamp|timestamptz|time)\s+(:\w+)(?!\s+\w*(?:DAY|HOUR|MINUTE|SECOND|MONTH|YEAR|WEEK))",
        r"CAST(\2 AS \1)",
        sql,
        flags=re.IGNORECASE,
    )
