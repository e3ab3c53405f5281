"""Tests whose operations have connections of their own: with statements as text, or with none."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import definition, load_suite

SUITE = """title = "Connections"
extends = "sysbench"
[tests.connect]
title = "a connection"
group = "point"
connect = true
[tests.connect-point]
title = "a connection and a row"
group = "point"
connect = true
statements = ["point"]
[tests.mixed]
title = "either"
group = "point"
connect = true
mix = [{ test = "point-query", weight = 3 }, { test = "update-index" }]
[[phases]]
name = "all"
tests = ["connect", "connect-point", "mixed"]
"""


def _load(folder: Path, old: str = "", new: str = "") -> dict[str, dict[str, object]]:
    assert old in SUITE
    path = folder / "connections.toml"
    path.write_text(SUITE.replace(old, new, 1) if old else SUITE)
    return {name: definition(test, "postgres", 1000) for name, test in load_suite(str(path)).tests.items()}


def test_statements_go_as_text_and_there_may_be_none(tmp_path: Path) -> None:
    sent = _load(tmp_path)
    assert {name: one["connect"] for name, one in sent.items()} == dict.fromkeys(sent, True)
    assert sent["connect"]["statements"] == []
    modes = [[one["mode"] for one in sent[name]["statements"]] for name in ("connect-point", "mixed")]  # type: ignore[attr-defined]
    assert modes == [["text"], ["text", "text"]]
    assert not load_suite(str(tmp_path / "connections.toml")).tests["connect"].changes_data


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('["point"]', '[{ use = "point", mode = "prepared" }]', ":11: statement 'point' has mode = \"prepared\""),
        ("connect = true\n[tests.connect-point]", "[tests.connect-point]", ":3: the test has no `statements`"),
        ("connect = true", 'connect = true\nkind = "step"\noperations = 9', ":6: `connect` is for tests of kind"),
        ('["point"]', '["point"]\nroles = { a = { statements = ["point"] } }', ":10: `connect` is for tests with"),
        ('"point-query"', '"connect-point"', ":16: 'connect-point' has `connect`; the mix itself has it"),
    ],
)
def test_what_does_not_go_with_it_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(UsageError) as error:
        _load(tmp_path, old, new)
    assert f"connections.toml{words}" in str(error.value)
