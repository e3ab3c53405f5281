"""Scripts are cut as the client of each DBMS cuts them."""

import gzip
import subprocess
from pathlib import Path

import pytest

from dbversus.dbms.model import Family
from dbversus.errors import UsageError
from dbversus.suites.scripts import cut, read_pieces, unpacked

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
            "SELECT 1;\n\\connect shop\n",
            "shop.sql:2: '\\connect shop' is not accepted: all goes into a database",
        ),
        (
            Family.POSTGRES,
            "\\i other.sql",
            "shop.sql:1: '\\i other.sql' is a command of psql; statements of SQL are accepted.",
        ),
        (Family.POSTGRES, "SELECT 1\n\\gset", "shop.sql:2: '\\gset' is a command of psql"),
        (Family.POSTGRES, "CREATE DATABASE x;", "make the dump without --create (-C)"),
        (Family.POSTGRES, "\nSELECT 'a;\n", "shop.sql:2: what ' opens here is not closed"),
        (Family.POSTGRES, "SELECT (1;\n", "shop.sql:1: this statement does not end: SELECT (1;"),
        (Family.MYSQL, "USE `shop`;", "make the dump without --databases (-B)"),
        (Family.MYSQL, "CREATE DATABASE /*!32312 IF NOT EXISTS*/ shop;", "without --databases"),
        (Family.MYSQL, "source x.sql", "'source x.sql' is a command of mysql"),
        (Family.SQLITE, ".read x.sql", "'.read x.sql' is a command of sqlite3"),
        (Family.SQLITE, "ATTACH 'x' AS y;", "attached ones have no place in it"),
    ],
)
def test_what_no_server_could_make_sense_of_is_refused(family: Family, text: str, words: str) -> None:
    assert words in refusal(text, family)


def test_files_that_are_no_sql(tmp_path: Path) -> None:
    path = tmp_path / "shop.dump"
    path.write_bytes(b"PGDMP\1\2")
    with pytest.raises(UsageError, match=r"shop.dump:1: this is a dump in pg_dump's own format \(-Fc\)"):
        read_pieces(path, Family.POSTGRES)
    with pytest.raises(UsageError, match="is a folder"):
        read_pieces(tmp_path, Family.POSTGRES)
    with pytest.raises(UsageError, match=r"none\.sql cannot be read: No such file"):
        read_pieces(tmp_path / "none.sql", Family.POSTGRES)
    path.write_bytes(gzip.compress(b"PGDMP\1\2"))
    with pytest.raises(UsageError, match=r"shop.dump:1: this is a dump in pg_dump's own format"):
        read_pieces(path, Family.POSTGRES)
    path.write_bytes(gzip.compress(bytes(range(256)) * 100)[:-20])
    with pytest.raises(UsageError, match=r"shop\.dump cannot be read: "):
        read_pieces(path, Family.POSTGRES)
    for nothing in (b"", gzip.compress(b"")):
        path.write_bytes(nothing)
        assert read_pieces(path, Family.POSTGRES) == []


def test_a_gzipped_script_is_unpacked_while_it_is_run(tmp_path: Path) -> None:
    path = tmp_path / "shop.sql.gz"
    path.write_bytes(gzip.compress(b"SELECT 1;\nSELECT 2;"))
    assert [piece.line for piece in read_pieces(path, Family.SQLITE)] == [1, 2]
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
    pieces = read_pieces(DUMPS / name, family)
    first = (text[piece.begin : piece.end].split()[0].decode() for piece in pieces)
    assert {word.rstrip("0123456789") for word in first} == words
    copied = [text[slice(*piece.data)].count(b"\n") for piece in pieces if piece.data]
    assert copied == ([100, 1000, 500, 80] if family is Family.POSTGRES else [])
    assert all(text[: piece.begin].count(b"\n") + 1 == piece.line for piece in pieces)
