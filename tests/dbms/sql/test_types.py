"""Neutral types: which there are, and how wide."""

import pytest

from dbversus.dbms.sql.types import has_fractions, has_order, is_text, is_time, spell, why_not, width_bytes

TYPES = (
    *("int2", "int4", "int8", "float4", "float8", "decimal(18,4)", "bool", "date", "timestamp", "timestamp(0)"),
    *("timestamp(6)", "char(3)", "varchar(40)", "text", "json", "uuid", "bytes(16)"),
)


@pytest.mark.parametrize("text", TYPES)
def test_these_are_types(text: str) -> None:
    assert why_not(text) == "" and width_bytes(text) > 0


@pytest.mark.parametrize(
    "text", ["int3", "float", "decimal(0,0)", "decimal(3)", "bytes", "char(0)", "timestamp(3)", ""]
)
def test_these_are_none(text: str) -> None:
    assert "is no type" in why_not(text) or "needs" in why_not(text)


def test_kinds() -> None:
    assert [text for text in TYPES if is_time(text)] == ["date", "timestamp", "timestamp(0)", "timestamp(6)"]
    assert [text for text in TYPES if has_fractions(text)] == ["float4", "float8", "decimal(18,4)"]
    assert [text for text in TYPES if is_text(text)] == ["char(3)", "varchar(40)", "text", "json", "uuid"]
    assert not has_order("timestamp") and has_order("int2") and has_order("varchar(4)")


def test_digits_of_the_second_are_part_of_the_name() -> None:
    names = {"timestamp": "DATETIME", "timestamp6": "DATETIME(6)", "decimal": "DECIMAL({})"}
    spelled = [spell(text, names) for text in ("timestamp", "timestamp(0)", "timestamp(6)", "decimal(10, 2)")]
    assert spelled == ["DATETIME", "DATETIME", "DATETIME(6)", "DECIMAL(10,2)"]
