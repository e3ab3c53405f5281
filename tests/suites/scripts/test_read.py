"""Scripts are read with what they include; what is no affair of the one database that is loaded is not run, and told."""

from pathlib import Path

import pytest

from dbversus.dbms.model import Family
from dbversus.errors import UsageError
from dbversus.suites.scripts import Reading, check_databases, included, read_script, why_harmless


def read(folder: Path, text: str, family: Family, name: str = "shop.sql") -> Reading:
    (folder / name).write_text(text)
    return read_script(folder / name, family)


def statements(reading: Reading) -> list[str]:
    return [
        (piece.path.read_bytes()[piece.begin : piece.end] if piece.instead is None else piece.instead).decode()
        for piece in reading.pieces
    ]


def refusal(folder: Path, text: str, family: Family) -> str:
    with pytest.raises(UsageError) as error:
        check_databases([read(folder, text, family)])
    return str(error.value)


@pytest.mark.parametrize(
    ("family", "text", "name", "run"),
    [
        (Family.POSTGRES, "DROP DATABASE Shop;\nCREATE DATABASE Shop;\n\\c shop;\nSELECT 1;", "shop", ["SELECT 1"]),
        (
            Family.POSTGRES,
            'CREATE DATABASE "My Shop" WITH ENCODING = \'UTF8\';\nALTER DATABASE "My Shop" OWNER TO x;\n'
            "\\connect -reuse-previous=on \"dbname='My Shop'\"\nSET a = 1;",
            "My Shop",
            ['ALTER DATABASE "My Shop" OWNER TO x', "SET a = 1"],
        ),
        (
            Family.POSTGRES,
            "\\connect postgresql://me@host:5432/shop?sslmode=off\n\\c - me\nSELECT 1",
            "shop",
            ["SELECT 1"],
        ),
        (
            Family.POSTGRES,
            "SET x = 1;\nCREATE ROLE a;\n\\connect template1\nSET x = 1;\n\\connect postgres\n"
            "COMMENT ON DATABASE postgres IS '';\nCREATE DATABASE shop;\n\\connect shop\nSELECT 1;",
            "shop",
            ["SET x = 1", "CREATE ROLE a", "SET x = 1", "COMMENT ON DATABASE postgres IS ''", "SELECT 1"],
        ),
        (Family.POSTGRES, "\\connect postgres\nCREATE TABLE t (a int);", "", ["CREATE TABLE t (a int)"]),
        (Family.POSTGRES, "CREATE SCHEMA shop;", "", ["CREATE SCHEMA shop"]),
        (Family.MYSQL, "/*!40000 DROP DATABASE IF EXISTS `Shop`*/;\nUSE `Shop`\nSELECT 1;", "Shop", ["SELECT 1"]),
        (Family.MYSQL, "create schema shop;use shop; SELECT 1;", "shop", ["SELECT 1"]),
        (
            Family.MYSQL,
            "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop-1` /*!40100 DEFAULT CHARACTER SET latin1 */;\n\\u shop-1\n",
            "shop-1",
            ["ALTER DATABASE `shop-1`  /*!40100 DEFAULT CHARACTER SET latin1 */"],
        ),
        (Family.MYSQL, "CREATE DATABASE IF NOT EXISTS shop /*!80016 DEFAULT ENCRYPTION='N' */;", "shop", []),
        (
            Family.MYSQL,
            "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nDROP TABLE IF EXISTS user;\nUSE shop;\nSELECT 1;",
            "shop",
            ["SELECT 1"],
        ),
        (Family.SQLITE, "SELECT 1;", "", ["SELECT 1"]),
    ],
)
def test_the_one_database_of_a_dump_is_the_one_that_is_loaded(
    tmp_path: Path, family: Family, text: str, name: str, run: list[str]
) -> None:
    reading = read(tmp_path, text, family)
    assert check_databases([reading]) == name
    assert statements(reading) == run


@pytest.mark.parametrize(
    ("family", "text", "words"),
    [
        (
            Family.MYSQL,
            "USE shop;\nUSE other;",
            "shop.sql:2: 'USE other' is about a second database, other: {}/shop.sql:1 has shop. A target has one database",
        ),
        (Family.MYSQL, "CREATE DATABASE a;\nCREATE DATABASE b;", "'CREATE DATABASE b' is about a second database, b:"),
        (Family.POSTGRES, "\\c shop\n\\c other", "'\\c other' is about a second database, other:"),
        (
            Family.POSTGRES,
            "\\c shop\nSELECT 1;\n\\c postgres\nCREATE TABLE t (a int);",
            "shop.sql:4: 'CREATE TABLE t (a int)' is about a second database, postgres:",
        ),
        (Family.MYSQL, "USE `a/b`;", "a database is called by letters, digits and _ $ . - here"),
        (Family.SQLITE, "ATTACH 'x' AS y;", "attached ones have no place in it"),
        (Family.POSTGRES, "ALTER SYSTEM SET fsync = off;", "settings of the server come from a config"),
        (Family.MYSQL, "SET PERSIST x = 1;", "settings of the server come from a config"),
        (Family.MYSQL, "LOAD DATA LOCAL INFILE 'x.csv' INTO TABLE t;", "[data] takes rows from a file"),
        (Family.POSTGRES, "COPY t FROM '$$PATH$$/3057.dat';", "pg_restore -f shop.sql"),
        (
            Family.MYSQL,
            "source /etc/x.sql;",
            "'source /etc/x.sql' is not accepted: a file in the script's folder is accepted",
        ),
        (Family.POSTGRES, "\\i ../x.sql", "a file in the script's folder is accepted; put it there."),
        (
            Family.SQLITE,
            "SELECT 1;\n.read none.sql",
            "shop.sql:2: '.read none.sql' is not accepted: there is no file {}/none.sql",
        ),
        (Family.MYSQL, "\\. shop.sql", "would include itself for ever"),
    ],
)
def test_what_cannot_be_taken_is_told_with_the_way_out(tmp_path: Path, family: Family, text: str, words: str) -> None:
    said = refusal(tmp_path, text, family)
    assert said.startswith(f"{tmp_path}/shop.sql:") and words.format(tmp_path) in said


def test_several_scripts_have_one_database(tmp_path: Path) -> None:
    first = read(tmp_path, "USE shop;", Family.MYSQL, "a.sql")
    check_databases([first, read(tmp_path, "SELECT 1;\nUSE shop;", Family.MYSQL, "b.sql")])
    with pytest.raises(UsageError, match=r"c.sql:2: 'USE mall' is about a second database, mall: .*a.sql:1 has shop"):
        check_databases([first, read(tmp_path, "\nUSE mall;", Family.MYSQL, "c.sql")])


@pytest.mark.parametrize(
    ("family", "text", "why"),
    [
        (Family.MYSQL, "CREATE USER 'a'@'%' IDENTIFIED BY 'x'", "dbversus has an account of its own"),
        (Family.MYSQL, "GRANT ALL ON *.* TO a", "dbversus has an account of its own"),
        (Family.MYSQL, "CHANGE MASTER TO MASTER_LOG_FILE='x'", "there is no replication"),
        (Family.MYSQL, "SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'a:1-5'", "there is no replication"),
        (Family.POSTGRES, "CREATE TABLESPACE fast LOCATION '/x'", "all data stays in the server's own folder"),
        (
            Family.POSTGRES,
            "CREATE SUBSCRIPTION s CONNECTION 'x' PUBLICATION p",
            "rows of another server do not come in",
        ),
    ],
)
def test_what_is_about_the_server_is_not_run_and_noted(tmp_path: Path, family: Family, text: str, why: str) -> None:
    reading = read(tmp_path, f"SELECT 1;\n{text};", family)
    assert statements(reading) == ["SELECT 1"]
    assert [(note.line, note.text, note.why) for note in reading.notes] == [(2, text, why)]


@pytest.mark.parametrize(
    ("text", "run"),
    [
        (
            "/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`%`*/ /*!50003 TRIGGER t AFTER INSERT ON o FOR EACH ROW SET @a = 1 */",
            "/*!50003 CREATE*/ /*!50017 */ /*!50003 TRIGGER t AFTER INSERT ON o FOR EACH ROW SET @a = 1 */",
        ),
        (
            "CREATE ALGORITHM=UNDEFINED DEFINER = 'app'@'10.0.%' SQL SECURITY DEFINER VIEW v AS SELECT 1",
            "CREATE ALGORITHM=UNDEFINED  SQL SECURITY DEFINER VIEW v AS SELECT 1",
        ),
        (
            "CREATE OR REPLACE DEFINER=app FUNCTION f() RETURNS int RETURN 1",
            "CREATE OR REPLACE  FUNCTION f() RETURNS int RETURN 1",
        ),
        ("CREATE DEFINER=CURRENT_USER VIEW v AS SELECT 1", ""),
        ("CREATE DEFINER=`dbversus`@`localhost` VIEW v AS SELECT 1", ""),
        ("CREATE TABLE t (definer int)", ""),
        ("INSERT INTO t VALUES ('CREATE DEFINER=a@b')", ""),
    ],
)
def test_views_and_routines_of_accounts_that_are_not_there_are_made_as_our_own(
    tmp_path: Path, text: str, run: str
) -> None:
    reading = read(tmp_path, f"{text};", Family.MYSQL)
    assert statements(reading) == [run or text] and bool(reading.notes) == bool(run)


def test_character_sets_that_clients_set_are_set_by_statements(tmp_path: Path) -> None:
    assert statements(read(tmp_path, "\\encoding LATIN1\n", Family.POSTGRES)) == ["SET client_encoding = 'LATIN1'"]
    assert statements(read(tmp_path, "charset latin1\n", Family.MYSQL)) == ["SET NAMES latin1"]


def test_included_files_are_found_whatever_the_client(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    for name, text in {
        "shop.sql": "source a.sql ;\n\\i 'b c.sql'\n.read more/d.sql\n\\. none.sql\nINSERT INTO t VALUES ('\nsource of all\n');",
        "a.sql": "\\ir more/d.sql\nsource shop.sql",
        "b c.sql": "",
        "more/d.sql": "\\ir e.sql\n\\i ../a.sql",
        "more/e.sql": "",
    }.items():
        (tmp_path / name).write_text(text)
    found = included(tmp_path / "shop.sql", tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in found] == ["a.sql", "b c.sql", "more/d.sql", "more/e.sql"]
    assert included(tmp_path / "more/d.sql", tmp_path / "more") == [tmp_path / "more/e.sql"]


def test_a_file_that_is_included_anew_is_read_anew(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1;")
    reading = read(tmp_path, "source a.sql\nSELECT 2;", Family.MYSQL)
    assert [(piece.path.name, piece.line) for piece in reading.pieces] == [("a.sql", 1), ("shop.sql", 2)]
    (tmp_path / "a.sql").write_text("SELECT 1;\nSELECT 11;")
    assert len(read_script(tmp_path / "shop.sql", Family.MYSQL).pieces) == 3


POSTGRES_HARMLESS = [
    ("CREATE SCHEMA public", '42P06: schema "public" already exists'),
    ("ALTER SCHEMA public OWNER TO postgres", '42704: role "postgres" does not exist'),
    ("COMMENT ON SCHEMA public IS 'x'", "42501: must be owner of schema public"),
    ("CREATE PROCEDURAL LANGUAGE plpgsql", '42710: extension "plpgsql" already exists'),
    ("CREATE OR REPLACE PROCEDURAL LANGUAGE plperlu", '58P01: could not open extension control file "x"'),
    ("ALTER TABLE ONLY public.article DROP CONSTRAINT article_pkey", '42P01: relation "public.article" does not exist'),
    ("ALTER TABLE public.a ALTER COLUMN id DROP DEFAULT", '42703: column "id" does not exist'),
    ("DROP TABLE public.article", '42P01: table "article" does not exist'),
    ("DROP FUNCTION public.f()", "42883: function public.f() does not exist"),
    ("DROP SCHEMA public", "2BP01: cannot drop schema public because other objects depend on it"),
    ("SET default_tablespace = fast_ssd", '22023: invalid value (Tablespace "fast_ssd" does not exist.)'),
    ("ALTER TABLE a SET TABLESPACE fast", '42704: tablespace "fast" does not exist'),
    ("CREATE EXTENSION IF NOT EXISTS postgis WITH SCHEMA public", '0A000: extension "postgis" is not available'),
    ("COMMENT ON EXTENSION postgis IS 'x'", '42704: extension "postgis" does not exist'),
    ("SET transaction_timeout = 0", '42704: unrecognized configuration parameter "transaction_timeout"'),
    ("GRANT ALL ON TABLE a TO app", '42704: role "app" does not exist'),
    ("ALTER DEFAULT PRIVILEGES FOR ROLE a GRANT ALL ON TABLES TO b", '42704: role "a" does not exist'),
    ("CREATE ROLE dbversus", '42710: role "dbversus" already exists'),
]
POSTGRES_GRAVE = [
    ("CREATE TABLE a (b int)", '42P07: relation "a" already exists'),
    ("CREATE TABLE a (b t)", '42704: type "t" does not exist'),
    ("CREATE TABLE a (b int) TABLESPACE fast", '42704: tablespace "fast" does not exist'),
    ("ALTER TABLE a ADD PRIMARY KEY (b)", '42P01: relation "a" does not exist'),
    ("SET search_path = 1.5.6", "42601: syntax error"),
    ("CREATE SCHEMA shop AUTHORIZATION a", '42704: role "a" does not exist'),
    ("INSERT INTO a VALUES ('DROP')", '42P01: relation "a" does not exist'),
    ("DROP TABLE a", "2BP01: cannot drop table a because other objects depend on it"),
    ("DROP TABLE a", "25P02: current transaction is aborted"),
]
MYSQL_HARMLESS = [
    ("/*!40101 SET x = 1 */", "1193 (HY000): Unknown system variable 'x'"),
    ("DROP TABLE a", "1051 (42S02): Unknown table 'a'"),
    ("ALTER TABLE a DROP INDEX b", "1091 (42000): Can't DROP 'b'; check that column/key exists"),
    ("DROP PROCEDURE p", "1305 (42000): PROCEDURE p does not exist"),
    (
        "/*!50003 SET sql_mode = 'NO_AUTO_CREATE_USER' */",
        "1231 (42000): Variable 'sql_mode' can't be set to the value of",
    ),
    ("/*!50003 SET collation_connection = utf8mb4_0900_ai_ci */", "1273 (HY000): Unknown collation"),
]
MYSQL_GRAVE = [
    ("CREATE TABLE a (b int) COLLATE=utf8mb4_0900_ai_ci", "1273 (HY000): Unknown collation: 'utf8mb4_0900_ai_ci'"),
    ("CREATE TABLE a (b int)", "1050 (42S01): Table 'a' already exists"),
    ("DROP TABLE a", "1451 (23000): Cannot delete or update a parent row"),
    ("SET x = ;", "1064 (42000): You have an error"),
]


@pytest.mark.parametrize(
    ("family", "harmless", "grave"),
    [(Family.POSTGRES, POSTGRES_HARMLESS, POSTGRES_GRAVE), (Family.MYSQL, MYSQL_HARMLESS, MYSQL_GRAVE)],
)
def test_only_what_leaves_data_as_it_would_have_been_is_passed_over(
    family: Family, harmless: list[tuple[str, str]], grave: list[tuple[str, str]]
) -> None:
    for text, words in harmless:
        assert why_harmless(family, text.encode(), f"ERROR {words}"), text
    for text, words in grave:
        assert not why_harmless(family, text.encode(), f"ERROR {words}"), text
