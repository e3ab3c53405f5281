from pathlib import Path

import pytest

from dbversus.builds.model import Build
from dbversus.builds.target import parse_target
from dbversus.campaign.upgrading.carried import Carried, _left_out, _rests, carry
from dbversus.errors import UsageError
from dbversus.servers.config.file import Item

OLD, NEW = parse_target("mysql:5.7"), parse_target("mysql:8.0")
CONVERTED = """# As in my.cnf (dbversus configs from).
[without base]

sync_binlog = 0

[until 5.7]
query_cache_size = 64M                                  # mysql:8.0.33: unknown variable 'query_cache_size=64M'
# left out: datadir (line 12): every server gets a place of its own
"""


def test_without_a_config_each_version_has_its_own_defaults() -> None:
    assert carry(None, OLD, NEW) == Carried(("server_defaults",), ("server_defaults",))
    sqlite = parse_target("sqlite:host"), parse_target("sqlite:bundled")
    assert carry(None, *sqlite) == Carried(("default",), ("default",))


def test_a_config_by_name_stands_in_both() -> None:
    assert carry("ahi", parse_target("mysql:5.7.22"), parse_target("mysql:8.0.33")).newer == ("ahi",)


def test_what_not_both_versions_take_is_told_in_their_words() -> None:
    assert list(_left_out(CONVERTED)) == [
        "query_cache_size: mysql:8.0.33: unknown variable 'query_cache_size=64M'",
        "datadir (line 12): every server gets a place of its own",
    ]


def test_of_a_list_the_newer_version_is_given_the_words_that_it_takes() -> None:
    def item(name: str, value: str, until: str = "5.7") -> Item:
        return Item("settings", name, value, "", until, "")

    def refused(build: Build, text: str) -> list[str]:
        return [text] if "NO_AUTO_CREATE_USER" in text or "query_cache" in text else []

    items = [
        item("sql_mode", "ANSI,NO_AUTO_CREATE_USER, NO_ZERO_DATE"),
        item("sql_mode", "ANSI,NO_ZERO_DATE", until=""),
        item("query_cache_type", "0"),
        item("query_cache_list", "1,2"),
    ]
    newer = Build("mysql", "8.0.33", "path", Path("/opt"), "sum")
    ((rest, words),) = _rests(items, newer, refused)
    assert (rest.name, rest.value) == ("sql_mode", "ANSI,NO_ZERO_DATE") and rest.applies("8.0.33")
    assert words.startswith("sql_mode: on mysql:8.0.33 set it to ANSI,NO_ZERO_DATE, without NO_AUTO_CREATE_USER")


def test_sqlite_has_no_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="SQLite has no config files"):
        carry(str(tmp_path / "my.cnf"), parse_target("sqlite:host"), parse_target("sqlite:bundled"))
