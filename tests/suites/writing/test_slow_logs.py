"""Slow logs as servers write them, whatever stands around and in their statements, and what tools make of them."""

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.suites.writing.missing import Written
from dbversus.suites.writing.statements.read import read_statements
from dbversus.suites.writing.statements.suite import write_suite


def entry(sql: str, *before: str, seconds: str = "0.31") -> str:
    """As MySQL 8 writes it; `before` stands between the header and the statement."""
    head = "# Time: 2025-03-04T10:00:01.000000Z\n# User@Host: app[app] @ web1 [10.0.0.9]  Id:    12\n"
    head += f"# Query_time: {seconds}  Lock_time: 0.000100 Rows_sent: 0  Rows_examined: 0\n"
    return head + "".join(f"{line}\n" for line in (*before, "SET timestamp=1741082401;", f"{sql};"))


def made(tmp_path: Path, content: str | bytes, name: str = "slow.log", encoding: str = "") -> Written:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return write_suite(read_statements([str(path)], encoding), 20, [name])


def statements(written: Written) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(written.text)["statements"]
    return found


def only(written: Written) -> tuple[str, dict[str, Any]]:
    (one,) = statements(written).values()
    return one["sql"], one.get("params", {})


def said(tmp_path: Path, written: Written) -> list[str]:
    return [note.removeprefix(f"{tmp_path}/") for note in written.notes]


def refusal(tmp_path: Path, content: str | bytes, name: str = "slow.log", encoding: str = "") -> str:
    with pytest.raises(UsageError) as error:
        made(tmp_path, content, name, encoding)
    return str(error.value).removeprefix(f"{tmp_path}/")


ARTICLE = "SELECT name FROM article WHERE colour = "
BANNERS = [
    "C:\\Program Files\\MySQL\\bin\\mysqld.exe, Version: 8.0.36 (MySQL Community Server - GPL). started with:\r\n"
    "TCP Port: 3306, Named Pipe: MySQL\r\nTime                 Id Command    Argument\r\n",
    "/usr/sbin/mariadbd, Version: 10.11.6-MariaDB-0+deb12u1-log (Debian 12). started with:\n"
    "Tcp port: 0  Unix socket: /run/mysqld/mysqld.sock\nTime\t\t    Id Command\tArgument\n",
    "bin/mysqld, Version: 5.5.27-28.1-log (Percona Server (GPL), Release 28.1). started with:\n"
    "Tcp port: 12345  Unix socket: /tmp/12345/my.sock\nTime                 Id Command    Argument\n",
    "/opt/my sql/bin/mysqld, Version: 8.4.0. started with:\nTcp port: 3306  Unix socket: (null)\nTime Id Command Argument\n",
]


@pytest.mark.parametrize("banner", BANNERS)
def test_a_server_that_starts_is_no_statement(tmp_path: Path, banner: str) -> None:
    written = made(tmp_path, banner + entry(ARTICLE + "4", "use shop;") + banner + entry(ARTICLE + "5"))
    assert only(written) == (f"{ARTICLE}:colour", {"colour": {"gen": "uniform", "low": 4, "high": 5}})
    assert written.notes == [] and "weight = 2" in written.text


@pytest.mark.parametrize(
    "before",
    [
        ["use `shop-2`;"],
        ["SET insert_id=7;", "SET last_insert_id=3,insert_id=7,timestamp=1741082401;"],
        ["# administrator command: Prepare;", "# Thread_id: 5  Schema: shop  QC_hit: No", "# Bytes_sent: 64"],
        ["#   InnoDB_IO_r_ops: 0  InnoDB_IO_r_bytes: 0", "# Full_scan: Yes  Full_join: No", "# InnoDB_trx_id: 7F3A"],
        ["# explain: id\tselect_type\ttable", "# explain: 1\tSIMPLE\tarticle", "#"],
    ],
)
def test_what_stands_before_a_statement_is_none(tmp_path: Path, before: list[str]) -> None:
    assert only(made(tmp_path, entry(ARTICLE + "4", *before)))[0] == f"{ARTICLE}:colour"


@pytest.mark.parametrize(
    "sql",
    [
        "SET STATEMENT max_statement_time = 60, sort_buffer_size = 1024 FOR " + ARTICLE + "4",
        "SET NAMES utf8mb4; " + ARTICLE + "4",
        "USE shop; SET @a = 'x;y'; " + ARTICLE + "4;",
        "/* page: from orders */ " + ARTICLE + "4 -- from here\n# and from there",
        "SELECT name\nFROM article\n# only those in stock\nWHERE /* not all */ colour = 4",
        "SELECT name\nFROM article\n# Time: to be changed\nWHERE\n# from\n\ncolour = 4",
    ],
)
def test_what_is_set_before_and_comments_are_no_part_of_it(tmp_path: Path, sql: str) -> None:
    assert only(made(tmp_path, entry(sql)))[0] == f"{ARTICLE}:colour"


def test_hints_stay(tmp_path: Path) -> None:
    hinted = ARTICLE.replace("SELECT", "SELECT /*+ INDEX(article colour) */")
    assert only(made(tmp_path, entry(hinted + "4")))[0] == hinted + ":colour"


@pytest.mark.parametrize(
    ("first", "second", "params"),
    [
        ("x'4D79'", "X'4d7A'", {"gen": "bytes", "length": 2}),
        ("0x4D79", "0x4d7A", {"gen": "bytes", "length": 2}),
        ("_binary'a\\'b'", "_binary 'c'", {"gen": "choice", "of": ["a'b", "c"]}),
        ("_utf8mb4'a'", '_latin1 "c"', {"gen": "choice", "of": ["a", "c"]}),
        ("N'a'", "n'it''s'", {"gen": "choice", "of": ["a", "it's"]}),
        ("b'101'", "0b111", {"gen": "uniform", "low": 5, "high": 7}),
        ("1.25", "-2.5", {"gen": "uniform", "low": -2.5, "high": 1.25, "type": "float8", "round": 2}),
        ("1e3", ".5E1", {"gen": "uniform", "low": 5.0, "high": 1000.0, "type": "float8", "round": 0}),
        ("-7", "+ 9", {"gen": "uniform", "low": -7, "high": 9}),
        ("date '2025-01-01'", "DATE'2025-01-02'", {"gen": "choice", "of": ["2025-01-01", "2025-01-02"]}),
        ("{ts '2025-01-01 00:00:00'}", "'2025'", {"gen": "choice", "of": ["2025-01-01 00:00:00", "2025"]}),
        ("'a' 'b'", "'line\\n' \"c\"", {"gen": "choice", "of": ["ab", "line\nc"]}),
    ],
)
def test_a_literal_of_any_kind_is_a_value(tmp_path: Path, first: str, second: str, params: dict[str, Any]) -> None:
    log = "".join(entry(f"{ARTICLE}{one} AND a = b - 1") for one in (first, second))
    sql, found = only(made(tmp_path, log))
    assert sql == f"{ARTICLE}:colour AND a = b - 1" and found == {"colour": params}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("INSERT INTO t VALUES (1, 1, '2025-01-01')", "INSERT INTO t VALUES (:value, :value_2, :value_3)"),
        ("SELECT a FROM t LIMIT 10, 20", "SELECT a FROM t LIMIT :offset, :limit"),
        ("SELECT a FROM t LIMIT 20 OFFSET 10", "SELECT a FROM t LIMIT :limit OFFSET :offset"),
        ("SELECT 5, a 'five', 'b' AS 'c' FROM t ORDER BY 1, 2 DESC", "SELECT 5, a 'five', 'b' AS 'c' FROM t ORDER BY 1, 2 DESC"),
        ("SELECT CAST(a AS DECIMAL(9, 2)), NOW(6) FROM t WHERE b = 1",
         "SELECT CAST(a AS DECIMAL(9, 2)), NOW(6) FROM t WHERE b = :b"),
        ("SELECT DATE_FORMAT(d, '%Y') y FROM t WHERE a = 1 GROUP BY DATE_FORMAT(d, '%Y')",
         "SELECT DATE_FORMAT(d, '%Y') y FROM t WHERE a = :a GROUP BY DATE_FORMAT(d, '%Y')"),
        ("SELECT a FROM t WHERE doc->'$.x' = 5", "SELECT a FROM t WHERE doc->'$.x' = :value"),
        ("INSERT t (a, b, c) VALUES (1, CONCAT('x', 'y'), 2), (3, 'z', 4)",
         "INSERT t (a, b, c) VALUES (:a, CONCAT(:b, :b_2), :c)"),
        ("SELECT a FROM t WHERE 1 <> 2 AND 3 = 4", "SELECT a FROM t WHERE :value <> :value_2 AND :value_3 = :value_4"),
        ("SELECT `s`.`t`.`a`, s.t.* FROM s.t JOIN s . u ON u.id = t.id", "SELECT `t`.`a`, t.* FROM t JOIN u ON u.id = t.id"),
        ("SELECT a FROM t WHERE d > NOW() - INTERVAL 1 HOUR AND e < NOW() - INTERVAL 7 DAY",
         "SELECT a FROM t WHERE d > NOW() - INTERVAL :interval HOUR AND e < NOW() - INTERVAL :interval_2 DAY"),
        ("SELECT a FROM t WHERE b=-1 AND d=- 3 AND e - 4 > 0", "SELECT a FROM t WHERE b=:b AND d= :d AND e - :e > :value"),
        ("DELETE s.t FROM s.t WHERE s.t.id = 5", "DELETE t FROM t WHERE t.id = :id"),
    ],
)  # fmt: skip
def test_texts(tmp_path: Path, sql: str, expected: str) -> None:
    assert only(made(tmp_path, entry(sql)))[0] == expected


def test_names_of_databases_go_and_it_is_said(tmp_path: Path) -> None:
    log = entry("SELECT a FROM shop.t WHERE shop.t.id = 1") + entry("SELECT a FROM `Stock`.u WHERE u.id = 1")
    written = made(tmp_path, log)
    assert "left out before names of tables: shop, stock (all tables are in one database)" in written.notes
    twice = made(tmp_path, log + entry("SELECT 1 FROM a.users JOIN b.users u2 ON true"))
    assert "left out: 1 statement (it uses tables of one name from several databases)" in twice.notes


def test_a_broken_time_costs_no_more_than_itself(tmp_path: Path) -> None:
    log = entry("SELECT * FROM t", seconds="18446744073708.796870.000036") + entry(
        "SELECT * FROM u", seconds="18446744073709.55"
    )
    written = made(tmp_path, log)
    assert {one["sql"] for one in statements(written).values()} == {"SELECT * FROM t", "SELECT * FROM u"}
    assert said(tmp_path, written) == [
        "slow.log:3: '18446744073708.796870.000036' is no time of a statement; it counts as 0",
        "slow.log:8: '18446744073709.55' is no time of a statement; it counts as 0",
    ]
    assert said(tmp_path, made(tmp_path, log * 5))[-1] == "slow.log: so are 5 others"


def test_statements_that_were_cut_off_or_are_several_are_left_out(tmp_path: Path) -> None:
    cut = ["SELECT a FROM t WHERE b = 'x", "SELECT a FROM t WHERE (b = 5", "SELECT a FROM t /* where"]
    log = "".join(map(entry, [*cut, "SELECT a FROM t; DELETE FROM t", "SELECT a FROM t"]))
    notes = made(tmp_path, log).notes
    assert notes == [
        "left out: 3 statements (its text was cut off)",
        "left out: 1 statement (it is several statements)",
    ]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT a FROM t INTO OUTFILE '/tmp/t.txt'", "it writes a file of the server"),
        ("SELECT {fn NOW()} FROM t", "it has {…}, which a suite takes for a variable"),
        ("SELECT user FROM mysql.user", "it asks about the server"),
        ("SELECT @@max_allowed_packet", "it asks about the server"),
        ("SELECT 1", "it reads no table"),
        ("# administrator command: Quit", "there is none"),
    ],
)
def test_what_is_left_out(tmp_path: Path, sql: str, reason: str) -> None:
    assert refusal(tmp_path, entry(sql)).endswith(f"no statement can be a test: {reason}.")


def test_what_a_common_table_expression_does_is_its_group(tmp_path: Path) -> None:
    both = [
        "WITH x AS (SELECT a FROM t) SELECT a FROM x",
        "WITH x AS (SELECT a FROM t) DELETE FROM t WHERE a IN (SELECT a FROM x)",
    ]
    tests = tomllib.loads(made(tmp_path, "".join(map(entry, both))).text)["tests"]
    assert [tests[name]["group"] for name in ("with-t", "with-t-2")] == ["point", "write"]


def test_a_gzipped_log_is_read_and_a_damaged_one_named(tmp_path: Path) -> None:
    packed = gzip.compress(entry(ARTICLE + "4").encode())
    assert only(made(tmp_path, packed, "slow.log.1.gz"))[0] == f"{ARTICLE}:colour"
    assert only(made(tmp_path, packed, "slow.log.1"))[0] == f"{ARTICLE}:colour"
    assert refusal(tmp_path, packed[:-20], "cut.gz").startswith("cut.gz cannot be read: Compressed file ended")


@pytest.mark.parametrize("content", [b"\x28\xb5\x2f\xfd" + bytes(99), bytes(range(256)) * 20, b"PGDMP" + bytes(99)])
def test_no_bytes_come_to_the_terminal(tmp_path: Path, content: bytes) -> None:
    said = refusal(tmp_path, content)
    assert said.startswith("slow.log") and said.isprintable()


def test_encodings(tmp_path: Path) -> None:
    log = entry("SELECT name FROM article WHERE colour = 'grün'")
    params = {"colour": {"gen": "constant", "value": "grün"}}
    assert (
        only(made(tmp_path, log.encode("utf-16")))[1]
        == only(made(tmp_path, b"\xef\xbb\xbf" + log.encode()))[1]
        == params
    )
    assert only(made(tmp_path, log.encode("latin-1"), encoding="latin-1"))[1] == params
    assert "--encoding utf-16-le reads it" in refusal(tmp_path, log.encode("utf-16-le"))
    assert only(made(tmp_path, log.encode("utf-16-le"), encoding="utf-16-le"))[1] == params
    assert "--encoding is 'klingon'; accepted are utf-8, utf-16, latin-1" in refusal(tmp_path, log, encoding="klingon")
    assert "is not utf-8 text; --encoding may be" in refusal(tmp_path, log.encode("latin-1"), encoding="utf-8")
    csv = "query,calls\nSELECT a FROM grün,1\n".encode("latin-1")
    assert "seen.csv:2: this is not UTF-8; --encoding says what it is, such as latin-1" in refusal(
        tmp_path, csv, "seen.csv"
    )


def test_values_in_another_encoding_are_unknown_and_names_left_out(tmp_path: Path) -> None:
    log = entry("SELECT a FROM t WHERE b = 'gr\xfcn'") + entry("SELECT a FROM gr\xfcn")
    written = made(tmp_path, log.encode("latin-1"))
    assert only(written)[1] == {"b": {"gen": "uniform", "low": 1, "high": "table_size"}}
    assert written.notes == ["left out: 1 statement (it is not in the file's encoding (--encoding))"]
    assert written.text.encode()


def test_control_characters_break_nothing(tmp_path: Path) -> None:
    written = made(tmp_path, entry("SELECT a FROM t WHERE b = 'x\x1b[31m\0y'") + entry("SHOW \x1b[31m TABLES \0"))
    assert only(written)[0] == "SELECT a FROM t WHERE b = :b" and "\x1b" not in written.text


REPORT = """
# 140ms user time, 20ms system time, 26.66M rss, 33.16M vsz
# Overall: 1.23k total, 2 unique, 0 QPS, 0x concurrency ____
# Query 1: 0 QPS, 0x concurrency, ID 0x45FE45AEC222350466825DDC008FFA89 at byte 338
# Attribute    pct   total     min     max     avg     95%  stddev  median
# Count         99   1.20k
# Exec time     95   726ms   726ms   726ms   726ms   726ms       0   726ms
# String:
# Databases    shop
# Query_time distribution
# 100ms  ################################################################
# Tables
#    SHOW CREATE TABLE `shop`.`article`\\G
# EXPLAIN /*!50100 PARTITIONS*/
SELECT name
FROM shop.article
# only red ones
WHERE colour = 4\\G

# Query 2: 0 QPS, 0x concurrency, ID 0xE51503DB1DA4B1FC0FFE94ABA6A2A9E8 at byte 1334
# Count          1      30
# Exec time      5    2s    33ms    33ms    33ms    33ms       0    33ms
UPDATE article SET name = 'x' WHERE id = 5\\G
# Converted for EXPLAIN
# EXPLAIN /*!50100 PARTITIONS*/
select name = 'x' from article where id = 5\\G
"""


@pytest.mark.parametrize("end", ["\\G", ""])
def test_a_report_of_pt_query_digest(tmp_path: Path, end: str) -> None:
    written = made(tmp_path, REPORT.replace("\\G", end), "report.txt")
    assert {name: one["sql"] for name, one in statements(written).items()} == {
        "update-article": "UPDATE article SET name = :name WHERE id = :id",
        "select-article": "SELECT name FROM article WHERE colour = :colour",
    }
    assert "# 1200 calls, 726 ms in all" in written.text and "# 30 calls, 2e+03 ms in all" in written.text


def test_pt_query_digest_as_json(tmp_path: Path) -> None:
    classes: list[dict[str, Any]] = [
        {"query_count": 7, "fingerprint": "select a from t where b in(?+)"},
        {"query_count": 3, "fingerprint": "select a from u where b in(?+) limit ?"},
        {"query_count": 2, "fingerprint": "select a from orders_? where b = ?"},
        {"fingerprint": "select"},
    ]
    classes[0]["example"] = {"query": "SELECT a FROM t WHERE b IN (1, 2)"}
    metrics = {"metrics": {"Query_time": {"sum": "1.5"}, "db": {"value": "shop"}}}
    report = json.dumps({"classes": [one | metrics for one in classes], "global": {}}, indent=1)
    written = made(tmp_path, report, "report.json")
    assert [one["sql"] for one in statements(written).values()] == [
        "SELECT a FROM t WHERE b IN (:b_list)",
        "select a from u where b IN (:b_list) limit :limit",
    ]
    assert "left out: 1 statement (its names have lost their digits, as those of a fingerprint do)" in written.notes
    assert (
        "class 4 has no text or no query_count" in written.notes[0] and "# 7 calls, 1.5e+03 ms in all" in written.text
    )


DUMPSLOW = """
Reading mysql slow query log from /var/lib/mysql/db-slow.log
Count: 100  Time=2.50s (250s)  Lock=0.00s (0s)  Rows=100.0 (10000), app[app]@localhost
  SELECT name FROM article
  WHERE colour = N AND price > N.N AND name LIKE 'S' AND id IN (N,N,N) LIMIT N

Count: 2  Time=0.10s (0s)  Lock=0.00s (0s)  Rows_sent=0.0 (0), Rows_examined=0.0 (0), Rows_affected=1.0 (2), 2users@3hosts
  # Time: N-N-02T03:N:N.108849Z
  use shop;
  SET timestamp=N;
  DELETE FROM article WHERE id IN (N,,{repeated 250 times}N) AND uid = x'S' AND note = ""

Count: 3  Time=0.00s (0s)  Lock=0.00s (0s)  Rows=1.1 (17), root[root]@[192.168.32.1]
  #
"""


def test_mysqldumpslow(tmp_path: Path) -> None:
    written = made(tmp_path, DUMPSLOW, "dump.txt")
    found = statements(written)
    assert found["select-article"]["sql"] == (
        "SELECT name FROM article WHERE colour = :colour AND price > :price_from AND name LIKE :name_like "
        "AND id IN (:id_list) LIMIT :limit"
    )
    assert found["select-article"]["params"]["id_list"]["count"] == 3
    assert found["delete-article"]["sql"] == 'DELETE FROM article WHERE id IN (:id_list) AND uid = :uid AND note = ""'
    assert "# 100 calls, 2.5e+05 ms in all" in written.text
    plain = made(
        tmp_path, DUMPSLOW.split("\n\n")[0].replace("N.N", "1.5").replace("N", "4").replace("'S'", "'a%'"), "plain.txt"
    )
    assert only(plain)[1]["colour"]["gen"] == "uniform" and only(plain)[1]["price_from"]["value"] == 1.5
