"""What the reference's files call builds and tests."""

import pytest

from dbversus.importing.names import dbms_of
from dbversus.report.parts.layouts.names import name_of_test, names_of_targets
from dbversus.results.stored import Target


def target(label: str, dbms: str, version: str, config: str = "base") -> Target:
    return Target("t0", label, dbms, version, config)


@pytest.mark.parametrize(
    ("dbms", "version", "name"),
    [
        ("mysql", "5.6.49", "my5649"),
        ("mysql", "8.0.22", "my8022"),
        ("mysql", "8.4.7", "my8407"),
        ("mysql", "9.5.0", "my9500"),
        ("mariadb", "11.8.6", "ma110806"),
        ("postgres", "11.10", "pg1110"),
        ("postgres", "13.1", "pg131"),
        ("postgres", "18.2 (Debian 18.2-1)", "pg182"),
    ],
)
def test_a_build_is_called_as_the_reference_calls_it(dbms: str, version: str, name: str) -> None:
    """Names of its files; an import tells the DBMS by them."""
    one = target(f"{dbms}:{version}@x5", dbms, version, "x5")
    assert names_of_targets([one]) == {one.label: f"{name}.x5"}
    assert dbms_of(name) == dbms


def test_targets_of_one_build_and_config_are_told_apart() -> None:
    twins = [target(label, "postgres", "17.2") for label in ("a", "b", "c")]
    assert list(names_of_targets(twins).values()) == ["pg172.base", "pg172.base_2", "pg172.base_3"]


def test_a_build_without_a_version_has_the_name_of_its_label() -> None:
    odd = target("sqlite:bundled@<b>\twal", "sqlite", "bundled", "<b>\twal")
    assert names_of_targets([odd]) == {odd.label: "sqlite_bundled._b_wal"}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("point-query", "point-query.range100"),
        ("point-query.pre", "point-query.pre.range100"),
        ("random-points-1000.pre", "random-points.pre.range1000"),
        ("read-only-10", "read-only.range10"),
        ("read-only-count", "read-only-count.range1000"),
        ("write-only", "write-only.range10000"),
        ("points-notcovered-si", "points-notcovered-si.range100"),
        ("update-inlist", "update-inlist.range100"),
        ("scan", "scan.range100"),
        ("scan@10m", "scan@10m"),
        ("my-own\ttest", "my-own test"),
        ("insert.range100.pk0", "insert.range100.pk0"),
    ],
)
def test_a_test_of_the_suites_is_called_as_the_reference_calls_it(ours: str, theirs: str) -> None:
    assert name_of_test(ours) == theirs
