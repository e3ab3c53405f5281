"""Families of tests: one variable, several, and variants with names."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import Suite, load_suite

SUITE = """\
title = "Variants"

[tables.t]
columns = {{ id = {{ type = "int4", values = {{ gen = "sequence" }} }} }}

[tests.q]
title = "{{hosts}} hosts"
group = "range"
rows_per_op = "hosts * 10"
work_per_op = {{ metrics = "hosts * 2" }}
variants = {variants}
statements = [{{ name = "q", sql = "SELECT :n", params = {{ n = {{ gen = "uniform", low = 1, high = "hosts" }} }} }}]

[[phases]]
name = "p"
tests = ["q"]
"""


def load(tmp_path: Path, variants: str) -> Suite:
    (tmp_path / "variants.toml").write_text(SUITE.format(variants=variants))
    return load_suite(tmp_path / "variants.toml")


def test_several_variables_make_all_combinations(tmp_path: Path) -> None:
    suite = load(tmp_path, '{ hosts = [1, 8], length = ["1h", "12h"] }')
    assert list(suite.tests) == ["q-1-1h", "q-1-12h", "q-8-1h", "q-8-12h"]
    assert suite.tests["q-8-12h"].own_variables == {"hosts": 8, "length": "12h"}


def test_variants_may_have_names(tmp_path: Path) -> None:
    suite = load(tmp_path, '[{ name = "small", hosts = 1 }, { name = "large", hosts = 8, share = 0.5 }]')
    large = suite.tests["q-large"]
    assert (large.title, large.own_variables["share"]) == ("8 hosts", 0.5)
    assert [test.rows_scanned_per_op(100, 1) for test in suite.tests.values()] == [10, 80]
    assert [test.work_of_op(100, 1) for test in suite.tests.values()] == [{"metrics": 2}, {"metrics": 16}]


@pytest.mark.parametrize(
    ("variants", "expected"),
    [
        ("[{ hosts = 1 }]", "number 1 has no `name`"),
        ("[]", "give variables with at least one value each"),
        ("{ hosts = 3 }", "give variables with at least one value each"),
        ("{ hosts = [1], share = [0.5] }", "'1-0.5' cannot be part of a test's name; give a list of named variants"),
        ('[{ name = "a", hosts = 1 }, { name = "a", hosts = 2 }]', "'a' is given twice"),
        ('[{ name = "a", hosts = true }]', "hosts is True: it has to be a number, a text"),
        ('[{ name = "a", Hosts = 1 }]', "'Hosts' is no name of a variable"),
    ],
)
def test_mistakes_have_their_line(tmp_path: Path, variants: str, expected: str) -> None:
    with pytest.raises(UsageError) as error:
        load(tmp_path, variants)
    assert "variants.toml:11: tests.q.variants is " in str(error.value)
    assert expected in str(error.value)
