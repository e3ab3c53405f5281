"""What stands in braces in the text of a statement: variables, snippets with arguments, and repetition over a list."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from dbversus.dbms.known import databases, find_dbms
from dbversus.names import did_you_mean
from dbversus.suites.expression import evaluate
from dbversus.suites.variables import Variables, in_words

_EACH = re.compile(r"\s*each\s+(?P<list>\w+)\s*(?:\[(?P<low>[^\]:]*):(?P<high>[^\]:]*)\])?\s*:(?P<body>.*)", re.DOTALL)
_CALL = re.compile(r"\s*(?P<name>[a-z][a-z0-9_]*)\((?P<args>.*)\)\s*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_SEPARATOR = re.compile(r"(?<!\|)\|(?!\|)")  # || joins texts
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_DEEPEST = 20


@dataclass(frozen=True)
class Snippet:
    """A piece of SQL with arguments; `sql` by DBMS, "" for all not named."""

    args: tuple[str, ...]
    sql: Mapping[str, str]

    def for_dbms(self, dbms: str) -> str | None:
        """As a statement's text is found: the DBMS's own, that of the DBMS whose SQL it takes, the one for all."""
        names = (dbms, find_dbms(dbms).sql_of if dbms else "", "")
        return next((self.sql[name] for name in names if name in self.sql), None)


@dataclass(frozen=True)
class Scope:
    """What may stand in braces."""

    snippets: Mapping[str, Snippet]
    variables: Variables
    dbms: str = ""
    args: Mapping[str, str] = field(default_factory=dict)
    depth: int = 0


class MissingDialect(ValueError):
    """A snippet has no SQL for the DBMS."""


def expand_all(texts: Mapping[str, str], snippets: Mapping[str, Snippet], variables: Variables) -> dict[str, str]:
    """A statement's texts by DBMS with all braces worked out. With a snippet in it, a text becomes one for each DBMS.

    A DBMS for which a snippet has no SQL has none then. Raises ValueError with a sentence for the user.
    """
    scope = Scope(snippets, variables)
    if not any(_calls(text, snippets) for text in texts.values()):
        return {dbms: expand(text, scope) for dbms, text in texts.items()}
    made: dict[str, str] = {}
    missing: list[MissingDialect] = []
    for dbms in (each.name for each in databases()):
        text = next((texts[name] for name in (dbms, find_dbms(dbms).sql_of, "") if name in texts), None)
        try:
            made |= {} if text is None else {dbms: expand(text, replace(scope, dbms=dbms))}
        except MissingDialect as error:
            missing.append(error)
    if not made and missing:
        raise missing[0]
    return made


def _calls(text: str, snippets: Mapping[str, Snippet]) -> bool:
    return any(re.search(rf"\{{[^'\"]*\b{name}\(", text) for name in snippets)


def expand(text: str, scope: Scope, item: str | None = None) -> str:
    """`text` for one DBMS; `item`: what `{}` stands for, inside a repetition."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    parts, at = [], 0
    for start, end in _braces(text):
        if start < at:
            continue
        in_quotes = any(low < start < high for low, high in quoted)
        found = _worked_out(text[start + 1 : end], scope, item, in_quotes)
        if found is not None:
            parts += [text[at:start], found]
            at = end + 1
    return "".join([*parts, text[at:]])


def _braces(text: str) -> Iterator[tuple[int, int]]:
    """Pairs of braces that belong together, in the order in which they open."""
    opened: list[int] = []
    pairs = []
    for position, character in enumerate(text):
        if character == "{":
            opened.append(position)
        elif character == "}" and opened:
            pairs.append((opened.pop(), position))
    yield from sorted(pairs)


def _worked_out(inside: str, scope: Scope, item: str | None, in_quotes: bool) -> str | None:
    """What braces stand for; None: they are the statement's own, such as those of a JSON text."""
    if not inside:
        return item
    if match := _EACH.fullmatch(inside):
        return _repeated(match, scope)
    if match := _CALL.fullmatch(inside):
        return None if in_quotes and match["name"] not in scope.snippets else _called(match, scope, item)
    if not _NAME.fullmatch(inside) or inside == "table":
        return None
    if inside in scope.args:
        return scope.args[inside]
    if inside in scope.variables:
        return in_words(scope.variables[inside])
    if in_quotes:
        return None
    known = [*scope.args, *scope.variables]
    raise ValueError(
        f"unknown name '{inside}' in braces.{did_you_mean(inside, known)} Accepted: {', '.join(['table', *known])}, "
        "{NAME(…)} for one of [snippets], and {each LIST: …}"
    )


def _repeated(match: re.Match[str], scope: Scope) -> str:
    name = match["list"]
    values = scope.variables.get(name)
    if not isinstance(values, list):
        lists = [known for known, value in scope.variables.items() if isinstance(value, list)]
        raise ValueError(
            f"'{name}' is no list.{did_you_mean(name, lists)} Accepted: {', '.join(lists) or '(no variable is a list)'}"
        )
    low, high = (_bound(match[end], scope) for end in ("low", "high"))
    body, separator = _parted(match["body"])
    chosen = values[slice(low, high)]
    if not chosen or (high is not None and high > len(values)):
        bounds = f"{match['low'] or ''}:{match['high'] or ''}"
        raise ValueError(f"{{each {name}[{bounds}]: …}} reaches past the {len(values)} items of '{name}'")
    return separator.join(expand(body, scope, str(value)) for value in chosen)


def _bound(text: str | None, scope: Scope) -> int | None:
    if not text or not text.strip():
        return None
    value = evaluate(text, scope.variables)
    if value < 0:
        raise ValueError(f"{text.strip()} is {value}; 0 or more is accepted as an end of a list")
    return value


def _parted(text: str) -> tuple[str, str]:
    """What is repeated, and what stands between: after the last single |, else a comma."""
    bars = list(_SEPARATOR.finditer(text))
    body, separator = (text[: bars[-1].start()], text[bars[-1].end() :].strip()) if bars else (text, ",")
    return body.strip(), ", " if separator == "," else f" {separator} "


def _called(match: re.Match[str], scope: Scope, item: str | None) -> str:
    name = match["name"]
    snippet = scope.snippets.get(name)
    if snippet is None:
        known = ", ".join(scope.snippets) or "(none)"
        raise ValueError(f"unknown snippet '{name}'.{did_you_mean(name, scope.snippets)} Accepted: {known}")
    given = [expand(argument, scope, item).strip() for argument in _arguments(match["args"])]
    if len(given) != len(snippet.args):
        takes = f"{len(snippet.args)} arguments ({', '.join(snippet.args)})"
        raise ValueError(f"snippet '{name}' takes {takes}, and is given {len(given)}")
    if scope.depth == _DEEPEST:
        raise ValueError(f"snippet '{name}' uses itself")
    text = snippet.for_dbms(scope.dbms)
    if text is None:
        raise MissingDialect(f"snippet '{name}' has no SQL for {scope.dbms}")
    return expand(text, replace(scope, args=dict(zip(snippet.args, given, strict=True)), depth=scope.depth + 1))


def _arguments(text: str) -> Iterator[str]:
    """Parted by commas that stand in no parentheses, braces or quotes."""
    depth, start, quote = 0, 0, ""
    if not text.strip():
        return
    for position, character in enumerate(text):
        if quote or character in "'\"`":
            quote = "" if character == quote else quote or character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]
