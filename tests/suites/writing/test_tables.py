"""Which tables a statement names; no word of a comment, no CTE, function, alias or schema is one."""

import pytest

from dbversus.suites.writing.sql_text import tables
from dbversus.suites.writing.sql_tokens import Dialect


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        # comments, strings, schemas
        ("-- rows that came from x join y\nSELECT v /* from cache */ FROM readings\n -- only from x\n", "readings"),
        ("INSERT INTO public.log_entries (id) VALUES (:id)", "log_entries"),
        ('SELECT 1 FROM "Shop"."Order" o JOIN a.b.c ON true', "order c"),
        ("SELECT 'taken from cache', $$ join x $$, E'\\' from y' FROM t", "t"),
        ("SELECT /* a /* nested from b */ c */ d FROM t", "t"),
        # lists, joins, subqueries
        ("SELECT * FROM a, b AS x, (SELECT 1 FROM c) d, e WHERE a.id IN (SELECT id FROM f), g", "a b c e f"),
        ("SELECT * FROM (a CROSS JOIN b) LEFT JOIN (c JOIN d USING (id)) ON a.x = c.x, h", "a b c d h"),
        ("SELECT (SELECT max(x) FROM u) FROM ONLY t NATURAL JOIN v", "u t v"),
        ("SELECT a, b FROM t GROUP BY a, b ORDER BY a, b LIMIT 1, 2", "t"),
        ("SELECT 1 FROM t FOR UPDATE OF t SKIP LOCKED", "t"),
        ("SELECT 1 FROM t AS from_t FOR NO KEY UPDATE NOWAIT", "t"),
        ("(SELECT 1 FROM a) UNION ALL (SELECT 2 FROM b) EXCEPT SELECT 3 FROM c", "a b c"),
        # functions
        ("SELECT EXTRACT(epoch FROM at), TRIM(' ' FROM n), SUBSTRING(n FROM 2), OVERLAY(n PLACING 'x' FROM 1) FROM t", "t"),
        ("SELECT 1 FROM t WHERE a IS DISTINCT FROM b AND c IS NOT DISTINCT FROM d", "t"),
        ("SELECT * FROM generate_series(1, 9) g, LATERAL unnest(a) u, pg_catalog.ts_stat('x') JOIN t ON true", "t"),
        ("SELECT * FROM a JOIN LATERAL (SELECT 1 FROM b WHERE b.x = a.x) c ON true", "a b"),
        # CTEs
        ("WITH x AS (SELECT 1 FROM orders), y (a) AS MATERIALIZED (SELECT 1 FROM x) SELECT 1 FROM y, z", "orders z"),
        ("WITH orders AS (SELECT * FROM orders WHERE id = 1) SELECT * FROM orders", "orders"),
        ("WITH RECURSIVE r(n) AS (SELECT 1 FROM seed UNION ALL SELECT n + 1 FROM r) SELECT * FROM r, s.r", "seed r"),
        ("WITH d AS (DELETE FROM t USING u WHERE u.id = t.id RETURNING t.id, x) INSERT INTO log SELECT * FROM d", "t u log"),
        ("INSERT INTO t WITH x AS (SELECT 1 FROM a) SELECT * FROM x", "t a"),
        ("SELECT * FROM ROWS FROM (unnest(a), unnest(b)) WITH ORDINALITY AS t (x, y), u GROUP BY x WITH ROLLUP", "u"),
        ("SELECT 1 FROM a JOIN b ON CASE WHEN a.x > 0 THEN b.x ELSE 1 END = 1 JOIN c ON true", "a b c"),
        ("SELECT * FROM (WITH c AS (SELECT 1 FROM a) SELECT * FROM c) x JOIN c ON true", "a c"),
        # writes
        ("INSERT INTO t (a, b) SELECT a, b FROM u ON CONFLICT (a) DO UPDATE SET a = 1, b = 2", "t u"),
        ("UPDATE ONLY t SET a = 1, b = 2 FROM u, v WHERE t.id = u.id", "t u v"),
        ("DELETE FROM t WHERE id = 1", "t"),
        ("MERGE INTO t USING (SELECT * FROM u) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a, b = 1", "t u"),
        ("MERGE INTO t USING v ON t.id = v.id WHEN NOT MATCHED THEN INSERT (a) VALUES (1)", "t v"),
        ("TABLE t", "t"),
        ("COPY t FROM stdin", "t"),
        ("VACUUM ANALYZE t", "t"),
        ("TRUNCATE TABLE t", "t"),
        ("SELECT (((((1)))))", ""),
        ("SELECT 1", ""),
        ("SELECT " + "(" * 5000 + "1", ""),
    ],
)  # fmt: skip
def test_postgres(sql: str, expected: str) -> None:
    assert tables(sql) == expected.split()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT `shop` . `article` . `id` FROM `shop` . `article` WHERE a = ? # from here\n", "article"),
        ('SELECT "from x" FROM t -- join y\nSTRAIGHT_JOIN u USE INDEX FOR JOIN (i)', "t u"),
        ("INSERT IGNORE INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = VALUES(a), b = 2", "t"),
        ("INSERT INTO t SELECT a FROM u ON DUPLICATE KEY UPDATE a = 1, b = 2", "t u"),
        ("INSERT `foo` VALUES (1)", "foo"),
        ("REPLACE LOW_PRIORITY t SET a = REPLACE(b, 'from x', 'y'), c = 1", "t"),
        ("UPDATE LOW_PRIORITY IGNORE a x, b JOIN c USING (id) SET x.n = 1, b.n = 2", "a b c"),
        ("DELETE a, b FROM t AS a JOIN s.u AS b USING (id) WHERE a.id = 1", "t u"),
        ("SELECT SQL_NO_CACHE IF(a, b, c), LEFT(d, 1) FROM t, JSON_TABLE(d, '$[*]' COLUMNS (x INT PATH '$.x')) j", "t"),
        ("SELECT 1 FROM DUAL", ""),
        ("SELECT a FROM t WHERE b > 5--1\n AND c", "t"),
    ],
)  # fmt: skip
def test_mysql(sql: str, expected: str) -> None:
    dialect: Dialect = "mysql"
    assert tables(sql, dialect) == expected.split()
