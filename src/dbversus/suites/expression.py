"""Expressions of suite files: `100`, `"table_size / 2 + 1"`, `"start + row / hosts * 10s"`."""

import ast
import math
import operator
import re
from collections.abc import Callable, Collection
from threading import Lock
from typing import Any

from dbversus.suites.variables import DURATION, UNITS_US, Variables, number_of

Expression = int | float | str
Number = int | float
ROW = "row"
"""The name of the row's position, from 0."""
Form = int | float | str | list[Any]
"""An expression as the engine reads it: a number, a name, or an operator with what it works on: `["%", "row", 100]`."""


_PARSING = Lock()


def syntax_tree(text: str) -> ast.expr:
    """Python's own, of one expression. Raises SyntaxError, ValueError, RecursionError or MemoryError.

    One thread at a time: before Python 3.11.8 and 3.12.2, two at once can end in SystemError (python/cpython issue 106905).
    """
    with _PARSING:
        return ast.parse(text, mode="eval").body


def _divide(left: Number, right: Number) -> Number:
    """Of integers the quotient rounded down, as SQL has integers for integers."""
    return left // right if isinstance(left, int) and isinstance(right, int) else left / right


# what the engine knows as well: engine/src/workload/generators/expression.rs
_OPERATORS: dict[str, Callable[..., Number]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "//": operator.floordiv,
    "%": operator.mod,
    "<": lambda left, right: int(left < right),
    "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right),
    ">=": lambda left, right: int(left >= right),
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "and": lambda left, right: int(bool(left) and bool(right)),
    "or": lambda left, right: int(bool(left) or bool(right)),
    "not": lambda value: int(not value),
    "if": lambda condition, then, otherwise: then if condition else otherwise,
    "neg": operator.neg,
    "min": min,
    "max": max,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": lambda value: math.floor(value + 0.5) if isinstance(value, float) else value,
}
_NODES: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.And: "and",
    ast.Or: "or",
    ast.Not: "not",
    ast.USub: "neg",
}
_FUNCTIONS = {"min": 2, "max": 2, "abs": 1, "floor": 1, "ceil": 1, "round": 1}
"""Functions and the number of their arguments, which is the least number for `min` and `max`."""


def evaluate(expression: Expression, variables: Variables) -> int:
    """The value of an expression where an integer is expected; raises ValueError for any other, and as `evaluate_number`."""
    value = evaluate_number(expression, variables)
    if isinstance(value, float):
        raise ValueError(f'"{expression}" is {value}; an integer is accepted, and floor(…) or round(…) makes one')
    return value


def evaluate_number(expression: Expression, variables: Variables) -> Number:
    """The value of `expression`; ValueError names what is wrong (syntax, unknown variable, division by zero)."""
    form = reduce(expression, variables)
    assert isinstance(form, int | float), form
    return form


def reduce(expression: Expression, variables: Variables, symbols: Collection[str] = ()) -> Form:
    """`expression` with all that `variables` tell worked out. What is left depends on `symbols`: values known later.

    A symbol goes before a variable of the same name. Raises ValueError as `evaluate_number`.
    """
    if not isinstance(expression, str):
        return expression
    try:
        return _reduced(_parse(expression), expression, variables, symbols)
    except ZeroDivisionError:
        raise ValueError(f'"{expression}" divides by zero') from None
    except OverflowError:
        raise ValueError(f'"{expression}" is too large a number') from None


def settle(form: Form, values: Variables) -> Number:
    """The value of an expression that was reduced."""
    settled = _reduced(form, str(form), values, ())
    assert isinstance(settled, int | float), form
    return settled


def variables_of(expression: Expression) -> set[str]:
    """Names used in `expression`; raises ValueError when it is none."""
    return names_of(_parse(expression)) if isinstance(expression, str) else set()


def names_of(form: Form) -> set[str]:
    """Names in an expression that was reduced."""
    match form:
        case str():
            return {form}
        case [_, *operands]:
            return set().union(*(names_of(operand) for operand in operands))
    return set()


def _parse(text: str) -> Form:
    spelled_out = re.sub(rf"(?<![\w.]){DURATION}\b", _duration, text.strip())
    try:
        return _form(syntax_tree(spelled_out), text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _no_expression(text) from None


def _duration(match: re.Match[str]) -> str:
    return str(round(float(match[1]) * UNITS_US[match[2]]))


def _form(node: ast.expr, text: str) -> Form:
    def forms(*nodes: ast.expr) -> list[Form]:
        return [_form(each, text) for each in nodes]

    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            return name
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _NODES:
            return [_NODES[type(op)], *forms(operand)]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _NODES:
            return [_NODES[type(op)], *forms(left, right)]
        case ast.BoolOp(op=op, values=values):
            return _chain(_NODES[type(op)], forms(*values))
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _NODES for op in ops):
            sides = forms(left, *others)
            compared: list[Form] = [[_NODES[type(op)], *sides[at : at + 2]] for at, op in enumerate(ops)]
            return _chain("and", compared)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return ["if", *forms(test, body, orelse)]
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
            return ["len", name]
        case ast.Call(func=ast.Name(id=("min" | "max") as name), args=args, keywords=[]) if len(args) > 1:
            return _chain(name, forms(*args))
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if _FUNCTIONS.get(name) == 1:
            return [name, *forms(argument)]
    raise _no_expression(text)


def _chain(name: str, forms: list[Form]) -> Form:
    first, *others = forms
    for other in others:
        first = [name, first, other]
    return first


def _reduced(form: Form, text: str, variables: Variables, symbols: Collection[str]) -> Form:
    match form:
        case ["len", str(name)]:
            return _length(name, text, variables)
        case [str(name), *operands]:
            values = [_reduced(operand, text, variables, symbols) for operand in operands]
            if name in ("/", "//", "%") and not isinstance(values[1], int | float):
                raise ValueError(f'"{text}" divides by what depends on the row; a number or a variable may stand there')
            if name in ("/", "//", "%") and values[1] == 0:
                raise ZeroDivisionError
            known = all(isinstance(value, int | float) for value in values)
            return _OPERATORS[name](*values) if known else [name, *values]
        case str(name) if name in symbols:
            return name
        case str(name) if name in variables:
            return number_of(name, variables[name])
        case str(name):
            raise _unknown(name, text, [*symbols, *variables])
    return form


def _length(name: str, text: str, variables: Variables) -> int:
    if name not in variables:
        raise _unknown(name, text, list(variables))
    value = variables[name]
    if not isinstance(value, list):
        raise ValueError(f"\"{text}\": variable '{name}' is no list")
    return len(value)


def _unknown(name: str, text: str, known: Collection[str]) -> ValueError:
    return ValueError(f"unknown variable '{name}' in \"{text}\"; known here: {', '.join(sorted(set(known)))}")


def _no_expression(text: str) -> ValueError:
    return ValueError(
        f'"{text}" is no expression; numbers, variables, + - * / %, comparisons, parentheses and '
        f'{", ".join(_FUNCTIONS)} are accepted, such as "table_size / 2 + 1"'
    )
