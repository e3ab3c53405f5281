"""The list of what differs between any two servers and explains nothing (noise.toml)."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def noise() -> dict[str, Any]:
    return tomllib.loads(files("dbversus.explain").joinpath("noise.toml").read_text(encoding="utf-8"))
