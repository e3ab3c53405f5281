from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.spec import make_spec, read_spec, write_spec

TARGETS = {"targets": ["postgres:13", "postgres:17"]}


def test_a_written_spec_reads_back_the_same(tmp_path: Path) -> None:
    spec = make_spec(TARGETS | {"table_size": "10k", "clients": 2, "margins": {"server_cpu_us_per_op": 0.05}})
    write_spec(spec, tmp_path / "experiment.toml")
    assert read_spec(tmp_path / "experiment.toml", lambda _: {"table_size": 7}) == spec
    assert spec.table_size == 10_000 and spec.clients == [2]


@pytest.mark.parametrize(
    ("choices", "named"),
    [
        ({"table_size": 0}, "table_size"),
        ({"colour": "red"}, "colour"),
        ({"mode": "fast"}, "mode"),
        ({"looks": [4, 4]}, "looks"),
        ({"clients": [0]}, "clients"),
        ({"margins": {"speed": 0.1}}, "speed"),
        ({"margins": {"server_cpu_us_per_op": 3}}, "server_cpu_us_per_op"),
        ({"targets": []}, "targets"),
    ],
)
def test_a_mistake_is_named_in_one_sentence(choices: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=named) as error:
        make_spec(TARGETS | choices)
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_toml_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("targets = [\n")
    with pytest.raises(UsageError, match="TOML"):
        read_spec(tmp_path / "x.toml", lambda _: {})
    with pytest.raises(UsageError, match="does not exist"):
        read_spec(tmp_path / "y.toml", lambda _: {})
