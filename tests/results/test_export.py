"""What is published tells neither where it was measured, nor by whom, nor on which rows; and it is read as before."""

import json
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbversus.errors import UsageError
from dbversus.results.export import export
from dbversus.results.journal import parse_journal, read_header
from dbversus.results.read import open_results
from dbversus.results.schema import IMPORTED_COLUMNS, JOURNAL
from dbversus.results.write import seal

from ..journals import DictJournal
from .samples import HEADER, write_journal

OLD, NEW = "/home/alice7/old/pg17", "/opt/acme7/new/pg17"
WORDS = ("alice7", "acme7", "db7", "hidden7", "fXdYp7")
TOML = f"""targets = ["postgres:{OLD}", "postgres:{NEW}@vault.token=hidden7,work_mem=4MB"]
suite = "/home/alice7/my suites/shop.toml"
config_dir = "~/alice7/configs"
"""


def _header() -> dict[str, Any]:
    spec = tomllib.loads(TOML)
    first, second = spec["targets"]
    rendered = {
        "name": "own",
        "settings": {"vault.token": "hidden7", "work_mem": "4MB", "primary_conninfo": "hidden7 hidden7"},
    }
    files = [
        {"file": "suite/1-shop.toml", "sha256": "0" * 64, "from": spec["suite"]},
        {"file": "suite/setup/1-dump.sql", "sha256": "1" * 64, "from": "/home/alice7/dump.sql"},
    ]
    return HEADER | {
        "targets": [
            {"name": "t0", "label": first, "dbms": "postgres"},
            {"name": "t1", "label": second, "dbms": "postgres", "rendered": rendered},
        ],
        "command": f"dbversus compare {first} '{second}' --suite '{spec['suite']}' --config-dir ~/alice7/configs",
        "suite": spec["suite"], "spec": spec, "files": files,
    }  # fmt: skip


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    write_journal(folder, rows=3, header=_header())
    with DictJournal(folder) as journal:
        words = f"{OLD}/bin/postgres on db7.acme7.org: Key (mail)=(hidden7@x) exists; see /home/alice7/x/server.log, 'hidden7'"
        journal.append({"type": "remark", "words": words, "target": "t1"})
    seal(folder)
    texts = {
        "experiment.toml": TOML,
        "host.json": json.dumps({"machine_id": "0123", "file_system": {"mount_point": "/srv/alice7", "type": "ext4"}}),
        "suite/1-shop.toml": "# from /home/alice7/my.sql\n[data.people]\nfile = '/home/alice7/people.csv'\nsql = 'x = :token'\n",
        "suite/setup/1-dump.sql": "INSERT INTO people VALUES ('hidden7')",
        "suite/data.json": json.dumps({"people": {"file": "~/alice7/people.csv", "sha256": "2" * 64}}),
        "configs/postgres/own.conf": "vault.token = hidden7 hidden7\nwork_mem = 4MB\nplugin = /opt/acme7/x/a.so\n",
        "servers/t0/settings.json": json.dumps({"hostname": "db7", "data_directory": "/x/alice7/y", "work_mem": "4MB"}),
        "servers/t0/plans.json": json.dumps({"one/q": "Index Cond: (mail = 'hidden7'::text)\nFilter: (phone = 7007)"}),
        "servers/t0/log_tail.txt": f"at db7 in {NEW}/data\nserver_uid fXdYp7=\nSTATEMENT: SELECT 'hidden7' "
        "/usr/share/zoneinfo/x\n",
        "servers/t0/config.txt": "init_connect = hidden7\n",
        "notes of alice7.txt": "hidden7",
        "report.xlsx": "hidden7",
        "report.html": "hidden7",
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "servers/t0/sizes.json").symlink_to(folder / "host.json")
    (folder / "post").symlink_to(tmp_path)
    return folder


def _everything(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file()]
    texts = [path.read_bytes().decode(errors="replace") for path in files if path.suffix != ".parquet"]
    with duckdb.connect() as connection:
        texts += [str(connection.execute(f"FROM '{path}'").fetchall()) for path in folder.rglob("*.parquet")]
    return "\n".join([*texts, *(path.name for path in files)])


def _exported(directory: Path, tmp_path: Path) -> tuple[Path, dict[str, str]]:
    into = tmp_path / "copy"
    into.mkdir()
    return into, {one.file: one.why for one in export(directory, into)}


def test_nothing_in_it_tells_who_where_or_on_what(directory: Path, tmp_path: Path) -> None:
    into, left_out = _exported(directory, tmp_path)
    everything = _everything(into)
    assert not [word for word in (*WORDS, "7007") if word in everything]
    assert set(left_out) == {
        "suite/setup/1-dump.sql", "notes of alice7.txt", "report.xlsx", "servers/t0/sizes.json", "post",
    }  # fmt: skip
    assert left_out["suite/setup/1-dump.sql"] == "a script or dump, which may have rows of your database"
    assert not (into / "report.html").exists()
    assert "/usr/share/zoneinfo/x" in (into / "servers/t0/log_tail.txt").read_text()
    assert "sql = 'x = :token'" in (into / "suite/1-shop.toml").read_text()


def test_it_is_read_as_the_first_one_is(directory: Path, tmp_path: Path) -> None:
    into, _ = _exported(directory, tmp_path)
    before, after = open_results(directory), open_results(into)
    assert [target.label for target in after.targets] == [
        "postgres:./old/pg17",
        "postgres:./new/pg17@vault.token=…,work_mem=4MB",
    ]
    assert len(after.slots["ops"]) == len(before.slots["ops"]) and list(after.slots["ops"]) == list(before.slots["ops"])
    assert set(after.slots["target"]) == {target.label for target in after.targets}
    assert len(parse_journal(into / JOURNAL)[0]) == len(parse_journal(directory / JOURNAL)[0])
    header = read_header(into / JOURNAL)
    assert header.command == (
        "dbversus compare postgres:./old/pg17 'postgres:./new/pg17@vault.token=…,work_mem=4MB' --suite 'shop.toml' "
        "--config-dir configs"
    )
    assert header.targets[1].rendered and header.targets[1].rendered.settings["primary_conninfo"] == "…"
    spec = tomllib.loads((into / "experiment.toml").read_text())
    assert spec["suite"] == header.spec["suite"] == "shop.toml" and spec["targets"] == header.spec["targets"]
    assert header.files[0].sha256 != "0" * 64 and header.files[1].sha256 == "1" * 64


def test_the_copy_of_a_copy_is_the_same(directory: Path, tmp_path: Path) -> None:
    into, _ = _exported(directory, tmp_path)
    again = tmp_path / "again"
    again.mkdir()
    assert export(into, again) == []
    names = {path.relative_to(into) for path in into.rglob("*")}
    assert names == {path.relative_to(again) for path in again.rglob("*")}
    assert all(
        (again / name).read_text() == (into / name).read_text() for name in names if name.suffix in (".toml", ".jsonl")
    )


def test_imported_texts_are_told_alike(tmp_path: Path) -> None:
    directory = tmp_path / "theirs"
    directory.mkdir()
    write_journal(directory, rows=0)
    row = dict.fromkeys(IMPORTED_COLUMNS, "NULL") | {
        "test": "'scan'",
        "value": "1.5",
        "file": "'/home/alice7/runs/x.out'",
    }
    fields = ", ".join(f'{value}::{IMPORTED_COLUMNS[name]} AS "{name}"' for name, value in row.items())
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {fields}) TO '{directory / 'imported.parquet'}' (FORMAT parquet)")
    into, left_out = _exported(directory, tmp_path)
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT test, value, file FROM '{into / 'imported.parquet'}'").fetchall()  # noqa: S608
    assert found == [("scan", 1.5, "…/x.out")] and not left_out


def test_what_is_no_results_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no journal\.jsonl; expected a results directory"):
        export(tmp_path, tmp_path)
    assert not list(tmp_path.iterdir())
