"""From definitions to a suite: names resolved, variants expanded, phases filled with tests."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from dbversus.dbms.sql.table import Column, Index, Table
from dbversus.names import did_you_mean
from dbversus.suites.assembly.against import check_phases, partner_name, with_partners
from dbversus.suites.assembly.builds_on import check_order
from dbversus.suites.assembly.check import check_made_by_scripts, check_number, check_table, check_test
from dbversus.suites.assembly.columns import all_columns, column_values, parameter_of
from dbversus.suites.assembly.expand import Snippet, expand_all
from dbversus.suites.assembly.from_files import Files
from dbversus.suites.assembly.inserting import deleting, inserting
from dbversus.suites.assembly.mix import check_one_kind, mixed_names, mixed_statements, weighted_statements
from dbversus.suites.assembly.roles import check_pauses, check_roles, make_role, named_roles, with_roles
from dbversus.suites.assembly.setup import find_scripts
from dbversus.suites.assembly.work import with_work
from dbversus.suites.data.file import read_origins
from dbversus.suites.expression import Expression
from dbversus.suites.file import shape
from dbversus.suites.file.draft import Draft, Named, Placed
from dbversus.suites.file.generators import Generator, plain
from dbversus.suites.file.settings import Settings
from dbversus.suites.file.source import Place
from dbversus.suites.model import (
    AGED,
    GROUP_TITLES,
    LOAD,
    LOADED,
    Aging,
    Load,
    Parameter,
    Phase,
    Role,
    Statement,
    Suite,
    TableRules,
    Test,
)
from dbversus.suites.sql import only_reads
from dbversus.suites.variables import Variable, Variables, in_words

WARM_SUFFIX = ".warm"


def build_suite(name: str, draft: Draft, stored: Path | None = None) -> Suite:
    """The suite of a draft; raises UsageError with file, line and what would be accepted on the first mistake.

    `stored`: the folder of the results in which it lies, with its scripts and the names of its data files.
    """
    scripts = find_scripts(draft.setup, stored)
    files = Files(draft, read_origins(stored) if stored else {}, chain.from_iterable(scripts.values()))
    families = _families(draft, files)
    suite = Suite(
        name=name,
        title=draft.title,
        description=_one_line(draft.description),
        load=_load(draft),
        tables=tuple(_tables(draft, files)),
        scripts=scripts,
        data=tuple(files.all),
        aging=_aging(draft, families),
        phases=tuple(_phases(draft, files, _Lookup.of(families))),
        variables=draft.variables,
        selections={key: tuple(placed.value) for key, placed in draft.selections.items()},
        probes=draft.probes,
        group_titles=_group_titles(draft),
    )
    _check_selections(suite, draft.selections)
    _check_all_used(suite, draft, families)
    check_order(suite)
    check_phases(suite)
    return suite


def _load(draft: Draft) -> Load:
    load = draft.load.value if draft.load else shape.Load()
    return Load(load.title, _one_line(load.note))


def _tables(draft: Draft, files: Files) -> Iterator[TableRules]:
    if not draft.tables and not draft.setup:
        raise draft.place.mistake(
            "there are no tables; [tables.NAME] says what one is like, or scripts of [setup] make them (docs/suites/tables.md)."
        )
    for name, placed in draft.tables.items():
        check_made_by_scripts(name, placed, has_scripts=draft.setup is not None)
        filled = files.fill(name, placed, all_columns(placed, draft.variables))
        table, columns, place = filled.table, filled.columns, placed.place
        values = files.resolved({key: column_values(name, key, one, draft) for key, one in columns.items()})
        check_table(table, values, draft.variables, place, {key: one.place for key, one in columns.items()})
        if table.rows_at_end is not None:
            check_number(table.rows_at_end, draft.variables, place.at("rows_at_end"), at_least=0)
        yield TableRules(
            _made_like(name, table), table.rows, table.copies, values, place, filled.staged, table.rows_at_end
        )


def _made_like(name: str, table: shape.Table) -> Table:
    columns = tuple(
        Column(key, one.type, one.types_by_dbms(), plain(one.default), one.nullable, one.identity)
        for key, one in table.columns.items()
    )
    indexes = tuple(Index(one.name, tuple(one.columns), one.unique) for one in table.indexes)
    return Table(name, columns, tuple(table.primary_key), indexes, made_by_scripts=table.made_by is not None)


def _aging(draft: Draft, families: Mapping[str, list[Test]]) -> Aging | None:
    if draft.aging is None:
        return None
    aging, place = draft.aging.value, draft.aging.place
    found = [test for family in families.values() for test in family if test.name == aging.test]
    if not found:
        raise place.at("test").mistake(f"unknown test '{aging.test}'.{did_you_mean(aging.test, families)}")
    if found[0].roles:
        raise place.at("test").mistake(f"test '{aging.test}' has roles; data is aged by a test without.")
    if any(statement.appends for statement in found[0].statements):
        raise place.at("test").mistake(
            f"test '{aging.test}' appends rows by position; aged data is kept, and later tests would append them again."
        )
    if found[0].work:
        raise place.at("test").mistake(
            f"'{aging.test}' has an end of its own; aging drives a test of kind = \"slots\"."
        )
    check_number(aging.operations, {**draft.variables, **found[0].own_variables}, place.at("operations"), at_least=1)
    return Aging(found[0], aging.operations, aging.rounds, place)


def _families(draft: Draft, files: Files) -> dict[str, list[Test]]:
    """The tests by the name of their definition; mixes come last, since they name others."""
    families: dict[str, list[Test]] = {}
    for key, placed in sorted(draft.tests.items(), key=lambda item: bool(item[1].value.mix)):
        check_one_kind(placed)
        test, place = placed.value, placed.place
        roles = tuple(_roles(test, place, draft, files))
        statements = (
            *_statements(test.statements, place, draft, files, test.transaction),
            *mixed_statements(placed, families),
            *chain(*(role.statements for role in roles)),
        )
        families[key] = _family(key, placed, draft, statements, roles)
    return with_partners(families)


def _family(
    key: str, placed: Placed[shape.Test], draft: Draft, statements: tuple[Statement, ...], roles: tuple[Role, ...]
) -> list[Test]:
    """The tests that one definition stands for: one, or one for each variant."""
    test, place = placed.value, placed.place
    _check_group(test.group, draft, place.at("group"))
    undo = _statement(test.undo.named("undo"), place.at("undo"), draft) if test.undo else None
    tests = []
    for suffix, variant in _variants(test).items():
        own = {**test.variables, **variant}
        if test.connect:
            statements = tuple(map(_in_text, statements))
        made = _test(f"{key}{suffix}", placed, statements, draft.variables, own)
        made = replace(made, roles=roles, on_own_schema=draft.setup is not None)
        made = _worked_out(with_work(made, test, undo), draft)
        check_test(made)
        check_pauses(made, test.kind)
        check_roles(made, {**draft.variables, **own})
        tests.append(replace(made, by_count=made.by_count and not roles))
    return tests


def _in_text(statement: Statement) -> Statement:
    """Nothing that is prepared outlives its connection."""
    if statement.mode == "prepared":
        raise statement.place_of("mode").mistake(
            f'statement \'{statement.name}\' has mode = "prepared"; a test with `connect` sends its statements as "text".'
        )
    return replace(statement, mode="text")


def _statements(
    given: Sequence[shape.TestStatement], place: Place, draft: Draft, files: Files, transaction: bool
) -> tuple[Statement, ...]:
    made = [_statement(one, place.at("statements", index), draft) for index, one in enumerate(given)]
    made = [replace(one, params=files.resolved(one.params)) for one in made]
    return weighted_statements(given, made, place, transaction)


def _roles(test: shape.Test, place: Place, draft: Draft, files: Files) -> Iterator[Role]:
    roles = list(named_roles(test, place, draft))
    any_closed = any(one.value.arrivals is None and one.value.counts is not False for _, one in roles)
    for name, placed in roles:
        role, where = placed.value, placed.place
        statements = _statements(role.statements, where, draft, files, role.transaction)
        yield make_role(name, role, statements, any_closed, where)


def _worked_out(test: Test, draft: Draft) -> Test:
    """With what stands in braces in its SQL, that of its roles, and what undoes it, replaced."""
    snippets = {name: Snippet(tuple(one.value.args), one.value.sql_by_dbms()) for name, one in draft.snippets.items()}
    variables = {**draft.variables, **test.own_variables}

    def work_out(statement: Statement) -> Statement:
        try:
            return replace(statement, sql=expand_all(statement.sql, snippets, {**variables, **statement.variables}))
        except ValueError as error:
            raise statement.place_of_sql("").mistake(f"statement '{statement.name}': {error}.") from None

    roles = tuple(replace(role, statements=tuple(map(work_out, role.statements))) for role in test.roles)
    of_roles = tuple(chain(*(role.statements for role in roles)))
    work = replace(test.work, undo=work_out(test.work.undo)) if test.work and test.work.undo else test.work
    return replace(test, roles=roles, statements=of_roles or tuple(map(work_out, test.statements)), work=work)


def _variants(test: shape.Test) -> dict[str, dict[str, Variable]]:
    return {f"-{name}": values for name, values in test.variants.items()} or {"": {}}


def _test(
    name: str,
    placed: Placed[shape.Test],
    statements: tuple[Statement, ...],
    suite_variables: Variables,
    own_variables: Variables,
) -> Test:
    test, place = placed.value, placed.place
    variables = {**suite_variables, **own_variables}
    changes_data = _may_change(statements) if test.changes_data is None else test.changes_data
    if test.bounded_by and not changes_data:
        raise place.at("bounded_by").mistake("bounded_by is for tests that change data; others are bounded by time.")
    return Test(
        name=name,
        base=name,
        title=_filled(test.title, variables, place.at("title")),
        group=test.group,
        note=_filled(test.note, variables, place.at("note")),
        statements=statements,
        transaction=test.transaction,
        changes_data=changes_data,
        by_count=changes_data and test.bounded_by != "time",
        slow=test.slow,
        warm_up=False,
        rows_per_op=test.rows_per_op,
        suite_variables=suite_variables,
        own_variables=own_variables,
        place=place,
        settings=_settings(test, variables, place),
        work_per_op=test.work_per_op,
        builds_on=tuple(test.builds_on),
        against=test.against or "",
        connect=test.connect,
    )


def _settings(test: shape.Test, variables: Variables, place: Place) -> dict[str, Settings]:
    """With `{variable}` in texts replaced."""
    return {
        dbms: {
            name: _filled(value, variables, place.at(f"settings_{dbms}", name)) if isinstance(value, str) else value
            for name, value in given.items()
        }
        for dbms, given in test.settings_by_dbms().items()
    }


def _group_titles(draft: Draft) -> dict[str, str]:
    return {**GROUP_TITLES, **{name: " ".join(placed.value.title.split()) for name, placed in draft.groups.items()}}


def _check_group(name: str, draft: Draft, place: Place) -> None:
    known = _group_titles(draft)
    if name not in known:
        raise place.mistake(
            f"unknown group '{name}'.{did_you_mean(name, known)} Accepted: {', '.join(known)}, or one of your own: "
            f"[groups.{name}] with a `title`."
        )


def _may_change(statements: Sequence[Statement]) -> bool:
    """What is not known to only read is taken to change data, until the file says otherwise."""
    return not all(only_reads(text) for statement in statements for text in statement.sql.values())


def _filled(text: str, variables: Variables, place: Place) -> str:
    """`text` as one line, with `{variable}` replaced by its value."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in variables:
            known = ", ".join(sorted(variables)) or "none"
            raise place.mistake(f"unknown variable '{match[1]}' in \"{text}\"; known here: {known}.")
        return in_words(variables[match[1]])

    return re.sub(r"\{(\w+)\}", value, _one_line(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _statement(one: shape.TestStatement, place: Place, draft: Draft) -> Statement:
    own_params = _params(one.params, place.at("params"), draft)
    if one.use is None:
        return _own_statement(one, place, own_params, draft)
    if one.use not in draft.statements:
        known = draft.statements
        raise place.mistake(
            f"unknown statement '{one.use}'.{did_you_mean(one.use, known)} Accepted: {', '.join(known) or '(none)'}, "
            "or a table with `name`, `sql` and `params`."
        )
    shared = draft.statements[one.use]
    shared_params = _params(shared.value.params, shared.place.at("params"), draft)
    statement = Statement(
        name=one.name or one.use,
        sql=one.sql_by_dbms() if one.sql else shared.value.sql_by_dbms() | one.sql_by_dbms(),
        params=shared_params | own_params,
        repeat=_first(one.repeat, shared.value.repeat, 1),
        mode=one.mode or shared.value.mode,
        table=one.table or shared.value.table or "draw",
        places=(place, shared.place),
        rows=_first(one.rows, shared.value.rows, 1),
        only=tuple(one.only),
        answers=one.answers or shared.value.answers or "exact",
        pause=one.pause if one.pause is not None else shared.value.pause,
        keep=tuple(one.keep or shared.value.keep),
        when=one.when if one.when is not None else shared.value.when,
    )
    made = inserting(statement, one.into or shared.value.into, one.position or shared.value.position, draft)
    return deleting(made, one.oldest_of or shared.value.oldest_of, draft)


def _own_statement(one: shape.TestStatement, place: Place, params: dict[str, Parameter], draft: Draft) -> Statement:
    if one.name is None or not (one.sql_by_dbms() or one.into):
        raise place.mistake(
            "a statement has `name` and `sql`, or `use` with the name of one of [statements], or `name` and `into`."
        )
    statement = Statement(
        name=one.name,
        sql=one.sql_by_dbms(),
        params=params,
        repeat=_first(one.repeat, 1),
        mode=one.mode,
        table=one.table or "draw",
        places=(place,),
        answers=one.answers or "exact",
        rows=_first(one.rows, 1),
        only=tuple(one.only),
        pause=one.pause,
        keep=tuple(one.keep),
        when=one.when,
    )
    return deleting(inserting(statement, one.into, one.position, draft), one.oldest_of, draft)


def _first(*values: Expression | None) -> Expression:
    return next(value for value in values if value is not None)


def _params(params: Mapping[str, str | Generator], place: Place, draft: Draft) -> dict[str, Parameter]:
    return {name: parameter_of(given, place.at(name), draft) for name, given in params.items()}


@dataclass(frozen=True)
class _Lookup:
    """What a phase may name: a definition (all its variants) or a single variant."""

    families: Mapping[str, list[Test]]

    @classmethod
    def of(cls, families: Mapping[str, list[Test]]) -> "_Lookup":
        by_name = dict(families)
        for key, family in families.items():
            for test in family:
                if test.name != key and test.name in families:
                    place = test.place
                    raise place.mistake(
                        f"a variant of {key} is called '{test.name}', and there is a test of that name."
                    )
                by_name[test.name] = [test] if test.name != key else family
        return cls(by_name)

    def find(self, name: str, place: Place) -> list[Test]:
        plain = name.removesuffix(WARM_SUFFIX)
        if plain not in self.families:
            known = ", ".join(self.families)
            raise place.mistake(f"unknown test '{plain}'.{did_you_mean(plain, self.families)} Accepted: {known}.")
        if plain == name:
            return self.families[plain]
        if any(test.work for test in self.families[plain]):
            raise place.mistake(f"'{plain}' has an end, so it does not warm caches; name a test of kind = \"slots\".")
        return [replace(test, base=f"{test.base}{WARM_SUFFIX}", warm_up=True) for test in self.families[plain]]


def _phases(draft: Draft, files: Files, usual: _Lookup) -> Iterator[Phase]:
    if not draft.phases:
        raise draft.place.mistake("there are no [[phases]]; each has a `name` and the list of its `tests`.")
    seen: dict[str, str] = {LOAD: "the load"}
    data = LOADED
    for placed in draft.phases:
        phase, place = placed.value, placed.place
        lookup = _Lookup.of(_families(with_roles(draft, placed), files)) if phase.roles else usual
        tests = []
        for index, name in enumerate(phase.tests):
            for test in lookup.find(name, place.at("tests", index)):
                tests.append(replace(test, name=f"{test.base}{phase.suffix}", against=partner_name(test, phase.suffix)))
                _claim(tests[-1].name, f"phase '{phase.name}'", seen, place.at("tests", index))
        data = phase.data or data
        if data == AGED and draft.aging is None:
            raise place.at("data").mistake('data = "aged" needs an [aging], which says how data ages (docs/suites.md).')
        yield Phase(phase.name, tuple(tests), phase.settle is True, data, vacuum=phase.settle == "vacuum")


def _claim(name: str, phase: str, seen: dict[str, str], place: Place) -> None:
    if seen.get(name) == phase:
        raise place.mistake(f"'{name}' is there twice in {phase}.")
    if name in seen:
        raise place.mistake(
            f"'{name}' is there twice, in {seen[name]} and {phase}; a `suffix` such as \".pre\" tells phases apart."
        )
    seen[name] = phase


def _check_selections(suite: Suite, selections: Named[list[str]]) -> None:
    for name, placed in selections.items():
        if name in suite.tests:
            raise placed.place.mistake(f"a selection is called '{name}' like a test; give it another name.")
        for glob in placed.value:
            if not suite.finds(glob):
                known = suite.sequence
                raise placed.place.mistake(
                    f"no test matches '{glob}'.{did_you_mean(glob, known)} Accepted: {', '.join(known)}."
                )


def _check_all_used(suite: Suite, draft: Draft, families: Mapping[str, list[Test]]) -> None:
    """A test that the suite's own file defines and neither a phase nor a mix names would silently never run."""
    run = {test.place for test in (*suite.tests.values(), *([suite.aging.test] if suite.aging else []))}
    mixed = mixed_names(draft)
    for name, placed in draft.tests.items():
        if any(test.name in mixed for test in families[name]):
            continue
        if placed.place.source is draft.place.source and placed.place not in run:
            raise placed.place.mistake(f"test '{name}' is in no phase; add it to the `tests` of one of [[phases]].")
