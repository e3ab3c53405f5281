import json
from pathlib import Path

import duckdb
import numpy as np
import pytest

from dbversus.errors import UsageError
from dbversus.results.read import open_results
from dbversus.results.records import Row
from dbversus.results.schema import DRIVEN_COLUMNS, JOURNAL, LATER_SLOT_COLUMNS, SCHEMA_VERSION, SLOTS
from dbversus.results.write import seal

from .samples import HEADER, write_journal


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write_journal(tmp_path, rows=3)
    return tmp_path


def test_header_targets_and_slots(directory: Path) -> None:
    results = open_results(directory)
    assert results.base.label == "postgres:13.1"
    assert results.targets[1].config == "fpw_off"
    assert results.tests == ("point-query",)
    assert list(results.slots["ops"]) == [1000, 1100] * 3
    assert results.slots["host_psi_cpu_us"].mask.all()  # type: ignore[attr-defined]
    assert results.label("t1") == "postgres:17.2"
    assert results.finished is None


def test_sealed_and_unsealed_read_alike(directory: Path) -> None:
    from_journal = open_results(directory).slots
    seal(directory)
    sealed = open_results(directory)
    assert not any(isinstance(record, Row) for record in sealed.records)
    for name, values in from_journal.items():
        assert np.array_equal(np.ma.getmaskarray(values), np.ma.getmaskarray(sealed.slots[name])), name
        assert np.ma.allequal(values, sealed.slots[name]) or list(values) == list(sealed.slots[name]), name


@pytest.mark.parametrize("sealed", [False, True])
def test_latency_by_block(directory: Path, sealed: bool) -> None:
    if sealed:
        seal(directory)
    results = open_results(directory)
    blocks = results.latency("point-query", results.base)
    assert list(blocks) == [0]
    assert blocks[0].count == 3
    assert blocks[0].percentiles_ns([0, 50, 100]) == [1000, 2000, 3001]
    assert results.latency("nothing", results.base) == {}


def test_no_results_directory(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no journal\.jsonl"):
        open_results(tmp_path)
    with pytest.raises(UsageError, match=r"has no journal\.jsonl"):
        open_results(tmp_path / "absent")


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_text(json.dumps(HEADER | {"schema": SCHEMA_VERSION + 1, "dbversus": "9.0"}) + "\n")
    with pytest.raises(UsageError, match=rf"schema {SCHEMA_VERSION + 1}, written by dbversus 9\.0"):
        open_results(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [({"schema": "x"}, "names schema 'x'"), ({"targets": []}, "names no targets"),
     ({"targets": [{}]}, r"line 1: damaged; .* missing required field `name` - at `\$.targets\[0\]`"),
     ({"tests": None}, "line 1: damaged; .*tests`"), ({"type": "resumed", "reason": ""}, "does not begin with")],
)  # fmt: skip
@pytest.mark.parametrize("schema", [1, SCHEMA_VERSION])
def test_a_damaged_header_is_told(tmp_path: Path, schema: int, change: dict[str, object], said: str) -> None:
    (tmp_path / JOURNAL).write_text(json.dumps(HEADER | {"schema": schema} | change) + "\n")
    with pytest.raises(UsageError, match=said):
        open_results(tmp_path)


def test_a_cut_off_last_line_is_passed_over_and_left_alone(directory: Path) -> None:
    path = directory / JOURNAL
    path.write_bytes(path.read_bytes() + b'{"type":"row"')
    content = path.read_bytes()
    assert len(open_results(directory).slots["ops"]) == 6
    assert path.read_bytes() == content


def test_damage_in_the_middle_is_told(directory: Path) -> None:
    path = directory / JOURNAL
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"not json\n" + b"".join(lines[2:]))
    with pytest.raises(UsageError, match="line 2: damaged"):
        open_results(directory)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"type":"row","block":0}', "missing required field"),
        (b'{"type":"raw"}', "Invalid value 'raw'"),
        (b"[]", "got `array`"),
    ],
)
def test_what_is_no_record_is_named_also_in_the_last_line(directory: Path, line: bytes, said: str) -> None:
    path = directory / JOURNAL
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(UsageError, match=rf"journal\.jsonl, line 7: damaged; .*{said}"):
        open_results(directory)


def test_a_row_of_a_target_that_there_is_not_is_told(directory: Path) -> None:
    path = directory / JOURNAL
    path.write_bytes(path.read_bytes().replace(b'"target":"t1"', b'"target":"t9"'))
    with pytest.raises(UsageError, match=r"a `[a-z]+` record is of target 't9', which the first line does not name"):
        open_results(directory)
    path.write_bytes(b"".join(line for line in path.open("rb") if b'"type":"load"' not in line))
    with pytest.raises(UsageError, match="`row` record is damaged"):
        open_results(directory)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b'"ops":', b'"ops":-', "ops of a slot is below 0"),
        (b'{"type":"row",', b'{"type":"row","x":' + b"[" * 100_000, "nested too deeply|damaged"),
        (b'"type":"row"', b'"type":"row\xff"', "line [0-9]+: damaged"),
        (b'{"type":"row",', b'{"type":"row","x":"\\ud800",', "line [0-9]+: damaged"),
        (b'"schema":2', b'"x":"\xff"', "line 1: damaged; expected one JSON object"),
    ],
)
def test_what_no_run_writes_is_told(directory: Path, old: bytes, new: bytes, words: str) -> None:
    path = directory / JOURNAL
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(UsageError, match=words):
        open_results(directory)


@pytest.mark.parametrize("look", [0, -3, 10**18])
def test_looks_that_no_run_has_are_told(directory: Path, look: int) -> None:
    path = directory / JOURNAL
    header, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(json.dumps(json.loads(header) | {"looks": [look]}).encode() + b"\n" + rest)
    with pytest.raises(UsageError, match="looks are after 1 to 1000000 blocks"):
        open_results(directory)


def test_a_damaged_parquet_is_told(directory: Path) -> None:
    seal(directory)
    (directory / SLOTS).write_bytes(b"PAR1 no")
    with pytest.raises(UsageError, match=r"slots\.parquet is damaged .* made again"):
        open_results(directory)


def test_a_table_that_was_sealed_before_columns_were_added_is_read(directory: Path) -> None:
    seal(directory)
    path, later = str(directory / SLOTS), ", ".join(sorted({*LATER_SLOT_COLUMNS, *DRIVEN_COLUMNS}))
    without = f"SELECT * EXCLUDE ({later}) FROM read_parquet('{path}')"  # noqa: S608
    duckdb.sql(f"COPY ({without}) TO '{path}.old' (FORMAT parquet)")
    Path(f"{path}.old").rename(path)
    slots = open_results(directory).slots
    assert all(np.ma.getmaskarray(slots[name]).tolist() == [True] * 6 for name in LATER_SLOT_COLUMNS)
    assert list(slots["ops"]) == list(slots["driven_ops"]) == [1000, 1100] * 3
    assert list(slots["driven_write_bytes"]) == list(slots["server_write_bytes"])


def test_damaged_histograms_are_told(directory: Path) -> None:
    path = directory / JOURNAL
    record = {"type": "latency", "block": 1, "test": "point-query", "hdr": {"t0": "HISTFAAAnonsense"}}
    path.write_bytes(path.read_bytes() + json.dumps(record).encode() + b"\n")
    results = open_results(directory)
    with pytest.raises(Exception, match="damaged latency histogram"):
        results.latency("point-query", results.base)


def test_server_files_by_name_or_label(directory: Path) -> None:
    (directory / "servers" / "t0").mkdir(parents=True)
    (directory / "servers" / "t0" / "settings.json").write_text('{"jit": "on"}')
    (directory / "servers" / "postgres:17.2").mkdir()
    (directory / "servers" / "postgres:17.2" / "settings.json").write_text("[")
    results = open_results(directory)
    assert results.server_json(results.base, "settings.json") == {"jit": "on"}
    assert results.server_json(results.base, "plans.json") == {}
    with pytest.raises(UsageError, match="damaged"):
        results.server_json(results.targets[1], "settings.json")


def test_sql_sees_slots_and_loads(directory: Path) -> None:
    results = open_results(directory)
    columns, rows = results.sql("SELECT target, sum(ops) AS ops FROM slots GROUP BY target ORDER BY target")
    assert columns == ["target", "ops"]
    assert rows == [("postgres:13.1", 3000), ("postgres:17.2", 3300)]
    assert results.sql("SELECT target, rows FROM loads")[1] == [("postgres:17.2", 1000)]
    assert results.sql("SELECT ops_per_second FROM slots LIMIT 1")[1] == [(20_000.0,)]
    assert results.sql("SELECT a + 1 AS b FROM t", {"t": [{"a": 1}, {"a": None}]})[1] == [(2,), (None,)]


@pytest.mark.parametrize(
    "query",
    ["SELECT * FROM nothing", "SELEC 1", "SELECT * FROM read_csv('/etc/passwd')", "COPY slots TO 'x.csv'",
     "ATTACH 'x.db'", "SET enable_external_access=true"],
)  # fmt: skip
def test_sql_that_is_wrong_or_reaches_out_is_refused(directory: Path, query: str) -> None:
    with pytest.raises(UsageError, match="SQL was refused"):
        open_results(directory).sql(query)
