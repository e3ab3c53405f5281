"""What the reference's files call builds and tests. Results that were imported keep the names that they came with."""

import re
from collections.abc import Iterable

from dbversus.results.stored import Target

_PREFIXES = {"mysql": "my", "mariadb": "ma", "myrocks": "fbmy", "postgres": "pg"}
_DIGITS = {"mysql": (1, 1, 2), "mariadb": (1, 2, 2), "myrocks": (1, 1, 2), "postgres": (1, 1)}
"""DBMS → the least digits of each part of its version: MySQL 8.4.7 is `my8407`, PostgreSQL 13.1 is `pg131`."""
_NOT_IN_NAMES = re.compile(r"[^\w.=+-]+")

_RANGES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), length)
    for pattern, length in (
        (r"read-only-(count|distinct|order|simple|sum)", "1000"),
        (r"write-only", "10000"),
        (r"(point-query|hot-points|scan|delete|insert)", "100"),
        (r"(points|range)-(not)?covered-(pk|si)", "100"),
        (r"update-(inlist|index|nonindex|one|zipf)", "100"),
    )
)
"""Tests of the sysbench suites, and the range that the reference's names of them have, whether they use it or not."""
_WITH_RANGE = re.compile(r"(?P<test>random-points|read-only|read-write)-(?P<length>\d+)(?P<phase>\.\w+)?")


def names_of_targets(targets: Iterable[Target]) -> dict[str, str]:
    """Label → build and config as `pg1110.x5`, each name once."""
    names: dict[str, str] = {}
    for target in targets:
        name = f"{_build(target)}.{_safe(target.config) or 'base'}"
        others = set(names.values())
        number = next(number for number in range(1, len(others) + 2) if _numbered(name, number) not in others)
        names[target.label] = _numbered(name, number)
    return names


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}_{number}"


def _build(target: Target) -> str:
    numbers = re.match(r"\d+(\.\d+)*", target.version)
    if not numbers:
        return _safe(target.label.partition("@")[0])
    digits = _DIGITS.get(target.dbms, (1, 2, 2))
    parts = numbers[0].split(".")[: len(digits)]
    version = "".join(part.zfill(least) for part, least in zip(parts, digits, strict=False))
    return _PREFIXES.get(target.dbms, _safe(target.dbms)) + version


def _safe(text: str) -> str:
    return _NOT_IN_NAMES.sub("_", text)


def name_of_test(test: str) -> str:
    """`read-only-100.pre` is `read-only.pre.range100`. Tests that the reference does not have keep their names."""
    if found := _WITH_RANGE.fullmatch(test):
        return f"{found['test']}{found['phase'] or ''}.range{found['length']}"
    stem = test.partition(".")[0]
    length = next((length for pattern, length in _RANGES if pattern.fullmatch(stem)), None)
    return f"{test}.range{length}" if length and ".range" not in test else in_a_cell(test)


def in_a_cell(text: str) -> str:
    """Without tabs and ends of lines, which would make two cells of one."""
    return " ".join(text.split())
