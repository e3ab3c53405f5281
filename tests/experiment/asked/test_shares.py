from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.asked.shares import Burst, Shares, check_tests, shares_of
from dbversus.experiment.asked.spec import make_spec, read_spec, write_spec

THREE = {"targets": ["postgres:17"] * 3}


def test_shares_are_read_from_toml_and_written_back(tmp_path: Path) -> None:
    text = 'targets = ["postgres:17", "postgres:17"]\n[inject.1.cpu]\npoint-query = 0.05\nscan = [0.01, 0.02]\n'
    (tmp_path / "x.toml").write_text(text)
    spec = read_spec(tmp_path / "x.toml", lambda _: {})
    assert spec.inject == {"1": {"cpu": {"point-query": 0.05, "scan": [0.01, 0.02]}}}
    write_spec(spec, tmp_path / "again.toml")
    assert read_spec(tmp_path / "again.toml", lambda _: {}) == spec


def test_bursts_are_read_from_toml_and_written_back(tmp_path: Path) -> None:
    text = """targets = ["postgres:17", "postgres:17"]
[inject.1.cpu]
point-query = { share = 1.0, ms = 50, every_ms = 500 }
scan = [0.01, { share = 0.5, ms = 2.5, every_ms = 10 }]
insert = [{ share = 0, ms = 1, every_ms = 2 }]
"""
    (tmp_path / "x.toml").write_text(text)
    spec = read_spec(tmp_path / "x.toml", lambda _: {})
    burst = Burst(1.0, 50, 500)
    scan, insert = [0.01, Burst(0.5, 2.5, 10)], [Burst(0, 1, 2)]
    assert spec.inject == {"1": {"cpu": {"point-query": burst, "scan": scan, "insert": insert}}}
    write_spec(spec, tmp_path / "again.toml")
    assert read_spec(tmp_path / "again.toml", lambda _: {}) == spec
    assert make_spec(spec.model_dump()) == spec


def test_a_burst_says_how_much_and_when() -> None:
    inject: Any = {"1": {"cpu": {"scan": [0.02, Burst(1.0, 50, 500)]}, "io": {"scan": 0.1}}}
    uniform, burst = (shares_of(inject, 1, ("scan",), block) for block in (0, 1))
    assert (uniform, burst) == (Shares(0.02, 0.1), Shares(1.0, 0.1, Burst(1.0, 50, 500)))
    assert uniform.asked() == {"cpu_share": 0.02, "io_share": 0.1}
    assert burst.asked() == {"cpu_share": 1.0, "io_share": 0.1, "cpu_ms": 50, "cpu_every_ms": 500}


def test_to_inject_nothing_is_not_the_same_as_no_injection(tmp_path: Path) -> None:
    nothing: list[Any] = [None, {}]
    for inject in nothing:
        spec = make_spec(THREE | ({} if inject is None else {"inject": inject}))
        write_spec(spec, tmp_path / "x.toml")
        assert read_spec(tmp_path / "x.toml", lambda _: {}).inject == inject


def test_shares_vary_by_block_and_kind() -> None:
    inject: Any = {"2": {"cpu": {"scan": [0.01, 0.02, 0.03], "scan@4": 0.5}, "io": {"scan": 0.1}}}
    spec = make_spec(THREE | {"inject": inject})
    assert spec.inject is not None
    assert [shares_of(spec.inject, 2, ("scan",), block) for block in (0, 1, 2, 3)] == [
        Shares(0.01, 0.1),
        Shares(0.02, 0.1),
        Shares(0.03, 0.1),
        Shares(0.01, 0.1),
    ]
    assert shares_of(spec.inject, 2, ("scan@4", "scan"), 0) == Shares(0.5, 0.1)
    assert shares_of(spec.inject, 1, ("scan",), 0) == shares_of(spec.inject, 2, ("insert",), 0) == Shares(0, 0)


def _burst(**other: Any) -> dict[str, Any]:
    return {"1": {"cpu": {"scan": {"share": 1.0, "ms": 50, "every_ms": 500} | other}}}


@pytest.mark.parametrize(
    ("inject", "named"),
    [
        ({"3": {}}, "target '3'; numbers from 0 .* to 2"),
        ({"base": {}}, "target 'base'"),
        ({"01": {}}, "target '01'"),
        ({"1": {"memory": {}}}, "'memory'; accepted: cpu, io"),
        ({"1": {"cpu": {"scan": 5}}}, r"inject\.1\.cpu\.scan is 5"),
        ({"1": {"cpu": {"scan": [0.1, -0.1]}}}, r"inject\.1\.cpu\.scan is -0\.1; shares from 0 to 1"),
        ({"1": {"io": {"scan": []}}}, r"inject\.1\.io\.scan is empty"),
        ({"1": {"io": {"scan": "much"}}}, r"inject\.1\.io\.scan"),
        (_burst(share=1.5), r"inject\.1\.cpu\.scan is 1\.5; shares from 0 to 1"),
        (_burst(share=float("nan")), r"inject\.1\.cpu\.scan is nan; shares from 0 to 1"),
        (_burst(ms=0), r"inject\.1\.cpu\.scan\.ms is 0; a burst lasts some time"),
        (_burst(ms=500), r"inject\.1\.cpu\.scan\.every_ms is 500; more than ms \(500\) and up to 3600000 are accepted"),
        (_burst(every_ms=float("inf")), r"every_ms is inf; more than ms \(50\)"),
        (_burst(share="all"), r"inject\.1\.cpu\.scan\.share is 'all'; a number is accepted, as in \{ share = 1\.0"),
        (_burst(ms=True), r"inject\.1\.cpu\.scan\.ms is True; a number"),
        (
            _burst(seconds=1),
            r"inject\.1\.cpu\.scan has `seconds`; a burst such as \{ share = 1\.0, ms = 50, every_ms = 500 \}",
        ),
        ({"1": {"cpu": {"scan": [0.1, {"share": 1.0}]}}}, r"inject\.1\.cpu\.scan lacks `ms`; a burst such as"),
        ({"1": {"io": _burst()["1"]["cpu"]}}, r"inject\.1\.io\.scan is a burst; bursts are of cpu alone"),
    ],
)
def test_a_mistake_is_named_in_one_sentence(inject: object, named: str) -> None:
    with pytest.raises(UsageError, match=named) as error:
        make_spec(THREE | {"inject": inject})
    assert "\n" not in str(error.value)


def test_a_test_that_is_not_run_is_named() -> None:
    with pytest.raises(UsageError, match=r"'scam', which is not run; there are scan, insert\."):
        check_tests({"1": {"cpu": {"scam": 0.1}}}, ["scan", "insert"])
