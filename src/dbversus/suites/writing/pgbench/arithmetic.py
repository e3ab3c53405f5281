r"""Expressions of `\set` and `\if`: what they come to in a suite.

Numbers and functions as in PostgreSQL's manual (pgbench, Built-in Operators and Built-in Functions): integer division cuts
towards zero, and a remainder has the sign of what is divided.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dbversus.suites.writing.pgbench.expression import Call, Node, Number, Variable, parse
from dbversus.suites.writing.place import Line
from dbversus.suites.writing.toml_text import Value


@dataclass(frozen=True)
class Source:
    """A value that is known only when the script runs: drawn anew each time, or read by a statement, without `generator`."""

    name: str
    generator: Mapping[str, Value] | None


@dataclass(frozen=True)
class Term:
    """An expression of a suite. `value`: what it gives as the suite is written; None where that is known only when it runs.

    `of`: what it is worked out from, beside the suite's variables. `least`: it is not below that.
    """

    text: str
    value: Number | None = None
    of: tuple[Source, ...] = ()
    least: float = -math.inf
    has_fraction: bool = False

    @property
    def operand(self) -> str:
        return self.text if re.fullmatch(r"\w+(\.\d+)?", self.text) else f"({self.text})"

    @property
    def is_number(self) -> bool:
        """Whether it has no names in it."""
        return self.value is not None and self.text == str(self.value)

    @property
    def source(self) -> Source | None:
        """What it is, unchanged."""
        return self.of[0] if self.of and self.text == self.of[0].name else None


Scope = Mapping[str, Term]
"""What the variables stand for, by pgbench's names."""


def number(value: Number) -> Term:
    return Term(str(value), value, (), value, isinstance(value, float))


def variable(name: str, value: int) -> Term:
    """One of the suite's."""
    return Term(name, value, (), value)


def _quotient(left: Number, right: Number) -> Number:
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _remainder(left: Number, right: Number) -> Number:
    return left - right * _quotient(left, right)


@dataclass(frozen=True)
class _Operation:
    """What a function or operator does, and how a suite writes it: None where it cannot. `least`: of the least of its values.

    `has_fraction`: None where that depends on its values.
    """

    of_numbers: Callable[..., Number]
    text: str | None
    least: Callable[..., float] = lambda *_: -math.inf
    values: int = 2
    has_fraction: bool | None = None


def _none_negative(*least: float) -> float:
    return 0 if min(least) >= 0 else -math.inf


def _truth(holds: Callable[..., object], text: str, values: int = 2) -> _Operation:
    return _Operation(lambda *given: int(bool(holds(*given))), text, lambda *_: 0, values, has_fraction=False)


_OPERATIONS = {
    "+": _Operation(operator.add, "{} + {}", operator.add),
    "-": _Operation(operator.sub, "{} - {}"),
    "*": _Operation(operator.mul, "{} * {}", _none_negative),
    "/": _Operation(_quotient, "{} / {}", _none_negative),
    "%": _Operation(_remainder, "{} % {}", _none_negative),
    "neg": _Operation(operator.neg, "0 - {}", values=1),
    "<": _truth(operator.lt, "{} < {}"),
    "<=": _truth(operator.le, "{} <= {}"),
    ">": _truth(operator.gt, "{} > {}"),
    ">=": _truth(operator.ge, "{} >= {}"),
    "=": _truth(operator.eq, "{} == {}"),
    "<>": _truth(operator.ne, "{} != {}"),
    "and": _truth(lambda left, right: left and right, "{} and {}"),
    "or": _truth(lambda left, right: left or right, "{} or {}"),
    "not": _truth(operator.not_, "not {}", values=1),
    "case": _Operation(
        lambda condition, then, otherwise: then if condition else otherwise,
        "{1} if {0} else {2}",
        lambda _, then, otherwise: min(then, otherwise),
        values=3,
    ),
    "abs": _Operation(abs, "abs({})", lambda *_: 0, values=1),
    "int": _Operation(round, "round({})", lambda least: least, values=1, has_fraction=False),
    "double": _Operation(float, "{} * 1.0", lambda least: least, values=1, has_fraction=True),
    "debug": _Operation(lambda value: value, "{}", lambda least: least, values=1),
    "isnull": _Operation(lambda _: 0, None, values=1),
    "notnull": _Operation(lambda _: 1, None, values=1),
    "&": _Operation(operator.and_, None),
    "|": _Operation(operator.or_, None),
    "#": _Operation(operator.xor, None),
    "<<": _Operation(operator.lshift, None),
    ">>": _Operation(operator.rshift, None),
    "~": _Operation(operator.invert, None, values=1),
    "sqrt": _Operation(math.sqrt, None, values=1),
    "exp": _Operation(math.exp, None, values=1),
    "ln": _Operation(math.log, None, values=1),
    "pow": _Operation(math.pow, None),
    "power": _Operation(math.pow, None),
    "pi": _Operation(lambda: math.pi, None, values=0),
}
_FOLDED = {"greatest": ("max", max), "least": ("min", min)}
_SAME = {"mod": "%"}
_RANDOM = {"random": 2, "random_zipfian": 3, "random_gaussian": 3, "random_exponential": 3}
_LIMITS = {
    "random_zipfian": (1.001, 1000.0),
    "random_gaussian": (2.0, math.inf),
    "random_exponential": (math.ulp(0.0), math.inf),
}
"""pgbench's own."""
_SCATTERING = ("hash", "hash_fnv1a", "hash_murmur2", "permute")
ACCEPTED = (
    "accepted are numbers, :variables, + - * / %, comparisons, and, or, not, case, parentheses, abs, double, greatest, int, "
    f"least, mod and {', '.join(_RANDOM)}"
)


def evaluate(expression: str, name: str, scope: Scope, line: Line, fresh: Callable[[str], str]) -> Term:
    """What `expression` comes to. `name` is the parameter's, if something is drawn; `fresh` makes further names of it.

    Raises UsageError with file and line.
    """
    if ":{?" in expression:
        raise line.mistake("`:{?name}` is psql's, and pgbench refuses it here too; compare a variable that -D sets.")
    try:
        node = parse(expression)
    except ValueError:
        raise line.mistake(f'"{expression}" is not understood; {ACCEPTED}.') from None
    evaluation = _Evaluation(expression, name, scope, line, fresh)
    if isinstance(node, Call) and node.name in _RANDOM:
        return evaluation.random(node, name)
    return evaluation.of(node)


def combined(name: str, *terms: Term) -> Term:
    """What an operation makes of terms that it can take."""
    operation = _OPERATIONS[name]
    known = [term.value for term in terms if term.value is not None]
    value = operation.of_numbers(*known) if len(known) == len(terms) else None
    if value is not None and (operation.text is None or all(term.is_number for term in terms)):
        return number(value)
    assert operation.text is not None
    text = operation.text.format(*(term.operand for term in terms))
    least = operation.least(*(term.least for term in terms))
    has_fraction = _any_fraction(terms) if operation.has_fraction is None else operation.has_fraction
    return Term(text, value, _together(terms), least, has_fraction)


@dataclass(frozen=True)
class _Evaluation:
    text: str
    name: str
    scope: Scope
    line: Line
    fresh: Callable[[str], str]

    def of(self, node: Node) -> Term:
        match node:
            case int() | float():
                return number(node)
            case Variable(name):
                return self._variable(name)
            case Call(name) if name in _RANDOM:
                return self.random(node, self.fresh(f"{self.name}_drawn"))
            case Call(name, arguments):
                return self._called(_SAME.get(name, name), [self.of(one) for one in arguments])

    def _variable(self, name: str) -> Term:
        if name not in self.scope:
            known = ", ".join(self.scope) or "none"
            raise self.line.mistake(
                f"there is no variable :{name}; a \\set before it or -D {name}=… sets it. Set: {known}."
            )
        return self.scope[name]

    def _called(self, name: str, terms: list[Term]) -> Term:
        if name in _FOLDED and terms:
            return self._folded(name, terms)
        if name not in _OPERATIONS:
            way_out = (
                "without it the same rows are drawn as often, side by side instead of scattered: leave it out"
                if name in _SCATTERING
                else ACCEPTED
            )
            raise self.line.mistake(f'"{self.text}" calls {name}(), which has no counterpart in a suite; {way_out}.')
        operation = _OPERATIONS[name]
        if len(terms) != operation.values:
            raise self.line.mistake(f"{name} takes {operation.values} values, and is given {len(terms)}.")
        if operation.text is None and any(term.value is None for term in terms):
            raise self.line.mistake(
                f'"{self.text}" uses {name} of what is known only when it runs; {ACCEPTED}. Of plain numbers all is accepted.'
            )
        if name in "/%":
            return self._divided(name, *terms)
        try:
            return combined(name, *terms)
        except (ArithmeticError, ValueError, TypeError):
            raise self.line.mistake(f'"{self.text}" has no value.') from None

    def _folded(self, name: str, terms: list[Term]) -> Term:
        word, function = _FOLDED[name]
        known = [term.value for term in terms if term.value is not None]
        value = function(known) if len(known) == len(terms) else None
        if len(terms) == 1 or (value is not None and all(term.is_number for term in terms)):
            return terms[0] if value is None else number(value)
        text = f"{word}({', '.join(term.text for term in terms)})"
        return Term(text, value, _together(terms), function(term.least for term in terms), _any_fraction(terms))

    def _divided(self, sign: str, left: Term, right: Term) -> Term:
        """A suite's quotient is rounded down, pgbench's towards zero: they are the same where nothing is negative."""
        if right.value is None:
            raise self.line.mistake(
                f'"{self.text}" divides by what is known only when it runs; a suite divides by numbers and its variables.'
            )
        if not right.value:
            raise self.line.mistake(f'"{self.text}" divides by zero.')
        if sign == "%" and _any_fraction([left, right]):
            raise self.line.mistake(f'"{self.text}" takes a remainder of a fraction; integers are accepted.')
        if left.is_number and right.is_number:
            return combined(sign, left, right)
        if right.value < 0:
            positive = self._divided(sign, left, combined("neg", right))
            return positive if sign == "%" else combined("neg", positive)
        if left.least >= 0:
            return combined(sign, left, right)
        mirrored = combined("neg", combined(sign, combined("neg", left), right))
        return combined("case", combined(">=", left, number(0)), combined(sign, left, right), mirrored)

    def random(self, call: Call, name: str) -> Term:
        """`name`: of the parameter that is drawn."""
        function, arguments = call.name, call.arguments
        if len(arguments) != _RANDOM[function]:
            raise self.line.mistake(f"{function} takes {_RANDOM[function]} values, and is given {len(arguments)}.")
        low, high = (self.of(one) for one in arguments[:2])
        if _any_fraction([low, high]):
            raise self.line.mistake(f'"{self.text}" has a bound that is no integer, which pgbench refuses too.')
        if low.value is None or high.value is None:
            return self._between(function, low, high)
        if low.value > high.value:
            raise self.line.mistake(f'"{self.text}" draws from {low.value} to {high.value}: the range is empty.')
        generator: dict[str, Value] = {"gen": "uniform"}
        generator |= {"low": _bound(low), "high": _bound(high)}
        if function != "random":
            generator |= self._shape(function, self.of(arguments[2]))
        return Term(name, None, (Source(name, generator),), low.least)

    def _shape(self, function: str, shape: Term) -> dict[str, Value]:
        if shape.value is None:
            raise self.line.mistake(f'the last value of "{self.text}" is no plain number; 1.1 is one.')
        least, most = _LIMITS[function]
        if not least <= shape.value <= most:
            raise self.line.mistake(f"{function} is given {shape.value}, which pgbench refuses too.")
        gen = function.removeprefix("random_")
        return {"gen": gen, "exponent" if gen == "zipfian" else "parameter": float(shape.value)}

    def _between(self, function: str, low: Term, high: Term) -> Term:
        """Uniform between values that are known only when it runs: a random share of their distance."""
        if function != "random":
            raise self.line.mistake(
                f'"{self.text}" has a bound that is known only when it runs, which is accepted with random() alone.'
            )
        share = Source(self.fresh(f"{self.name}_share"), {"gen": "uniform", "type": "float8", "low": 0.0, "high": 1.0})
        text = f"{low.operand} + floor({share.name} * ({high.operand} - {low.operand} + 1))"
        return Term(text, None, (share, *_together([low, high])), low.least)


def _bound(end: Term) -> Value:
    return int(end.text) if end.is_number else end.text


def _together(terms: Sequence[Term]) -> tuple[Source, ...]:
    """What they are worked out from, each once."""
    return tuple({one.name: one for term in terms for one in term.of}.values())


def _any_fraction(terms: Sequence[Term]) -> bool:
    return any(term.has_fraction for term in terms)
