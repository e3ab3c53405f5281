"""The parameter generators a suite file may use (docs/engine-protocol.md, TEST), and the base of all its tables."""

import re
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from dbversus.dbms.sql.literals import microseconds
from dbversus.dbms.sql.types import is_bytes, is_text, why_not
from dbversus.names import did_you_mean
from dbversus.suites.expression import Expression, variables_of


class Shape(BaseModel):
    """A table of the file; keys that it does not have are refused with those that it has."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields:
                accepted = {
                    "key": key,
                    "near": did_you_mean(key, cls.model_fields),
                    "keys": ", ".join(cls.model_fields),
                }
                raise PydanticCustomError("unknown_key", "unknown key '{key}'.{near} Accepted: {keys}.", accepted)
        return data


def _expression(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError('it has to be an integer or an expression such as "table_size / 2 + 1"')
    variables_of(value)
    return value


Number = Annotated[Expression, BeforeValidator(_expression)]


def _end_of_range(value: Any) -> Any:
    """Times are microseconds."""
    if isinstance(value, date):
        return microseconds(value)
    return value if isinstance(value, float) else _expression(value)


End = Annotated[Expression, BeforeValidator(_end_of_range)]
"""Of a range: an integer expression, a number with a fraction, or a time."""


def _neutral_type(text: str) -> str:
    if words := why_not(text):
        raise ValueError(words)
    return text


def _of_row(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError('it has to be a number or an expression such as "row % 100"')
    variables_of(value)
    return value


OfRow = Annotated[Expression, BeforeValidator(_of_row)]
"""An expression that may name the row's position, `row`, and earlier values."""


def _items(value: Any) -> Any:
    """A list of numbers or of texts, or what may become one: an expression, or the name of a list."""
    if not isinstance(value, list):
        return _expression(value)
    kinds = {isinstance(item, str) for item in value}
    known = all(isinstance(item, int | float | str) and not isinstance(item, bool) for item in value)
    if len(kinds) != 1 or not known:
        raise ValueError("it has to be a list of numbers alone or of texts alone, with one value at least")
    return value


def _with_place(text: str) -> str:
    if "{}" not in text:
        raise ValueError('"{}" has to stand where the number goes')
    return text


Items = Annotated[Any, BeforeValidator(_items)]


class Generator(Shape):
    """Draws the values of one parameter.

    `expressions` names the fields that may be expressions, `reals` those of them that may have a fraction, `of_row` those
    that depend on what is known when a value is drawn; `lists` may be the names of variables that are lists.
    `type`: of its values, by default as `natural_type` says; in a column, the column's. `round`: fractions have so many
    digits. `nulls`: share of values that are NULL.
    """

    expressions: ClassVar[tuple[str, ...]] = ()
    of_row: ClassVar[tuple[str, ...]] = ()
    reals: ClassVar[tuple[str, ...]] = ()
    lists: ClassVar[tuple[str, ...]] = ()
    gen: str
    type: Annotated[str, AfterValidator(_neutral_type)] | None = None
    round: int | None = Field(None, ge=0, le=17)
    nulls: float | None = Field(None, ge=0, le=1)

    def names(self) -> set[str]:
        """Names of what the values depend on: earlier values, `row`, and variables."""
        given = (getattr(self, field) for field in self.of_row)
        return set().union(*(variables_of(value) for value in given if value is not None))


class Listable(Generator):
    """Integers; with `count` a list of them, each drawn independently or, with `consecutive`, neighbours of one."""

    count: Number | None = None
    consecutive: bool | None = None


class Bounded(Listable):
    """Integers with `low` ≤ value ≤ `high`; of some, all numbers between them."""

    expressions = ("low", "high", "count")
    continuous: ClassVar[bool] = False
    low: End
    high: End


class Uniform(Bounded):
    continuous = True
    gen: Literal["uniform"]


class Zipfian(Bounded):
    gen: Literal["zipfian"]
    exponent: float | None = Field(None, gt=0)


class Pareto(Bounded):
    gen: Literal["pareto"]
    h: float | None = Field(None, gt=0, lt=1)


class Gaussian(Bounded):
    """With `parameter`, as pgbench's `random_gaussian`."""

    continuous = True
    gen: Literal["gaussian"]
    iterations: int | None = Field(None, ge=1)
    parameter: float | None = Field(None, ge=2)


class Special(Bounded):
    gen: Literal["special"]
    iterations: int | None = Field(None, ge=1)
    percent: float | None = Field(None, ge=0, le=100)
    hot_percent: float | None = Field(None, ge=0, le=100)


class Sequence(Listable):
    expressions = ("start", "step", "count")
    gen: Literal["sequence"]
    start: Number | None = None
    step: Number | None = None


class Constant(Listable):
    expressions = ("count",)
    gen: Literal["constant"]
    value: int | float | str | bool | datetime | date


class Ref(Listable):
    expressions = ("add", "count")
    gen: Literal["ref"]
    of: str
    add: Number | None = None

    def names(self) -> set[str]:
        return {self.of}


class Row(Generator):
    """What an expression over the row's position and earlier values gives."""

    of_row = ("expr",)
    gen: Literal["row"]
    expr: OfRow


class Text(Generator):
    """`template` may be a list, of which one is drawn each time, all equally often."""

    gen: Literal["text"]
    template: Annotated[str, Field(min_length=1)] | Annotated[list[str], Field(min_length=1)]

    def names(self) -> set[str]:
        templates = [self.template] if isinstance(self.template, str) else self.template
        return {name for text in templates for name in re.findall(r"\{([A-Za-z_][A-Za-z0-9_]*)\}", text)}


class Present(Listable):
    """A random row of those that the table `of` has at the moment: `start` for the first that was loaded, and so on."""

    expressions: ClassVar[tuple[str, ...]] = ("start", "count")
    gen: Literal["present"]
    of: str
    start: Number | None = None


class PresentRows(Present):
    """With the rows that its table is loaded with."""

    expressions: ClassVar[tuple[str, ...]] = ("start", "count", "loaded")
    loaded: Number


class OfRows(Listable):
    """The value that a column has in a random row."""

    expressions = ("count",)
    pick: Literal["uniform", "zipfian"] | None = None
    exponent: float | None = Field(None, gt=0)

    @field_validator("exponent")
    @classmethod
    def _needs_zipfian(cls, exponent: float | None, others: ValidationInfo) -> float | None:
        if exponent is not None and others.data.get("pick", "zipfian") != "zipfian":
            raise ValueError('an exponent is of a zipfian distribution; give pick = "zipfian" as well, or leave it out')
        return exponent


class FromData(OfRows):
    """A value of a data file: of a random row or, in a column of a table with `data` and without `of`, of the same row."""

    gen: Literal["data"]
    of: str | None = None
    column: str


class AnyOf(OfRows):
    """A value that a column of a table has once it is loaded, wherever its rows come from."""

    gen: Literal["any"]
    of: Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*$")]
    column: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")] = "id"


class Choice(Generator):
    """One of several values; with `per` always the same one for the same value of that expression."""

    of_row = ("per",)
    lists = ("of",)
    gen: Literal["choice"]
    of: Items
    weights: list[float] | None = None
    per: OfRow | None = None
    seed: int | None = Field(None, ge=0, lt=2**63)


class Sample(Generator):
    """`count` different values: of a list, or of so many integers from `start` on; `template` makes texts of these."""

    expressions = ("of", "start", "count")
    lists = ("of",)
    gen: Literal["sample"]
    of: Items
    start: Number | None = None
    count: Number | None = None
    template: Annotated[str, AfterValidator(_with_place)] | None = None


class Window(Generator):
    """Two values, `:NAME.from` and `:NAME.to`, that lie `length` apart."""

    expressions = ("low", "high", "length", "resolution")
    gen: Literal["window"]
    low: End
    high: End
    length: Number
    resolution: Number = 1
    order: Literal["random", "spread"] = "random"


class Walk(Generator):
    """A value that moves a little with every `step`, a walk of its own for each `key`."""

    of_row = ("step", "key")
    reals = ("sd", "low", "high", "start")
    gen: Literal["walk"]
    step: OfRow
    key: OfRow | None = None
    sd: OfRow | None = None
    low: OfRow | None = None
    high: OfRow | None = None
    start: OfRow | None = None
    seed: int | None = Field(None, ge=0, lt=2**63)


class Exponential(Bounded):
    """As pgbench's `random_exponential`."""

    gen: Literal["exponential"]
    parameter: float = Field(gt=0)


class Client(Generator):
    """The client's number among those of its role; `start`: that of the first."""

    expressions = ("start",)
    gen: Literal["client"]
    start: Number | None = None


class Kept(Generator):
    """No generator of a file: a value that a statement keeps of what it has read."""

    gen: Literal["kept"]


KEPT = Kept.model_validate({"gen": "kept"})


class Bytes(Generator):
    expressions = ("length",)
    gen: Literal["bytes"]
    length: Number


GENERATORS = (
    "uniform",
    "zipfian",
    "pareto",
    "gaussian",
    "special",
    "sequence",
    "constant",
    "ref",
    "text",
    "bytes",
    "row",
    "choice",
    "sample",
    "window",
    "walk",
    "exponential",
    "data",
    "present",
    "client",
)


def plain(value: float | str | date | None) -> int | float | str | None:
    """As it is loaded: times are microseconds, true is 1."""
    if isinstance(value, date):
        return microseconds(value)
    return int(value) if isinstance(value, bool) else value


def natural_type(generator: Generator) -> str:
    """The type of its values where none is given; "" for that of what it refers to."""
    match generator:
        case Text() | Constant(value=str()):
            return "text"
        case Bytes():
            return "bytes"
        case Choice(of=[str(), *_]) | Sample(of=[str(), *_]) | Sample(template=str()):
            return "text"
        case Choice(of=list() as items) if any(isinstance(item, float) for item in items):
            return "float8"
        case Walk():
            return "float8"
        case Ref():
            return ""
        case Constant(value=bool()):
            return "bool"
        case Constant(value=float()):
            return "float8"
        case Constant(value=datetime() as moment):
            return "timestamp(6)" if moment.microsecond else "timestamp"
        case Constant(value=date()):
            return "date"
        case _:
            return "int8"


def gives_text(generator: Generator) -> bool:
    """Whether it draws texts or bytes; all others draw numbers."""
    natural = natural_type(generator)
    return bool(natural) and (is_text(natural) or is_bytes(natural))


AnyGenerator = Annotated[
    Uniform
    | Zipfian
    | Pareto
    | Gaussian
    | Special
    | Sequence
    | Constant
    | Ref
    | Text
    | Bytes
    | Row
    | Choice
    | Sample
    | Window
    | Walk
    | Exponential
    | Present
    | Client
    | FromData
    | AnyOf,
    Field(discriminator="gen"),
]


def _name_or_generator(value: Any) -> str:
    return "name" if isinstance(value, str) else "generator"


# a generator, or the name of one of the file's [generators]
Param = Annotated[
    Annotated[str, Tag("name")] | Annotated[AnyGenerator, Tag("generator")], Discriminator(_name_or_generator)
]
