"""Statements that a server refuses are found before anything is loaded or measured: each is prepared, none is run."""

import contextlib
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dbversus.dbms.sql.session import list_sql
from dbversus.errors import RunError
from dbversus.experiment.rig.data.prepare import snapshot_key, table_definitions
from dbversus.experiment.rig.data.refused import refuse
from dbversus.experiment.rig.engine import EngineGone, EngineRefused
from dbversus.experiment.rig.recovery import through_engine_loss
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.servers.data import snapshot
from dbversus.suites.load import is_bundled
from dbversus.suites.model import Test
from dbversus.suites.send.define import Json, definition, literal_statement, statements_in

# what a preparation refuses though the statement can be sent as text: MySQL, PostgreSQL
_NOT_TO_BE_PREPARED = re.compile("not supported in the prepared statement protocol|cannot insert multiple commands")
_MISSING = re.compile("does not exist|doesn't exist|no such|not found|unknown", re.IGNORECASE)
_NAMED = re.compile('^test ".*?(?:/(.*?))?", statement "(.*?)": (.*)$', re.DOTALL)
_SETTING = re.compile('^test ".*?", session_sql (".*?[^\\\\]"): (.*)$', re.DOTALL)
_MAKES = re.compile(r"\s*(CREATE|ALTER|RENAME|PREPARE|DECLARE|SELECT\b.*\bINTO)\b", re.IGNORECASE | re.DOTALL)
_MADE = re.compile(
    r"\b(?:TABLE|INDEX|VIEW|FUNCTION|PROCEDURE|SEQUENCE|TYPE|DOMAIN|SCHEMA|EXTENSION|COLUMN|CONSTRAINT|KEY|ADD(?!\s+(?:INDEX|KEY|COLUMN|CONSTRAINT)\b)|TO|INTO|PREPARE|DECLARE)"
    r"\s+(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?[\"`]?(\w+)",
    re.IGNORECASE,
)
# what these bring about, their text does not tell
_OPAQUE = re.compile(r"\s*(CREATE\s+EXTENSION|CALL|DO|EXECUTE|LOAD|INSTALL|ATTACH|USE)\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Makers:
    """What the suite's own statements bring about, as far as their text tells."""

    names: frozenset[str]
    opaque: bool

    def excuse(self, words: str) -> bool:
        """Whether what is missing now may be there when its turn comes."""
        if not _MISSING.search(words):
            return False
        return self.opaque or not self.names.isdisjoint(re.findall(r"\w+", words.lower()))


@dataclass
class _Checker:
    """Prepares the statements of one target, each once."""

    rig: Rig
    target: Target
    makers: _Makers
    prepared: set[str] = field(default_factory=set)

    def refusal(self, tests: Sequence[Test]) -> str:
        """The first statement that is refused, with its place and the server's words; empty when there is none."""
        for test in tests:
            if said := self._unknown_setting(test):
                return said
            for sent in self._sent(test):
                texts = {f"{one.get('mode')} {one['sql']} {sorted(one['params'])}" for one in statements_in(sent)}
                texts |= set(test.session_sql(self.target.server.dbms).values())
                if not texts <= self.prepared and (said := self._try(test, sent)):
                    return said
                self.prepared |= texts
        return ""

    def _sent(self, test: Test) -> Iterator[Json]:
        """The test as it is measured; and what is sent as text in it, with values inside, to be prepared all the same."""
        spec, dbms = self.rig.spec, self.target.server.dbms
        yield definition(test, dbms, spec.table_size, spec.tables)
        literals = literal_statement(test, dbms, spec.table_size, spec.tables)
        statements = [statement for _, statement in test.named_statements if statement.is_for(dbms)]
        for statement, (name, sql) in zip(statements, literals, strict=True):
            if (statement.mode or _MODES[spec.mode]) == "text":
                alone = {"name": name, "sql": sql.replace("{table}", "1"), "params": {}, "mode": "prepared"}
                yield {"name": test.name, "transaction": False, "statements": [alone]}

    def _try(self, test: Test, sent: Json) -> str:
        spec, engine = self.rig.spec, self.rig.engine
        try:
            engine.call(
                "open", targets=[self.target.name], clients=1, mode=spec.mode, cpus=[], tables=spec.tables, test=sent
            )
        except EngineRefused as error:
            return self._told(test, error) if error.kind == "server" else ""
        with contextlib.suppress(EngineRefused):
            engine.call("close")
        return ""

    def _told(self, test: Test, error: EngineRefused) -> str:
        if setting := _SETTING.match(str(error)):
            return self._setting_refused(test, json.loads(setting[1]), setting[2])
        found = _NAMED.match(str(error))
        words = found[3] if found else str(error)
        if _NOT_TO_BE_PREPARED.search(words) or self.makers.excuse(words):
            return ""
        name = "/".join(filter(None, found.groups()[:2])) if found else ""
        statement = dict(test.named_statements).get(name, test.statements[0])
        place = statement.place_of_sql(self.target.server.dbms)
        return f"{place}: statement '{statement.name}' is refused by {self.target.label}: {words.strip()}"

    def _unknown_setting(self, test: Test) -> str:
        """Of a DBMS that says nothing about a setting which it does not have."""
        dbms = self.target.server.dbms
        if not test.session_sql(dbms) or not (sql := list_sql(dbms)):
            return ""
        known = {row[0] for row in self.rig.engine.call("query", target=self.target.name, sql=sql)["rows"]}
        unknown = [name for name in test.session_sql(dbms) if known and name not in known]
        return self._refused(test, unknown[0], "there is no setting of that name") if unknown else ""

    def _setting_refused(self, test: Test, sql: str, words: str) -> str:
        name = next(name for name, text in test.session_sql(self.target.server.dbms).items() if text == sql)
        return self._refused(test, name, words)

    def _refused(self, test: Test, name: str, words: str) -> str:
        dbms = self.target.server.dbms
        return (
            f"{test.place_of_setting(dbms, name)}: setting '{name}' is refused by {self.target.label}: {words.strip()}"
        )


_MODES = {"prepared": "prepared", "unprepared": "text"}


def _makers(rig: Rig, dbms: str) -> _Makers:
    texts = [statement.sql_for(dbms) for test in rig.suite.tests.values() for statement in test.statements]
    numbers = range(1, rig.spec.tables + 1)  # of equal tables; what is made for one has its number, as a rule
    makers = [text.replace("{table}", str(number)) for text in texts if _MAKES.match(text) for number in numbers]
    made = {name.lower() for text in makers for name in _MADE.findall(text)}
    of_tables = {*rig.table_names, *rig.suite.table_stems, "table", "index", "column", "if"}
    return _Makers(frozenset(made - of_tables), any(_OPAQUE.match(text) for text in texts))


def check_before_load(rig: Rig) -> None:
    """Prepares, on empty tables, the statements of tests that the user's own files define: once for each build to be loaded.

    Raises StatementRefused when the base refuses one, or nobody else is left; other targets of a build that does are out. Where
    scripts make tables, all of them would have to be run for that: `check_on_data` has to do.
    """
    tests = [test for test in rig.suite.tests.values() if not is_bundled(test.place.source.path)]
    builds: dict[str, list[Target]] = {}
    for target in rig.in_run:
        if tests and not rig.suite.scripts and not snapshot.find(snapshot_key(rig, target)):
            builds.setdefault(f"{target.build.dbms} {target.build.checksum}", []).append(target)
    for targets in builds.values():
        if said := _refused_on_empty_tables(rig, targets[0], tests):
            refuse(rig, targets, said)


def _refused_on_empty_tables(rig: Rig, target: Target, tests: Sequence[Test]) -> str:
    """What it says; a database that cannot be made is no affair of the statements, and comes to light when it is loaded."""
    rig.display.doing(f"{target.label}: preparing all statements on empty tables")

    def check() -> str:
        rig.remove(target)
        shutil.rmtree(target.server.data_dir, ignore_errors=True)
        target.server.initialise()
        rig.start(target)
        for made in table_definitions(rig, target):
            for sql in (*made["create"], *made["after"]):
                rig.engine.call("query", target=target.name, sql=sql)
        return _Checker(rig, target, _makers(rig, target.server.dbms)).refusal(tests)

    try:
        return through_engine_loss(rig, check)
    except RunError:
        return ""
    finally:
        rig.remove(target)
        shutil.rmtree(target.server.data_dir, ignore_errors=True)


def check_on_data(rig: Rig) -> None:
    """The same for all tests, as soon as a target is up with its data: for servers and suites that were not checked empty."""
    for target in rig.alive:
        if target.name in rig.prepared:
            continue
        checker = _Checker(rig, target, _makers(rig, target.server.dbms))
        try:
            said = checker.refusal(list(rig.suite.tests.values()))
        except EngineGone as error:
            rig.renew_engine(str(error))  # the tests will tell
            return
        rig.prepared.add(target.name)
        if said:
            refuse(rig, [target], said)
