"""Which of the statements seen can be tests, and why the others cannot."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dbversus.suites.writing.sql_text import verb
from dbversus.suites.writing.statements.normal import Normal, Unclear, normal_form
from dbversus.suites.writing.statements.observed import Observed

_VERBS = ("select", "with", "insert", "update", "delete", "replace", "merge", "values", "table")
_OF_SERVER = re.compile(
    r"\b(?:pg_catalog|information_schema|performance_schema|pg_stat\w*|pg_settings|pg_class|mysql)[`\"]?\s*\.|"
    r"\bpg_stat_\w+|\bpg_(?:settings|class|database|locks|namespace|attribute|type|roles)\b|@@\w|<insufficient privilege>",
    re.IGNORECASE,
)
_MOST_VALUES = 500


@dataclass(frozen=True)
class Chosen:
    """A statement in its normal form, and all that was seen of it."""

    forms: tuple[Normal, ...]
    calls: int
    total_ms: float


@dataclass(frozen=True)
class LeftOut:
    text: str
    calls: int
    reason: str


def choose(observed: Sequence[Observed], top: int) -> tuple[list[Chosen], list[LeftOut]]:
    """The `top` statements that take most time, most first (those called most, where no times are known), and the rest."""
    groups: dict[str, list[tuple[Observed, Normal]]] = {}
    left_out: list[LeftOut] = []
    for one in observed:
        form = _form(one)
        if isinstance(form, str):
            left_out.append(LeftOut(one.text, one.calls, form))
        else:
            groups.setdefault(form.text, []).append((one, form))
    chosen = sorted((_chosen(group) for group in groups.values()), key=lambda one: (-one.total_ms, -one.calls))
    less = [
        LeftOut(one.forms[0].text.replace("\0", "?"), one.calls, f"not among the first {top} (--top)")
        for one in chosen[top:]
    ]
    return chosen[:top], [*_together(left_out), *less]


def _form(one: Observed) -> Normal | str:
    """The normal form, or why this cannot be a test."""
    if verb(one.text) not in _VERBS:
        return "no query and no change of rows"
    if _OF_SERVER.search(one.text):
        return "it asks about the server"
    if one.text.rstrip().endswith("...") and not one.example:
        return "its text was cut off"
    if verb(one.text) == "select" and not re.search(r"\bFROM\b|\(", one.text, re.IGNORECASE):
        return "it reads no table"
    has_values = bool(one.example) and not one.example.endswith("...")
    try:
        form = normal_form(one.example if has_values else one.text, has_values, one.double_quotes_are_strings)
    except Unclear:
        return "its text does not say how many values it has"
    return f"it has {len(form.slots)} values" if len(form.slots) > _MOST_VALUES else form


def _chosen(group: Sequence[tuple[Observed, Normal]]) -> Chosen:
    seen = [one for one, _ in group]
    return Chosen(tuple(form for _, form in group), sum(one.calls for one in seen), sum(one.total_ms for one in seen))


def _together(left_out: Sequence[LeftOut]) -> list[LeftOut]:
    """Equal texts once."""
    found: dict[tuple[str, str], int] = {}
    for one in left_out:
        key = " ".join(one.text.split()), one.reason
        found[key] = found.get(key, 0) + one.calls
    return [LeftOut(text, calls, reason) for (text, reason), calls in found.items()]
