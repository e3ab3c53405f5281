"""Variants of a test: the values of its variables, and what the test is called with them."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from dbversus.suites.variables import Given, Variable, in_words

Variants = dict[str, dict[str, Variable]]
"""What is appended to the test's name → values of its variables."""

_FORMS = (
    "give variables with at least one value each, such as { range = [10, 100] }, or a list of named ones, "
    'such as [{ name = "small", range = 10, ids = 1 }]'
)
_VARIABLE = r"[a-z][a-z0-9_]*"
_NAME = r"[a-z0-9][a-z0-9_-]*"
_VALUE: TypeAdapter[Variable] = TypeAdapter(Given)


def _variants(given: Any) -> Variants:
    """From either form of the file; raises ValueError with a sentence for the user."""
    pairs = list(_combined(given) if isinstance(given, dict) else _named(given))
    names = [name for name, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"'{twice}' is given twice; each variant makes a test with a name of its own")
    return dict(pairs)


def _combined(given: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Variable]]]:
    if not given or not all(isinstance(values, list) and values for values in given.values()):
        raise ValueError(_FORMS)
    lists = [[_value(name, value) for value in values] for name, values in given.items()]
    for values in product(*lists):
        name = "-".join(in_words(value) for value in values)
        if not re.fullmatch(_NAME, name):
            raise ValueError(f"'{name}' cannot be part of a test's name; give a list of named variants instead")
        yield name, dict(zip(given, values, strict=True))


def _named(given: Any) -> Iterator[tuple[str, dict[str, Variable]]]:
    if not isinstance(given, list) or not given:
        raise ValueError(_FORMS)
    for number, one in enumerate(given, 1):
        name = one.get("name") if isinstance(one, dict) else None
        if not isinstance(name, str) or not re.fullmatch(_NAME, name):
            raise ValueError(f"number {number} has no `name` of lower-case letters, digits and -; {_FORMS}")
        yield name, {key: _value(key, value) for key, value in one.items() if key != "name"}


def _value(name: str, value: Any) -> Variable:
    if not re.fullmatch(_VARIABLE, name):
        raise ValueError(f"'{name}' is no name of a variable; lower-case letters, digits and _ are accepted")
    try:
        return _VALUE.validate_python(value)
    except ValidationError as error:
        raise ValueError(f"{name} is {value!r}: {error.errors()[0]['msg'].removeprefix('Value error, ')}") from None


GivenVariants = Annotated[dict[str, dict[str, Any]], BeforeValidator(_variants)]
"""`Variants` in the shape of a file."""
