"""Literals of every neutral type, in every dialect."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from dbversus.dbms.model import Family
from dbversus.dbms.sql.literals import Value, literal, microseconds

US = 1_709_247_906_123_456


@pytest.mark.parametrize(
    ("value", "kind", "postgres", "mysql", "sqlite"),
    [
        (1, "", "1", "1", "1"),
        (0.5, "float8", "0.5", "0.5", "0.5"),
        ("it's", "text", "'it''s'", "'it''s'", "'it''s'"),
        (1, "bool", "true", "1", "1"),
        (US, "timestamp", "'2024-02-29 23:05:06'", "'2024-02-29 23:05:06'", "1709247906"),
        (US, "timestamp(6)", "'2024-02-29 23:05:06.123456'", "'2024-02-29 23:05:06.123456'", str(US)),
        (US, "date", "'2024-02-29'", "'2024-02-29'", "'2024-02-29'"),
        ("00ff", "bytes(2)", "'\\x00ff'", "x'00ff'", "x'00ff'"),
        (None, "int4", "NULL", "NULL", "NULL"),
    ],
)
def test_literals(value: Value, kind: str, postgres: str, mysql: str, sqlite: str) -> None:
    assert [literal(value, kind, family) for family in (Family.POSTGRES, Family.MYSQL, Family.SQLITE)] == [
        *(postgres, mysql, sqlite)
    ]


def test_times_are_microseconds_since_1970() -> None:
    moment = datetime(2024, 2, 29, 23, 5, 6, 123456, tzinfo=UTC)
    assert microseconds(moment) == microseconds(moment.replace(tzinfo=None)) == US
    assert microseconds(moment.astimezone(timezone(timedelta(hours=5)))) == US
    assert microseconds(date(1970, 1, 2)) == 86_400_000_000
