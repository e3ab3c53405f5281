"""What experiments are called beside each other."""

from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.report.side_by_side.facts import facts_of

from .experiments import host, write_experiment


@pytest.mark.parametrize(
    ("hosts", "sizes", "names"),
    [
        ((host(), host("Other CPU", 8)), (1000, 1000), ["Small CPU, 2 cores", "Other CPU, 8 cores"]),
        ((host(cores=1), host(cores=4)), (1000, 1000), ["Small CPU, 1 core", "Small CPU, 4 cores"]),
        ((host(), host(kernel="6.12.0")), (1000, 1000), ["kernel 6.1.0", "kernel 6.12.0"]),
        ((host(), host()), (1000, 5_000_000), ["1k rows per table", "5m rows per table"]),
        ((host(), host()), (1000, 1000), ["a", "b"]),
        ((None, host()), (1000, 1000), ["a", "b"]),
        (({"cpu": "?", "kernel": None}, {"cpu": {}}), (1000, 1000), ["a", "b"]),
    ],
)
def test_the_first_fact_that_differs_names_them(tmp_path: Path, hosts: Any, sizes: Any, names: list[str]) -> None:
    found = [
        write_experiment(tmp_path / name, host=facts, table_size=size, blocks=1)
        for name, facts, size in zip("ab", hosts, sizes, strict=True)
    ]
    assert [one.name for one in facts_of(found, ())] == names


def test_directories_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    found = [write_experiment(tmp_path / name / "results", blocks=1) for name in "ab"]
    assert [one.name for one in facts_of(found, ())] == [str(tmp_path / name / "results") for name in "ab"]


def test_names_that_are_given(tmp_path: Path) -> None:
    found = [write_experiment(tmp_path / name, host=host(), blocks=2, at_unix_ns=10**18) for name in "ab"]
    one, two = facts_of(found, ["before", "after"])
    assert (one.name, two.name) == ("before", "after")
    assert (one.host, one.kernel, one.table_sizes, one.clients) == ("Small CPU, 2 cores", "6.1.0", "1k", "1")
    assert one.measured == "2001-09-09 01:46 UTC"
    with pytest.raises(UsageError, match="--as is given 1 time for 2 results directories; name each of them"):
        facts_of(found, ["before"])
    for names in (["x", "x"], ["x", ""]):
        with pytest.raises(UsageError, match="give each results directory a name of its own"):
            facts_of(found, names)
