#!/usr/bin/env python
"""How much the luck of one ANALYZE changes what an IN list costs on PostgreSQL, by the size of the table.

ANALYZE draws 30,000 rows at random. Values of k that it draws unusually often go into its list of most common values, and while
a statement is planned, each value of an IN list is looked up in it. k is uniform, so whether the list has any value is chance.
Each table is analyzed again and again; after each ANALYZE the same statements are planned and executed.
"""

import argparse
import random
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from common import fill, make_parser, markdown, private_postgres, say, spread, told
from psycopg import sql

from dbversus.servers.postgres.debt import Connection
from dbversus.units import parse_count

EXAMPLE = """example:
  benchmarks/planner_statistics.py --rows 100k,300k,1m --analyzes 40 > luck.md
"""
MOST_COMMON = """\
SELECT coalesce(cardinality(most_common_freqs), 0) FROM pg_stats WHERE tablename = 'sbtest1' AND attname = 'k'
"""
STATEMENT = sql.SQL("EXPLAIN (ANALYZE, TIMING OFF, SUMMARY, FORMAT JSON) SELECT k, c FROM sbtest1 WHERE k IN ({})")
VALUES = 100


@dataclass(frozen=True)
class Drawn:
    """What one ANALYZE came to: values in its list, and the medians of planning and execution after it."""

    most_common: int
    planning_us: float
    execution_us: float


def statements(rows: int, count: int) -> list[sql.Composed]:
    draw = random.Random(rows)
    lists = [[draw.randint(1, rows) for _ in range(VALUES)] for _ in range(count)]
    return [STATEMENT.format(sql.SQL(", ").join(map(sql.Literal, values))) for values in lists]


def analyze(connection: Connection, asked: Sequence[sql.Composed]) -> Drawn:
    connection.execute("ANALYZE sbtest1")
    ((most_common,),) = connection.execute(MOST_COMMON).fetchall()
    plans = [connection.execute(statement).fetchall()[0][0][0] for statement in asked]
    planning, execution = ([1000 * plan[f"{part} Time"] for plan in plans] for part in ("Planning", "Execution"))
    return Drawn(most_common, statistics.median(planning), statistics.median(execution))


def measure(target: str, rows: int, analyzes: int, count: int) -> list[Drawn]:
    with private_postgres(target, rows) as server:
        fill(server, rows)
        asked = statements(rows, count)
        with server.connect() as connection:
            return [analyze(connection, asked) for _ in range(analyzes)]


def table(drawn: dict[int, list[Drawn]]) -> str:
    """A line for each size and length of the list: how often it was drawn, and what statements cost then."""
    lines = []
    for rows, every in drawn.items():
        alike: dict[int, list[Drawn]] = defaultdict(list)
        for one in every:
            alike[one.most_common].append(one)
        for most_common, ones in sorted(alike.items()):
            planning, execution = ([getattr(one, f"{part}_us") for one in ones] for part in ("planning", "execution"))
            share = f"{len(ones)} of {len(every)}"
            lines.append([f"{rows:,}", str(most_common), share, spread(planning, 0), spread(execution, 0)])
    return markdown(["rows", "most common values", "ANALYZEs", "planning, µs", "execution, µs"], lines)


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("--postgres", default="postgres:17", help="target: version or prefix (default: %(default)s)")
    parser.add_argument("--rows", default="100k,200k,300k,1m", help="sizes of the table (default: %(default)s)")
    parser.add_argument("--analyzes", default="40", help="of each table (default: %(default)s)")
    parser.add_argument("--statements", default="50", help="after each ANALYZE (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    sizes = [parse_count(size, "--rows") for size in asked.rows.split(",")]
    analyzes, count = parse_count(asked.analyzes, "--analyzes"), parse_count(asked.statements, "--statements")
    drawn = {}
    for rows in sizes:
        drawn[rows] = measure(asked.postgres, rows, analyzes, count)
        say(f"{rows:,} rows: analyzed {analyzes} times")
    print(f"{asked.postgres}; {count} IN lists of {VALUES} values after each ANALYZE: median [min–max].\n")
    print(table(drawn))


if __name__ == "__main__":
    told(main)
