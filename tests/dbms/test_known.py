import pytest

from dbversus.dbms.known import find_dbms
from dbversus.errors import UsageError


@pytest.mark.parametrize(
    ("name", "dbms"),
    [("pg", "postgres"), ("PostgreSQL", "postgres"), ("maria", "mariadb"), ("sqlite3", "sqlite"), ("MySQL", "mysql")],
)
def test_usual_names_are_understood(name: str, dbms: str) -> None:
    assert find_dbms(name).name == dbms


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("percona", "; Percona Server cannot be fetched, .* by its path: mysql:/opt/percona, or myrocks:/opt/percona"),
        ("percona/percona-server", "mysql:/opt/percona"),
        ("timescaledb", "postgres:/opt/timescaledb"),
        ("timescale/timescaledb-ha", "postgres:/opt/timescaledb"),
        ("aurora-mysql", "managed service cannot be started on this host; .*mysql:8.0"),
        ("rds", "managed service"),
        ("postgre", r" \(did you mean 'postgres'\?\)"),
        ("psql", "PostgreSQL is called postgres"),
        ("postgres16", r" \(did you mean 'postgres:16'\?\)"),
        ("mariadb-10.11", r" \(did you mean 'mariadb:10.11'\?\)"),
        ("bitnami/postgresql", r" \(did you mean 'postgresql'\?\)"),
        ("mysqld", r" \(did you mean 'mysql'\?\)"),
        ("17", "; a target begins with its DBMS, such as postgres:17"),
        ("duckdb", ""),
    ],
)
def test_an_unknown_name_is_told_what_works(name: str, words: str) -> None:
    with pytest.raises(UsageError, match=f"^unknown DBMS '{name}'.*{words}.*; known are postgres, mysql"):
        find_dbms(name)
