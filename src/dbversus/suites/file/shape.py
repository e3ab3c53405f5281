"""The shape of a suite file: which keys there are and what may stand in them. Meaning is checked later, in `check`."""

import re
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator
from pydantic_core import PydanticCustomError

from dbversus.dbms.known import databases
from dbversus.suites.expression import variables_of
from dbversus.suites.file.generators import AnyGenerator, Number, OfRow, Param, Shape
from dbversus.suites.file.settings import GivenValue
from dbversus.suites.file.variants import GivenVariants
from dbversus.suites.variables import Given

DBMS_NAMES = tuple(dbms.name for dbms in databases())

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
TestName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")]
"""May have points, as in `l.i0`; in TOML such a name stands in quotes."""
VariableName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]

KeptName = Annotated[str, Field(pattern=r"^([a-z][a-z0-9_]*|_)$")]
"""`_` for a value that nothing needs."""

COLUMN_NAME = r"^[a-z_][a-z0-9_]*$"
ColumnName = Annotated[str, Field(pattern=COLUMN_NAME)]


SettingName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*$")]


Sql = Annotated[str, Field(min_length=1)]


def _answers(value: Any) -> Any:
    if value in ("exact", "set"):
        return value
    match value:
        case {"tolerance": float(share)} if len(value) == 1 and 0 < share < 1:
            return share
    raise ValueError('"exact", "set" and { tolerance = 1e-9 }, a share between 0 and 1, are accepted')


Answers = Annotated[Literal["exact", "set"] | float, BeforeValidator(_answers)]
"""How answers are compared: value by value, without the order of rows, or numbers with this tolerance."""


class Statement(Shape):
    """A statement that tests may use. `sql_<dbms>` replaces `sql` on that DBMS. `pause`: for which the client waits after it.

    `keep`: names for the values of its first row. `when`: where it gives 0, the statement is left out.
    """

    sql: Sql | None = None
    sql_postgres: Sql | None = None
    sql_mysql: Sql | None = None
    sql_mariadb: Sql | None = None
    sql_myrocks: Sql | None = None
    sql_sqlite: Sql | None = None
    repeat: Number | None = None
    mode: Literal["prepared", "text"] | None = None
    table: str | None = None
    rows: Number | None = None
    into: ColumnName | None = None
    position: Literal["after"] | None = None
    oldest_of: ColumnName | None = None
    answers: Answers | None = None
    pause: Number | None = None
    keep: list[KeptName] = Field(default_factory=list, min_length=1)
    when: OfRow | None = None
    params: dict[VariableName, Param] = Field(default_factory=dict)

    def sql_by_dbms(self) -> dict[str, str]:
        """The texts given, by DBMS; "" stands for all others."""
        texts = {"": self.sql} | {dbms: getattr(self, f"sql_{dbms}") for dbms in DBMS_NAMES}
        return {dbms: text for dbms, text in texts.items() if text is not None}


class TestStatement(Statement):
    """A statement in a test: one of its own, or, with `use`, one of the file's with the other keys replacing parts."""

    __test__ = False  # pytest would take it for a class of tests

    use: str | None = None
    name: Name | None = None
    weight: Number | None = None
    only: list[Literal[DBMS_NAMES]] = Field(default_factory=list, min_length=1)  # type: ignore[valid-type]

    def named(self, name: str) -> "TestStatement":
        """The statement, with this name where it has none."""
        return self if self.name or self.use else self.model_copy(update={"name": name})


def _as_use(value: Any) -> Any:
    return {"use": value} if isinstance(value, str) else value


class Choice(Shape):
    """A test in a mix, and how often it is drawn."""

    test: TestName
    weight: Number = 1


Statements = list[Annotated[TestStatement, BeforeValidator(_as_use)]]


def _rate(value: Any) -> Any:
    """As a Number, and a plain rate may have a fraction: 0.5 is one operation in two seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError('it has to be a number or an expression such as "100 * clients"')
    if isinstance(value, str):
        variables_of(value)
    return value


class Arrivals(Shape):
    """When the operations of a role are due, all its clients together: `rate` per second, in a burst `size` at once."""

    kind: Literal["constant", "poisson", "burst"]
    rate: Annotated[float | int | str, BeforeValidator(_rate)]
    size: Number | None = None

    @model_validator(mode="after")
    def _size_of_bursts(self) -> "Arrivals":
        if (self.kind == "burst") != (self.size is not None):
            words = '`size`, the operations that are due at once, goes with kind = "burst", and with it alone.'
            raise PydanticCustomError("keys_together", words)
        return self


class Role(Shape):
    """Clients of a test that are alike. Without `arrivals` they run in a closed loop.

    Of a step: `operations` that they have in all; `follows`, the role after whose n-th operation they do theirs; `lead`, by how
    many operations that one may be ahead.
    """

    statements: Statements = Field(min_length=1)
    transaction: bool = False
    clients: Number | None = None
    arrivals: Arrivals | None = None
    counts: bool | None = None
    operations: Number | None = None
    follows: Name | None = None
    lead: Number | None = None
    sla: float | None = Field(default=None, gt=0, le=1)

    @model_validator(mode="after")
    def _sla_of_a_rate(self) -> "Role":
        if self.sla is not None and self.arrivals is None:
            words = "`sla`, the share of its rate that a role has to reach, goes with `arrivals`, and with them alone."
            raise PydanticCustomError("keys_together", words)
        return self


RoleOrName = Annotated[
    Annotated[Name, Tag("name")] | Annotated[Role, Tag("role")],
    Discriminator(lambda value: "name" if isinstance(value, str) else "role"),
]
"""A role, or the name of one of [roles]."""


class Test(Shape):
    """A test, or a family of tests when it has `variants`. `connect`: each operation has a connection of its own."""

    __test__ = False  # pytest would take it for a class of tests

    title: str = Field(min_length=1)
    group: Name
    statements: Statements = Field(default_factory=list, min_length=1)
    mix: list[Choice] = Field(default_factory=list, min_length=1)
    roles: dict[Name, RoleOrName] = Field(default_factory=dict, min_length=1)
    transaction: bool = False
    connect: bool = False
    note: str = ""
    slow: bool = False
    changes_data: bool | None = None
    bounded_by: Literal["count", "time"] | None = None
    rows_per_op: Number | None = None
    work_per_op: dict[VariableName, Number] = Field(default_factory=dict)
    settings_postgres: dict[SettingName, GivenValue] = Field(default_factory=dict)
    settings_mysql: dict[SettingName, GivenValue] = Field(default_factory=dict)
    settings_mariadb: dict[SettingName, GivenValue] = Field(default_factory=dict)
    settings_myrocks: dict[SettingName, GivenValue] = Field(default_factory=dict)
    settings_sqlite: dict[SettingName, GivenValue] = Field(default_factory=dict)
    variables: dict[VariableName, Given] = Field(default_factory=dict)
    variants: GivenVariants = Field(default_factory=dict)
    kind: Literal["slots", "step", "statement"] = "slots"
    operations: Number | None = None
    slice_ms: Annotated[int, Field(ge=10, le=3_600_000)] | None = None
    undo: Annotated[TestStatement, BeforeValidator(_as_use)] | None = None
    builds_on: list[TestName] = Field(default_factory=list, min_length=1)
    against: TestName | None = None

    def settings_by_dbms(self) -> dict[str, dict[str, Any]]:
        settings = {dbms: getattr(self, f"settings_{dbms}") for dbms in DBMS_NAMES}
        return {dbms: given for dbms, given in settings.items() if given}


class Snippet(Shape):
    """A piece of SQL that statements use as `{NAME(…)}`; `{argument}` in it is what it is given. It may be empty."""

    args: list[VariableName] = Field(default_factory=list)
    sql: str | None = None
    postgres: str | None = None
    mysql: str | None = None
    mariadb: str | None = None
    myrocks: str | None = None
    sqlite: str | None = None

    def sql_by_dbms(self) -> dict[str, str]:
        texts = {"": self.sql} | {dbms: getattr(self, dbms) for dbms in DBMS_NAMES}
        return {dbms: text for dbms, text in texts.items() if text is not None}


class Group(Shape):
    """A heading of reports, for tests that name it as their `group`."""

    title: str = Field(min_length=1)


class Phase(Shape):
    """Tests that run one after another, all with the same suffix to their names. `roles`: of [roles], which those of its tests
    that have roles have besides, or instead of theirs of that name."""

    name: str = Field(min_length=1)
    tests: list[str] = Field(min_length=1)
    suffix: Annotated[str, Field(pattern=r"^(\.[a-z0-9-]+)?$")] = ""
    settle: bool | Literal["vacuum"] = False
    data: Literal["loaded", "aged"] | None = None
    roles: dict[Name, Name] = Field(default_factory=dict)


class Load(Shape):
    """How the load of the tables is reported: as the test `load`."""

    title: str = "Load the tables"
    note: str = ""

    @model_validator(mode="before")
    @classmethod
    def _no_columns(cls, data: Any) -> Any:
        """Suites of before had them here."""
        if isinstance(data, dict) and "columns" in data:
            raise ValueError("columns belong to a table: [tables.NAME.columns] (docs/suites/tables.md)")
        return data


class Column(Shape):
    """A column: its type, and where its values come from. `type_<dbms>` replaces the type on that DBMS, word for word.

    Both are needed but in a table with `data`, whose file tells them.
    """

    type: str = ""
    type_postgres: Sql | None = None
    type_mysql: Sql | None = None
    type_mariadb: Sql | None = None
    type_myrocks: Sql | None = None
    type_sqlite: Sql | None = None
    values: Param = ""
    default: int | float | str | bool | datetime | date | None = None
    nullable: bool = False
    identity: bool = False

    def types_by_dbms(self) -> dict[str, str]:
        texts = {dbms: getattr(self, f"type_{dbms}") for dbms in DBMS_NAMES}
        return {dbms: text for dbms, text in texts.items() if text is not None}


class Index(Shape):
    """A secondary index, made after the rows."""

    name: ColumnName
    columns: list[ColumnName] = Field(min_length=1)
    unique: bool = False


class ColumnsEach(Shape):
    """Equal columns: one for each name of a list, which may be that of a variable."""

    list: Given
    column: Column


def _as_list(value: Any) -> Any:
    """One table or text may stand for a list of one."""
    return [value] if isinstance(value, dict | str) else value


class Table(Shape):
    """A table, made and filled before anything is measured. `copies`: so many equal ones, NAME1, NAME2 … `rows_at_end`: as many
    as will have come into each by the end of the suite. `made_by`: who makes it, if not dbversus, which then only fills it."""

    made_by: Literal["scripts"] | None = None

    rows: Number = "table_size"
    rows_at_end: Number | None = None
    data: str | None = None
    copies: Number | None = None
    columns: dict[ColumnName, Column] = Field(default_factory=dict)
    columns_each: Annotated[list[ColumnsEach], BeforeValidator(_as_list)] = Field(default_factory=list)
    primary_key: list[ColumnName] = Field(default_factory=list)
    indexes: list[Index] = Field(default_factory=list)


Paths = Annotated[list[str], Field(min_length=1), BeforeValidator(_as_list)]


class Setup(Shape):
    """Scripts that are run once, after the tables are loaded, by DBMS; `sql`: for all that have none of their own."""

    sql: Paths | None = None
    postgres: Paths | None = None
    mysql: Paths | None = None
    mariadb: Paths | None = None
    myrocks: Paths | None = None
    sqlite: Paths | None = None

    def by_key(self) -> dict[str, list[str]]:
        """Paths by the key under which they stand, in this order."""
        found = {key: getattr(self, key) for key in ("sql", *DBMS_NAMES)}
        return {key: paths for key, paths in found.items() if paths is not None}


class Data(Shape):
    """A file with rows of the user's own. `columns`: their names, where the file's first line does not have them."""

    file: str = Field(min_length=1)
    sha256: str | None = None
    rows: Number | None = None
    delimiter: str | None = None
    null: str = ""
    encoding: Literal["utf-8", "utf-16", "latin-1"] = "utf-8"
    columns: list[str] = Field(default_factory=list)

    @field_validator("sha256")
    @classmethod
    def _digits(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch("[0-9a-fA-F]{64}", value):
            raise ValueError("64 hexadecimal digits are accepted, as `sha256sum` prints them")
        return value

    @field_validator("delimiter")
    @classmethod
    def _one_character(cls, value: str | None) -> str | None:
        if value is not None and (len(value) != 1 or value in '\r\n"\\'):
            raise ValueError("one character is accepted, such as ',' or '|'")
        return value


class Aging(Shape):
    """What is done to the loaded tables, once, before aged data is kept: a test that is driven for so many operations."""

    test: TestName
    operations: Number
    rounds: int = Field(1, ge=1)


class Definitions(Shape):
    """What may be defined by name in a suite file, and in one of its variants."""

    title: str = Field(min_length=1)
    variables: dict[VariableName, Given] = Field(default_factory=dict)
    generators: dict[VariableName, AnyGenerator] = Field(default_factory=dict)
    tables: dict[ColumnName, Table] = Field(default_factory=dict)
    statements: dict[Name, Statement] = Field(default_factory=dict)
    snippets: dict[VariableName, Snippet] = Field(default_factory=dict)
    groups: dict[Name, Group] = Field(default_factory=dict)
    roles: dict[Name, Role] = Field(default_factory=dict)
    tests: dict[TestName, Test] = Field(default_factory=dict)
    phases: list[Phase] = Field(default_factory=list)


class SuiteVariant(Definitions):
    """What `--variant NAME` changes: definitions of the same name are replaced, its phases come after all others.

    `data`, `settle`: of all phases of the suite, in place of what each of them says; not of those that variants add.
    """

    note: str = ""
    data: Literal["loaded", "aged"] | None = None
    settle: bool | None = None


class SuiteFile(Definitions):
    """A whole suite file."""

    description: str = ""
    extends: str | None = None
    probes: list[Literal["sync"]] = Field(default_factory=list)
    load: Load | None = None
    data: dict[Name, Data] = Field(default_factory=dict)
    setup: Setup | None = None
    aging: Aging | None = None
    selections: dict[Name, list[str]] = Field(default_factory=dict)
    variants: dict[Name, SuiteVariant] = Field(default_factory=dict)
