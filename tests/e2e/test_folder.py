"""Results folders that hold all of their experiment: repeated elsewhere, gone on with as stored, refused when edited."""

import json
import shutil
from pathlib import Path

from .conftest import Bench

SUITE = 'title = "Mine"\nextends = "sysbench"\n[selections]\nfew = ["point-query"]\n'


def _own(bench: Bench) -> Path:
    """An experiment with a suite and a config of one's own."""
    (bench.folder / "conf/sqlite").mkdir(parents=True)
    (bench.folder / "conf/sqlite/own.conf").write_text("cache_size = -4000\n")
    (bench.folder / "mine.toml").write_text(SUITE)
    more = 'suite = "mine.toml"\nconfig_dir = "conf"\n'
    return bench.write(["sqlite:bundled", "sqlite:bundled@own"], "few", more)


def _interrupt(bench: Bench) -> None:
    """Leaves of a finished journal what was there after the first block."""
    lines = (bench.out / "journal.jsonl").read_text().splitlines(keepends=True)
    first = [json.loads(line) for line in lines]
    end = next(n for n, record in enumerate(first) if record["type"] == "block" and record["event"] == "finished")
    (bench.out / "journal.jsonl").write_text("".join(lines[: end + 1]))
    (bench.out / "slots.parquet").unlink()


def test_a_results_folder_is_run_again_elsewhere_without_the_originals(bench: Bench) -> None:
    bench.run("run", _own(bench), "--out", bench.out)
    elsewhere = bench.folder / "elsewhere"
    elsewhere.mkdir()
    moved = bench.out.rename(elsewhere / "moved")
    for name in ("conf", "mine.toml", "experiment.toml"):
        path = bench.folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    done = bench.run("run", moved / "experiment.toml", "--out", bench.out)
    assert f"suite and configs are those of {moved}" in done.stderr
    assert {row["test"] for row in bench.records("row")} == {"point-query"}
    settings = json.loads((bench.out / "servers/t1/settings.json").read_text())
    assert settings["cache_size"] == "-4000"
    again = bench.run("run", bench.out / "experiment.toml", "--dry-run")
    assert "point-query" in again.stdout


def test_an_experiment_goes_on_as_stored_where_a_config_has_changed_outside(bench: Bench) -> None:
    bench.run("run", _own(bench), "--out", bench.out)
    _interrupt(bench)
    config = bench.folder / "conf/sqlite/own.conf"
    config.write_text("cache_size = -1\n")
    refused = bench.run("resume", bench.out, status=2)
    assert str(config) in refused.stderr and "--as-stored" in refused.stderr
    assert not bench.records("resumed") and "go on with:" not in refused.stderr
    bench.run("resume", bench.out, "--as-stored")
    assert bench.records("resumed") and bench.records("finished")
    (header,) = bench.records("experiment")
    assert header["targets"][1]["rendered"]["settings"]["cache_size"] == "-4000"


def test_an_experiment_goes_on_without_the_originals(bench: Bench) -> None:
    bench.run("run", _own(bench), "--out", bench.out)
    _interrupt(bench)
    shutil.rmtree(bench.folder / "conf")
    (bench.folder / "mine.toml").unlink()
    bench.run("resume", bench.out)
    assert bench.records("finished")


def test_an_edited_folder_is_refused_by_name(bench: Bench) -> None:
    bench.run("run", _own(bench), "--out", bench.out)
    _interrupt(bench)
    edits = {
        "experiment.toml": ("slot_ms = 10.0", "slot_ms = 11.0"),
        "suite/1-mine.toml": ("Mine", "Ours"),
        "configs/sqlite/own.conf": ("-4000", "-1"),
    }
    for name, (old, new) in edits.items():
        path = bench.out / name
        text = path.read_text()
        path.write_text(text.replace(old, new, 1))
        assert f"{path} was edited" in bench.run("resume", bench.out, "--as-stored", status=2).stderr
        assert f"{path} was edited" in bench.run("run", bench.out / "experiment.toml", status=2).stderr
        path.unlink()
        wanted = "does not exist" if name == "experiment.toml" else "is missing"
        assert f"{path} {wanted}" in bench.run("resume", bench.out, status=2).stderr
        path.write_text(text)
    assert not bench.records("resumed")


def test_a_time_budget_that_is_too_short_is_refused_before_anything_is_started(bench: Bench) -> None:
    file = bench.write(["sqlite:bundled", "sqlite:bundled@cache_size=-100"], "point-query", 'time_budget_s = "1ms"\n')
    refused = bench.run("run", file, "--out", bench.out, status=2)
    assert "time budget of 0 s is too short for one block (about " in refused.stderr
    assert not bench.out.exists()
    assert "too short for one block" in bench.run("run", file, "--dry-run", status=2).stderr
