r"""The names of a result's columns, as PostgreSQL gives them: `\gset` makes variables of them."""

import re

from dbversus.suites.writing.sql_text import QUOTED

_TOKEN = re.compile(rf"(?P<quoted>{QUOTED})|(?P<word>[A-Za-z_]\w*)|[(),\[\]]", re.DOTALL)
_ENDS = {
    *("from", "where", "group", "having", "window", "order", "limit", "offset", "fetch", "for"),
    *("union", "intersect", "except", "into", "returning", "on", "values"),
}
_NAME = r'(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<word>[A-Za-z_]\w*))'
_CAST = r'\s*::\s*[\w". ]+(?:\([\d, ]*\))?(?:\[\])*'
_AS = re.compile(rf"\bAS\s+{_NAME}\s*\Z", re.IGNORECASE)
_PLAIN = re.compile(rf'\A(?:(?:"[^"]+"|\w+)\s*\.\s*)*{_NAME}(?:{_CAST})*\s*\Z')
_ALIAS = re.compile(rf"[\w)\]'\"]\s+{_NAME}\s*\Z")
_FUNCTION = re.compile(r"\A(?:\w+\s*\.\s*)*(?P<word>\w+)\s*\(")
_NO_ALIAS = ("end", "null", "true", "false", "row", "rows")


def columns_of(sql: str) -> list[str] | None:
    """Names in order, of what SELECT or RETURNING lists; those that have none are empty. None: `*` does not tell them."""
    items = _listed(sql)
    if any(item == "*" or item.endswith(".*") for item in items):
        return None
    return [_name(item) for item in items]


def _listed(sql: str) -> list[str]:
    """The list after RETURNING, or else of the first SELECT, that is not in parentheses."""
    return _after("returning", sql) or _after("select", sql)


def _after(verb: str, sql: str) -> list[str]:
    depth, start = 0, None
    items: list[str] = []
    for token in _TOKEN.finditer(sql):
        word = (token["word"] or "").lower()
        depth += (token[0] in "([") - (token[0] in ")]")
        if depth or token["quoted"]:
            continue
        if start is None:
            start = token.end() if word == verb else None
        elif word in ("distinct", "all") and not sql[start : token.start()].strip():
            start = token.end()
        elif token[0] == ",":
            items.append(sql[start : token.start()])
            start = token.end()
        elif word in _ENDS and sql[start : token.start()].strip():
            return [_bare(item) for item in (*items, sql[start : token.start()])]
    return [] if start is None else [_bare(item) for item in (*items, sql[start:])]


def _bare(item: str) -> str:
    """Without comments, and without what DISTINCT goes by."""
    text = re.sub(r"--[^\n]*|/\*.*?\*/", " ", item, flags=re.DOTALL).strip()
    return re.sub(r"\AON\s*\([^)]*\)\s*", "", text, flags=re.IGNORECASE)


def _name(item: str) -> str:
    for pattern in (_AS, _PLAIN, _ALIAS):
        found = pattern.search(item)
        if found and found["quoted"]:
            return found["quoted"].replace('""', '"')
        if found and found["word"].lower() not in _NO_ALIAS:
            return found["word"].lower()
    if found := _FUNCTION.match(item):
        return found["word"].lower()
    return "case" if re.match(r"case\b", item, re.IGNORECASE) else ""
