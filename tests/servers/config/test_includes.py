"""Files that include others are read as their servers do: orders and names as seen with MySQL 5.6 to 9.7, MariaDB, PostgreSQL."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.servers.config.foreign import Converted, convert
from dbversus.servers.config.load import Complete, load_config
from dbversus.servers.config.sizing import Sizing


def tree(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def settings(tmp_path: Path, made: Converted, version: str) -> dict[str, str]:
    file = tmp_path / "made" / made.dbms / "mine.conf"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(made.text)
    return dict(load_config(made.dbms, version, ["mine"], Sizing(2**34), Complete(tmp_path / "made")).settings)


def test_a_stock_debian_tree_of_mariadb_is_read_wherever_it_lies(tmp_path: Path) -> None:
    tree(
        tmp_path / "theirs",
        {
            "my.cnf": "[client-server]\n# port = 3306\n!includedir /etc/mysql/conf.d/\n!includedir /etc/mysql/mariadb.conf.d/\n",
            "conf.d/mysqldump.cnf": "[mysqldump]\nquick\n",
            "mariadb.conf.d/50_server.cnf": "[server]\n[mysqld]\npid-file = /run/x.pid\nexpire_logs_days = 10\n",
            "mariadb.conf.d/60_galera.cnf": "[galera]\n#wsrep_on = ON\n",
            "mariadb.conf.d/90_own.cnf": "[mariadb-10.11]\nexpire_logs_days = 5\n",
            "mariadb.conf.d/99_off.cnf.bak": "[mysqld]\nexpire_logs_days = 1\n",
        },
    )
    made = convert(tmp_path / "theirs/my.cnf")
    assert made.dbms == "mariadb"
    assert [path.name for path in made.files] == [
        "my.cnf",
        "mysqldump.cnf",
        "50_server.cnf",
        "60_galera.cnf",
        "90_own.cnf",
    ]
    assert settings(tmp_path, made, "10.11.19") == {"expire_logs_days": "5"}
    assert settings(tmp_path, made, "11.4.5") == {"expire_logs_days": "10"}
    assert "pid_file (mariadb.conf.d/50_server.cnf:3)" in made.text
    assert not made.notes


def test_files_of_an_included_folder_come_in_the_order_of_their_bytes(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "my.cnf": "[mysqld]\nback_log = 1\n!includedir conf.d\nmax_connections = 7\n",
            "conf.d/b.cnf": "[mysqld]\nback_log = 2\nmax_connections = 2\n",
            "conf.d/a.cnf": "[mysqld]\nback_log = 3\n",
            "conf.d/B.cnf": "[mysqld]\nback_log = 4\n",
            "conf.d/.hidden.cnf": "[mysqld]\ntable_open_cache = 5\n",
            "conf.d/x.v2.cnf": "[client]\nport = 1\n",
            "conf.d/z.ini": "[mysqld]\nback_log = 6\n",
            "conf.d/dir.cnf/x.cnf": "[mysqld]\nback_log = 7\n",
        },
    )
    made = convert(tmp_path / "my.cnf")
    assert [path.name for path in made.files] == ["my.cnf", ".hidden.cnf", "B.cnf", "a.cnf", "b.cnf", "x.v2.cnf"]
    assert settings(tmp_path, made, "8.0.33") == {"table_open_cache": "5", "back_log": "2", "max_connections": "7"}


def test_the_section_of_a_file_goes_on_behind_an_include(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {"my.cnf": "[mysqld]\n ! include  other.cnf # that\nback_log = 1\n", "other.cnf": "[client]\nport=1\n"},
    )
    assert settings(tmp_path, convert(tmp_path / "my.cnf"), "8.0.33") == {"back_log": "1"}
    tree(tmp_path, {"other.cnf": "port=1\n"})
    with pytest.raises(UsageError, match=r"other\.cnf:1: 'port=1' stands before any section"):
        convert(tmp_path / "my.cnf")


def test_what_postgresql_includes_is_read_in_its_order(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "postgresql.conf": "work_mem = 1MB\ninclude_dir 'conf.d'\nInclude = 'more/x.conf'\ninclude_if_exists = 'gone.conf'\n",
            "conf.d/a.conf": "work_mem = 2MB\nmax_connections = 2\n",
            "conf.d/B.conf": "max_connections = 3\nport = 1\n",
            "conf.d/.hidden.conf": "work_mem = 9MB\n",
            "conf.d/c.cnf": "work_mem = 9MB\n",
            "more/x.conf": "include 'y.conf'\n",
            "more/y.conf": "temp_buffers = 4MB\n",
            "postgresql.auto.conf": "# by ALTER SYSTEM\nwork_mem = '5MB'\n",
        },
    )
    made = convert(tmp_path / "postgresql.conf")
    names = ["postgresql.conf", "B.conf", "a.conf", "x.conf", "y.conf", "postgresql.auto.conf"]
    assert [path.name for path in made.files] == names
    assert settings(tmp_path, made, "17.2") == {"max_connections": "2", "temp_buffers": "4MB", "work_mem": "5MB"}
    assert "# left out: port (conf.d/B.conf:2): " in made.text
    assert made.notes == ["line 4: gone.conf is not here, so what it says is missing (the server passes over it)"]


def test_what_alter_system_has_set_may_lie_in_the_data_directory(tmp_path: Path) -> None:
    data = tmp_path / "data"
    tree(
        tmp_path,
        {
            "etc/postgresql.conf": f"data_directory = '{data}'\nwork_mem = 1MB\n",
            "data/postgresql.auto.conf": "work_mem = 2MB\n",
        },
    )
    assert settings(tmp_path, convert(tmp_path / "etc/postgresql.conf"), "17.2") == {"work_mem": "2MB"}


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        (
            "my.cnf",
            "[mysqld]\na_b=1\n!includedir /no/such.d\n",
            "line 3: /no/such.d is not here, .*server does not start without it",
        ),
        (
            "my.cnf",
            "[mysqld]\na_b=1\n!include /no/such.cnf\n",
            "line 3: /no/such.cnf is not here, .*server passes over it",
        ),
        (
            "my.cnf",
            "[mysqld]\na_b=1\n!include my.cnf\n",
            "line 3: my.cnf is passed over: it includes a file that is being read",
        ),
        ("my.cnf", "[mysqld]\na_b=1\n!include /dev/zero\n", "line 3: /dev/zero is not here"),
        (
            "p.conf",
            "a_b=1\ninclude_dir = 'conf.d'\n",
            r"line 2: conf\.d is not here, .*server does not start without it",
        ),
        ("p.conf", "a_b=1\ninclude 'x'\n", "line 2: x is not here, .*server does not start without it"),
        (
            "p.conf",
            "a_b=1\ninclude './p.conf'\n",
            "line 2: ./p.conf is passed over: it includes a file that is being read",
        ),
    ],
)
def test_what_is_not_read_is_a_note(tmp_path: Path, name: str, text: str, note: str) -> None:
    (tmp_path / name).write_text(text)
    made = convert(tmp_path / name)
    assert made.kept == 1
    assert len(made.notes) == 1
    assert f"# note: {made.notes[0]}" in made.text
    with pytest.raises(AssertionError, match=note):
        raise AssertionError(made.notes[0])


def test_includes_end_where_servers_end(tmp_path: Path) -> None:
    for level in range(15):
        (tmp_path / f"{level}.conf").write_text(f"s{level} = 1\ninclude '{level + 1}.conf'\n")
    made = convert(tmp_path / "0.conf")
    assert (made.kept, len(made.files)) == (11, 11)
    assert made.notes == ["10.conf:2: 11.conf is passed over: a server follows 10 levels of includes at most"]
    for level in range(15):
        (tmp_path / f"{level}.conf").write_text(f"include '{level + 1}.conf'\n" * 3)
    with pytest.raises(UsageError, match=r"0\.conf includes more than 1000 files"):
        convert(tmp_path / "0.conf")
