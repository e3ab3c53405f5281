"""Scripts of SQL and plain dumps, cut into statements as each DBMS's own client would (docs/suites/tables.md)."""

from dbversus.suites.scripts.cut import Piece, cut, shown
from dbversus.suites.scripts.read import Note, Reading, check_databases, included, read_script
from dbversus.suites.scripts.rules import why_harmless
from dbversus.suites.scripts.text import unpacked

__all__ = [
    "Note",
    "Piece",
    "Reading",
    "check_databases",
    "cut",
    "included",
    "read_script",
    "shown",
    "unpacked",
    "why_harmless",
]
