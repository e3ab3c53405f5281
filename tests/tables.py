"""The table of the sysbench suites, for tests of servers."""

from dataclasses import replace

from dbversus.dbms.sql.table import Table
from dbversus.suites import load_suite


def sbtest(number: int = 1) -> Table:
    return load_suite("sysbench").made_tables(1000, number)[number - 1]


def called(name: str) -> Table:
    """The same with another name."""
    return replace(sbtest(), name=name)
