from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.servers.base import ServerConfig
from dbversus.servers.config.foreign import Converted, convert
from dbversus.servers.config.load import load_config
from dbversus.servers.config.sizing import Sizing

SIZING = Sizing(memory_bytes=16 * 2**30, targets=2, cpus=4, data_bytes=2**30)
MY_CNF = """
# The server of the shop.
[client]
port = 3306
password = secret

[mysqld]
user            = mysql
datadir         = /var/lib/mysql
bind-address    = 127.0.0.1     # only here
log_bin         = /var/log/mysql/mysql-bin.log
innodb-buffer-pool-size = 64M
innodb_buffer_pool_size=96M
skip-name-resolve
loose-innodb_numa_interleave = 1
sql_mode = ""
init_connect = 'SET NAMES utf8 # all'
ft_boolean_syntax = "+ -><(){}~*:&|"
slow_query_log_file = /var/log/slow.log
rpl_semi_sync_master_enabled = 1
; an old kind of comment
max_allowed_packet=16M

[mysqldump]
quick

[mysqld-5.7]
query_cache_size = 1M
[mysqld-8.0]
innodb_redo_log_capacity = 1G
[server]
sort_buffer_size = 2M
[mariadb-10.11]
innodb_log_file_buffering = OFF
"""
POSTGRESQL_CONF = """
# comment
listen_addresses = '*'   # all
port = 5433
shared_buffers = 128MB                  # min 128kB
work_mem 8MB
log_line_prefix = '%m [%p] it''s # '
lc_messages = 'en_US.UTF-8'
ssl = on
archive_command = 'cp %p /archive/%f'
primary_conninfo = 'host=a password=secret'
hba_file = '/etc/postgresql/pg_hba.conf'
random_page_cost=1.1
"""


def converted(tmp_path: Path, text: str, dbms: str | None = None) -> Converted:
    path = tmp_path / "their.cnf"
    path.write_text(text)
    return convert(path, dbms)


def loaded(tmp_path: Path, made: Converted, version: str) -> ServerConfig:
    """What dbversus makes of the config file."""
    folder = tmp_path / made.dbms
    folder.mkdir(exist_ok=True)
    (folder / "mine.conf").write_text(made.text)
    return load_config(made.dbms, version, ["mine"], SIZING, tmp_path)


def test_a_my_cnf_becomes_a_config_by_version(tmp_path: Path) -> None:
    made = converted(tmp_path, MY_CNF, "mysql")
    config = loaded(tmp_path, made, "8.0.33")
    assert dict(config.settings) == {
        "log_bin": "mysql-bin.log",
        "innodb_buffer_pool_size": "96M",
        "skip_name_resolve": "",
        "loose_innodb_numa_interleave": "1",
        "sql_mode": '""',
        "ft_boolean_syntax": "+ -><(){}~*:&|",
        "max_allowed_packet": "16M",
        "innodb_redo_log_capacity": "1G",
        "sort_buffer_size": "2M",
    }
    assert loaded(tmp_path, made, "5.7.22").settings["query_cache_size"] == "1M"
    assert "innodb_redo_log_capacity" not in loaded(tmp_path, made, "5.7.22").settings
    assert "left out: datadir (line 9): every server gets a place of its own" in made.text
    assert "left out: slow_query_log_file (line 19): a path of another installation" in made.text
    assert "left out: init_connect (line 17): it may hold a password or a key" in made.text
    assert (made.kept, made.left_out) == (11, 6)
    assert "secret" not in made.text
    assert "innodb_log_file_buffering" not in made.text


def test_sections_of_mariadb_are_for_mariadb_and_tell_that_it_is(tmp_path: Path) -> None:
    made = converted(tmp_path, MY_CNF)
    assert made.dbms == "mariadb"
    assert loaded(tmp_path, made, "10.11.19").settings["innodb_log_file_buffering"] == "OFF"
    assert "innodb_log_file_buffering" not in loaded(tmp_path, made, "11.4.5").settings
    assert converted(tmp_path, "[mysqld]\nmax_connections=5\n").dbms == "mysql"
    assert converted(tmp_path, "[mysqld]\nrocksdb-block-cache-size=5G\n").dbms == "myrocks"


def test_what_may_be_a_secret_is_left_out_and_what_only_sounds_like_one_is_kept(tmp_path: Path) -> None:
    names = (
        "hashicorp_key_management_token", "keyring_hashicorp_secret_id", "authentication_ldap_simple_bind_root_pwd",
        "init-connect", "aws_key_management_master_key_id", "loose-keyring_vault_conf", "proxy_url", "report_password",
    )  # fmt: skip
    kept = {"validate_password_policy": "LOW", "key_buffer_size": "8M", "default_password_lifetime": "0"}
    text = "\n".join(["[mysqld]", *(f"{name} = hidden7" for name in names), *map(" = ".join, kept.items())])
    made = converted(tmp_path, text, "mysql")
    assert "hidden7" not in made.text
    assert made.left_out == len(names)
    assert dict(loaded(tmp_path, made, "8.0.33").settings) == kept

    text = "\n".join(
        f"{name} = 'hidden7'" for name in ("anon.salt", "pg_stat_monitor.key", "archive_command", "vault.token")
    )
    made = converted(tmp_path, f"{text}\npassword_encryption = md5\n", "postgres")
    assert "hidden7" not in made.text
    assert dict(loaded(tmp_path, made, "17.2").settings) == {"password_encryption": "md5"}


def test_a_postgresql_conf_becomes_a_config(tmp_path: Path) -> None:
    made = converted(tmp_path, POSTGRESQL_CONF)
    assert made.dbms == "postgres"
    assert dict(loaded(tmp_path, made, "17.2").settings) == {
        "shared_buffers": "128MB",
        "work_mem": "8MB",
        "log_line_prefix": "%m [%p] it's # ",
        "random_page_cost": "1.1",
    }
    assert (made.kept, made.left_out) == (4, 7)
    assert "secret" not in made.text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "# as Debian has it\n!includedir /no/conf.d/\n!include /no.cnf\n",
            r" has no settings of a mysql server; they stand .*; line 2: /no/conf.d/ is not here.*; line 3: /no.cnf is not here",
        ),
        ("[mysqldd]\nsort_buffer_size=1M\n", r":1: '\[mysqldd\]' is no section .*did you mean 'mysqld'"),
        ("[ mysqld]\nsort_buffer_size=1M\n", r":1: '\[ mysqld\]' is no section .*did you mean 'mysqld'"),
        ("[mysqld\nsort_buffer_size=1M\n", ":1: .* is not understood"),
        ("[mysqld]\nsort buffer = 1M\n", ":2: 'sort buffer = 1M' is not understood"),
        ("a=1\n[mysqld]\n", ":1: 'a=1' stands before any section"),
        ("[client]\nport=3306\n", r" has no settings of a mysql server; they stand in \[mysqld\]"),
        ("work_mem = 1 MB\n", ":1: 'work_mem = 1 MB' is not understood"),
        ("# nothing\n", " has no settings of a postgres server"),
    ],
)
def test_what_cannot_be_taken_names_file_and_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=rf"^{tmp_path}/their\.cnf{words}"):
        converted(tmp_path, text)


def test_escapes_of_postgresql_are_replaced(tmp_path: Path) -> None:
    made = converted(tmp_path, r"log_line_prefix = 'a\tb''c\'d\\\101\x'" + "\n")
    assert loaded(tmp_path, made, "17.2").settings["log_line_prefix"] == "a\tb'c'd\\Ax"


def test_short_names_are_written_out(tmp_path: Path) -> None:
    made = converted(tmp_path, "[mysqld]\nkey_buffer = 16M\nloose-thread-cache=8\nmax_connections = 60\n", "mariadb")
    assert "\nkey_buffer_size = 16M " in made.text and "# key_buffer (line 2)\n" in made.text
    assert "\nloose_thread_cache_size = 8 " in made.text
    assert dict(loaded(tmp_path, made, "10.11.19").settings)["key_buffer_size"] == "16M"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_files_of_other_systems_are_read(tmp_path: Path, encoding: str, ending: str) -> None:
    text = ending.join(
        [
            "# für alle",
            "[mysqld]",
            "sort_buffer_size = 2M # größer",
            "skip-name-resolve",
            "[mysqld-8.0 ] # x",
            "a_b=1",
            "",
        ]
    )
    (tmp_path / "their.cnf").write_bytes(text.encode(encoding))
    made = convert(tmp_path / "their.cnf")
    assert dict(loaded(tmp_path, made, "8.0.33").settings) == {
        "sort_buffer_size": "2M",
        "skip_name_resolve": "",
        "a_b": "1",
    }


def test_a_section_that_no_server_reads_is_a_note(tmp_path: Path) -> None:
    made = converted(tmp_path, "[automysqlbackup]\nfoo=1\n[mysqld]\nsort_buffer_size=2M\n!foo /x\n")
    assert made.notes == [
        "line 1: [automysqlbackup] is passed over: no server reads such a section",
        "line 5: '!foo /x' is passed over: accepted are !include FILE and !includedir FOLDER",
    ]
    assert (made.kept, "# note: line 1: [automysqlbackup]" in made.text) == (1, True)


def test_other_mistakes(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.cnf cannot be read"):
        convert(tmp_path / "gone.cnf")
    with pytest.raises(UsageError, match="sqlite cannot be made from a file; accepted: postgres, mysql"):
        convert(tmp_path / "gone.cnf", "sqlite")
