"""Scripts of SQL and plain dumps, cut into statements as each DBMS's own client would (docs/suites/tables.md)."""

from dbversus.suites.scripts.cut import Piece, cut, read_pieces, shown
from dbversus.suites.scripts.text import unpacked

__all__ = ["Piece", "cut", "read_pieces", "shown", "unpacked"]
