"""From definitions to a suite: names resolved, variants expanded, phases filled with tests."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dbversus.dbms.table import Column, Index, Table
from dbversus.names import near
from dbversus.suites import shape
from dbversus.suites.check import check_number, check_table, check_test
from dbversus.suites.draft import Draft, Named, Placed
from dbversus.suites.generators import Generator
from dbversus.suites.model import AGED, LOAD, LOADED, Aging, Load, Parameter, Phase, Statement, Suite, TableRules, Test
from dbversus.suites.source import Place

WARM_SUFFIX = ".warm"


def build_suite(name: str, draft: Draft) -> Suite:
    """The suite of a draft; raises UsageError with file, line and what would be accepted on the first mistake."""
    families = {key: _family(key, placed, draft) for key, placed in draft.tests.items()}
    suite = Suite(
        name=name,
        title=draft.title,
        description=_one_line(draft.description),
        load=_load(draft),
        tables=tuple(_tables(draft)),
        aging=_aging(draft, families),
        phases=tuple(_phases(draft, _Lookup.of(families))),
        variables=draft.variables,
        selections={key: tuple(placed.value) for key, placed in draft.selections.items()},
        probes=draft.probes,
    )
    _check_selections(suite, draft.selections)
    _check_all_used(suite, draft)
    return suite


def _load(draft: Draft) -> Load:
    load = draft.load.value if draft.load else shape.Load()
    return Load(load.title, _one_line(load.note))


def _tables(draft: Draft) -> Iterator[TableRules]:
    if not draft.tables:
        raise draft.place.mistake("there are no tables; [tables.NAME] says what one is like (docs/suites.md, Tables).")
    for name, placed in draft.tables.items():
        table, place = placed.value, placed.place
        columns = place.at("columns")
        values = {
            column: _parameter(given.values, columns.at(column, "values"), draft.generators)
            for column, given in table.columns.items()
        }
        check_table(table, values, draft.variables, place)
        yield TableRules(_made_like(name, table), table.rows, table.copies, values, place)


def _made_like(name: str, table: shape.Table) -> Table:
    columns = tuple(
        Column(key, one.type, one.types_by_dbms(), one.default, one.nullable, one.identity)
        for key, one in table.columns.items()
    )
    indexes = tuple(Index(one.name, tuple(one.columns), one.unique) for one in table.indexes)
    return Table(name, columns, tuple(table.primary_key), indexes)


def _aging(draft: Draft, families: Mapping[str, list[Test]]) -> Aging | None:
    if draft.aging is None:
        return None
    aging, place = draft.aging.value, draft.aging.place
    found = [test for family in families.values() for test in family if test.name == aging.test]
    if not found:
        raise place.at("test").mistake(f"unknown test '{aging.test}'.{near(aging.test, families)}")
    check_number(aging.operations, {**draft.variables, **found[0].own_variables}, place.at("operations"), at_least=1)
    return Aging(found[0], aging.operations, aging.rounds, place)


def _family(key: str, placed: Placed[shape.Test], draft: Draft) -> list[Test]:
    """The tests that one definition stands for: one, or one for each variant."""
    test, place = placed.value, placed.place
    statements = tuple(
        _statement(one, place.at("statements", index), draft) for index, one in enumerate(test.statements)
    )
    tests = []
    for suffix, variant in _variants(test):
        made = _test(f"{key}{suffix}", placed, statements, draft.variables, {**test.variables, **variant})
        check_test(made)
        tests.append(made)
    return tests


def _variants(test: shape.Test) -> Iterator[tuple[str, dict[str, int]]]:
    if not test.variants:
        yield "", {}
    for variable, values in test.variants.items():
        for value in values:
            yield f"-{value}", {variable: value}


def _test(
    name: str,
    placed: Placed[shape.Test],
    statements: tuple[Statement, ...],
    suite_variables: Mapping[str, int],
    own_variables: Mapping[str, int],
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
    )


def _may_change(statements: Sequence[Statement]) -> bool:
    """Anything that does not start with SELECT is taken to change data, until the file says otherwise."""
    texts = [text for statement in statements for text in statement.sql.values()]
    return not all(text.lstrip(" \t\n(").upper().startswith("SELECT") for text in texts)


def _filled(text: str, variables: Mapping[str, int], place: Place) -> str:
    """`text` as one line, with `{variable}` replaced by its value."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in variables:
            known = ", ".join(sorted(variables)) or "none"
            raise place.mistake(f"unknown variable '{match[1]}' in \"{text}\"; known here: {known}.")
        return str(variables[match[1]])

    return re.sub(r"\{(\w+)\}", value, _one_line(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _statement(one: shape.TestStatement, place: Place, draft: Draft) -> Statement:
    own_params = _params(one.params, place.at("params"), draft.generators)
    if one.use is None:
        return _own_statement(one, place, own_params)
    if one.use not in draft.statements:
        known = draft.statements
        raise place.mistake(
            f"unknown statement '{one.use}'.{near(one.use, known)} Accepted: {', '.join(known) or '(none)'}, "
            "or a table with `name`, `sql` and `params`."
        )
    shared = draft.statements[one.use]
    shared_params = _params(shared.value.params, shared.place.at("params"), draft.generators)
    return Statement(
        name=one.name or one.use,
        sql=one.sql_by_dbms() if one.sql else shared.value.sql_by_dbms() | one.sql_by_dbms(),
        params=shared_params | own_params,
        repeat=_first(one.repeat, shared.value.repeat, 1),
        mode=one.mode or shared.value.mode,
        table=one.table or shared.value.table or "draw",
        places=(place, shared.place),
    )


def _own_statement(one: shape.TestStatement, place: Place, params: dict[str, Parameter]) -> Statement:
    if one.name is None or not one.sql_by_dbms():
        raise place.mistake("a statement has `name` and `sql`, or `use` with the name of one of [statements].")
    return Statement(
        one.name, one.sql_by_dbms(), params, _first(one.repeat, 1), one.mode, one.table or "draw", (place,)
    )


def _first(*values: int | str | None) -> int | str:
    return next(value for value in values if value is not None)


def _params(params: Mapping[str, str | Generator], place: Place, generators: Named[Generator]) -> dict[str, Parameter]:
    return {name: _parameter(given, place.at(name), generators) for name, given in params.items()}


def _parameter(given: str | Generator, place: Place, generators: Named[Generator]) -> Parameter:
    if isinstance(given, Generator):
        return Parameter(given, place, place)
    if given not in generators:
        raise place.mistake(
            f"unknown generator '{given}'.{near(given, generators)} Accepted: {', '.join(generators) or '(none)'}, "
            'or a table such as { gen = "uniform", low = 1, high = "table_size" }.'
        )
    return Parameter(generators[given].value, place, generators[given].place)


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
            raise place.mistake(f"unknown test '{plain}'.{near(plain, self.families)} Accepted: {known}.")
        if plain == name:
            return self.families[plain]
        return [replace(test, base=f"{test.base}{WARM_SUFFIX}", warm_up=True) for test in self.families[plain]]


def _phases(draft: Draft, lookup: _Lookup) -> Iterator[Phase]:
    if not draft.phases:
        raise draft.place.mistake("there are no [[phases]]; each has a `name` and the list of its `tests`.")
    seen: dict[str, str] = {LOAD: "the load"}
    data = LOADED
    for placed in draft.phases:
        phase, place = placed.value, placed.place
        tests = []
        for index, name in enumerate(phase.tests):
            for test in lookup.find(name, place.at("tests", index)):
                tests.append(replace(test, name=f"{test.base}{phase.suffix}"))
                _claim(tests[-1].name, f"phase '{phase.name}'", seen, place.at("tests", index))
        data = phase.data or data
        if data == AGED and draft.aging is None:
            raise place.at("data").mistake('data = "aged" needs an [aging], which says how data ages (docs/suites.md).')
        yield Phase(phase.name, tuple(tests), phase.settle, data)


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
                    f"no test matches '{glob}'.{near(glob, known)} Accepted: {', '.join(known)}."
                )


def _check_all_used(suite: Suite, draft: Draft) -> None:
    """A test that the suite's own file defines and no phase names would silently never run."""
    run = {test.place for test in (*suite.tests.values(), *([suite.aging.test] if suite.aging else []))}
    for name, placed in draft.tests.items():
        if placed.place.source is draft.place.source and placed.place not in run:
            raise placed.place.mistake(f"test '{name}' is in no phase; add it to the `tests` of one of [[phases]].")
