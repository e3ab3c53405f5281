"""Settings of a test's connections, by DBMS: what they are in the file, and the SQL that makes them."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from dbversus.dbms.known import find_dbms
from dbversus.dbms.sql.session import Value, set_sql

Settings = Mapping[str, Value]
"""Name → value."""


def _value(value: Any) -> Value:
    if isinstance(value, bool | int | float | str):
        return value
    raise ValueError('it has to be a text, a number, true or false, such as { work_mem = "64MB" }')


GivenValue = Annotated[Any, BeforeValidator(_value)]
"""The value of a setting in the shape of a file."""


def key_of(settings: Mapping[str, Settings], dbms: str) -> str:
    """Whose settings hold for `dbms`: its own, or those of the DBMS whose SQL it takes; "" where there are none."""
    return next((name for name in (dbms, find_dbms(dbms).sql_of) if name in settings), "")


def settings_for(settings: Mapping[str, Settings], dbms: str) -> Settings:
    return settings.get(key_of(settings, dbms), {})


def session_sql(settings: Mapping[str, Settings], dbms: str) -> dict[str, str]:
    """Name of a setting → the statement that makes it on `dbms`."""
    return {name: set_sql(dbms, name, value) for name, value in settings_for(settings, dbms).items()}
