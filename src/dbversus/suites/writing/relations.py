"""Which tables a statement names, told from its tokens: words of comments, functions, CTEs and schemas are none."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from dbversus.suites.writing.sql_tokens import Token

_INSERTS = {"insert", "replace", "merge"}
# of scripts; what follows is a table, too
_UTILITIES = {"truncate", "vacuum", "analyze", "copy", "lock"}
_VERBS = _INSERTS | _UTILITIES | {"select", "update", "delete", "values", "table"}
# what may stand between these, or FROM, and a table
_BETWEEN = {
    "only", "lateral", "rows", "into", "table", "ignore", "low_priority", "high_priority", "delayed", "quick", "full", "freeze",
    "verbose", "analyze",
}  # fmt: skip
_QUERIES = {"select", "with", "values", "table"}
_UNIONS = {"union", "except", "intersect", "minus"}
_END_OF_FROM = _UNIONS | {
    "where", "group", "order", "having", "limit", "offset", "fetch", "window", "for", "set", "returning", "duplicate", "conflict",
    "procedure", "lock", "values", "into",
}  # fmt: skip
_MOST_LEVELS = 100


@dataclass(frozen=True)
class Relation:
    """A table, as the tokens `first` to `last` name it with what stands before it; `name` is in lower case."""

    name: str
    first: int
    last: int


@dataclass
class _Level:
    """What is known within parentheses, or of the whole statement. `expects`: a table, after `from` or `into`."""

    expects: str = ""
    in_from: bool = False
    verb: str = ""
    is_begin: bool = True
    ctes: set[str] = field(default_factory=set)


def relations(tokens: Sequence[Token]) -> list[Relation]:
    """Each place where a table is named that is read or changed. `tokens` are without comments."""
    reader = _Reader(tokens)
    reader.level(_Level())
    return reader.found


def chain_end(tokens: Sequence[Token], position: int) -> int:
    """The last token of a name that begins here: that of `c` in `a.b.c`."""
    while position + 2 < len(tokens) and tokens[position + 1].text == "." and tokens[position + 2].is_name:
        position += 2
    return position


def plain(token: Token) -> str:
    """A name without its quotes, in lower case."""
    quote = token.text[-1]
    text = token.text if token.kind == "word" else token.text.partition(quote)[2][:-1].replace(quote * 2, quote)
    return text.lower()


class _Reader:
    """Reads tokens from left to right; parentheses are levels of their own."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.found: list[Relation] = []
        self.levels: list[_Level] = []

    def level(self, level: _Level) -> None:
        """Reads to the end of the level, before its closing parenthesis."""
        self.levels.append(level)
        while self.at < len(self.tokens) and self._text() != ")":
            self._step(level)
        self.levels.pop()

    def _step(self, level: _Level) -> None:
        token = self.tokens[self.at]
        if token.text == "(":
            expects, level.expects = level.expects if level.expects == "from" else "", ""
            self._parenthesis(_Level(expects, bool(expects)))
        elif level.expects and token.is_name and token.word not in _QUERIES | {"set"} and not self._is_between(token):
            self._table(level)
        elif token.is_name and self._text(1) == ".":
            self.at = chain_end(self.tokens, self.at) + 1
        elif token.word == "with" and (level.is_begin or level.verb in _INSERTS):
            self._ctes(level)
        else:
            self._word(token, level)
            self.at += 1

    def _parenthesis(self, level: _Level) -> None:
        self.at += 1
        if len(self.levels) < _MOST_LEVELS:
            self.level(level)
        self.at += 1

    def _is_between(self, token: Token) -> bool:
        following = self.tokens[self.at + 1 : self.at + 2]
        return token.word in _BETWEEN and bool(following) and (following[0].is_name or following[0].text == "(")

    def _table(self, level: _Level) -> None:
        """A table, or a function that gives rows."""
        first, last = self.at, chain_end(self.tokens, self.at)
        expects, level.expects, level.is_begin, self.at = level.expects, "", False, last + 1
        name = plain(self.tokens[last])
        is_cte = first == last and any(name in one.ctes for one in self.levels)
        if not is_cte and name != "dual" and not (expects == "from" and self._text() == "("):
            self.found.append(Relation(name, first, last))

    def _ctes(self, level: _Level) -> None:
        """WITH and its list; one that is not recursive has its name from its end on."""
        self.at += 1
        recursive = self._word_at() == "recursive"
        self.at += recursive
        while self.at < len(self.tokens) and self.tokens[self.at].is_name:
            name = plain(self.tokens[self.at])
            level.ctes |= {name} if recursive else set()
            self.at += 1
            if self._text() == "(":
                self._parenthesis(_Level())
            while self._word_at() in ("as", "not", "materialized"):
                self.at += 1
            if self._text() == "(":
                self._parenthesis(_Level())
            level.ctes.add(name)
            if self._text() != ",":
                return
            self.at += 1

    def _word(self, token: Token, level: _Level) -> None:
        word = token.word
        is_begin, level.is_begin = level.is_begin, word in ("explain", "union", "except", "intersect", "minus")
        if token.text == ",":
            level.expects = "from" if level.in_from else ""
            return
        if word in _BETWEEN and level.expects:
            return
        level.expects = ""
        if word in _END_OF_FROM:
            level.in_from = False
        if word == "select" or (is_begin and self._is_verb(word)):
            level.verb = word
            level.expects = {"update": "from", "table": "from"}.get(
                word, "into" if word in _INSERTS | _UTILITIES else ""
            )
            level.in_from = word == "update"
        elif self._begins_from(word, level):
            level.expects, level.in_from = "from", True

    def _is_verb(self, word: str) -> bool:
        """INSERT and REPLACE are functions, too; what only scripts do may be the name of a column in parentheses."""
        return (
            word in _VERBS
            and (word == "values" or self._text(1) != "(")
            and (word not in _UTILITIES or len(self.levels) == 1)
        )

    def _begins_from(self, word: str, level: _Level) -> bool:
        before = self.tokens[self.at - 1].word if self.at else ""
        match word:
            case "from":  # of EXTRACT, TRIM and SUBSTRING, too, and of IS DISTINCT FROM
                return level.verb not in ("", *_UTILITIES) and before != "distinct"
            case "join" | "straight_join":  # not USE INDEX FOR JOIN
                return level.in_from and before != "for"
            case "using":  # of tables, not of a join's columns
                return level.verb in ("delete", "merge") and (self._text(1) != "(" or self._word_at(2) in _QUERIES)
            case _:
                return False

    def _text(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead].text if self.at + ahead < len(self.tokens) else ""

    def _word_at(self, ahead: int = 0) -> str:
        return self._text(ahead).lower()
