"""One name for what versions call otherwise."""

from dbversus.dbms.renamed import background_name, counter_name, with_one_name


def test_counters_and_threads_have_the_name_that_versions_share() -> None:
    assert counter_name("background.checkpoints_req") == "checkpointer.num_requested"
    assert background_name("ib_io_rd") == background_name("innodb/io_read_thread") == "innodb/io_read_thread"
    assert counter_name("wal.wal_bytes") == "wal.wal_bytes" and background_name("walwriter") == "walwriter"


def test_settings_keep_their_names_where_a_server_shows_both() -> None:
    assert with_one_name({"tx_isolation": "a", "port": "1"}) == {"transaction_isolation": "a", "port": "1"}
    both = {"tx_isolation": "a", "transaction_isolation": "a"}
    assert with_one_name(both) == both
