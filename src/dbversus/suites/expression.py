"""Integer expressions of suite files: `100`, `"table_size / 2 + 1"`, `"range - 1"`."""

import ast
import operator
from collections.abc import Callable, Mapping

Expression = int | str

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,  # values are integers: the fraction is cut off
    ast.FloorDiv: operator.floordiv,
}


def evaluate(expression: Expression, variables: Mapping[str, int]) -> int:
    """The value of `expression`; ValueError names what is wrong (syntax, unknown variable, division by zero)."""
    if isinstance(expression, int):
        return expression
    try:
        return _value(_parse(expression), expression, variables)
    except ZeroDivisionError:
        raise ValueError(f'"{expression}" divides by zero') from None


def variables_of(expression: Expression) -> set[str]:
    """Names used in `expression`; raises ValueError when it is none."""
    if isinstance(expression, int):
        return set()
    names = {node.id for node in ast.walk(_parse(expression)) if isinstance(node, ast.Name)}
    evaluate(expression, {name: 1_000_003 + index for index, name in enumerate(sorted(names))})  # for the syntax alone
    return names


def _parse(expression: str) -> ast.expr:
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise _no_expression(expression) from None


def _value(node: ast.expr, text: str, variables: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name) if name in variables:
            return variables[name]
        case ast.Name(id=name):
            raise ValueError(f"unknown variable '{name}' in \"{text}\"; known here: {', '.join(sorted(variables))}")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, text, variables)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, text, variables), _value(right, text, variables))
    raise _no_expression(text)


def _no_expression(text: str) -> ValueError:
    return ValueError(
        f'"{text}" is no integer expression; numbers, variables, + - * / and parentheses are accepted, '
        'such as "table_size / 2 + 1"'
    )
