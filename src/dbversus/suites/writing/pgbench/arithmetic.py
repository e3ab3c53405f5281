r"""Expressions of `\set`: what they come to in a suite.

Numbers and functions as in PostgreSQL's manual (pgbench, Built-in Operators and Built-in Functions): integer division cuts
towards zero, and a remainder has the sign of what is divided.
"""

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from dbversus.suites.writing.place import Line
from dbversus.suites.writing.toml_text import Value

Number = int | float


@dataclass(frozen=True)
class Formula:
    """An integer expression of the suite's variables, such as `100000 * scale`."""

    text: str


@dataclass(frozen=True)
class Drawn:
    """Drawn anew for each run of the script; `name` is the parameter's."""

    name: str
    generator: Mapping[str, Value]


@dataclass(frozen=True)
class Shifted:
    """A drawn value plus a number."""

    of: Drawn
    add: int | Formula


Result = Number | Formula | Drawn | Shifted
Scope = Mapping[str, Result]
"""What the variables stand for, by pgbench's names."""

ACCEPTED = (
    "accepted are integers, :variables, + - * / %, parentheses, abs, greatest, least, mod, "
    "and random, random_zipfian, random_gaussian and random_exponential as the whole expression"
)
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%"}
_RANDOM = {
    "random": 2,
    "random_zipfian": 3,
    "random_gaussian": 3,
    "random_exponential": 3,
}
_LIMITS = {
    "random_zipfian": (1.001, 1000.0),
    "random_gaussian": (2.0, math.inf),
    "random_exponential": (math.ulp(0.0), math.inf),
}
"""pgbench's own."""


def evaluate(expression: str, name: str, scope: Scope, line: Line) -> Result:
    """What `expression` comes to; `name` is the parameter's, if something is drawn. Raises UsageError with file and line."""
    text = re.sub(r":([A-Za-z0-9_]+)", r" v_\1 ", expression)
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise line.mistake(f'"{expression}" is not understood; {ACCEPTED}.') from None
    return _Evaluation(expression, scope, line).of(node, name)


@dataclass(frozen=True)
class _Evaluation:
    text: str
    scope: Scope
    line: Line

    def of(self, node: ast.expr, name: str) -> Result:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _RANDOM:
            return Drawn(name, self._generator(node.func.id, node.args))
        return self._value(node)

    def _value(self, node: ast.expr) -> Result:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return value
            case ast.Name(id=name) if name.startswith("v_"):
                return self._variable(name.removeprefix("v_"))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._combined("-", 0, self._value(operand))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
                return self._combined(_SIGNS[type(op)], self._value(left), self._value(right))
            case ast.Call(func=ast.Name(id=function), args=arguments):
                return self._called(function, [self._value(one) for one in arguments])
        raise self.line.mistake(f'"{self.text}" is not understood; {ACCEPTED}.')

    def _variable(self, name: str) -> Result:
        if name not in self.scope:
            known = ", ".join(self.scope) or "none"
            raise self.line.mistake(
                f"there is no variable :{name}; a \\set before it or -D {name}=… sets it. Set: {known}."
            )
        return self.scope[name]

    def _combined(self, sign: str, left: Result, right: Result) -> Result:
        match left, right:
            case (int() | float(), int() | float()):
                return self._counted(sign, left, right)
            case (Drawn() as drawn, int() | Formula()) if sign in "+-":
                return Shifted(drawn, right if sign == "+" else _negative(right))
            case (int() | Formula(), Drawn() as drawn) if sign == "+":
                return Shifted(drawn, left)
            case (Drawn() | Shifted(), _) | (_, Drawn() | Shifted()):
                raise self.line.mistake(
                    f'"{self.text}" computes with a value that is drawn; a suite can add to it or subtract from it, no more.'
                )
            case (float(), _) | (_, float()):
                raise self.line.mistake(f'"{self.text}" is no integer; {ACCEPTED}.')
        if sign == "%":
            raise self.line.mistake(
                f'"{self.text}" takes a remainder of a variable of the suite; + - * / are accepted.'
            )
        if sign == "*" and 1 in (left, right):
            return right if left == 1 else left
        return Formula(f"{_operand(left)} {sign} {_operand(right)}")

    def _counted(self, sign: str, left: Number, right: Number) -> Number:
        if sign in "/%" and not right:
            raise self.line.mistake(f'"{self.text}" divides by zero.')
        if isinstance(left, int) and isinstance(right, int) and sign in "/%":
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if sign == "/" else left - right * quotient
        match sign:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return left / right
        raise self.line.mistake(f'"{self.text}" takes a remainder of a fraction; integers are accepted.')

    def _called(self, function: str, arguments: list[Result]) -> Result:
        numbers = [one for one in arguments if isinstance(one, int | float)]
        if function in ("abs", "greatest", "least", "mod", "int") and numbers and len(numbers) == len(arguments):
            match function:
                case "greatest":
                    return max(numbers)
                case "least":
                    return min(numbers)
                case "abs" if len(numbers) == 1:
                    return abs(numbers[0])
                case "int" if len(numbers) == 1:
                    return int(numbers[0])
                case "mod" if len(numbers) == 2:
                    return self._counted("%", *numbers)
        raise self.line.mistake(f'"{self.text}" calls {function}(), which has no counterpart in a suite; {ACCEPTED}.')

    def _generator(self, function: str, arguments: list[ast.expr]) -> dict[str, Value]:
        if len(arguments) != _RANDOM[function]:
            raise self.line.mistake(f"{function} takes {_RANDOM[function]} values, and is given {len(arguments)}.")
        low, high = (self._bound(one) for one in arguments[:2])
        if function == "random":
            return {"gen": "uniform", "low": low, "high": high}
        shape = self._value(arguments[2])
        if not isinstance(shape, int | float):
            raise self.line.mistake(f'the last value of "{self.text}" is no plain number; 1.1 is one.')
        return {"gen": function, "low": low, "high": high} | self._shape(function, shape)

    def _shape(self, function: str, shape: Number) -> dict[str, Value]:
        least, most = _LIMITS[function]
        if not least <= shape <= most:
            raise self.line.mistake(f"{function} is given {shape}, which pgbench refuses too.")
        match function:
            case "random_zipfian":
                return {"gen": "zipfian", "exponent": float(shape)}
            case "random_gaussian":
                return {"gen": "gaussian", "parameter": float(shape)}
        return {"gen": "exponential", "parameter": float(shape)}

    def _bound(self, node: ast.expr) -> Value:
        match self._value(node):
            case int(value):
                return value
            case Formula(text):
                return text
        raise self.line.mistake(
            f'"{self.text}" has a bound that is drawn or no integer; a suite needs one that stands.'
        )


def _negative(value: int | Formula) -> int | Formula:
    return -value if isinstance(value, int) else Formula(f"0 - ({value.text})")


def _operand(value: Result) -> str:
    if isinstance(value, Formula):
        return value.text if re.fullmatch(r"\w+", value.text) else f"({value.text})"
    assert isinstance(value, int)
    return str(value) if value >= 0 else f"({value})"
