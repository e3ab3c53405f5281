"""python -m dbversus.cli.generate: writes flags.py, the table of flags, from the fields of the experiment.

The table is plain data, so that `--help` and completion need not import the fields, which takes long.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from dbversus.experiment.asked.fields import Fields
from dbversus.experiment.asked.flag import Flag, Kind, Option

TABLE = Path(__file__).with_name("flags.py")
_HEAD = '''# ruff: noqa: E501
# fmt: off
"""Flags of verbs that fill an experiment. Generated from experiment/asked/fields.py by `python -m dbversus.cli.generate`."""

from dbversus.experiment.asked.flag import Option

OPTIONS = (
'''


def options(fields: type[BaseModel] = Fields) -> Iterator[Option]:
    """A flag for each field that has one, in the order of the fields."""
    for setting, field in fields.model_fields.items():
        for flag in field.metadata:
            if isinstance(flag, Flag):
                yield _complete(setting, field, flag)


def _complete(setting: str, field: FieldInfo, flag: Flag) -> Option:
    kind = flag.kind or _kind(field)
    name = flag.name or ("--no-" if kind == "off" else "--") + setting.removesuffix("_s").replace("_", "-")
    return Option(setting, name, kind, flag.help, flag.verbs, flag.default or _default(field), flag.panel)


def _kind(field: FieldInfo) -> Kind:
    if field.annotation is bool:
        return "off" if field.default else "on"
    return "whole" if field.annotation in (int, int | None) else "text"


def _default(field: FieldInfo) -> str:
    """In words; empty where a flag that is not given means nothing of its own."""
    value: Any = field.get_default(call_default_factory=True, validated_data={})
    if value is None or isinstance(value, bool | dict):
        return ""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def source() -> str:
    """The text of flags.py."""
    return _HEAD + "".join(_entry(option) for option in options()) + ")\n"


def _entry(option: Option) -> str:
    parts = (f"        {name}={_literal(value)},\n" for name, value in vars(option).items())
    return f"    Option(\n{''.join(parts)}    ),\n"


def _literal(value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"({', '.join(map(_literal, value))},)"


if __name__ == "__main__":
    TABLE.write_text(source(), encoding="utf-8")
