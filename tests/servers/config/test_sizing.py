from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.servers.config.sizing import Sizing, evaluate

SIZING = Sizing(memory_bytes=32 * 2**30, targets=2, cpus=8, data_bytes=3 * 2**30)


def show(text: str) -> str:
    return evaluate(text, SIZING, lambda count: f"{count // 1024}kB", "base.conf:3")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("128MB", "128MB"),
        ("{memory * 0.5 / targets}", f"{8 * 2**20}kB"),
        ("{max(1GB, min(40GB, memory * 1.25 / targets))}", f"{20 * 2**20}kB"),
        ("{memory * 0.7 // 128MB * 128MB}", f"{22912 * 2**10}kB"),
        ("{data}", f"{3 * 2**20}kB"),
        ("{cpus - 1}", "7"),
        ("{cpus // 3}", "2"),
        ("{max(2, cpus / 3)}", "2"),
        ("a{targets}b{cpus}", "a2b8"),
        ("{-(2 + 1)}", "-3"),
        ("x={{y={cpus};z={{}}}}", "x={y=8;z={}}"),
    ],
)
def test_sizes_are_rendered_with_a_unit_and_counts_without(text: str, value: str) -> None:
    assert show(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "{ram / 2}",
        "{memory /}",
        "{1 / 0}",
        "{__import__('os')}",
        "{memory ** 2}",
        "{'a'}",
        "{}",
        "{max()}",
        "{library(jemalloc) + 1}",
    ],
)
def test_mistakes_name_the_place_and_what_is_accepted(text: str) -> None:
    with pytest.raises(UsageError, match=r"^base\.conf:3: .*memory, data, targets, cpus"):
        show(text)


def test_a_library_is_a_path_and_one_that_is_unknown_names_the_place() -> None:
    found = replace(SIZING, find_library=lambda name: Path(f"/x/lib{name}.so"))
    text = "{library(jemalloc)}:{ library( mimalloc ) }"
    assert evaluate(text, found, str, "base.conf:3") == "/x/libjemalloc.so:/x/libmimalloc.so"
    with pytest.raises(UsageError, match=r"^base\.conf:3: .*'hoard'.*jemalloc"):
        show("{library(hoard)}")
