"""Expressions of pgbench, taken apart by its own rules (PostgreSQL's src/bin/pgbench/exprparse.y and exprscan.l)."""

import re
from dataclasses import dataclass

Number = int | float


@dataclass(frozen=True)
class Variable:
    """`:name`"""

    name: str


@dataclass(frozen=True)
class Call:
    """A function or operator by name, and what it works on. Operators have pgbench's signs; `-` of one value is `neg`."""

    name: str
    arguments: tuple["Node", ...]


Node = Number | Variable | Call

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |:(?P<variable>[A-Za-z0-9_]+)
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign><=|>=|<>|!=|<<|>>|[-+*/%=<>&|\#~(),])
    )""",
    re.VERBOSE,
)
# what binds tighter comes later; those of a level are taken from left to right
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("or",),
    ("and",),
    ("not",),
    ("is",),
    ("<", ">", "=", "<=", ">=", "<>"),
    ("|", "#", "&", "<<", ">>", "~"),
    ("+", "-"),
    ("*", "/", "%"),
)
_WORDS = {"true": 1, "false": 0, "on": 1, "off": 0}
_NOT, _IS, _BITS, _TIMES = 2, 3, 5, 7


def parse(text: str) -> Node:
    """Raises ValueError where the text is no expression of pgbench."""
    return _Parser(_tokens(text)).whole()


def _tokens(text: str) -> list[tuple[str, str]]:
    found, position = [], 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise ValueError(text[position:])
        kind, value = match.lastgroup, match[match.lastgroup]
        found.append((kind, {"!=": "<>"}.get(value, value) if kind == "sign" else value))
        position = match.end()
    return found


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = [*tokens, ("end", "")]
        self._at = 0

    def whole(self) -> Node:
        node = self._level(0)
        if self._tokens[self._at][0] != "end":
            raise ValueError(self._tokens[self._at][1])
        return node

    def _take(self, *accepted: str) -> str:
        """The next token where it is one of these signs or words, which it goes past; else empty."""
        kind, value = self._tokens[self._at]
        value = value.lower() if kind == "word" else value
        if kind in ("sign", "word") and value in accepted:
            self._at += 1
            return value
        return ""

    def _need(self, accepted: str) -> None:
        if not self._take(accepted):
            raise ValueError(self._tokens[self._at][1])

    def _level(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        if level == _NOT:
            return Call("not", (self._level(level),)) if self._take("not") else self._level(level + 1)
        if level == _BITS and self._take("~"):
            return Call("~", (self._level(level + 1),))
        node = self._level(level + 1)
        if level == _IS:
            return self._tested(node)
        while sign := self._take(*_LEVELS[level]):
            node = Call(sign, (node, self._level(level + 1)))
        return node

    def _tested(self, node: Node) -> Node:
        """`IS [NOT] NULL`, `IS [NOT] TRUE` and the like."""
        if word := self._take("isnull", "notnull"):
            return Call(word, (node,))
        if not self._take("is"):
            return node
        negated = bool(self._take("not"))
        what = self._take("null", "true", "false")
        if what == "null":
            return Call("notnull" if negated else "isnull", (node,))
        if not what:
            raise ValueError(self._tokens[self._at][1])
        return Call("not", (node,)) if negated == (what == "true") else Call("not", (Call("not", (node,)),))

    def _unary(self) -> Node:
        if self._take("-"):
            operand = self._unary()
            return -operand if isinstance(operand, int | float) else Call("neg", (operand,))
        if self._take("+"):
            return self._unary()
        return self._single()

    def _single(self) -> Node:
        if self._take("("):
            node = self._level(0)
            self._need(")")
            return node
        kind, value = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            return int(value) if value.isdigit() else float(value)
        if kind == "variable":
            return Variable(value)
        if kind == "word" and value.lower() == "case":
            return self._case()
        if kind == "word" and self._take("("):
            return Call(value.lower(), self._arguments())
        if kind == "word" and value.lower() in _WORDS:
            return _WORDS[value.lower()]
        raise ValueError(value)

    def _arguments(self) -> tuple[Node, ...]:
        if self._take(")"):
            return ()
        found = [self._level(0)]
        while self._take(","):
            found.append(self._level(0))
        self._need(")")
        return tuple(found)

    def _case(self) -> Node:
        """CASE WHEN … THEN … [ELSE …] END; without ELSE there is NULL, which nothing can take."""
        branches = []
        while self._take("when"):
            condition = self._level(0)
            self._need("then")
            branches.append((condition, self._level(0)))
        self._need("else")
        node = self._level(0)
        self._need("end")
        for condition, value in reversed(branches):
            node = Call("case", (condition, value, node))
        return node
