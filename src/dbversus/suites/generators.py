"""The parameter generators a suite file may use (docs/engine-protocol.md, TEST), and the base of all its tables."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from dbversus.names import near
from dbversus.suites.expression import Expression, variables_of


class Shape(BaseModel):
    """A table of the file; keys that it does not have are refused with those that it has."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields:
                accepted = {"key": key, "near": near(key, cls.model_fields), "keys": ", ".join(cls.model_fields)}
                raise PydanticCustomError("unknown_key", "unknown key '{key}'.{near} Accepted: {keys}.", accepted)
        return data


def _expression(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError('it has to be an integer or an expression such as "table_size / 2 + 1"')
    variables_of(value)
    return value


Number = Annotated[Expression, BeforeValidator(_expression)]


class Generator(Shape):
    """Draws the values of one parameter. `expressions` names the fields that may be integer expressions."""

    expressions: ClassVar[tuple[str, ...]] = ()
    gen: str


class Listable(Generator):
    """Integers; with `count` a list of them, each drawn independently or, with `consecutive`, neighbours of one."""

    count: Number | None = None
    consecutive: bool | None = None


class Bounded(Listable):
    """Integers with `low` ≤ value ≤ `high`."""

    expressions = ("low", "high", "count")
    low: Number
    high: Number


class Uniform(Bounded):
    gen: Literal["uniform"]


class Zipfian(Bounded):
    gen: Literal["zipfian"]
    exponent: float | None = Field(None, gt=0)


class Pareto(Bounded):
    gen: Literal["pareto"]
    h: float | None = Field(None, gt=0, lt=1)


class Gaussian(Bounded):
    gen: Literal["gaussian"]
    iterations: int | None = Field(None, ge=1)


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
    value: int | str


class Ref(Listable):
    expressions = ("add", "count")
    gen: Literal["ref"]
    of: str
    add: Number | None = None


class Text(Generator):
    gen: Literal["text"]
    template: str = Field(min_length=1)


GENERATORS = ("uniform", "zipfian", "pareto", "gaussian", "special", "sequence", "constant", "ref", "text")


def is_text(generator: Generator) -> bool:
    """Whether the generator gives texts; all others give integers."""
    return isinstance(generator, Text) or (isinstance(generator, Constant) and isinstance(generator.value, str))


AnyGenerator = Annotated[
    Uniform | Zipfian | Pareto | Gaussian | Special | Sequence | Constant | Ref | Text, Field(discriminator="gen")
]


def _name_or_generator(value: Any) -> str:
    return "name" if isinstance(value, str) else "generator"


# a generator, or the name of one of the file's [generators]
Param = Annotated[
    Annotated[str, Tag("name")] | Annotated[AnyGenerator, Tag("generator")], Discriminator(_name_or_generator)
]
