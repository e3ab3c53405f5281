import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

from dbversus.importing.model import Sheet
from dbversus.private import (
    config_told,
    holds_secret,
    recorded,
    whole,
    with_short_paths,
    without_secret_settings,
    without_secrets,
)
from dbversus.results.export import export
from dbversus.servers.config.foreign import convert
from dbversus.servers.config.option_lists import FOLDER

SECRETS = (
    "password", "wsrep_sst_auth", "primary_conninfo", "hashicorp_key_management_token", "keyring_hashicorp_secret_id",
    "authentication_ldap_simple_bind_root_pwd", "init_connect", "init-connect", "loose-keyring_aws_conf_file",
    "aws_key_management_master_key_id", "anon.salt", "pg_stat_monitor.key", "pgsodium.getkey_script", "init_file", "init_slave",
    "archive_command", "restore_command", "ssl_passphrase_command", "ssl_key", "ssl_key_file", "PGPASSWORD", "--mysql-password",
    "pg_superuserpass", "azure.storage_credentials", "vault.secret", "s3_access_key", "s3_secret_key",
    "file_key_management_filekey",
    "pljava.vmoptions_token", "cron.dsn", "redirect_url", "krb_server_keyfile", "AUTHENTICATION_LDAP_SASL_BIND_ROOT_PWD",
    "primary_key_password", "key_cache_secret",
    "clientPassword", "sslcert", "passwd", "passphrase", "api-key", "apikey", "connection_string",
    "caching_sha2_password_private_key_path",
)  # fmt: skip
OPEN = (
    "validate_password_policy", "validate_password.policy", "password_encryption", "key_buffer_size", "foreign_key_checks",
    "default_password_lifetime", "authentication_timeout", "key_cache_block_size", "innodb_ft_max_token_size", "ngram_token_size",
    "sql_require_primary_key", "delay_key_write", "max_seeks_for_key", "shared_buffers", "password_history", "ssl",
    "innodb_flush_log_at_trx_commit", "rocksdb_pin_l0_filter_and_index_blocks_in_cache", "wal_compression", "synchronous_commit",
)  # fmt: skip
HIDDEN_OF_ALL = {
    "admin_ssl_key", "archive_cleanup_command", "archive_command", "caching_sha2_password_private_key_path", "des_key_file",
    "feedback_url", "init_connect", "init_file", "init_replica", "init_slave", "keyring_migration_password", "krb_server_keyfile",
    "primary_conninfo", "recovery_end_command", "redirect_url", "report_password", "restore_command", "ssl_key", "ssl_key_file",
    "sha256_password_private_key_path", "ssl_passphrase_command", "wsrep_sst_auth",
}  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_what_may_hold_a_secret_is_known_by_its_name(name: str) -> None:
    assert holds_secret(name)


@pytest.mark.parametrize("name", OPEN)
def test_sizes_and_switches_are_no_secrets(name: str) -> None:
    assert not holds_secret(name)


def test_of_all_settings_that_servers_know_only_these_kinds_are_left_out() -> None:
    known = set(chain.from_iterable(path.read_text().split() for path in FOLDER.glob("*.txt")))
    found = {name for name in known if holds_secret(name)}
    assert found >= HIDDEN_OF_ALL
    others = found - HIDDEN_OF_ALL
    assert {name for name in others if "ssl" not in name and "keyring" not in name} == {
        "caching_sha2_password_public_key_path", "sha256_password_public_key_path", "oauth_validator_libraries",
        "tls_certificates_enforced_validation",
    }  # fmt: skip


def test_an_address_with_a_password_is_one_whatever_the_name() -> None:
    assert holds_secret("proxy", "http://me:pw@host/")
    assert not holds_secret("proxy", "http://host:80/")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("sysbench --mysql-password=hidden --tables=1", "sysbench --mysql-password=… --tables=1"),
        ("bench --password hidden --tables 1", "bench --password … --tables 1"),
        ('{"password": "hidden words", "rows": 3}', '{"password": "…", "rows": 3}'),
        ("pg_superuserpass    = hidden", "pg_superuserpass    = …"),
        ("mysql -uroot -phidden test", "mysql -uroot -p… test"),
        ("postgres://me:hidden@host/db", "postgres://me:…@host/db"),
        ("VAULT_TOKEN='hidden hidden' run", "VAULT_TOKEN='…' run"),
        ("s3_secret_key=hidden;", "s3_secret_key=…;"),
        ("key_buffer_size=8M", "key_buffer_size=8M"),
        ("'mysql:8.0@vault_token=hidden,work_mem=1MB' 'x'", "'mysql:8.0@vault_token=…,work_mem=1MB' 'x'"),
        ('password = "" next = 1', 'password = "" next = 1'),
        ("-P 3306 -p 5432", "-P 3306 -p 5432"),
    ],
)  # fmt: skip
def test_words_of_others_lose_passwords_and_nothing_else(text: str, kept: str) -> None:
    assert without_secrets(text) == kept


def test_recorded_settings_tell_neither_secrets_nor_the_host() -> None:
    settings = {
        "hostname": "db7", "server_uuid": "4d7ee436-ea02-11f1-8a81-02fc00000001", "general_log_file": "db7.log",
        "slow_query_log_file": "/x/db7-slow.log", "report_host": "", "datadir": "/x/data/", "cluster_name": "pay",
        "socket": "/x/s",
        "relay_log": "db7-relay-bin", "wsrep_node_name": "db7", "listen_addresses": "10.0.0.1", "unix_socket_directories": "/x/s",
        "init_connect": "SET PASSWORD = 'x'", "init_file": "", "innodb_undo_directory": "./", "sync_binlog": "1",
    }  # fmt: skip
    assert recorded(settings) == {
        "init_connect": "…", "init_file": "", "innodb_undo_directory": "./", "sync_binlog": "1",
    }  # fmt: skip


def _kept_of_an_import(folder: Path, name: str, value: str) -> str:
    sheet = Sheet()
    sheet.keep(1, f"{name}={value}", "setting")
    return str(sheet.kept)


def _converted(folder: Path, name: str, value: str) -> str:
    file = folder / "my.cnf"
    file.write_text(f"[mysqld]\n{name} = {value}\nmax_connections = 5\n")
    return convert(file, "mysql").text


def _exported(folder: Path, name: str, value: str) -> str:
    first, into = folder / "first", folder / "into"
    for path in (first / "servers/t0", first / "configs/mysql", into):
        path.mkdir(parents=True)
    rendered = {"name": "x", "settings": {name: value}}
    target = {"name": "t0", "label": f"mysql:8.0@{name}={value}", "rendered": rendered}
    record = {
        "type": "experiment",
        "schema": 2,
        "targets": [target],
        "tests": [],
        "command": f"dbversus compare {target['label']}",
    }
    (first / "journal.jsonl").write_text(json.dumps(record) + "\n")
    (first / "experiment.toml").write_text(f'targets = ["{target["label"]}"]\n')
    (first / "servers/t0/settings.json").write_text(json.dumps({name: value}))
    for file in ("servers/t0/config.txt", "servers/t0/log_tail.txt", "configs/mysql/x.conf"):
        (first / file).write_text(f"{name} = {value}\n")
    export(first, into)
    return "".join(
        path.read_text() for path in into.rglob("*") if path.suffix in (".jsonl", ".json", ".toml", ".txt", ".conf")
    )


@pytest.mark.parametrize(
    "told_by",
    [
        lambda _, name, value: str(recorded({name: value})),
        lambda _, name, value: str(without_secret_settings({name: value})),
        lambda _, name, value: config_told(f"{name} = {value}\n"),
        lambda _, name, value: without_secrets(f"bench --{name}={value}"),
        _kept_of_an_import,
        _converted,
        _exported,
    ],
    ids=["recorded", "shown", "config", "words", "import", "configs from", "export"],
)
def test_no_place_that_reads_settings_tells_a_secret(tmp_path: Path, told_by: Callable[[Path, str, str], str]) -> None:
    for number, name in enumerate(name.lstrip("-") for name in SECRETS):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert "hidden7" not in told_by(folder, name, "hidden7"), name
    (tmp_path / "open").mkdir()
    assert "8M" in told_by(tmp_path / "open", "key_buffer_size", "8M")


def test_folders_are_told_from_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/zoë")
    monkeypatch.setenv("DBVERSUS_HOME", "/home/zoë/.cache/dbversus")
    text = "mysqld: /home/zoë/.cache/dbversus/run7/t0/data, /home/zoë/pg17 /home/zoët /x/home/zoë (/home/zoë)"
    shown = "mysqld: $DBVERSUS_HOME/run7/t0/data, ~/pg17 /home/zoët /x/home/zoë (~)"
    assert with_short_paths(text) == shown
    assert with_short_paths('"/home/zo\\u00eb/pg17"') == '"~/pg17"'
    assert whole("~/a:$DBVERSUS_HOME/b:/c~/d") == "/home/zoë/a:/home/zoë/.cache/dbversus/b:/c~/d"
    assert Path(whole(with_short_paths("/home/zoë/x y/z"))) == Path("/home/zoë/x y/z")


def test_a_home_that_is_the_root_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    assert with_short_paths("/opt/pg17") == "/opt/pg17"
