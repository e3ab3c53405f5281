from collections.abc import Mapping
from pathlib import Path

import pytest

from dbversus.builds.model import Build
from dbversus.servers.config.refused import Refused, SettingsRefusedError, all_refused

ASKED = {"good": "1", "bad_name": "2", "sort_buffer": "3", "charset": "utf9", "innodb_x": "5", "last": "6"}
SAID = {
    "bad_name": "unknown variable 'bad-name=2'",
    "charset": "Character set 'utf9' is not compiled",
    "innodb_x": "something is wrong with that",
}


def ask(left: Mapping[str, str]) -> Refused | None:
    return next((Refused("", words) for name, words in SAID.items() if name in left), None)


def test_all_are_found_by_name_by_value_or_by_trying() -> None:
    assert all_refused(ASKED, ask) == [Refused(name, SAID[name]) for name in ("bad_name", "charset", "innodb_x")]


def test_a_complaint_about_no_setting_ends_it() -> None:
    assert all_refused(ASKED, lambda _: Refused("", "no disk")) == [Refused("", "no disk")]
    assert all_refused(ASKED, lambda _: None) == []


@pytest.mark.parametrize(
    ("dbms", "name", "words", "advice"),
    [
        ("mysql", "query_cache_size", "unknown variable 'x'", "; put it under [until 5.7] or leave it out"),
        ("mysql", "tx_isolation", "unknown variable 'x'", "; write transaction_isolation or leave it out"),
        ("mysql", "sql_mode", "wrong value", "; choose another value or leave it out"),
        ("mysql", "foo", "unknown variable 'foo'", " (did you mean 'bar'?); correct its name or leave it out"),
        (
            "postgres",
            "wal_keep_segments",
            'unrecognized configuration parameter "x"',
            "; write wal_keep_size (16MB times the value), put it under [until 12] or leave it out",
        ),
    ],
)
def test_each_is_told_what_to_do(dbms: str, name: str, words: str, advice: str) -> None:
    build = Build(dbms, "99.1", "test", Path("/x"), "")
    error = SettingsRefusedError(build, [Refused(name, words, " (did you mean 'bar'?)")], {name: "mine.conf:3"})
    assert str(error) == f"{dbms}:99.1 does not accept its settings: mine.conf:3: {words}{advice}."
