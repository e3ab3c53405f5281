from dbversus.dbms.sql.table import Table
from dbversus.suites.assembly.judged_load import with_judged_load
from dbversus.suites.load import load_suite
from dbversus.suites.model import LOAD
from dbversus.suites.send.define import Json
from dbversus.suites.send.judged_load import load_definition


def _sent(table_size: int, tables: int) -> Json:
    def make_sql(table: Table) -> tuple[list[str], list[str]]:
        return [f"CREATE TABLE {table.name}"], [f"ADD KEY TO {table.name}", f"INDEX {table.name}"]

    suite = with_judged_load(load_suite("sysbench"), table_size, tables)
    return load_definition(suite.tests[LOAD], table_size, tables, make_sql)


def test_each_round_inserts_into_every_table_from_its_first_row_on() -> None:
    one, other = _sent(3000, 2)["statements"][:2]
    assert one["sql"] == "INSERT INTO sbtest1 (id, k, c, pad) VALUES (:id, :k, :c, :pad)"
    assert one["mode"] == other["mode"] == "text"
    assert other["sql"] == one["sql"].replace("sbtest1", "sbtest2")
    assert (one["rows"], one["position"]["from"], one["position"]["of"]) == (1000, 0, "sbtest1")
    assert one["position"]["seed"] != other["position"]["seed"]


def test_what_comes_after_the_rows_is_sent_with_the_last_round_as_the_target_says_it() -> None:
    after = _sent(3000, 2)["statements"][2:]
    assert [each["sql"] for each in after] == [
        "ADD KEY TO sbtest1", "INDEX sbtest1", "ADD KEY TO sbtest2", "INDEX sbtest2",
    ]  # fmt: skip
    (when,) = {tuple(each["when"]) for each in after}
    assert when == ("==", "position of the last row", 2999)
    assert all(each["mode"] == "text" and not each["params"] for each in after)
