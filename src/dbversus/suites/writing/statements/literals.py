"""Which literals of a statement are values that another execution may have otherwise, and what they are worth."""

import re
from collections.abc import Sequence

from dbversus.suites.writing.sql_tokens import Dialect, Token

Value = int | float | str | bytes | None

_BEFORE_VALUE = {
    "select", "distinct", "all", "where", "and", "or", "xor", "not", "in", "between", "like", "ilike", "rlike", "regexp",
    "binary", "interval", "limit", "offset", "when", "then", "else", "case", "on", "having", "by", "values", "value",
    "returning", "div", "mod", "is", "from", "for", "leading", "trailing", "both", "rows", "range", "similar", "to", "escape",
    "any", "some", "using", "set", "if", "sql_no_cache", "sql_calc_found_rows", "straight_join", "first", "next", "default",
    "only", "return",
}  # fmt: skip
"""Words after which a value may stand; after others, a text is a name: `SELECT a 'name'`."""
_BEFORE_NAME = {"as", "separator", "collate", "escape", "path", "charset", "outfile", "using"}
_SIZED = {
    "char", "varchar", "binary", "varbinary", "decimal", "numeric", "dec", "datetime", "time", "timestamp", "float", "double",
    "bit", "int", "integer", "bigint", "smallint", "tinyint", "now", "current_timestamp", "current_time", "localtime",
    "localtimestamp", "sysdate", "curtime", "utc_timestamp", "utc_time",
}  # fmt: skip
_ENDS_CLAUSE = {
    "from", "where", "having", "limit", "set", "values", "on", "union", "except", "intersect", "into", "window", "offset",
    "fetch", "for",
}  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\ufffd", "b": "\b", "Z": "\x1a", "%": r"\%", "_": r"\_"}
_SURROGATES = re.compile("[\ud800-\udfff]")


def clauses(found: Sequence[Token]) -> list[str]:
    """Of each token `select`, `by` (what is grouped or ordered by), `args` (of a function there), `size` (of a type) or ``."""
    levels, told = [""], list[str]()
    before = ""
    for token in found:
        if token.text == "(":
            levels.append("size" if before in _SIZED else "args" if levels[-1] == "by" else levels[-1])
        elif token.text == ")" and len(levels) > 1:
            levels.pop()
        elif token.word == "select":
            levels[-1] = "select"
        elif token.word == "by":
            levels[-1] = "by" if before in ("group", "order") else levels[-1]
        elif token.word in _ENDS_CLAUSE:
            levels[-1] = ""
        told.append(levels[-1])
        before = token.word
    return told


def ends_operand(found: Sequence[Token], at: int) -> bool:
    """Whether the token ends what an operator may follow: `a`, `5`, `)`."""
    if at < 0:
        return False
    token = found[at]
    return token.text in (")", "]") or (token.kind not in ("sign", "dots") and token.word not in _BEFORE_VALUE)


def is_value(found: Sequence[Token], at: int, clause: str) -> bool:
    """Whether a string or a number may be another next time: no name, no size of a type, no number of a column."""
    before = found[at - 1] if at else None
    if found[at].kind == "number":
        follows = found[at + 1] if at + 1 < len(found) else None
        is_column = clause == "by" and before and (before.word == "by" or before.text == ",")
        return clause != "size" and not (
            is_column and (not follows or follows.text == "," or follows.text == ")" or follows.word)
        )
    if before is None or before.kind == "string":
        return True
    return before.text not in ("->", "->>") and before.word not in _BEFORE_NAME and not ends_operand(found, at - 1)


def value_of(token: Token, dialect: Dialect) -> Value:
    """A number, a text or bytes; None for a text that is not in the file's encoding."""
    text = token.text
    if token.kind == "number":
        return int(text, 0) if text[:2].lower() in ("0x", "0b") else int(text) if text.isdigit() else float(text)
    quote = min((text.find(mark) for mark in "'\"" if mark in text), default=-1)
    prefix = text[:quote].strip(" \n\t{").lower() if quote >= 0 else "0x"
    inner = text[quote + 1 : text.rindex(text[quote])] if quote >= 0 else text[text.lower().index("0x") + 2 :]
    if _SURROGATES.search(inner):
        return None
    if prefix.endswith("x"):
        return bytes.fromhex("0" * (len(inner) % 2) + inner) if re.fullmatch("[0-9a-fA-F]*", inner) else None
    if prefix.endswith("b") and re.fullmatch("[01]+", inner):
        return int(inner, 2)
    plain = inner.replace(text[quote] * 2, text[quote])
    has_escapes = dialect == "mysql" or prefix == "e"
    return (
        re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), plain, flags=re.DOTALL)
        if has_escapes
        else plain
    )
