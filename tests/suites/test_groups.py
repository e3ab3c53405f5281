"""Groups of one's own, in a suite and in the header of its results."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import GROUP_TITLES, load_suite

SUITE = """\
title = "Groups"

[tables.t]
columns = { id = { type = "int4", values = { gen = "sequence" } } }

[groups.window]
title = "window aggregates"

[tests.last]
title = "The last rows"
group = "window"
statements = [{ name = "q", sql = "SELECT 1" }]

[[phases]]
name = "p"
tests = ["last"]
"""


def test_a_group_has_its_title_beside_the_usual_ones(tmp_path: Path) -> None:
    (tmp_path / "groups.toml").write_text(SUITE)
    suite = load_suite(tmp_path / "groups.toml")
    assert suite.group_titles == {**GROUP_TITLES, "window": "window aggregates"}
    assert suite.tests["last"].group == "window"


def test_a_suite_that_extends_another_has_its_groups(tmp_path: Path) -> None:
    (tmp_path / "groups.toml").write_text(SUITE)
    (tmp_path / "more.toml").write_text('title = "More"\nextends = "groups.toml"\n[groups.window]\ntitle = "windows"\n')
    assert load_suite(tmp_path / "more.toml").group_titles["window"] == "windows"


def test_an_unknown_group_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "groups.toml").write_text(SUITE.replace('group = "window"', 'group = "windows"'))
    with pytest.raises(UsageError, match=r"groups.toml:11: unknown group 'windows'. Did you mean 'window'\?"):
        load_suite(tmp_path / "groups.toml")
