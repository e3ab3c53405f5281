"""From a script's commands to a test: which parameters each statement has, and whether all is one transaction."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dbversus.suites.writing.pgbench.arithmetic import Drawn, Formula, Result, Shifted, evaluate
from dbversus.suites.writing.pgbench.script import Command, Set, Sql
from dbversus.suites.writing.place import Line
from dbversus.suites.writing.sql_text import QUOTED, name_of, unique, verb
from dbversus.suites.writing.toml_text import Value

_BEGIN = re.compile(r"(BEGIN|START)(\s+(WORK|TRANSACTION))?", re.IGNORECASE)
_END = re.compile(r"(END|COMMIT)(\s+(WORK|TRANSACTION))?", re.IGNORECASE)
_VARIABLE = re.compile(rf"(?P<quoted>{QUOTED}|::)|:(?P<name>[A-Za-z0-9_]+)", re.DOTALL)
_PER_CLIENT = {"client_id", "random_seed", "default_seed"}


@dataclass
class Statement:
    """One statement of a test, as it is written."""

    name: str
    sql: str
    params: dict[str, dict[str, Value]]
    text_mode: bool = False


@dataclass
class Test:
    """What a script comes to."""

    __test__ = False  # pytest would take it for a class of tests

    name: str
    transaction: bool
    statements: list[Statement]

    @property
    def changes_data(self) -> bool:
        return any(verb(one.sql) != "select" for one in self.statements)


@dataclass
class _Scope:
    """What is set so far. `drawn`: names of the parameters that earlier statements have drawn."""

    values: dict[str, Result]
    drawn: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)

    def set(self, command: Set) -> None:
        name = unique(parameter_name(command.name), self.names, "_")
        value = evaluate(command.expression, name, self.values, command.line)
        if isinstance(value, float):
            raise command.line.mistake(f"{command.name} is {value}; a suite takes integers.")
        self.names.add(name)
        self.values[command.name] = value


def make_test(name: str, commands: Sequence[Command], variables: dict[str, Result]) -> Test:
    """The test of a script; `variables` are set before it. Raises UsageError with file and line."""
    texts = [command.text for command in commands if isinstance(command, Sql)]
    transaction = _is_transaction(texts)
    scope = _Scope(dict(variables))
    statements: list[Statement] = []
    for command in commands:
        match command:
            case Set():
                scope.set(command)
            case Sql(text, line) if not (transaction and _is_edge(text)):
                taken = {one.name for one in statements}
                sql, params = _parameters(text, scope, line)
                statements.append(Statement(name_of(text, taken, "pgbench_"), sql, params, _is_edge(text)))
    return Test(name, transaction, statements)


def parameter_name(name: str) -> str:
    """As suites accept it: lower-case letters, digits and `_`, a letter first."""
    lower = name.lower()
    return lower if re.match("[a-z]", lower) else f"v{lower}"


def _is_edge(sql: str) -> bool:
    return bool(_BEGIN.fullmatch(sql) or _END.fullmatch(sql))


def _is_transaction(texts: Sequence[str]) -> bool:
    """Whether the first statement begins one, the last ends it, and nothing between does."""
    if len(texts) < 3 or not (_BEGIN.fullmatch(texts[0]) and _END.fullmatch(texts[-1])):
        return False
    return not any(verb(text) in ("begin", "start", "end", "commit", "rollback", "abort") for text in texts[1:-1])


def _parameters(sql: str, scope: _Scope, line: Line) -> tuple[str, dict[str, dict[str, Value]]]:
    """The text with names of parameters in it, and these."""
    params: dict[str, dict[str, Value]] = {}

    def replaced(match: re.Match[str]) -> str:
        if match["name"] is None:
            _check_quoted(match[0], scope, line)
            return match[0]
        for name, generator in _generators(match["name"], scope, line):
            params.setdefault(name, generator)
        return f":{name}"

    text = _VARIABLE.sub(replaced, sql)
    scope.drawn |= params.keys()
    return text, params


def _check_quoted(text: str, scope: _Scope, line: Line) -> None:
    """pgbench fills in variables between quotes too; a suite does not."""
    for name in re.findall(r"(?<!:):([A-Za-z0-9_]+)", text):
        if name in scope.values and not text.startswith(("--", "/*")):
            raise line.mistake(f":{name} stands between quotes; as a parameter of its own it is accepted.")


def _generators(name: str, scope: _Scope, line: Line) -> Iterator[tuple[str, dict[str, Value]]]:
    """The parameter that a variable is, after those to which it refers."""
    if name not in scope.values:
        why = "is another for each client, which suites do not have" if name in _PER_CLIENT else "is not set"
        known = ", ".join(scope.values) or "none"
        raise line.mistake(f":{name} {why}; \\set or -D {name}=… sets it. Set: {known}.")
    match scope.values[name]:
        case Drawn(own, generator):
            yield own, {"gen": "ref", "of": own} if own in scope.drawn else dict(generator)
        case Shifted(of, add):
            if of.name not in scope.drawn:
                yield of.name, dict(of.generator)
            yield (
                parameter_name(name),
                {"gen": "ref", "of": of.name, "add": add.text if isinstance(add, Formula) else add},
            )
        case Formula(text):
            yield parameter_name(name), {"gen": "uniform", "low": text, "high": text}
        case int(value):
            yield parameter_name(name), {"gen": "constant", "value": value}
