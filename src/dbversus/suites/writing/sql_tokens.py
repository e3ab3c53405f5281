"""SQL taken apart into tokens, as servers do it, with the place of each.

A scanner of our own, since texts of digests and logs are not yet SQL: they are cut off, and hold `?, ...` and `$1`.
docs/suites/from.md says how libraries compare.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Dialect = Literal["mysql", "postgres"]
Kind = Literal["comment", "string", "number", "quoted", "word", "variable", "mark", "dots", "open", "sign"]


class Token(NamedTuple):
    """`open`: a quote or a comment that never ends. `mark`: `?`, `$1` or `:name`. `start`: where it begins in the text."""

    kind: Kind
    text: str
    start: int

    @property
    def word(self) -> str:
        """In lower case; "" for what is no word. A quoted name is none."""
        return self.text.lower() if self.kind == "word" else ""

    @property
    def is_name(self) -> bool:
        return self.kind in ("word", "quoted")

    @property
    def end(self) -> int:
        return self.start + len(self.text)


_NUMBER = r"0x[0-9a-fA-F]+(?!\w)|0b[01]+(?!\w)|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w$])"
_SIGN = r"::|:=|->>?|\#>>?|<=>|[<>!]=|<>|\|\||&&|<@|@>|."
_PLAIN = r"'(?:''|[^'])*'"
_ESCAPED = r"'(?:\\.|''|[^'\\])*'"
_DOUBLE = r'"(?:\\.|""|[^"\\])*"'
_MYSQL = rf"""
    (?P<comment> \#[^\n]* | --(?=\s|\Z)[^\n]* | /\*.*?\*/ )
  | (?P<string> (?:_[a-z]\w*\s*)? (?: [xXbBnN]?{_ESCAPED} | {_DOUBLE} | 0x[0-9a-fA-F]+(?!\w) )
      | (?:DATE|TIME|TIMESTAMP)\s*{_ESCAPED} | \{{\s*(?:d|t|ts)\s*{_ESCAPED}\s*\}} )
  | (?P<quoted> `(?:``|[^`])*` )
  | (?P<number> {_NUMBER} )
  | (?P<variable> @@?\s*(?:[\w.$]+|`[^`]*`) )
  | (?P<word> [\w$]+ )
"""
# comments may stand in comments; backticks are SQLite's
_POSTGRES = rf"""
    (?P<comment> --[^\n]* | /\*(?: /\*.*?\*/ | (?!\*/). )*\*/ )
  | (?P<string> E{_ESCAPED} | (?:[XBN]|U&)?{_PLAIN} | \$(?P<tag>[A-Za-z_]\w*|)\$.*?\$(?P=tag)\$ )
  | (?P<quoted> (?:U&)?"(?:""|[^"])*" | `(?:``|[^`])*` )
  | (?P<number> {_NUMBER} )
  | (?P<word> [^\W\d][\w$]* )
"""
_SHARED = rf"""
  | (?P<dots> \.\.\. )
  | (?P<mark> \$\d+ | \? | (?<![:\w]):[A-Za-z_]\w*(?:\.(?:from|to)\b)? )
  | (?P<open> ['"`] | /\* )
  | (?P<sign> {_SIGN} )
"""


def _pattern(own: str) -> re.Pattern[str]:
    return re.compile(rf"\s+|{own}{_SHARED}", re.DOTALL | re.IGNORECASE | re.VERBOSE)


_TOKENS: dict[Dialect, re.Pattern[str]] = {"mysql": _pattern(_MYSQL), "postgres": _pattern(_POSTGRES)}


def scan(sql: str, dialect: Dialect) -> Iterator[Token]:
    """All tokens, comments too."""
    for match in _TOKENS[dialect].finditer(sql):
        if kind := match.lastgroup:
            yield Token("string" if kind == "tag" else kind, match[0], match.start())  # type: ignore[arg-type]


def tokens(sql: str, dialect: Dialect) -> list[Token]:
    """Without comments."""
    return [token for token in scan(sql, dialect) if token.kind != "comment"]
