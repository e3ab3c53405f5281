"""Copies of users' data are nobody else's business, whatever the umask and though the home was made before."""

import gzip
import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import Bench

NOBODY = 65534
ROW = "hidden7@example.org"
MORE = f"CREATE TABLE more (mail TEXT); INSERT INTO more VALUES ('{ROW}');\n"  # noqa: S608
SUITE = """
title = "People"
[data.people]
file = "private/people.csv"
[tables.people]
data = "people"
primary_key = ["id"]
[setup]
sqlite = ["private/more.sql", "private/packed.sql.gz"]
[tests.one]
title = "A person"
group = "point"
[[tests.one.statements]]
name = "one"
sql = "SELECT mail FROM people WHERE id = :id"
params = { id = { gen = "data", of = "people", column = "id" } }
[[phases]]
name = "read"
tests = ["one"]
"""


@pytest.fixture(params=[0o022, 0o000])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def private_experiment(bench: Bench) -> Path:
    folder = bench.folder / "private"
    folder.mkdir(mode=0o700)
    (folder / "people.csv").write_text("id,mail\n" + "".join(f"{n},{n}{ROW}\n" for n in range(1, 200)))
    (folder / "more.sql").write_text(MORE)
    (folder / "packed.sql.gz").write_bytes(gzip.compress(MORE.replace("more", "packed").encode()))
    for path in folder.iterdir():
        path.chmod(0o600)
    (bench.folder / "people.toml").write_text(SUITE)
    experiment = bench.write(["sqlite:bundled", "sqlite:bundled@cache_size=-100"], "one", 'suite = "people.toml"\n')
    for path in (experiment, bench.folder / "people.toml"):
        path.chmod(0o644)  # whatever the umask: what others may change would be asked about
    return experiment


def _open_to_others(top: Path) -> list[Path]:
    """Files with the row that another user may get at."""
    found = []
    for folder, names, files in os.walk(top):
        names[:] = [name for name in names if _mode(Path(folder, name)) & stat.S_IXOTH]
        found += [path for path in (Path(folder, name) for name in files) if _mode(path) & stat.S_IROTH]
    return [path for path in found if ROW.encode() in path.read_bytes()]


def _mode(path: Path) -> int:
    return path.lstat().st_mode


def _holders(top: Path) -> list[Path]:
    return [path for path in top.rglob("*") if path.is_file() and ROW.encode() in path.read_bytes()]


def _publish(bench: Bench) -> None:
    """What was measured, as an archive: nothing of the data or of this place is in it, and it is read like the folder."""
    for name in ("people.tar.gz", "people.zip", "people.tar.xz"):
        done = bench.run("export", bench.out, "--out", name)
        assert "left out: suite/setup/1-more.sql, suite/setup/2-packed.sql.gz: a script or dump" in done.stdout
        assert f"{name} is there already" in bench.run("export", bench.out, "--out", name, status=2).stderr
        shutil.unpack_archive(
            bench.folder / name, bench.folder / "unpacked", filter=None if name.endswith("zip") else "data"
        )
        there = bench.folder / "unpacked/people"
        assert not _holders(there)
        texts = "".join(path.read_bytes().decode(errors="replace") for path in there.rglob("*") if path.is_file())
        assert not [word for word in (str(bench.folder), tempfile.gettempdir()) if word in texts]
        assert (
            bench.run("show", there, "--format", "csv").stdout == bench.run("show", bench.out, "--format", "csv").stdout
        )
        shutil.rmtree(there)
    bench.run("export", bench.out, "--out", "people.rar", status=2)
    bench.run("export", bench.folder, "--out", "other.zip", status=2)
    assert not list(bench.folder.glob("other*"))


def test_nobody_else_can_read_copies_of_data(bench: Bench, umask: int) -> None:
    for name in ("data", "snapshots"):  # as an earlier version left them
        (bench.home / name).mkdir(parents=True, mode=0o777)
    bench.run("run", private_experiment(bench), "--out", bench.out)
    kept = _holders(bench.home)
    assert {path.suffix for path in kept} >= {".tsv", ".sqlite"}
    assert _holders(bench.out) == [bench.out / "suite/setup/1-more.sql"]
    assert not _open_to_others(bench.home) and not _open_to_others(bench.out)
    for path in [*(path for path in kept if path.suffix == ".tsv"), bench.out / "suite/setup/1-more.sql"]:
        assert stat.S_IMODE(_mode(path)) == 0o600 and stat.S_IMODE(_mode(path.parent)) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_another_user_finds_nothing_of_them(bench: Bench) -> None:
    bench.run("run", private_experiment(bench), "--out", bench.out)
    for folder in (bench.home, bench.out):
        command = ["grep", "-rl", "--binary-files=text", ROW, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, user=NOBODY, group=NOBODY, extra_groups=[])
        assert not done.stdout
    _publish(bench)
    again = bench.out / "experiment.toml"
    bench.run("run", again, "--out", bench.folder / "again")
    copy = bench.folder / "again/suite/setup/1-more.sql"
    assert stat.S_IMODE(_mode(copy)) == 0o600
    assert json.loads((bench.out / "suite/data.json").read_text())
