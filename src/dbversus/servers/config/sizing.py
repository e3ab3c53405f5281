"""Values of settings that depend on the host: `{memory * 0.70 / targets}`, `{library(jemalloc)}` (docs/configs.md)."""

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from dbversus.builds.libraries import library_path
from dbversus.errors import UsageError
from dbversus.suites.expression import syntax_tree
from dbversus.units import show_memory

_UNITS = {"B": 1, "kB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max}
_SIZES = ("memory", "data")
_NAMES = (*_SIZES, "targets", "cpus")
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_LIBRARY = re.compile(r"\s*library\(\s*(\w+)\s*\)\s*")


@dataclass(frozen=True)
class Sizing:
    """What expressions may use. `data_bytes`: expected size of the loaded tables with their indexes, of one target.

    `find_library` says where a library is, and fetches it if it has to. `limit_bytes`: what each server may have (None: all
    that the host has); `memory_bytes` is then that of all servers that are up, so that a share for one comes out the same.
    """

    memory_bytes: int
    targets: int = 1
    cpus: int = 1
    data_bytes: int = 0
    find_library: Callable[[str], Path] = library_path
    limit_bytes: int | None = None

    @property
    def most_bytes(self) -> int:
        """What one server may have."""
        return self.memory_bytes if self.limit_bytes is None else self.limit_bytes

    def limited_to(self, limit_bytes: int | None) -> "Sizing":
        """For servers that may have so much each; as it is for None. Raises UsageError when the host has less than that."""
        if limit_bytes is None:
            return self
        together = limit_bytes * self.targets
        if together > self.memory_bytes:
            each = f" for each of {self.targets} servers that are up together" if self.targets > 1 else ""
            fewer = ", or let fewer be up at once (--at-once)" if self.targets > 1 else ""
            raise UsageError(
                f"--memory {show_memory(limit_bytes)}{each} is more than the {self.memory_bytes / 2**30:.1f} GiB of memory "
                f"that this host has; choose less{fewer}."
            )
        return replace(self, memory_bytes=together, limit_bytes=limit_bytes)

    def value(self, name: str) -> float:
        return {"memory": self.memory_bytes, "data": self.data_bytes, "targets": self.targets, "cpus": self.cpus}[name]


def evaluate(text: str, sizing: Sizing, show_bytes: Callable[[int], str], where: str) -> str:
    """Replaces every `{expression}` in `text`; sizes are written by `show_bytes`, counts as whole numbers.

    `{library(jemalloc)}` is the path of a library that is fetched if it is not here; `{{` and `}}` stand for braces.
    Raises UsageError, beginning with `where`, for anything but that, numbers, sizes such as 128MB, memory, data, targets,
    cpus, + - * / //, min, max.
    """

    def replace(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        if library := _LIBRARY.fullmatch(match[1]):
            return _library(library[1], sizing, where)
        number, is_size = _evaluate(match[1], sizing, where)
        return show_bytes(int(number)) if is_size else str(int(number))

    return _BRACES.sub(replace, text)


def _library(name: str, sizing: Sizing, where: str) -> str:
    try:
        return str(sizing.find_library(name))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _evaluate(expression: str, sizing: Sizing, where: str) -> tuple[float, bool]:
    pattern = rf"\b(\d+(?:\.\d+)?)\s*({'|'.join(_UNITS)})\b"
    plain, units = re.subn(pattern, lambda found: repr(float(found[1]) * _UNITS[found[2]]), expression)
    try:
        tree = syntax_tree(plain.strip())
        number = _number(tree, sizing)
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError, OverflowError) as error:
        raise UsageError(
            f"{where}: '{{{expression}}}' cannot be computed ({_why(error)}); accepted are numbers, sizes such as "
            f"128MB, {', '.join(_NAMES)}, + - * / //, min(…), max(…) and library(…)."
        ) from error
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return number, bool(units or names & set(_SIZES))


def _why(error: Exception) -> str:
    return "syntax" if isinstance(error, SyntaxError) else str(error)


def _number(node: ast.AST, sizing: Sizing) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name(id=name) if name in _NAMES:
            return sizing.value(name)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_number(left, sizing), _number(right, sizing))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, sizing)
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*[_number(argument, sizing) for argument in arguments])
    raise ValueError(f"'{ast.unparse(node)}' is not known")
