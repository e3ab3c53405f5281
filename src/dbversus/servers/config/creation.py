"""Settings that act only when a data directory is created: they are options of its creation, however they are written."""

from dbversus.dbms.known import find_dbms
from dbversus.dbms.settings import setting_key


def creation_name(dbms: str, name: str) -> str | None:
    """The option of creation that a setting means; None for a setting of a running server."""
    plain = setting_key(dbms, name)
    return plain if plain in find_dbms(dbms).settings.at_creation else None
