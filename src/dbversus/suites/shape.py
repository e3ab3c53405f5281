"""The shape of a suite file: which keys there are and what may stand in them. Meaning is checked later, in `check`."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from dbversus.dbms.known import databases
from dbversus.suites.generators import AnyGenerator, Number, Param, Shape

DBMS_NAMES = tuple(dbms.name for dbms in databases())

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
VariableName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


Sql = Annotated[str, Field(min_length=1)]


class Statement(Shape):
    """A statement that tests may use. `sql_<dbms>` replaces `sql` on that DBMS."""

    sql: Sql | None = None
    sql_postgres: Sql | None = None
    sql_mysql: Sql | None = None
    sql_mariadb: Sql | None = None
    sql_myrocks: Sql | None = None
    sql_sqlite: Sql | None = None
    repeat: Number | None = None
    mode: Literal["prepared", "text"] | None = None
    table: str | None = None
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


def _as_use(value: Any) -> Any:
    return {"use": value} if isinstance(value, str) else value


class Test(Shape):
    """A test, or a family of tests when it has `variants`."""

    __test__ = False  # pytest would take it for a class of tests

    title: str = Field(min_length=1)
    group: Literal["point", "range", "range-aggregate", "write"]
    statements: list[Annotated[TestStatement, BeforeValidator(_as_use)]] = Field(min_length=1)
    transaction: bool = False
    note: str = ""
    slow: bool = False
    changes_data: bool | None = None
    bounded_by: Literal["count", "time"] | None = None
    rows_per_op: Number | None = None
    variables: dict[VariableName, int] = Field(default_factory=dict)
    variants: dict[VariableName, list[int]] = Field(default_factory=dict)

    @field_validator("variants")
    @classmethod
    def _one_variable(cls, variants: dict[str, list[int]]) -> dict[str, list[int]]:
        if len(variants) > 1 or not all(variants.values()):
            raise ValueError("give one variable with at least one value, such as { range = [10, 100] }")
        if any(len(set(values)) < len(values) for values in variants.values()):
            raise ValueError("a value is given twice; each makes a test with a name of its own")
        return variants


class Phase(Shape):
    """Tests that run one after another, all with the same suffix to their names."""

    name: str = Field(min_length=1)
    tests: list[str] = Field(min_length=1)
    suffix: Annotated[str, Field(pattern=r"^(\.[a-z0-9-]+)?$")] = ""
    settle: bool = False
    data: Literal["loaded", "aged"] | None = None


class Load(Shape):
    """How the load of the tables is reported: as the test `load`."""

    title: str = "Load the tables"
    note: str = ""

    @model_validator(mode="before")
    @classmethod
    def _no_columns(cls, data: Any) -> Any:
        """Suites of before had them here."""
        if isinstance(data, dict) and "columns" in data:
            raise ValueError("columns belong to a table: [tables.NAME.columns] (docs/suites.md, Tables)")
        return data


ColumnName = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*$")]


class Column(Shape):
    """A column: its type, and where its values come from. `type_<dbms>` replaces the type on that DBMS, word for word."""

    type: str
    type_postgres: Sql | None = None
    type_mysql: Sql | None = None
    type_mariadb: Sql | None = None
    type_myrocks: Sql | None = None
    type_sqlite: Sql | None = None
    values: Param
    default: int | str | None = None
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


class Table(Shape):
    """A table, made and filled before anything is measured. `copies`: so many equal ones, NAME1, NAME2 …"""

    rows: Number = "table_size"
    copies: Number | None = None
    columns: dict[ColumnName, Column] = Field(min_length=1)
    primary_key: list[ColumnName] = Field(default_factory=list)
    indexes: list[Index] = Field(default_factory=list)


class Aging(Shape):
    """What is done to the loaded tables, once, before aged data is kept: a test that is driven for so many operations."""

    test: Name
    operations: Number
    rounds: int = Field(1, ge=1)


class SuiteFile(Shape):
    """A whole suite file."""

    title: str = Field(min_length=1)
    description: str = ""
    extends: str | None = None
    probes: list[Literal["sync"]] = Field(default_factory=list)
    variables: dict[VariableName, int] = Field(default_factory=dict)
    generators: dict[VariableName, AnyGenerator] = Field(default_factory=dict)
    load: Load | None = None
    tables: dict[ColumnName, Table] = Field(default_factory=dict)
    aging: Aging | None = None
    statements: dict[Name, Statement] = Field(default_factory=dict)
    tests: dict[Name, Test] = Field(default_factory=dict)
    selections: dict[Name, list[str]] = Field(default_factory=dict)
    phases: list[Phase] = Field(default_factory=list)
