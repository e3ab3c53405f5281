"""From a script's commands to a test: which parameters each statement has, when it runs, and whether all is one transaction."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dbversus.suites.sql import only_reads
from dbversus.suites.writing.pgbench.arithmetic import Source, Term, combined, evaluate, number
from dbversus.suites.writing.pgbench.columns import columns_of
from dbversus.suites.writing.pgbench.script import Command, If, Set, Sql
from dbversus.suites.writing.place import Line
from dbversus.suites.writing.sql_text import QUOTED, name_of, unique, verb
from dbversus.suites.writing.toml_text import Value

_BEGIN = re.compile(r"(BEGIN|START)(\s+(WORK|TRANSACTION))?", re.IGNORECASE)
_END = re.compile(r"(END|COMMIT)(\s+(WORK|TRANSACTION))?", re.IGNORECASE)
_EDGES = ("begin", "start", "end", "commit", "rollback", "abort")
_VARIABLE = re.compile(
    rf"""(?P<quoted>{QUOTED})|::|:\{{\?|:(?P<mark>['"])\w+(?P=mark)|:(?P<name>[A-Za-z0-9_]+)|[\[\]]""", re.DOTALL
)
_TYPED = re.compile(r"\b(date|time|timestamp|timestamptz|interval|e)\s*$", re.IGNORECASE)
_OF_RUN = ("random_seed", "default_seed")

Params = dict[str, dict[str, Value]]


@dataclass
class Statement:
    """One statement of a test, as it is written. `keep`: names for the values of its first row, "_" for those that nobody
    uses. `when`: an expression; "" for always."""

    name: str
    sql: str
    params: Params
    text_mode: bool = False
    keep: list[str] = field(default_factory=list)
    when: str = ""


@dataclass
class Test:
    """What a script comes to."""

    __test__ = False  # pytest would take it for a class of tests

    name: str
    transaction: bool
    statements: list[Statement]

    @property
    def changes_data(self) -> bool:
        return not all(only_reads(one.sql) for one in self.statements)


@dataclass(frozen=True)
class _Bound:
    """A variable: the name that a parameter of it has, and what it is."""

    name: str
    term: Term


Variables = dict[str, _Bound]


@dataclass
class _Choice:
    r"""An `\if` that is not over. `guard`: what holds where its present branch runs; `rest`: where none up to now does.

    `ends`: the guards of its branches, and what the variables were at the end of each.
    """

    line: Line
    before: Variables
    guard: Term
    rest: Term
    ends: list[tuple[Term, Variables]] = field(default_factory=list)
    has_else: bool = False


_ALWAYS, _NEVER = number(1), number(0)


def _both(left: Term, right: Term) -> Term:
    if left.value is not None:
        return right if left.value else _NEVER
    if right.value is not None:
        return left if right.value else _NEVER
    return combined("and", left, right)


@dataclass
class _Scope:
    """What is set so far. `slots`: the names under which variables are kept that a statement has read; `drawn`: names of the
    parameters that earlier statements have drawn; `used`: names that something refers to. `unknown`: the lines of `*`."""

    variables: Variables
    names: set[str]
    slots: dict[str, str] = field(default_factory=dict)
    drawn: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    choices: list[_Choice] = field(default_factory=list)
    unknown: list[Line] = field(default_factory=list)

    @property
    def when(self) -> Term:
        """What holds where the present place is reached."""
        all_hold = _ALWAYS
        for choice in self.choices:
            all_hold = _both(all_hold, choice.guard)
        return all_hold

    def fresh(self, name: str) -> str:
        """A parameter's name that nothing has yet."""
        made = unique(parameter_name(name), self.names, "_")
        self.names.add(made)
        return made

    def evaluate(self, expression: str, name: str, line: Line) -> Term:
        terms = {name: bound.term for name, bound in self.variables.items()}
        return evaluate(expression, name, terms, line, self.fresh)

    def set(self, command: Set) -> None:
        name = self.fresh(command.name)
        self.variables[command.name] = _Bound(name, self.evaluate(command.expression, name, command.line))

    def keep(self, name: str) -> str:
        """The name under which a statement keeps what the variable is from now on: its own again, if nothing else needs it."""
        slot = self.slots.get(name)
        others = [bound.term for other, bound in self.variables.items() if other != name]
        others += [choice.guard for choice in self.choices] + [choice.rest for choice in self.choices]
        if slot is None or any(one.name == slot for term in others for one in term.of):
            slot = self.slots[name] = self.fresh(name)
        self.variables[name] = _Bound(slot, Term(slot, None, (Source(slot, None),)))
        return slot

    def choose(self, command: If) -> None:
        r"""What `\if`, `\elif`, `\else` and `\endif` do."""
        if command.word == "if":
            rest = _ALWAYS if self.when.value != 0 else _NEVER
            self.choices.append(_Choice(command.line, dict(self.variables), _NEVER, rest))
        elif not self.choices:
            raise command.line.mistake(f"\\{command.word} has no \\if before it.")
        choice = self.choices[-1]
        if choice.has_else and command.word != "endif":
            raise command.line.mistake(f"\\{command.word} comes after the \\else of its \\if.")
        if choice.guard.value != 0:
            choice.ends.append((choice.guard, self.variables))
        self.variables = dict(choice.before)
        if command.word == "endif":
            self.choices.pop()
            self._merge(choice)
            return
        choice.has_else = command.word == "else"
        choice.guard = choice.rest
        if not choice.has_else and choice.rest.value != 0:
            condition = self.evaluate(command.expression, "if", command.line)
            choice.guard = _both(choice.rest, condition)
            choice.rest = _both(choice.rest, combined("not", condition))
        if choice.has_else:
            choice.rest = _NEVER

    def _merge(self, choice: _Choice) -> None:
        """After it a variable is what the branch that runs has made of it."""
        if choice.rest.value != 0:
            choice.ends.append((choice.rest, choice.before))
        if not choice.ends:
            return
        merged = choice.ends[-1][1]
        for guard, ended in reversed(choice.ends[:-1]):
            merged = {name: self._either(name, guard, ended.get(name), merged.get(name)) for name in ended | merged}
        self.variables = merged

    def _either(self, name: str, guard: Term, then: _Bound | None, otherwise: _Bound | None) -> _Bound:
        if then is None or otherwise is None or then.term == otherwise.term:
            found = then or otherwise
            assert found
            return found
        return _Bound(self.fresh(name), combined("case", guard, then.term, otherwise.term))


def make_test(name: str, commands: Sequence[Command], variables: Mapping[str, Term]) -> Test:
    """The test of a script; `variables` are set before it. Raises UsageError with file and line."""
    bound = {one: _Bound(parameter_name(one), term) for one, term in variables.items()}
    scope = _Scope(bound, {one.name for one in bound.values()})
    statements: list[Statement] = []
    for command in commands:
        match command:
            case If():
                scope.choose(command)
            case _ if scope.when.value == 0:
                continue
            case Set():
                scope.set(command)
            case Sql():
                statements.append(_statement(command, scope, {one.name for one in statements}))
    if scope.choices:
        raise scope.choices[-1].line.mistake(r"this \if has no \endif.")
    transaction = _is_transaction(statements)
    for statement in statements:
        statement.keep = _wanted(statement.keep, scope.used)
    return Test(name, transaction, statements[1:-1] if transaction else statements)


def parameter_name(name: str) -> str:
    """As suites accept it: lower-case letters, digits and `_`, a letter first."""
    lower = name.lower()
    return lower if re.match("[a-z]", lower) else f"v{lower}"


def _statement(command: Sql, scope: _Scope, taken: set[str]) -> Statement:
    params: Params = {}
    sql = _Text(command, scope, params).replaced()
    when = scope.when
    params |= {name: generator for name, generator in _sources(when, scope) if name not in params}
    scope.drawn |= params.keys()
    return Statement(
        name_of(command.text, taken, "pgbench_"),
        sql,
        params,
        text_mode=verb(command.text) in _EDGES,
        keep=list(_kept(command, scope)),
        when="" if when.value is not None else when.text,
    )


def _kept(command: Sql, scope: _Scope) -> Iterator[str]:
    if command.prefix is None:
        return
    names = columns_of(command.text)
    if names is None:
        scope.unknown.append(command.line)
    for name in names or ():
        yield scope.keep(command.prefix + name) if name else "_"


def _wanted(kept: Sequence[str], used: set[str]) -> list[str]:
    """Without those that nothing uses: the last ones are left out."""
    wanted = [name if name in used else "_" for name in kept]
    while wanted and wanted[-1] == "_":
        wanted.pop()
    return wanted


def _is_transaction(statements: Sequence[Statement]) -> bool:
    """Whether the first statement begins one, the last ends it, and nothing between does."""
    if len(statements) < 3 or any(one.when or one.keep for one in (statements[0], statements[-1])):
        return False
    if not (_BEGIN.fullmatch(statements[0].sql) and _END.fullmatch(statements[-1].sql)):
        return False
    return not any(one.text_mode for one in statements[1:-1])


def _sources(term: Term, scope: _Scope) -> Iterator[tuple[str, dict[str, Value]]]:
    """The parameters that have to be drawn before the term can be worked out."""
    for source in term.of:
        scope.used.add(source.name)
        if source.generator is not None and source.name not in scope.drawn:
            yield source.name, dict(source.generator)


@dataclass
class _Text:
    """A statement's text, in which variables become the names of parameters; these are added to `params`."""

    command: Sql
    scope: _Scope
    params: Params
    brackets: int = 0

    def replaced(self) -> str:
        return _VARIABLE.sub(self._replaced, self.command.text)

    def _replaced(self, match: re.Match[str]) -> str:
        self.brackets += {"[": 1, "]": -1}.get(match[0], 0)
        if match["quoted"]:
            return self._quoted(match)
        if match["name"] is None:
            return self._left(match[0])
        name = match["name"]
        if name not in self.scope.variables and self.brackets:
            return f": {name}" if re.match(r"[A-Za-z_]", name) else f":{name}"
        if name.isdigit() and name not in self.scope.variables:
            return match[0]
        if self.brackets and re.search(r"[\w)\]]\Z", match.string[: match.start()]):
            raise self._mistake(
                f"pgbench puts the value of :{name} in place of the colon too; [… : :{name}] is accepted"
            )
        return f":{self._parameter(name)}"

    def _left(self, text: str) -> str:
        """What is no variable stays as it is; what is one of psql alone is refused."""
        if text.startswith(":{"):
            raise self._mistake("`:{?name}` is psql's, and FALSE to pgbench, whatever it is; write TRUE or FALSE")
        if text[:2] in (":'", ':"'):
            raise self._mistake(f"{text} is psql's, and no variable to pgbench; :{text[2:-1]} is accepted")
        return text

    def _parameter(self, name: str) -> str:
        """The parameter that a variable is, added after those to which it refers."""
        scope = self.scope
        if name not in scope.variables:
            raise self._mistake(_not_set(name, scope))
        bound = scope.variables[name]
        for needed, generator in _sources(bound.term, scope):
            self.params.setdefault(needed, generator)
        if source := bound.term.source:
            self.params.setdefault(source.name, {"gen": "ref", "of": source.name})
            return source.name
        self.params.setdefault(bound.name, _generator(bound.term))
        return bound.name

    def _quoted(self, match: re.Match[str]) -> str:
        """pgbench fills in variables between quotes too: a text that is one, or has some in it, is a parameter."""
        text = match[0]
        names = [name for name in re.findall(r"(?<!:):([A-Za-z0-9_]+)", text) if name in self.scope.variables]
        if not names or text.startswith(("--", "/*")):
            return text
        if not text.startswith("'") or _TYPED.search(match.string[: match.start()]):
            raise self._mistake(f":{names[0]} stands between quotes; as a parameter of its own it is accepted")
        if text == f"':{names[0]}'":
            return f":{self._parameter(names[0])}"
        if re.search("[#@{}]", text) or any(self._is_read(name) for name in names):
            raise self._mistake(
                f":{names[0]} is part of a text, which a suite makes of drawn numbers alone; '…' || :{names[0]} is accepted"
            )
        template = re.sub(r"(?<!:):([A-Za-z0-9_]+)", self._in_template, text[1:-1].replace("''", "'"))
        made = self.scope.fresh("text")
        self.params[made] = {"gen": "text", "template": template}
        return f":{made}"

    def _in_template(self, match: re.Match[str]) -> str:
        known = match[1] in self.scope.variables
        return f"{{{self._parameter(match[1])}}}" if known else match[0]

    def _is_read(self, name: str) -> bool:
        return any(one.generator is None for one in self.scope.variables[name].term.of)

    def _mistake(self, words: str) -> Exception:
        return self.command.line.mistake(f"{words}.")


def _generator(term: Term) -> dict[str, Value]:
    if term.is_number:
        assert term.value is not None
        return {"gen": "constant", "value": term.value}
    is_read = any(source.generator is None for source in term.of)
    made: dict[str, Value] = {"gen": "row", "expr": term.text}
    return made | ({"type": "float8"} if term.has_fraction and not is_read else {})


def _not_set(name: str, scope: _Scope) -> str:
    known = f"Set: {', '.join(scope.variables) or 'none'}"
    if scope.unknown:
        return f":{name} is not set; the columns of * are not known ({scope.unknown[0]}), name them. {known}"
    if name in _OF_RUN:
        return f":{name} is another for each run of pgbench; -D {name}=… sets it to one value"
    return f":{name} is not set; \\set or -D {name}=… sets it. {known}"
