from collections.abc import Sequence
from pathlib import Path

import pytest

from dbversus.builds.model import Build
from dbversus.errors import UsageError
from dbversus.servers.config.for_builds import limit
from dbversus.servers.config.foreign import convert
from dbversus.servers.config.load import Complete, load_config
from dbversus.servers.config.refused import Refused
from dbversus.servers.config.sizing import Sizing

MY_CNF = """[mysqld]
key_buffer = 16M
query_cache_size = 1M
tx_isolation = READ-COMMITTED
foo = 1
sql_mode = A
back_log = 50
[mysqld-8.0]
back_log = 80
new_in_8 = 1
query_cache_size = 2M
"""
BUILDS = [Build("mysql", version, "test", Path("/x"), "") for version in ("8.0.33", "5.7.22", "5.6.24")]
KNOWN = {
    "5.6.24": {"key_buffer_size", "query_cache_size", "tx_isolation", "sql_mode", "back_log"},
    "5.7.22": {"key_buffer_size", "query_cache_size", "tx_isolation", "sql_mode", "back_log", "transaction_isolation"},
    "8.0.33": {"key_buffer_size", "sql_mode", "back_log", "transaction_isolation", "new_in_8"},
}


def ask(build: Build, text: str) -> Sequence[Refused]:
    lines = [line.partition(" #")[0].partition(" = ") for line in text.splitlines()]
    unknown = [Refused(name, f"unknown '{name}'") for name, _, _ in lines if name not in KNOWN[build.version]]
    sql_mode = [
        Refused(name, "no A")
        for name, _, value in lines
        if (name, value.strip(), build.version) == ("sql_mode", "A", "5.7.22")
    ]
    return unknown + sql_mode


def test_sections_say_which_version_takes_which_line(tmp_path: Path) -> None:
    (tmp_path / "my.cnf").write_text(MY_CNF)
    made = convert(tmp_path / "my.cnf", "mysql", lambda dbms, settings: limit(dbms, settings, BUILDS, ask))
    file = tmp_path / "configs/mysql/mine.conf"
    file.parent.mkdir(parents=True)
    file.write_text(made.text)
    for version, known in KNOWN.items():
        found = dict(load_config("mysql", version, ["mine"], Sizing(2**34), Complete(tmp_path / "configs")).settings)
        assert set(found) <= known
        assert found["back_log"] == ("80" if version == "8.0.33" else "50")
        assert found.get("query_cache_size") == (None if version == "8.0.33" else "1M")
        assert found.get("transaction_isolation") == ("READ-COMMITTED" if version == "8.0.33" else None)
        assert ("sql_mode" in found) == (version != "5.7.22")
    assert "[until 5.7]\nquery_cache_size = 1M   " in made.text
    assert " # mysql:8.0.33: unknown 'query_cache_size'\n" in made.text
    assert "# left out: foo (line 5): mysql:5.6.24, mysql:5.7.22, mysql:8.0.33: unknown 'foo'\n" in made.text
    assert "[until 5.6]\nsql_mode = A " in made.text and "[since 8.0]\nsql_mode = A " in made.text
    assert (made.left_out, "\nkey_buffer_size = 16M  " in made.text) == (2, True)


def test_what_is_no_settings_fault_is_told(tmp_path: Path) -> None:
    (tmp_path / "my.cnf").write_text(MY_CNF)
    refuse = [Refused("", "cannot run at all")]
    with pytest.raises(UsageError, match=r"mysql:5\.6\.24 refuses these settings together: cannot run at all"):
        convert(tmp_path / "my.cnf", "mysql", lambda dbms, settings: limit(dbms, settings, BUILDS, lambda *_: refuse))
