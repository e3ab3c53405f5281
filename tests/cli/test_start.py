"""The command line answers at once: help, version and completion import nothing that takes long."""

import json
import os
import subprocess
import sys
from typing import Any

from dbversus.cli.main import app

HEAVY = ("numpy", "scipy", "pandas", "duckdb", "pydantic", "psycopg", "jinja2", "xlsxwriter")
ASKED = f"""
import json, sys
from dbversus.cli.main import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["dbversus", *words]
    status = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    print("asked:", json.dumps([words, status, [name for name in {HEAVY!r} if name in sys.modules]]), file=sys.stderr)
"""
VERBS = [[command.name or command.callback.__name__] for command in app.registered_commands if command.callback]
GROUPS = [
    [str(group.name), command.name or command.callback.__name__]
    for group in app.registered_groups
    for command in (group.typer_instance.registered_commands if group.typer_instance else ())
    if command.callback
]


def ask(*asked: list[str], **environment: str) -> tuple[str, list[list[Any]]]:
    """All that is printed; then of each its words, the exit status, and what was imported by the time it had ended."""
    done = subprocess.run(
        [sys.executable, "-c", ASKED, json.dumps(asked)],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=600,
    )
    answers = [line.removeprefix("asked: ") for line in done.stderr.splitlines() if line.startswith("asked: ")]
    return done.stdout, [json.loads(answer) for answer in answers]


def test_importing_the_package_imports_nothing_heavy() -> None:
    """`dir` and the version neither: only a name of the API does."""
    seen = (
        f"import dbversus, sys; dbversus.__version__; dir(dbversus); print([n for n in {HEAVY!r} if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, timeout=600, check=True)

    assert done.stdout == "[]\n"


def test_an_answer_imports_nothing_heavy() -> None:
    asked = [["--version"], ["--help"], *([*words, "--help"] for words in [*VERBS, *GROUPS])]

    printed, answers = ask(*asked)

    assert answers == [[words, 0, []] for words in asked]
    assert printed.count("Usage: ") == len(asked) - 1


def test_completion_imports_nothing_heavy() -> None:
    printed, answers = ask([], _DBVERSUS_COMPLETE="complete_bash", COMP_WORDS="dbversus comp", COMP_CWORD="1")

    assert printed.split() == ["compare"]
    assert answers == [[[], 0, []]]
