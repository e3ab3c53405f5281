#!/usr/bin/env python3
"""The peer of `insert_rate.py`: inserts rows as the Insert Benchmark's Python client does, and nothing else.

Statements of many rows as text through the usual driver, psycopg2 or MySQLdb, each a transaction. Values as there: integers
drawn uniformly by `randrange`, one time per statement, and a text of 10 to 20 characters, half of it random. As there, one
process makes the statements, at most 8 ahead of the one that sends them. Any Python that has the driver runs this file.
"""

import argparse
import base64
import os
import time
from importlib import import_module
from multiprocessing import Process, Queue
from random import randrange
from typing import Any

COLUMNS = "dateandtime, cashregisterid, customerid, productid, price, data"
RANDOM_BYTES = 3 * 2**20
STATEMENTS_AHEAD = 8


def row(at: str, letters: str) -> str:
    """One row, in parentheses."""
    cashregister, product, customer = randrange(1000), randrange(10_000), randrange(100_000)
    price, length = randrange(500), randrange(10, 21)
    random_length = int(length * 0.75 * 0.5)
    start = randrange(len(letters) - random_length)
    data = "a" * (length - random_length) + letters[start : start + random_length]
    return f"('{at}',{cashregister},{customer},{product},{price},'{data}')"


def make_statements(queue: Any, table: str, statements: int, rows: int) -> None:
    letters = base64.b64encode(os.urandom(RANDOM_BYTES)).decode("ascii")
    for _ in range(statements):
        at = time.strftime("%Y-%m-%d %H:%M:%S")
        values = ",\n".join([row(at, letters) for _ in range(rows)])
        queue.put(f"INSERT INTO {table} ({COLUMNS}) VALUES {values}")  # noqa: S608
    queue.put(None)


def connect(asked: argparse.Namespace) -> Any:
    if asked.dbms == "postgres":
        connection = import_module("psycopg2").connect(
            host=asked.socket, port=asked.port, user=asked.user, dbname=asked.database
        )
        connection.autocommit = True
        return connection
    connection = import_module("MySQLdb").connect(unix_socket=asked.socket, user=asked.user, db=asked.database)
    connection.autocommit(True)
    return connection


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dbms", required=True, choices=("postgres", "mysql"))
    parser.add_argument("--socket", required=True, help="PostgreSQL: its folder; MySQL: its path")
    parser.add_argument("--port", type=int, default=5432)
    parser.add_argument("--user", required=True)
    parser.add_argument("--database", required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--rows-per-commit", type=int, default=100)
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    queue: Any = Queue(STATEMENTS_AHEAD)
    work = (queue, asked.table, asked.rows // asked.rows_per_commit, asked.rows_per_commit)
    maker = Process(target=make_statements, args=work)
    maker.start()
    connection = connect(asked)
    cursor = connection.cursor()
    while statement := queue.get():
        cursor.execute(statement)
    connection.close()
    maker.join()


if __name__ == "__main__":
    main()
