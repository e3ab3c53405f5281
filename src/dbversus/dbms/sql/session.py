"""How a setting is made for one connection alone, in the SQL of each family."""

from collections.abc import Callable, Mapping

from dbversus.dbms.known import find_dbms
from dbversus.dbms.model import Family

UTF8_NAMES = "SET NAMES utf8mb4"
"""To servers of the MySQL family: texts are UTF-8, whatever character set a table keeps them in."""

Value = bool | int | float | str


def set_sql(dbms: str, name: str, value: Value) -> str:
    """The statement that sets `name` for the session in which it is executed."""
    return _FORMS[find_dbms(dbms).family](name, value)


def utf8_sql(dbms: str) -> str:
    """What has the server take, and give, texts in UTF-8; empty where it does so anyway."""
    return UTF8_NAMES if find_dbms(dbms).family is Family.MYSQL else ""


def list_sql(dbms: str) -> str:
    """What lists the names of all settings, where a server passes over unknown ones in silence; else empty."""
    return "PRAGMA pragma_list" if find_dbms(dbms).family is Family.SQLITE else ""


def _on_postgres(name: str, value: Value) -> str:
    return f"SET {name} = {_quoted('on' if value is True else 'off' if value is False else str(value))}"


def _on_mysql(name: str, value: Value) -> str:
    """Numbers stand bare there: a quoted one is refused."""
    return f"SET SESSION {name} = {_quoted(value) if isinstance(value, str) else _number(value)}"


def _on_sqlite(name: str, value: Value) -> str:
    return f"PRAGMA {name} = {_quoted(value) if isinstance(value, str) else _number(value)}"


def _number(value: float) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_FORMS: Mapping[Family, Callable[[str, Value], str]] = {
    Family.POSTGRES: _on_postgres,
    Family.MYSQL: _on_mysql,
    Family.SQLITE: _on_sqlite,
    Family.NULL: lambda name, value: "",
}
