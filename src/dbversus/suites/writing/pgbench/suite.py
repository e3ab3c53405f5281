"""The suite that scripts of pgbench come to: a test for each, or one mix of all where they have weights."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbversus.errors import UsageError
from dbversus.names import did_you_mean
from dbversus.suites.writing.missing import Written, missing_tables
from dbversus.suites.writing.pgbench.arithmetic import Source, Term, variable
from dbversus.suites.writing.pgbench.builtin import SCRIPTS, TABLE_NAMES, TABLES
from dbversus.suites.writing.pgbench.script import read_script
from dbversus.suites.writing.pgbench.test import Statement, Test, make_test, parameter_name
from dbversus.suites.writing.sql_text import tables, unique
from dbversus.suites.writing.toml_text import Value, comment, inline, text

MIX = "mix"


@dataclass(frozen=True)
class Script:
    """One script as named: its text, and its weight where one was given."""

    path: str
    text: str
    name: str
    weight: int | None


def find_scripts(named: Sequence[str]) -> list[Script]:
    """The scripts of `FILE`, `FILE@WEIGHT` and names of builtin ones; raises UsageError for those that cannot be read."""
    scripts: list[Script] = []
    for one in named:
        path, weight = _weighed(one)
        stem = re.sub(r"[^a-z0-9_-]+", "-", Path(path).stem.lower()).strip("-") or "script"
        name = unique(stem, {MIX, *(script.name for script in scripts)})
        scripts.append(Script(path, _text(path), name, weight))
    return scripts


def _weighed(named: str) -> tuple[str, int | None]:
    path, at, weight = named.rpartition("@")
    if not at or not re.fullmatch(r"-?\d+", weight):
        return named, None
    if int(weight) < 1:
        raise UsageError(
            f"{named}: the weight is {weight}; 1 or more is accepted. A script that never runs is left out."
        )
    return path, int(weight)


def _text(path: str) -> str:
    if path in SCRIPTS:
        return SCRIPTS[path]
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text; a script of pgbench is accepted.") from None
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}.{did_you_mean(path, SCRIPTS)} Accepted: a file, or {', '.join(SCRIPTS)}."
        ) from None


def write_suite(scripts: Sequence[Script], scale: int, defines: Mapping[str, int]) -> Written:
    """The suite's text. Raises UsageError with file and line for what a script holds and a suite cannot."""
    if scale < 1:
        raise UsageError(f"The scale is {scale}; 1 or more is accepted.")
    given = {"scale": scale} | dict(defines)
    variables = {parameter_name(name): value for name, value in given.items()}
    values = {"client_id": Term("client_id", None, (Source("client_id", {"gen": "client"}),), 0)}
    values |= {name: variable(parameter_name(name), value) for name, value in given.items()}
    tests = [make_test(one.name, read_script(one.path, one.text), values) for one in scripts]
    for script, test in zip(scripts, tests, strict=True):
        if not test.statements:
            raise UsageError(f"{script.path} has no statement; a script of pgbench is accepted.")
    used = list(dict.fromkeys(table for test in tests for one in test.statements for table in tables(one.sql)))
    left = missing_tables([table for table in used if table not in TABLE_NAMES])
    parts = [_head(scripts, left), _variables(variables)]
    parts += [TABLES] if TABLE_NAMES & set(used) else []
    parts += [_test(test) for test in tests]
    parts.append(_phase(scripts, tests))
    return Written("\n".join(parts), left)


def _head(scripts: Sequence[Script], left: Sequence[str]) -> str:
    names = ", ".join(script.path for script in scripts)
    words = f"Written by `dbversus suites from-pgbench` from {names}."
    for line in left:
        words += f"\nStill to be done: {line}"
    return comment(words) + f"title = {inline('pgbench: ' + ', '.join(script.name for script in scripts))}\n"


def _variables(variables: Mapping[str, int]) -> str:
    lines = [f"{name} = {value}" for name, value in variables.items()]
    return "[variables]\n" + "\n".join(lines) + "\n"


def _test(test: Test) -> str:
    lines = [
        f"[tests.{test.name}]",
        f"title = {inline(f'Script {test.name}')}",
        f'group = "{_group(test)}"',
        *(["transaction = true"] if test.transaction else []),
    ]
    return "\n".join([*lines, *(_statement(test.name, one) for one in test.statements)]) + "\n"


def _group(test: Test) -> str:
    if test.changes_data:
        return "write"
    return "point" if test.name == "select-only" else "range"


def _statement(test: str, statement: Statement) -> str:
    lines = [
        f"\n[[tests.{test}.statements]]",
        f'name = "{statement.name}"',
        f"sql = {text(statement.sql)}",
        *(['mode = "text"'] if statement.text_mode else []),
        *([f"keep = {inline(list(statement.keep))}"] if statement.keep else []),
        *([f"when = {inline(statement.when)}"] if statement.when else []),
    ]
    if statement.params:
        lines.append("[tests." + test + ".statements.params]")
        lines += [f"{name} = {inline(generator)}" for name, generator in statement.params.items()]
    return "\n".join(lines)


def _phase(scripts: Sequence[Script], tests: Sequence[Test]) -> str:
    names = [test.name for test in tests]
    return "\n".join(_mix(scripts, tests)) + (
        f'[[phases]]\nname = "pgbench"\nsettle = true\ntests = {inline([MIX] if _is_mixed(scripts) else names)}\n'
    )


def _is_mixed(scripts: Sequence[Script]) -> bool:
    return len(scripts) > 1 and any(script.weight for script in scripts)


def _mix(scripts: Sequence[Script], tests: Sequence[Test]) -> Iterator[str]:
    if not _is_mixed(scripts):
        return
    yield "# one operation is one of the scripts; to measure them alone too, name them in the phase"
    yield f"[tests.{MIX}]"
    yield 'title = "The scripts, by weight"'
    yield f'group = "{"write" if any(test.changes_data for test in tests) else "range"}"'
    choices: list[Value] = [{"test": script.name, "weight": script.weight or 1} for script in scripts]
    yield "mix = [\n" + "".join(f"  {inline(choice)},\n" for choice in choices) + "]\n\n"
