"""Tables and parameters from the user's own files, and what is refused of them."""

import gzip
from pathlib import Path

import duckdb
import pytest

from dbversus import packed
from dbversus.errors import UsageError
from dbversus.servers.mysql import ddl as mysql_ddl
from dbversus.servers.postgres import ddl as postgres_ddl
from dbversus.servers.sqlite import ddl as sqlite_ddl
from dbversus.suites import Suite, definition, load_suite, loads
from dbversus.suites.data.file import find_file
from dbversus.suites.data.scan import connection
from dbversus.suites.file import shape
from dbversus.suites.file.source import Place, read_source

CSV = 'id,customer,note\n1,7,a\n2,,"b, c"\n3,9,\n'
SUITE = """title = "Data"
[data.orders]
file = "orders.csv"
[tables.orders]
data = "orders"
primary_key = ["id"]
[tests.one]
title = "t"
group = "point"
[[tests.one.statements]]
name = "s"
sql = "SELECT note FROM orders WHERE id = :id"
params = { id = { gen = "data", of = "orders", column = "id" } }
[[phases]]
name = "p"
tests = ["one"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path / "home"))
    (tmp_path / "orders.csv").write_text(CSV)
    return tmp_path


def load(folder: Path, old: str = "", new: str = "") -> Suite:
    assert old in SUITE
    (folder / "mine.toml").write_text(SUITE.replace(old, new))
    return load_suite(folder / "mine.toml")


def _stage(suite: Suite) -> None:
    for staged in suite.staged:
        staged.write()


def test_a_table_has_the_rows_and_columns_of_its_file(folder: Path) -> None:
    suite = load(folder)
    made = loads(suite, 1000, 1, lambda table: ([], []))[0]
    assert made["rows"] == 3
    assert made["columns"]["customer"] == {"gen": "field", "index": 1, "type": "int8"}
    assert [(one.name, one.type, one.nullable) for one in suite.tables[0].made_like.columns] == [
        ("id", "int8", False),
        ("customer", "int8", True),
        ("note", "varchar(16)", True),
    ]
    drawn = definition(suite.tests["one"], "sqlite", 1000)["statements"][0]["params"]["id"]
    assert (drawn["gen"], drawn["rows"], drawn["type"]) == ("data", 3, "int8")
    _stage(suite)
    texts = {staged.name: staged.path.read_text() for staged in suite.staged}
    assert texts[made["data"]] == "1\t7\ta\n2\t\\N\tb, c\n3\t9\t\\N\n"
    assert texts[drawn["file"]] == "1\n2\n3\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('file = "orders.csv"', 'file = "order.csv"', "mine.toml:3: .*order.csv cannot be read"),
        ('file = "orders.csv"', f'file = "orders.csv"\nsha256 = "{"0" * 64}"', "mine.toml:4: .* has the SHA-256"),
        ('data = "orders"', 'data = "order"', "mine.toml:5: unknown data 'order'. Did you mean 'orders'"),
        ('data = "orders"', 'data = "orders"\nrows = 5', "mine.toml:6: table orders has the rows of its data"),
        ('column = "id"', 'column = "idd"', "has no column 'idd'. Did you mean 'id'"),
        ('primary_key = ["id"]', 'primary_key = ["customer"]', "has no value in 1 rows; it is part of the primary key"),
    ],
)
def test_mistakes_are_refused(folder: Path, old: str, new: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        load(folder, old, new)


@pytest.mark.parametrize(
    ("csv", "columns", "expected"),
    [
        (
            "id,v\n1,2\n1,3\n",
            "",
            r"mine.toml:6: the primary key \(id\) repeats: 1 is at .*orders.csv:2 and .*orders.csv:3",
        ),
        (
            "id,v\n1,2\n2,x\n",
            'columns = { id = {}, v = { type = "int4" } }',
            r"mine.toml:7: .*orders.csv:3: column 'v' is 'x', which is no int4",
        ),
        (
            "id,v\n1,abc\n",
            'columns = { id = {}, v = { type = "char(2)" } }',
            r"mine.toml:7: .*orders.csv:2: column 'v' is 'abc', which is no char\(2\)",
        ),
        ("id,v\n1,2.5\n\n2,nan\n", 'columns = { id = {}, v = { type = "float8" } }', "orders.csv:4: column 'v' is nan"),
        (
            "id,v\n1,2024-01-01\n2,0999-12-31\n",
            'columns = { id = {}, v = { type = "timestamp" } }',
            r"orders.csv:3: column 'v' is 0999-12-31 .*, which is no timestamp\.",
        ),
        (
            'id,v\n1,"{""a"":\n1}"\n2,{\n',
            'columns = { id = {}, v = { type = "json" } }',
            "orders.csv:4: column 'v' is '{', which is no json",
        ),
        (
            "id,v\n1,1.5\n",
            'columns = { id = {}, v = { type = "int4" } }',
            "orders.csv:2: column 'v' is '1.5', which is no int4",
        ),
        ("id,v\n1,40000\n", 'columns = { id = {}, v = { type = "int2" } }', "orders.csv:2: column 'v' is '40000'"),
        (
            "id,v\n1,0x0\n",
            'columns = { id = {}, v = { type = "bytes(9)" } }',
            r"orders.csv:2: .* which is no bytes\(9\)",
        ),
        (
            "id,v\n1,2024-01-01 10:00Z\n2,2024-01-01 11:00+01\n",
            'indexes = [{ name = "i", columns = ["v"], unique = true }]',
            r"the key of index i \(v\) repeats: 2024-01-01 10:00:00 is at .*orders.csv:2 and .*orders.csv:3",
        ),
        ("id,a b,a-b\n1,2,3\n", "", "mine.toml:5: 'a b' and 'a-b' of .* would both be columns called a_b"),
        ("id,v,V\n", "", "orders.csv:1: the column 'v' is there twice"),
        ("id,\n", "", "orders.csv:1: column 2 has no name"),
        ('id,v\n1,"a\n2,b\n', "", "orders.csv:2 cannot be read: Value with unterminated quote"),
        ("id,v\n1,2,3\n", "", "orders.csv:2 cannot be read: "),
        ("id,v\n1\n", "", "orders.csv:2 cannot be read: "),
    ],
)
def test_values_and_keys_are_checked_when_they_are_staged(folder: Path, csv: str, columns: str, expected: str) -> None:
    (folder / "orders.csv").write_text(csv)
    with pytest.raises(UsageError, match=expected):
        _stage(load(folder, 'primary_key = ["id"]', f'primary_key = ["id"]\n{columns}'))
    assert not list((folder / "home/data").rglob("*.tsv*"))


def test_a_parquet_file_names_rows(folder: Path) -> None:
    with duckdb.connect() as opened:
        opened.sql("SELECT i AS id, i / 0.0 AS note FROM range(3) AS of(i)").write_parquet(f"{folder}/orders.parquet")
    suite = load(folder, "orders.csv", "orders.parquet")
    with pytest.raises(UsageError, match=r"orders.parquet, row 1: column 'note' is nan, which is no float8"):
        _stage(suite)


def test_inserts_do_not_go_on_behind_a_file(folder: Path) -> None:
    sql = 'sql = "SELECT note FROM orders WHERE id = :id"\nparams = { id = { gen = "data", of = "orders", column = "id" } }'
    with pytest.raises(UsageError, match="table orders has the rows of a file, which do not go on"):
        load(folder, sql, 'into = "orders"')


@pytest.mark.parametrize("pick", ["", 'pick = "uniform", '])
def test_an_exponent_needs_a_zipfian_pick(folder: Path, pick: str) -> None:
    with pytest.raises(UsageError, match=r'mine.toml:13: .*exponent is 0.9: .*pick = "zipfian"'):
        load(folder, 'column = "id" }', f'column = "id", {pick}exponent = 0.9 }}')
    load(folder, 'column = "id" }', 'column = "id", pick = "zipfian", exponent = 0.9 }')


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may come out of any packed file, instead of 1 GiB."""
    monkeypatch.setattr(packed, "PLAIN_BYTES", 1 << 20)


@pytest.mark.parametrize(
    "text", [b"id,note\n" + b"1,\n" * (1 << 22), b"id,note\n1," + b"x" * (1 << 25), b"x" * (1 << 25)]
)
def test_a_packed_file_that_holds_too_much_is_refused(folder: Path, little: None, text: bytes) -> None:
    (folder / "orders.csv.gz").write_bytes(gzip.compress(text))
    with pytest.raises(UsageError, match=r"mine\.toml:3: .*orders\.csv\.gz.*(a line is longer|unpacks to more) than"):
        _stage(load(folder, "orders.csv", "orders.csv.gz"))


@pytest.mark.slow
def test_a_packed_file_that_is_plausible_is_read(folder: Path, little: None) -> None:
    lines = "".join(f"{number},{number * 7919 % 10007},note\n" for number in range(200_000))
    (folder / "orders.csv.gz").write_bytes(gzip.compress(("id,customer,note\n" + lines).encode()))
    suite = load(folder, "orders.csv", "orders.csv.gz")
    _stage(suite)
    assert suite.staged[0].rows == 200_000


@pytest.mark.slow
def test_a_parquet_file_of_endless_rows_is_refused(folder: Path, little: None) -> None:
    path = folder / "orders.parquet"
    rows = duckdb.sql("SELECT 1 AS id, 'x' AS note FROM range(20_000_000)")
    assert rows is not None
    rows.write_parquet(str(path), compression="zstd")
    with pytest.raises(UsageError, match=r"mine\.toml:3: .*orders\.parquet unpacks to more than .* and is refused"):
        _stage(load(folder, "orders.csv", "orders.parquet"))


def test_a_file_that_is_cut_off_is_refused(folder: Path) -> None:
    (folder / "orders.csv.gz").write_bytes(gzip.compress(CSV.encode() * 10_000)[:-40])
    with pytest.raises(UsageError, match=r"mine\.toml:3: .*orders\.csv\.gz.* cannot be read"):
        _stage(load(folder, "orders.csv", "orders.csv.gz"))


def test_rows_that_memory_has_no_room_for_go_to_a_private_folder(folder: Path) -> None:
    (folder / "suite.toml").write_text(SUITE)
    place = Place(read_source(folder / "suite.toml"), ("data", "orders"))
    kept = folder / "home/data"
    with connection(find_file("orders", shape.Data(file="orders.csv"), place, {})) as opened:
        opened.execute("SET memory_limit = '40MB'; SET threads = 1")
        opened.execute("CREATE TABLE spilt AS SELECT range AS id, repeat('x', 50) || range AS note FROM range(1000000)")
        (spill,) = kept.glob(".spill-*")
        assert list(spill.iterdir()) and kept.stat().st_mode & 0o777 == 0o700
    assert not list(kept.glob(".spill-*"))


OF_SCRIPTS = (
    '[setup]\nsql = "schema.sql"\n[data.orders]',
    'made_by = "scripts"\ndata = "orders"',
)


def own_schema(folder: Path, old: str = "", new: str = "") -> Suite:
    """The suite with a schema of its user's own."""
    (folder / "schema.sql").write_text("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, note CHAR(8));")
    text = SUITE.replace("[data.orders]", OF_SCRIPTS[0]).replace('data = "orders"\nprimary_key = ["id"]', OF_SCRIPTS[1])
    assert old in text
    (folder / "mine.toml").write_text(text.replace(old, new, 1))
    return load_suite(folder / "mine.toml")


def test_what_scripts_make_is_filled_with_the_files_texts_as_they_are_written(folder: Path) -> None:
    (folder / "orders.csv").write_text("id,customer,note\n1,7,007\n2,,1e5\n3,12.50,2024-01-01T00:00:00Z\n")
    suite = own_schema(folder)
    made = loads(suite, 1000, 1, lambda table: ([], []))[0]
    assert {one["type"] for one in made["columns"].values()} == {"text"}
    _stage(suite)
    texts = {staged.name: staged.path.read_text() for staged in suite.staged}
    assert texts[made["data"]] == "1\t7\t007\n2\t\\N\t1e5\n3\t12.50\t2024-01-01T00:00:00Z\n"
    drawn = definition(suite.tests["one"], "sqlite", 1000)["statements"][0]["params"]["id"]
    assert drawn["type"] == "int8"
    assert suite.usual_rows(1000, 1) == load(folder).usual_rows(1000, 1)


def test_a_column_of_what_scripts_make_may_have_a_type_as_which_it_is_sent(folder: Path) -> None:
    given = OF_SCRIPTS[1] + '\ncolumns = { id = {}, customer = { type = "decimal(10,2)" } }'
    made = loads(own_schema(folder, OF_SCRIPTS[1], given), 1000, 1, lambda table: ([], []))[0]
    assert {name: one["type"] for name, one in made["columns"].items()} == {"id": "text", "customer": "decimal(10,2)"}


def test_times_of_parquet_are_sent_as_texts_in_utc_and_the_rest_as_it_is(folder: Path) -> None:
    with duckdb.connect() as opened:
        opened.execute("SET TimeZone = 'UTC'")
        columns = "1 AS id, TIMESTAMPTZ '2024-01-01 10:00:00+02' AS customer, true AS note"
        opened.execute(f"COPY (SELECT {columns}) TO '{folder}/orders.parquet' (FORMAT parquet)")
    suite = own_schema(folder, "orders.csv", "orders.parquet")
    made = loads(suite, 1000, 1, lambda table: ([], []))[0]
    assert {name: one["type"] for name, one in made["columns"].items()} == {
        "id": "int4",
        "customer": "text",
        "note": "bool",
    }
    _stage(suite)
    texts = {staged.name: staged.path.read_text() for staged in suite.staged}
    assert texts[made["data"]] == "1\t2024-01-01 08:00:00\t1\n"


def test_what_scripts_make_is_not_made_again_and_speaks_utf_8(folder: Path) -> None:
    suite = own_schema(folder)
    (table,) = suite.made_tables(1000, 1)
    assert mysql_ddl.table_sql(table, "mysql", "InnoDB") == (["SET NAMES utf8mb4"], [])
    assert sqlite_ddl.table_sql(table) == ([], [])
    create, after = postgres_ddl.table_sql(table, "")
    assert create == [] and len(after) == 1 and "setval" in after[0]
    one = suite.tests["one"]
    assert definition(one, "mariadb", 1000)["session_sql"] == ["SET NAMES utf8mb4"]
    assert "session_sql" not in definition(one, "postgres", 1000)
    assert "session_sql" not in definition(load(folder).tests["one"], "mysql", 1000)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('made_by = "scripts"', 'made_by = "scripts"\nprimary_key = ["id"]', "so `primary_key` is theirs to say"),
        ('made_by = "scripts"', 'made_by = "scripts"\ncopies = 2', "so `copies` is theirs to say"),
        (
            'made_by = "scripts"',
            'made_by = "scripts"\ncolumns = { id = { nullable = true } }',
            "so `nullable` is theirs to say",
        ),
        ('[setup]\nsql = "schema.sql"\n', "", r"mine.toml:5: table orders is made by scripts, and there are none"),
        ('made_by = "scripts"', 'made_by = "me"', "made_by"),
    ],
)
def test_what_scripts_say_is_not_said_twice(folder: Path, old: str, new: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        own_schema(folder, old, new)


def drawn_from(folder: Path, text: str, params: str = '{ gen = "any", of = "orders" }') -> dict[str, object]:
    """What the engine is told of the parameter of SUITE's statement."""
    asked = text.replace('{ gen = "data", of = "orders", column = "id" }', params)
    assert asked != text
    (folder / "mine.toml").write_text(asked)
    (folder / "schema.sql").write_text("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, note CHAR(8));")
    made = definition(load_suite(folder / "mine.toml").tests["one"], "sqlite", 1000)["statements"][0]["params"]["id"]
    assert isinstance(made, dict)
    return made


DESCRIBED = SUITE.replace('[data.orders]\nfile = "orders.csv"\n', "").replace(
    'data = "orders"\nprimary_key = ["id"]',
    'rows = "table_size * 2"\ncolumns.id = { type = "int4", values = { gen = "sequence", start = 10 } }\n'
    'columns.note = { type = "text", values = { gen = "text", template = "@" } }',
)
SCRIPTED = SUITE.replace(
    '[data.orders]\nfile = "orders.csv"\n[tables.orders]\ndata = "orders"\nprimary_key = ["id"]\n', ""
)
SCRIPTED = SCRIPTED.replace("[tests.one]", '[setup]\nsql = "schema.sql"\n[tests.one]')


def test_any_value_of_a_table_comes_from_wherever_its_rows_do(folder: Path) -> None:
    of_file = drawn_from(folder, SUITE)
    assert (of_file["gen"], of_file["rows"], of_file["type"]) == ("data", 3, "int8")
    customers = drawn_from(folder, SUITE, '{ gen = "any", of = "orders", column = "customer", count = 2 }')
    assert customers["count"] == 2 and customers["file"] != of_file["file"]
    assert drawn_from(folder, DESCRIBED) == {"gen": "uniform", "low": 10, "high": 2009}
    popular = drawn_from(folder, DESCRIBED, '{ gen = "any", of = "orders", pick = "zipfian", exponent = 1.2 }')
    assert popular == {"gen": "zipfian", "low": 10, "high": 2009, "exponent": 1.2}
    scripted = drawn_from(folder, SCRIPTED, '{ gen = "any", of = "orders", column = "note", type = "text" }')
    assert (scripted["gen"], scripted["rows"], scripted["type"]) == ("data", 1 << 18, "text")
    assert str(scripted["file"]).endswith("/orders.note.tsv")


def test_values_that_scripts_load_are_others_once_a_script_is(folder: Path) -> None:
    before = drawn_from(folder, SCRIPTED)
    (folder / "other.sql").write_text("CREATE TABLE orders (id INTEGER PRIMARY KEY);")
    assert drawn_from(folder, SCRIPTED)["file"] == before["file"]
    assert drawn_from(folder, SCRIPTED.replace("schema.sql", "other.sql"))["file"] != before["file"]


@pytest.mark.parametrize(
    ("text", "params", "expected"),
    [
        (SUITE, '{ gen = "any", of = "order" }', "unknown table 'order'. Did you mean 'orders'"),
        (SUITE, '{ gen = "any", of = "orders", column = "idd" }', "has no column 'idd'. Did you mean 'id'"),
        (DESCRIBED, '{ gen = "any", of = "orders", column = "idd" }', "has no column 'idd'. Did you mean 'id'"),
        (DESCRIBED, '{ gen = "any", of = "orders", column = "note" }', "neither numbered nor of a file"),
        (SCRIPTED, '{ gen = "any", of = "orders", type = "date" }', "draws integers or texts"),
        (SCRIPTED, '{ gen = "any", of = "o; DROP" }', "of"),
    ],
)
def test_what_cannot_be_drawn_from_a_table_is_refused(folder: Path, text: str, params: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        drawn_from(folder, text, params)
