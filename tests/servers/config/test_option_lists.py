import pytest

from dbversus.dbms.known import find_dbms
from dbversus.servers.config.option_lists import full_name, option_lists, ranges, renames, where_known


@pytest.mark.parametrize(
    ("dbms", "name", "full"),
    [
        ("mariadb", "key_buffer", "key_buffer_size"),
        ("mysql", "key-buffer", "key_buffer_size"),
        ("mysql", "loose_skip_name_res", "loose_skip_name_res"),  # no setting is called name_resolve
        ("mysql", "thread_cache", "thread_cache_size"),
        ("mysql", "maximum_key_buffer", "maximum_key_buffer_size"),
        ("mysql", "skip-name-resolve", "skip-name-resolve"),
        ("mysql", "sort_buffer_size", "sort_buffer_size"),
        ("mysql", "innodb", "innodb"),  # many
        ("mysql", "foo_bar", "foo_bar"),
        ("postgres", "work", "work"),
    ],
)
def test_a_short_name_is_written_out_where_it_means_one_setting(dbms: str, name: str, full: str) -> None:
    assert full_name(dbms, name) == full


def test_versions_that_know_a_setting_are_told_as_sections() -> None:
    assert where_known("mysql", "query_cache_size") == ["until 5.7"]
    assert where_known("mysql", "innodb_redo_log_capacity") == ["since 8.0.31"]
    assert where_known("postgres", "wal_keep_segments") == ["until 12"]
    assert where_known("mysql", "skip-name-resolve") == []
    assert where_known("mysql", "foo_bar") == []


def test_ranges_claim_nothing_between_versions_that_differ() -> None:
    has = {"9.6.24": False, "10.23": True, "12.22": True, "13.1": False, "13.5": True, "17.2": True}
    assert list(ranges("postgres", has)) == ["since 10 until 12", "since 13.5"]
    assert list(ranges("postgres", {"17.2": True})) == [""]
    assert list(ranges("mysql", {"5.7.22": True, "8.0.33": False})) == ["until 5.7"]


def test_new_names_are_known_and_old_ones_gone() -> None:
    for old, new in renames().items():
        newest = list(option_lists(find_dbms(new.dbms).name).values())[-1]
        assert new.new in newest or new.new == "debug_parallel_query", old  # which PostgreSQL does not list
        assert old not in newest, old
