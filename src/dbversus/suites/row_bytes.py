"""Bytes of a row: what its values take, as the columns and generators of the suite tell. Amplification is relative to these.

Without what a DBMS adds: headers, padding, pages that are not full, indexes. That is what is measured.
"""

import re
from collections.abc import Iterable, Sequence
from statistics import fmean

from dbversus.dbms.sql.types import is_bytes, is_text, width_bytes
from dbversus.suites.assembly.kinds_of_work import DELETE, INDEX, INSERT, kinds_of_work
from dbversus.suites.expression import evaluate
from dbversus.suites.file.generators import Bytes, Choice, Constant, Text
from dbversus.suites.model import Parameter, Statement, Suite, TableRules, Test
from dbversus.suites.variables import Variables

_ROWS_OF = re.compile(r"\s*(?:INSERT\s+INTO|DELETE\s+FROM)\s+[\"`]?(\w+)", re.IGNORECASE)
_REFERS = re.compile(r"\{\w+\}")


def bytes_of_tables(suite: Suite, table_size: int, copies: int) -> dict[str, float]:
    """Name of a table as the file has it → bytes of a row on average; without those whose texts have no known length."""
    scope = suite.scope(table_size, copies)
    found = {rules.made_like.name: _row_bytes(rules, scope) for rules in suite.tables}
    return {name: value for name, value in found.items() if value is not None}


def bytes_of_roles(suite: Suite, test: Test, table_size: int, copies: int) -> dict[str, float]:
    """Role, "" for a test without roles → bytes of a row that it inserts or deletes; only where all its rows are alike."""
    tables = bytes_of_tables(suite, table_size, copies)
    of_roles = {role.name: role.statements for role in test.roles} or {"": test.statements}
    changing = {role for role, does in kinds_of_work(test).items() if does in (INSERT, DELETE, INDEX)}
    found = {role: _common({tables.get(name) for name in _tables_of(of_roles[role])}) for role in sorted(changing)}
    return {role: value for role, value in found.items() if value is not None}


def _common(values: set[float | None]) -> float | None:
    return values.pop() if len(values) == 1 else None


def _tables_of(statements: Iterable[Statement]) -> set[str]:
    """Those in which rows come and go; `{table}` is the number of a copy."""
    texts = [text for statement in statements for text in statement.sql.values()]
    return {match[1] for text in texts if (match := _ROWS_OF.match(text))}


def _row_bytes(rules: TableRules, scope: Variables) -> float | None:
    known = [_value_bytes(parameter, scope) for parameter in rules.values.values()]
    values = [value for value in known if value is not None]
    return sum(values) if values and len(values) == len(known) else None


def _value_bytes(parameter: Parameter, scope: Variables) -> float | None:
    """NULL takes none."""
    share = 1 - (parameter.generator.nulls or 0.0)
    kind = parameter.type
    if is_text(kind) and kind != "uuid":
        length = _text_bytes(parameter)
    elif is_bytes(kind) and isinstance(parameter.generator, Bytes):
        length = float(evaluate(parameter.generator.length, scope))
    else:
        length = float(width_bytes(kind))
    return None if length is None else share * length


def _text_bytes(parameter: Parameter) -> float | None:
    """Of the values in UTF-8, on average; None where they depend on others or come from a file."""
    match parameter.generator:
        case Text(template=template):
            templates = [template] if isinstance(template, str) else template
            # a sign of a template is one of the text
            return None if any(map(_REFERS.search, templates)) else _mean_bytes(templates)
        case Constant(value=value):
            return _mean_bytes([str(value)])
        case Choice(of=list(of), weights=weights):
            return _mean_bytes([str(value) for value in of], weights)
        case _:
            return None


def _mean_bytes(texts: Sequence[str], weights: Sequence[float] | None = None) -> float:
    return fmean((len(text.encode()) for text in texts), weights)
