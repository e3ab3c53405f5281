"""Scripts are cut as the client of each DBMS cuts them."""

import gzip
import subprocess
from pathlib import Path

import pytest

from dbversus.dbms.model import Family
from dbversus.errors import UsageError
from dbversus.suites.scripts import cut, read_script, unpacked

FILE = Path("shop.sql")


def texts(text: str, family: Family) -> list[str]:
    return [text.encode()[piece.begin : piece.end].decode() for piece in cut(text.encode(), family, FILE)]


def refusal(text: str, family: Family) -> str:
    with pytest.raises(UsageError) as error:
        texts(text, family)
    return str(error.value)


def test_postgresql() -> None:
    statements = [
        "SET x = 'a;b''c'",
        "SELECT E'it\\';s', \"odd;name\", 'plain\\'",
        "CREATE FUNCTION f() RETURNS int AS $body$ BEGIN; $$ ; END $body$ LANGUAGE plpgsql",
        "CREATE FUNCTION g() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 1 END; END",
        "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)",
        "SELECT /* ; ' */ 1 -- ;'\n + 1",
        "SELECT $1",
    ]
    text = "-- dump\n\\restrict Xy\n\n" + ";\n".join(statements) + ";\n\\unrestrict Xy\n"
    assert texts(text, Family.POSTGRES) == statements
    assert [piece.line for piece in cut(text.encode(), Family.POSTGRES, FILE)] == [4, 5, 6, 7, 8, 9, 11]


def test_what_only_prints_or_sets_modes_is_no_statement() -> None:
    psql = "\ufeff\\set ON_ERROR_STOP on\n\\echo it's\n\\pset pager off\n\\timing\nSELECT 1 \\g\nSELECT 2\\g\n"
    psql += "\\dt+\n\\.\n\\o x\n\\C it\nSELECT 3;\n\\q\nSELECT 4"
    assert texts(psql, Family.POSTGRES) == ["SELECT 1", "SELECT 2", "SELECT 3"]
    mysql = "\ufeffprompt>\nWarnings;\ntee x.log\nSELECT 1\\G\n\\W\nSELECT 2\\g\nDELIMITER $$\r\nSELECT 3$$\r\n\\d ;\n"
    mysql += "SELECT 4;\nquit;\nSELECT 5"
    assert texts(mysql, Family.MYSQL) == ["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4"]
    sqlite = "\ufeff.mode csv\n.headers on\nSELECT 1;\n.width 1 2\n.quit\nSELECT 2;"
    assert texts(sqlite, Family.SQLITE) == ["SELECT 1"]


def test_data_of_copy_is_not_cut() -> None:
    text = "COPY public.t (a, b) FROM stdin;\n1;\t\\\\.x\n\\N\t'\n\\.\n\nCOPY u FROM stdin WITH (FORMAT text);\n\\.\nSELECT 1;\n"
    pieces = list(cut(text.encode(), Family.POSTGRES, FILE))
    assert [piece.data and text[slice(*piece.data)] for piece in pieces] == ["1;\t\\\\.x\n\\N\t'\n", "", None]
    assert [piece.line for piece in pieces] == [1, 6, 8]
    assert pieces[0].engine_piece() == {"sql": [0, 31], "data": [33, 13]}
    assert "shop.sql:1: the data of this COPY does not end" in refusal("COPY t FROM stdin;\n1\n", Family.POSTGRES)


def test_mysql() -> None:
    trigger = "/*!50003 CREATE*/ /*!50003 TRIGGER t AFTER INSERT ON o FOR EACH ROW BEGIN\n  SET @a = 'it\\';s'; -- don't\nEND */"
    text = f"""/*M!999999\\- enable the sandbox mode */
-- MariaDB dump
/*!40101 SET NAMES utf8mb4 */;
# a comment; it is passed over
INSERT INTO `o;o` VALUES (1,'a;\\\\'),(2,"b;'");
DELIMITER ;;
{trigger};;
DELIMITER ;
SELECT 1"""  # noqa: S608
    assert texts(text, Family.MYSQL) == [
        "/*!40101 SET NAMES utf8mb4 */",
        "INSERT INTO `o;o` VALUES (1,'a;\\\\'),(2,\"b;'\")",
        trigger,
        "SELECT 1",
    ]


def test_sqlite() -> None:
    trigger = "CREATE TRIGGER t AFTER INSERT ON o BEGIN SELECT 1; SELECT CASE WHEN 1 THEN ';' END; END"
    text = f"PRAGMA foreign_keys=OFF;\n.print hello\nCREATE TABLE [o;o] (x);\n{trigger};\nCOMMIT;\n"
    assert texts(text, Family.SQLITE) == ["PRAGMA foreign_keys=OFF", "CREATE TABLE [o;o] (x)", trigger, "COMMIT"]


@pytest.mark.parametrize(
    ("family", "text", "words"),
    [
        (
            Family.POSTGRES,
            "SELECT 1\n\\gset",
            "shop.sql:2: '\\gset' is a command of psql; statements of SQL are accepted: write",
        ),
        (
            Family.POSTGRES,
            "\n\\copy t FROM 'x.csv' CSV\n",
            "shop.sql:2: '\\copy t FROM 'x.csv' CSV' is a command of psql",
        ),
        (Family.POSTGRES, "\\set name shop\n", "write the value itself where the variable stands."),
        (Family.POSTGRES, "\\if :x\n", "leave only what is to be run."),
        (Family.POSTGRES, "\\! ls\n", "programs are not run; leave it out."),
        (Family.POSTGRES, "\\unknown\n", "'\\unknown' is a command of psql; statements of SQL are accepted."),
        (Family.POSTGRES, "\nSELECT 'a;\n", "shop.sql:2: what ' opens here is not closed"),
        (Family.POSTGRES, "SELECT (1;\n", "shop.sql:1: this statement does not end: SELECT (1;"),
        (
            Family.MYSQL,
            "system ls",
            "'system ls' is a command of mysql; statements of SQL are accepted: programs are not run",
        ),
        (Family.MYSQL, "SELECT 1;\n\\! ls", "shop.sql:2: '\\! ls' is a command of mysql"),
        (Family.MYSQL, "connect shop localhost\n", "a script has one connection."),
        (
            Family.SQLITE,
            ".import x.csv t",
            "'.import x.csv t' is a command of sqlite3; statements of SQL are accepted: [data]",
        ),
        (Family.SQLITE, ".open x.db", "leave it out; all goes into one database."),
    ],
)
def test_what_no_server_could_make_sense_of_is_refused(family: Family, text: str, words: str) -> None:
    assert words in refusal(text, family)


def test_files_that_are_no_sql(tmp_path: Path) -> None:
    path = tmp_path / "shop.dump"
    path.write_bytes(b"PGDMP\1\2")
    with pytest.raises(UsageError, match=r"shop.dump:1: this is a dump in pg_dump's own format \(-Fc\)"):
        read_script(path, Family.POSTGRES)
    with pytest.raises(UsageError, match="is a folder"):
        read_script(tmp_path, Family.POSTGRES)
    with pytest.raises(UsageError, match=r"none\.sql cannot be read: No such file"):
        read_script(tmp_path / "none.sql", Family.POSTGRES)
    path.write_text("SELECT 1;", encoding="utf-16")
    with pytest.raises(UsageError, match=r"shop.dump:1: this is UTF-16; `iconv"):
        read_script(path, Family.POSTGRES)
    path.write_bytes(gzip.compress(b"PGDMP\1\2"))
    with pytest.raises(UsageError, match=r"shop.dump:1: this is a dump in pg_dump's own format"):
        read_script(path, Family.POSTGRES)
    path.write_bytes(gzip.compress(bytes(range(256)) * 100)[:-20])
    with pytest.raises(UsageError, match=r"shop\.dump cannot be read: "):
        read_script(path, Family.POSTGRES)
    for nothing in (b"", gzip.compress(b"")):
        path.write_bytes(nothing)
        assert read_script(path, Family.POSTGRES).pieces == []


def test_a_gzipped_script_is_unpacked_while_it_is_run(tmp_path: Path) -> None:
    path = tmp_path / "shop.sql.gz"
    path.write_bytes(gzip.compress(b"SELECT 1;\nSELECT 2;"))
    assert [piece.line for piece in read_script(path, Family.SQLITE).pieces] == [1, 2]
    with unpacked(path, tmp_path) as plain:
        assert plain.read_text() == "SELECT 1;\nSELECT 2;"
    assert list(tmp_path.iterdir()) == [path]
    with unpacked(path, tmp_path) as plain, unpacked(plain, tmp_path) as same:
        assert plain == same


def test_what_sqlite3_dumps_is_cut_into_what_it_takes(tmp_path: Path) -> None:
    made = "CREATE TABLE t (a TEXT); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END; INSERT INTO t VALUES ('x;''\ny');"
    done = subprocess.run(["sqlite3", ":memory:", made, ".dump"], capture_output=True, text=True, check=True)
    statements = texts(done.stdout, Family.SQLITE)
    assert [statement.split()[0] for statement in statements] == [
        "PRAGMA",
        "BEGIN",
        "CREATE",
        "INSERT",
        "CREATE",
        "COMMIT",
    ]


DUMPS = Path(__file__).parents[2] / "data/dumps"
POSTGRES_WORDS = {"ALTER", "COMMENT", "COPY", "CREATE", "GRANT", "SELECT", "SET"}
MYSQL_WORDS = {"/*!", "CREATE", "DROP", "INSERT", "LOCK", "SET", "UNLOCK"}


@pytest.mark.parametrize(
    ("family", "name", "words"),
    [(Family.POSTGRES, "shop-postgres.sql", POSTGRES_WORDS), (Family.MYSQL, "shop-mysql.sql", MYSQL_WORDS)],
)
def test_whole_dumps_are_cut_at_their_statements(family: Family, name: str, words: set[str]) -> None:
    text = (DUMPS / name).read_bytes()
    pieces = read_script(DUMPS / name, family).pieces
    first = (text[piece.begin : piece.end].split()[0].decode() for piece in pieces)
    assert {word.rstrip("0123456789") for word in first} == words
    copied = [text[slice(*piece.data)].count(b"\n") for piece in pieces if piece.data]
    assert copied == ([100, 1000, 500, 80] if family is Family.POSTGRES else [])
    assert all(text[: piece.begin].count(b"\n") + 1 == piece.line for piece in pieces)
