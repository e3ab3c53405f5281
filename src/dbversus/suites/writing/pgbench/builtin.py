"""pgbench's own scripts and tables (PostgreSQL's manual, pgbench; src/bin/pgbench/pgbench.c)."""

_SETS = r"""\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
"""
_BALANCES = """UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
"""
_HISTORY = """INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""

SCRIPTS = {
    "tpcb-like": _SETS + _BALANCES + _HISTORY,
    "simple-update": _SETS + _HISTORY,
    "select-only": "\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
}

TABLES = """\
# pgbench's own tables, as `pgbench -i -s SCALE` makes them
[tables.pgbench_branches]
rows = "scale"
primary_key = ["bid"]
[tables.pgbench_branches.columns]
bid = { type = "int4", values = { gen = "sequence" } }
bbalance = { type = "int4", nullable = true, values = { gen = "constant", value = 0 } }
filler = { type = "char(88)", nullable = true, values = { gen = "constant", value = "", nulls = 1.0 } }

[tables.pgbench_tellers]
rows = "10 * scale"
primary_key = ["tid"]
[tables.pgbench_tellers.columns]
tid = { type = "int4", values = { gen = "sequence" } }
bid = { type = "int4", nullable = true, values = { gen = "row", expr = "row / 10 + 1" } }
tbalance = { type = "int4", nullable = true, values = { gen = "constant", value = 0 } }
filler = { type = "char(84)", nullable = true, values = { gen = "constant", value = "", nulls = 1.0 } }

[tables.pgbench_accounts]
rows = "100000 * scale"
primary_key = ["aid"]
[tables.pgbench_accounts.columns]
aid = { type = "int4", values = { gen = "sequence" } }
bid = { type = "int4", nullable = true, values = { gen = "row", expr = "row / 100000 + 1" } }
abalance = { type = "int4", nullable = true, values = { gen = "constant", value = 0 } }
filler = { type = "char(84)", nullable = true, values = { gen = "constant", value = "" } }

[tables.pgbench_history]
rows = 0
[tables.pgbench_history.columns]
tid = { type = "int4", nullable = true, values = { gen = "constant", value = 0 } }
bid = { type = "int4", nullable = true, values = { gen = "constant", value = 0 } }
aid = { type = "int4", nullable = true, values = { gen = "constant", value = 0 } }
delta = { type = "int4", nullable = true, values = { gen = "constant", value = 0 } }
mtime = { type = "timestamp(6)", nullable = true, values = { gen = "constant", value = 0 } }
filler = { type = "char(22)", nullable = true, values = { gen = "constant", value = "" } }
"""

TABLE_NAMES = frozenset({"pgbench_branches", "pgbench_tellers", "pgbench_accounts", "pgbench_history"})
