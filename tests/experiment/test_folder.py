"""A results folder holds its experiment: what is copied into it, and what is refused when any of it has changed."""

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec, read_spec, write_spec
from dbversus.experiment.folder import (
    changed_outside,
    check_steady,
    copies_of,
    is_results_folder,
    origins,
    read_folder,
    with_absolute_paths,
    write_copies,
)
from dbversus.experiment.header import check_outside
from dbversus.results.journal import read_header
from dbversus.results.records import Experiment, TargetFacts, encode
from dbversus.results.schema import EXPERIMENT, JOURNAL, SCHEMA_VERSION
from dbversus.results.write import Journal

SUITE = 'title = "Mine"\nextends = "./base.toml"\n[selections]\nfew = ["point-query"]\n'
BASE_SUITE = 'title = "Base"\nextends = "sysbench"\n'
FILES = [
    "configs/run_time/1-sqlite.toml",
    "configs/sqlite/base.conf",
    "configs/sqlite/own.conf",
    "suite/1-mine.toml",
    "suite/2-base.toml",
    "suite/3-sysbench.toml",
]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a suite and a config of one's own; the working directory."""
    folder = tmp_path / "own"
    (folder / "conf/sqlite").mkdir(parents=True)
    (folder / "mine.toml").write_text(SUITE)
    (folder / "base.toml").write_text(BASE_SUITE)
    (folder / "conf/sqlite/own.conf").write_text("cache_size = -4000\n")
    (folder / "conf/sqlite/other.conf").write_text("cache_size = -8000\n")
    monkeypatch.chdir(folder)
    return folder


def _spec(**choices: Any) -> ExperimentSpec:
    targets = ["sqlite:bundled@own", "sqlite:bundled@cache_size=-100"]
    return make_spec({"targets": targets, "suite": "mine.toml", "config_dir": "conf", "tests": "few"} | choices)


def _measured(directory: Path, **choices: Any) -> Path:
    """A results folder of an experiment that has begun."""
    directory.mkdir()
    spec = with_absolute_paths(_spec(**choices))
    copies = copies_of(spec)
    write_spec(spec, directory / EXPERIMENT)
    write_copies(copies, directory)
    header = Experiment(
        schema=SCHEMA_VERSION,
        tests=["load"],
        targets=[TargetFacts("t0", "sqlite:bundled")],
        spec=spec.model_dump(mode="json"),
        files=[copy.record() for copy in copies],
    )
    (directory / JOURNAL).write_bytes(encode(header) + b"\n")
    return directory


def _header(directory: Path) -> Experiment:
    return read_header(directory / JOURNAL)


def test_the_suite_with_those_that_it_extends_and_the_configs_of_targets_are_copied(own: Path) -> None:
    copies = copies_of(_spec())
    assert sorted(copy.file for copy in copies) == FILES
    texts = {copy.file: copy for copy in copies}
    assert texts["suite/1-mine.toml"].content == SUITE.encode()
    assert texts["configs/sqlite/own.conf"].origin == own / "conf/sqlite/own.conf"


def test_a_folder_needs_nothing_from_outside(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _measured(tmp_path / "first")
    suite = read_folder(first).read_suite()
    moved = first.rename(tmp_path / "moved")
    monkeypatch.chdir("/")
    shutil.rmtree(own)
    spec = read_folder(moved)
    assert spec.read_suite().name == "mine" and spec.read_suite().sequence == suite.sequence
    again = copies_of(spec)
    assert sorted(copy.file for copy in again) == FILES  # so that a repetition has a complete folder too
    assert all(copy.origin == moved / copy.file for copy in again)
    assert not changed_outside(_header(moved))


def test_only_the_folder_is_looked_in_for_configs(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _measured(tmp_path / "first")
    (tmp_path / "configs/sqlite").mkdir(parents=True)
    (tmp_path / "configs/sqlite/own.conf").write_text("cache_size = -1\n")
    monkeypatch.chdir(tmp_path)
    assert {copy.origin.parent for copy in copies_of(read_folder(folder)) if copy.file.startswith("configs")} == {
        folder / "configs/sqlite",
        folder / "configs/run_time",
    }


def test_a_folder_with_the_settings_of_an_older_dbversus_is_read(own: Path, tmp_path: Path) -> None:
    folder = _measured(tmp_path / "first", restore="never", warm_up_ms=3)
    file = folder / EXPERIMENT
    usual, lab = file.read_text().split("\n[lab]\n")
    first, _, rest = usual.partition("\n[")
    file.write_text(f"{first}\n{lab.split('[')[0]}\n" + (f"[{rest}" if rest else ""))
    assert "[lab]" not in file.read_text()
    for stored in (file, folder / JOURNAL):
        stored.write_text(stored.read_text().replace("warm_up_ms", "settle_ms"))
    spec = read_folder(folder)
    assert (spec.restore, spec.warm_up_ms) == ("never", 3)
    file.write_text(file.read_text().replace("settle_ms = 3", "settle_ms = 4"))
    with pytest.raises(UsageError, match="was edited after the experiment had begun: warm_up_ms"):
        read_folder(folder)


def test_what_the_experiment_left_open_is_not_filled_in_by_its_profile(own: Path, tmp_path: Path) -> None:
    assert read_folder(_measured(tmp_path / "first", profile="quick", tests=None)).tests is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\nslot_ms = 20\n", "\nslot_ms = 30\n", "slot_ms was 20 and is 30 now"),
        ("table_size = 1000000", "table_size = 10", "table_size was 1000000 and is 10 now"),
        ('"sqlite:bundled@own"', '"sqlite:host@own"', 'targets: "sqlite:bundled@own" is "sqlite:host@own" now.'),
        ('tests = "few"\n', "", 'tests was "few" and is not set now'),
    ],
)
def test_an_edited_experiment_is_refused_by_what_was_edited(
    own: Path, tmp_path: Path, old: str, new: str, said: str
) -> None:
    folder = _measured(tmp_path / "first")
    text = (folder / EXPERIMENT).read_text()
    assert old in text
    (folder / EXPERIMENT).write_text(text.replace(old, new))
    with pytest.raises(UsageError) as error:
        read_folder(folder)
    assert str(error.value).startswith(f"{folder / EXPERIMENT} was edited") and said in str(error.value)


def test_a_time_budget_and_comments_may_be_edited(own: Path, tmp_path: Path) -> None:
    folder = _measured(tmp_path / "first")
    path = folder / EXPERIMENT
    path.write_text('# again, longer\ntime_budget_s = "1h"\n' + path.read_text())
    assert read_folder(folder).time_budget_s == 3600


@pytest.mark.parametrize("file", ["suite/1-mine.toml", "suite/3-sysbench.toml", "configs/sqlite/own.conf"])
def test_a_stored_file_that_was_edited_or_is_missing_is_refused_by_name(own: Path, tmp_path: Path, file: str) -> None:
    folder = _measured(tmp_path / "first")
    with (folder / file).open("a") as opened:
        opened.write("\n")
    with pytest.raises(UsageError, match=f"^{folder / file} was edited"):
        read_folder(folder)
    (folder / file).unlink()
    with pytest.raises(UsageError, match=f"^{folder / file} is missing"):
        read_folder(folder)


@pytest.mark.parametrize("file", ["configs/sqlite/more.conf", "configs/sqlite/9-more.toml", "suite/4-more.toml"])
def test_a_stored_file_too_many_is_refused_by_name(own: Path, tmp_path: Path, file: str) -> None:
    folder = _measured(tmp_path / "first")
    more = folder / file
    more.write_text("")
    with pytest.raises(UsageError, match=f"^{more} is not part of the experiment"):
        read_folder(folder)


def test_what_changed_outside_is_named_and_what_is_gone_is_no_change(own: Path, tmp_path: Path) -> None:
    folder = _measured(tmp_path / "first")
    check_outside(folder, _header(folder))
    (own / "mine.toml").unlink()
    (own / "conf/sqlite/other.conf").write_text("cache_size = -1\n")  # which no target names
    check_outside(folder, _header(folder))
    (own / "conf/sqlite/own.conf").write_text("cache_size = -1\n")
    (own / "base.toml").write_text(BASE_SUITE + "\n")
    with pytest.raises(UsageError, match=f"^{own}/base.toml, {own}/conf/sqlite/own.conf changed after .*--as-stored"):
        check_outside(folder, _header(folder))


def test_a_folder_without_a_journal_serves_as_an_experiment(own: Path, tmp_path: Path) -> None:
    folder = _measured(tmp_path / "first")
    (folder / JOURNAL).unlink()
    assert is_results_folder(folder) and read_folder(folder).folder == folder
    path = folder / EXPERIMENT
    path.write_text(path.read_text().replace(str(own / "mine.toml"), "durability"))
    with pytest.raises(UsageError, match=r"names the suite durability, but .* holds mine"):
        read_folder(folder)
    assert not is_results_folder(own)


def test_results_of_older_versions_name_their_suite(tmp_path: Path) -> None:
    folder = _measured(tmp_path / "old", suite="sysbench", config_dir=None, tests=None, targets=["null", "null"])
    header = msgspec.structs.replace(_header(folder), spec={}, files=[])
    (folder / JOURNAL).write_bytes(encode(header) + b"\n")
    shutil.rmtree(folder / "suite")
    spec = read_folder(folder)
    assert spec.folder is None and spec.read_suite().name == "sysbench"


def test_a_file_that_changes_while_the_stage_is_set_is_named(own: Path) -> None:
    before = copies_of(_spec())
    (own / "conf/sqlite/own.conf").write_text("cache_size = -1\n")
    with pytest.raises(UsageError, match=f"^{own}/conf/sqlite/own.conf was changed while"):
        check_steady(before, copies_of(_spec()))


def test_paths_hold_in_any_directory_and_builds_of_ones_own_are_named(own: Path, tmp_path: Path) -> None:
    shutil.copyfile("/bin/true", own / "libsqlite3.so")
    targets = ["./libsqlite3.so@own", "sqlite:./libsqlite3.so@cache_size='1,2'", "sqlite:bundled"]
    spec = with_absolute_paths(_spec(targets=targets))
    library = own / "libsqlite3.so"
    assert spec.targets == [f"{library}@own", f"sqlite:{library}@cache_size='1,2'", "sqlite:bundled"]
    assert (spec.suite, spec.config_dir) == (str(own / "mine.toml"), str(own / "conf"))
    library.unlink()  # as on a host that does not have it
    assert origins(spec.taken_from(tmp_path)) == (
        f"suite and configs are those of {tmp_path}; "
        f"{library}: a build with a path can only be had on a host that has it there"
    )


def test_paths_of_a_folder_are_told_from_the_home_and_hold_where_it_is_read(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(own))
    shutil.copyfile("/bin/true", own / "libsqlite3.so")
    folder = _measured(tmp_path / "told", targets=["sqlite:./libsqlite3.so", "sqlite:bundled@own"])
    header = _header(folder)
    with Journal(tmp_path, "here") as journal:
        journal.append(header)
    (tmp_path / JOURNAL).replace(folder / JOURNAL)
    text = (folder / EXPERIMENT).read_text() + (folder / JOURNAL).read_text()
    assert str(own) not in text and '"~/mine.toml"' in text and "sqlite:~/libsqlite3.so" in text
    spec = with_absolute_paths(read_folder(folder))
    assert spec.targets[0] == f"sqlite:{own}/libsqlite3.so" and spec.config_dir == str(own / "conf")
    (own / "base.toml").write_text(BASE_SUITE + "\n")
    assert changed_outside(_header(folder)) == [str(own / "base.toml")]
    moved = own / "again.toml"
    moved.write_text((folder / EXPERIMENT).read_text())
    monkeypatch.chdir(tmp_path)
    assert read_spec(moved, lambda _: {}).read_suite().name == "mine"


def test_other_metrics_cannot_be_judged_halfway(own: Path, tmp_path: Path) -> None:
    folder = _measured(tmp_path / "begun", judge="cpu,p99")
    text = (folder / EXPERIMENT).read_text()
    assert read_folder(folder).judge == ["cpu", "p99"]
    (folder / EXPERIMENT).write_text(text.replace('"p99"', '"p95"'))
    with pytest.raises(UsageError, match='was edited after the experiment had begun: judge: "p99" is "p95" now'):
        read_folder(folder)


@pytest.mark.parametrize("place", ["suite", "configs", "configs/sqlite", "configs/run_time"])
@pytest.mark.parametrize("target", ["", "new"])
def test_copies_go_through_no_link(own: Path, tmp_path: Path, place: str, target: str) -> None:
    outside, link = tmp_path / "outside", tmp_path / "results" / place
    outside.mkdir()
    link.parent.mkdir(parents=True)
    link.symlink_to(outside / target)
    with pytest.raises(UsageError, match=f"{link} is a link"):
        write_copies(copies_of(with_absolute_paths(_spec())), tmp_path / "results")
    assert list(outside.iterdir()) == []
