import pytest

from dbversus.servers.mysql.adjusted_settings import changes, judge, values_said

HELP = """
  -t, --tmpdir=name   Path for temporary files.

Variables (--variable-name=value)
and boolean options {FALSE|TRUE}                             Value (after reading options)
------------------------------------------------------------ -------------------------------
innodb-buffer-pool-size                                      134217728
log-bin                                                      binlog
skip-name-resolve                                            TRUE
sql-mode                                                     ANSI,STRICT_TRANS_TABLES

To see what values a running MySQL server is using, type
"""


def test_the_table_of_values_is_read() -> None:
    said = values_said(HELP)
    assert (said["innodb-buffer-pool-size"], said["log-bin"]) == ("134217728", "binlog")
    assert "tmpdir" not in said


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"innodb_buffer_pool_size": "128M"}, {"innodb-buffer-pool-size": "134217728"}),
        ({"loose_fast": "1"}, {"fast": "ON"}),
        ({"skip_name_resolve": ""}, {"skip-name-resolve": "TRUE"}),
        ({"skip_log_bin": ""}, {"log_bin": "OFF"}),
        ({"log_bin": "binlog"}, {"log_bin": "ON"}),
        ({"binlog_format": "2"}, {"binlog_format": "ROW"}),
        ({"innodb_max_dirty_pages_pct": "90"}, {"innodb_max_dirty_pages_pct": "90.000000"}),
        ({"character_set_server": "utf8"}, {"character_set_server": "utf8mb3"}),
        ({"gone": "5"}, {}),
    ],
)
def test_other_words_for_the_same_value_are_no_change(asked: dict[str, str], said: dict[str, str]) -> None:
    assert not list(changes(asked, said))


@pytest.mark.parametrize(
    ("asked", "said", "rounded"),
    [
        ({"max_connections": "0"}, {"max-connections": "1"}, False),
        ({"innodb_buffer_pool_size": "100M"}, {"innodb_buffer_pool_size": "134217728"}, True),
        ({"innodb_buffer_pool_size": "1M"}, {"innodb_buffer_pool_size": "5242880"}, False),
        ({"innodb_io_capacity": "5"}, {"innodb_io_capacity": "100"}, False),
        ({"innodb_log_file_buffering": "ON"}, {"innodb_log_file_buffering": "OFF"}, False),
        ({"skip_log_bin": ""}, {"log_bin": "ON"}, False),
    ],
)
def test_another_number_or_switch_is_a_change(asked: dict[str, str], said: dict[str, str], rounded: bool) -> None:
    (change,) = changes(asked, said)
    assert (change.name, change.rounded) == (next(iter(asked)), rounded)


def test_what_the_target_chose_counts_more_than_what_the_base_says() -> None:
    pool = {"innodb_buffer_pool_size": "100M"}, {"innodb_buffer_pool_size": str(2**27)}
    assert judge(*pool, chosen=()) == ("", [])
    assert len(judge(*pool, chosen=("innodb_buffer_pool_size",))[1]) == 1
    instances = {"innodb_buffer_pool_instances": "8"}, {"innodb_buffer_pool_instances": "1"}
    words = "innodb_buffer_pool_instances = 8 was asked for, and the server runs with 1"
    assert judge(*instances, chosen=()) == ("", [words])
    assert judge(*instances, chosen=("innodb_buffer_pool_instances",)) == (words, [])
    mapped = {"innodb_log_buffer_size": "8M"}, {"innodb_log_buffer_size": "16764928"}
    assert judge(*mapped, chosen=("innodb_log_buffer_size",))[0] == ""


def test_what_the_host_has_no_open_files_for_is_a_note() -> None:
    asked, said = (
        {"open_files_limit": "65535", "table_open_cache": "4000"},
        {"open_files_limit": "20000", "table_open_cache": "9"},
    )
    assert [change.by_host for change in changes(asked, said)] == [True, True]
    refusal, notes = judge(asked, said, chosen=tuple(asked))
    assert (refusal, len(notes)) == ("", 2)
    assert judge({"max_connections": "0"}, {"max_connections": "1"}, chosen=("max_connections",))[0]
