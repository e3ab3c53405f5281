"""The load of a suite's tables as the engine measures it: rounds of INSERTs, and with the last one all that comes after rows."""

import zlib
from typing import Any

from dbversus.dbms.sql.table import Table
from dbversus.suites.assembly.judged_load import LoadPlan, load_plan
from dbversus.suites.expression import ROW
from dbversus.suites.model import TableRules, Test
from dbversus.suites.send.define import Json, MakeSql, column_generators
from dbversus.suites.sql import insert_sql
from dbversus.suites.variables import Variables

_LAST_ROW = "position of the last row"
"""What tells the round: a value that no SQL has."""


def load_definition(test: Test, table_size: int, tables: int, make_sql: MakeSql) -> Json:
    """TEST of the load for a target, whose config may say how tables and indexes are made. Raises UsageError as `loads`."""
    plan, scope = load_plan(test, table_size, tables), test.scope(table_size, tables)
    filled = [
        (rules, table) for rules in test.loads if rules.made_like.name in plan.rows for table in rules.tables(scope)
    ]
    statements = [_insert(rules, table, plan, scope) for rules, table in filled]
    first, *_ = filled
    statements[0]["params"][_LAST_ROW] = {"gen": "row", "expr": ROW}
    is_last: list[Any] = ["==", _LAST_ROW, plan.rounds * plan.rows[first[0].made_like.name] - 1]
    statements += [after for _, table in filled for after in _after(table, make_sql, is_last)]
    return {"name": test.name, "transaction": False, "statements": statements}


def _insert(rules: TableRules, table: Table, plan: LoadPlan, scope: Variables) -> Json:
    """As text, as sysbench loads its tables. Prepared, so many values took MySQL 5.6 four times as long, and 8.0 no longer."""
    name = table.name
    return {
        "name": name,
        "sql": insert_sql(name, list(rules.values)),
        "mode": "text",
        "table": "client",
        "params": column_generators(rules, scope),
        "rows": plan.rows[rules.made_like.name],
        "position": {"of": name, "from": 0, "seed": zlib.crc32(name.encode())},
    }


def _after(table: Table, make_sql: MakeSql, when: list[Any]) -> list[Json]:
    _, after = make_sql(table)
    return [
        {"name": f"{table.name} {number}", "sql": sql, "mode": "text", "table": "client", "params": {}, "when": when}
        for number, sql in enumerate(after, 1)
    ]
