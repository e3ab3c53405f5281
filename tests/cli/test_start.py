"""The command line answers at once: help, version and completion import nothing that takes long."""

import os
import subprocess
import sys

import pytest

from dbversus.cli.main import app

HEAVY = ("numpy", "scipy", "pandas", "duckdb", "pydantic", "psycopg", "jinja2", "xlsxwriter")
ASKED = f"""
import sys
from dbversus.cli.main import main
sys.argv = ["dbversus", *sys.argv[1:]]
try:
    main()
finally:
    print("imported:", *[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
VERBS = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
GROUPS = [
    [str(group.name), command.name or command.callback.__name__]
    for group in app.registered_groups
    for command in (group.typer_instance.registered_commands if group.typer_instance else ())
    if command.callback
]


def ask(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ASKED, *words]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=600)


def test_importing_the_package_imports_nothing_heavy() -> None:
    """`dir` and the version neither: only a name of the API does."""
    seen = (
        f"import dbversus, sys; dbversus.__version__; dir(dbversus); print([n for n in {HEAVY!r} if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, timeout=600, check=True)

    assert done.stdout == "[]\n"


@pytest.mark.parametrize("words", [["--version"], ["--help"], *([verb, "--help"] for verb in VERBS)], ids=" ".join)
def test_an_answer_imports_nothing_heavy(words: list[str]) -> None:
    done = ask(*words)

    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert done.stderr.splitlines()[-1] == "imported:"


@pytest.mark.parametrize("words", GROUPS, ids=" ".join)
def test_help_of_groups_imports_nothing_heavy(words: list[str]) -> None:
    assert ask(*words, "--help").stderr.splitlines()[-1] == "imported:"


def test_completion_imports_nothing_heavy() -> None:
    done = ask(_DBVERSUS_COMPLETE="complete_bash", COMP_WORDS="dbversus comp", COMP_CWORD="1")

    assert done.stdout.split() == ["compare"]
    assert done.stderr.splitlines()[-1] == "imported:"
