"""Values of neutral types as literals of SQL."""

from datetime import UTC, date, datetime, timedelta

from dbversus.dbms.model import Family
from dbversus.dbms.sql.types import is_bytes, is_text, is_time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST_US = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST_US = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND

Value = int | float | str | None


def microseconds(moment: date) -> int:
    """Since 1970-01-01 UTC; what has no time zone is in UTC, and a day begins at midnight."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


def literal(value: Value, kind: str, family: Family) -> str:
    """`kind`: a neutral type, "" for what the value is by itself. Times are microseconds, bytes their hexadecimal digits."""
    if value is None:
        return "NULL"
    if kind and is_bytes(kind):
        return f"'\\x{value}'" if family is Family.POSTGRES else f"x'{value}'"
    if kind and is_time(kind):
        return _time(int(value), kind, family)
    if kind == "bool":
        return ("true" if value else "false") if family is Family.POSTGRES else str(int(bool(value)))
    if isinstance(value, str) or (kind and is_text(kind)):
        return "'" + str(value).replace("'", "''") + "'"
    return str(value)


def _time(us: int, kind: str, family: Family) -> str:
    """SQLite keeps numbers of seconds or microseconds, and days as texts."""
    fine = kind == "timestamp(6)"
    moment = _EPOCH + max(_FIRST_US, min(us, _LAST_US)) * _MICROSECOND
    if kind == "date":
        return f"'{moment:%Y-%m-%d}'"
    if family is Family.SQLITE:
        return str(us if fine else us // 1_000_000)
    return f"'{moment:%Y-%m-%d %H:%M:%S}" + (f".{moment.microsecond:06}'" if fine else "'")
