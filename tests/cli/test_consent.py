"""Nothing that came with an experiment of somebody else is executed before the user has allowed it."""

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from dbversus.cli.main import app
from dbversus.errors import RunError, UsageError
from dbversus.experiment import run
from dbversus.experiment.asked.spec import make_spec, write_spec
from dbversus.experiment.folder import copies_of, with_absolute_paths, write_copies
from dbversus.host.facts import machine_id
from dbversus.results.records import Experiment, TargetFacts, encode
from dbversus.results.schema import EXPERIMENT, HOST, JOURNAL, SCHEMA_VERSION

from ..report.synthetic import write_results

PROGRAM = "#!/bin/sh\necho ran >> {log}\necho 'postgres (PostgreSQL) 17.2'\n"
MINE = 'title = "Mine"\nextends = "sysbench"\n[selections]\nfew = ["point-query"]\n'
SHORT = {"tests": "point-query", "table_size": 1000}


class Bench:
    """A working directory with a program that says when it is run."""

    def __init__(self, folder: Path):
        self.folder, self.log = folder, folder / "log"
        program = folder / "evil/bin/postgres"
        program.parent.mkdir(parents=True)
        program.write_text(PROGRAM.format(log=self.log))
        for path in (folder, program.parent.parent, program.parent, program):
            path.chmod(0o755)
        self.log.touch()
        self.log.chmod(0o666)

    def run(self, *words: str, typed: str = "") -> tuple[int, str]:
        done = CliRunner().invoke(app, [*words], input=typed)
        return done.exit_code, " ".join(done.output.split())

    def file(self, name: str, *targets: str, **choices: Any) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        write_spec(make_spec({"targets": ["sqlite:bundled", *targets], **SHORT, **choices}), path)
        return path

    def results(self, name: str, host: str | None, *targets: str, **choices: Any) -> Path:
        """A results folder of an experiment that has begun."""
        directory = self.folder / name
        directory.mkdir()
        spec = with_absolute_paths(make_spec({"targets": ["sqlite:bundled", *targets], **SHORT, **choices}))
        copies = copies_of(spec)
        write_spec(spec, directory / EXPERIMENT)
        write_copies(copies, directory)
        header = Experiment(
            host=host,
            schema=SCHEMA_VERSION,
            tests=["load"],
            targets=[TargetFacts("t0", "sqlite:bundled"), TargetFacts("t1", "other")],
            looks=spec.looks,
            spec=spec.model_dump(mode="json"),
            files=[copy.record() for copy in copies],
        )
        (directory / JOURNAL).write_bytes(encode(header) + b"\n")
        (directory / HOST).write_bytes(msgspec.json.encode({"machine_id": host}))
        return directory

    @property
    def was_run(self) -> bool:
        return bool(self.log.read_text())


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() != "root" or folder.stat().st_mode & stat.S_IWOTH or folder == Path("/"):
            break
        folder.chmod(folder.stat().st_mode | 0o711)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path / "home"))
    for name in ("run_experiment", "resume_experiment"):
        monkeypatch.setattr(run, name, _started)
    return Bench(tmp_path / "here")


def _started(*_: object, **__: object) -> None:
    raise RunError("started")


@pytest.mark.parametrize("target", ["postgres:./evil", "./evil", "postgres:{here}/st/evil"])
def test_a_dry_run_leaves_programs_alone_that_can_have_come_with_the_file(bench: Bench, target: str) -> None:
    shutil.copytree(bench.folder / "evil", bench.folder / "st/evil")
    path = bench.folder / "st" / EXPERIMENT
    path.write_text(f'targets = ["postgres:17", "{target.format(here=bench.folder)}"]\n', encoding="utf-8")
    status, said = bench.run("run", str(path), "--dry-run")
    assert status == 0, said
    assert "names programs that may have come with it" in said
    assert "not executed, not even to ask for its version" in said
    assert not bench.was_run
    status, said = bench.run("run", str(path), "--out", "out")
    assert (status, "--trust allows it" in said) == (2, True), said
    assert not bench.was_run
    assert not Path("out").exists()
    bench.run("run", str(path), "--dry-run", "--trust")
    assert bench.was_run


def test_a_program_that_the_user_names_is_asked_for_its_version(bench: Bench) -> None:
    bench.run("compare", "./evil", "./evil", "--dry-run")
    assert bench.was_run


@pytest.mark.parametrize("verb", ["run", "resume"])
def test_results_of_another_host_are_asked_about_before_builds_are_looked_at(bench: Bench, verb: str) -> None:
    directory = bench.results("theirs", "of another host", f"postgres:{bench.folder}/evil")
    words = [str(directory)] if verb == "resume" else [str(directory / EXPERIMENT), "--out", "out"]
    status, said = bench.run(verb, *words)
    assert (status, "was measured on another host" in said) == (2, True), said
    assert not bench.was_run
    assert bench.run("run", str(directory / EXPERIMENT), "--dry-run")[0] == 0
    assert not bench.was_run


@pytest.mark.parametrize(
    ("target", "brought"),
    [
        ("postgres:17@env.LD_PRELOAD=/tmp/x.so", "env.LD_PRELOAD"),
        ("postgres:17@shared_preload_libraries=x", "shared_preload_libraries"),
        ("mysql:8.0@init_file=/tmp/x", "init_file"),
    ],
)
def test_settings_that_run_something_are_named(bench: Bench, target: str, brought: str) -> None:
    directory = bench.results("theirs", "of another host", target)
    status, said = bench.run("run", str(directory / EXPERIMENT), "--out", "out")
    assert (status, brought in said) == (2, True), said


def test_scripts_of_a_suite_are_named(bench: Bench) -> None:
    (bench.folder / "load.sql").write_text("CREATE TABLE t (x int);\n", encoding="utf-8")
    (bench.folder / "mine.toml").write_text(
        MINE.replace("[sel", '[setup]\nsqlite = "load.sql"\n[sel'), encoding="utf-8"
    )
    directory = bench.results("theirs", "of another host", "sqlite:bundled@cache_size=-100", suite="mine.toml")
    status, said = bench.run("run", str(directory / EXPERIMENT), "--out", "out")
    assert (status, "SQL scripts of [setup]: 1-load.sql" in said or "load.sql" in said) == (2, True), said
    assert "SQL of the suite" in said


def test_what_brings_nothing_of_its_own_is_not_asked_about(bench: Bench) -> None:
    directory = bench.results("theirs", "of another host", "sqlite:bundled@cache_size=-100")
    status, said = bench.run("run", str(directory / EXPERIMENT), "--dry-run")
    assert (status, "--trust" in said) == (0, False), said


def test_ones_own_files_are_not_asked_about(bench: Bench) -> None:
    (bench.folder / "mine.toml").write_text(MINE, encoding="utf-8")
    own = bench.file("nightly.toml", f"postgres:{bench.folder}/evil", suite="mine.toml")
    directory = bench.results("mine", machine_id(), f"postgres:{bench.folder}/evil", suite="mine.toml")
    for path in (directory / EXPERIMENT, own):
        status, said = bench.run("run", str(path), "--out", f"out-{path.stem}")
        assert (status, said.endswith("started")) == (1, True), said
    assert bench.run("resume", str(directory))[1].endswith("started")
    assert "--trust" not in bench.run("run", str(directory / EXPERIMENT), "--dry-run")[1]
    assert bench.was_run


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("whose", ["experiment", "suite", "shared"])
def test_files_of_other_users_are_asked_about(bench: Bench, whose: str) -> None:
    suite = bench.folder / "mine.toml"
    suite.write_text(MINE, encoding="utf-8")
    path = bench.file("nightly.toml", "sqlite:bundled@env.X=1", suite="mine.toml")
    if whose == "shared":
        path.chmod(0o666)
    else:
        os.chown(suite if whose == "suite" else path, 54321, 54321)
    status, said = bench.run("run", str(path), "--out", "out")
    words = "may be written to by every user" if whose == "shared" else "belongs to user 54321"
    assert (status, words in said) == (2, True), said
    if whose == "suite":
        command = ["compare", "sqlite:bundled", "sqlite:bundled@env.X=1", "--suite", "mine.toml", "--out", "o"]
        status, said = bench.run(*command)
        assert (status, words in said) == (2, True), said


EXECUTING = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.fork", "os.forkpty")
_SEEN: list[str] = []
_WATCHED = [False]


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if not _WATCHED[0]:
        return
    if event in EXECUTING or (event == "ctypes.dlopen" and arguments[0] and "site-packages" not in str(arguments[0])):
        _SEEN.append(f"{event} {arguments[:1]}")


sys.addaudithook(_watch)


@contextmanager
def watched() -> Iterator[list[str]]:
    """What is executed or loaded meanwhile, as the interpreter itself tells it."""
    _SEEN.clear()
    _WATCHED[0] = True
    try:
        yield _SEEN
    finally:
        _WATCHED[0] = False


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_results(tmp_path_factory.mktemp("consent") / "results")


READING = [
    ("show", "{dir}"),
    ("show", "{dir}", "--sql", "select 1"),
    ("report", "{dir}"),
    ("report", "{dir}", "--format", "html,md,json,csv,xlsx,post,reference"),
    ("side-by-side", "{dir}", "{dir}"),
    ("generations", "{dir}", "--old", "1", "2", "--new", "1", "2"),
    ("suites", "show", "sysbench"),
    ("suites", "show", "mine.toml"),
    ("import", "{dir}", "--out", "imported"),
    ("clean",),
]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_reading_executes_nothing(bench: Bench, synthetic: Path, words: tuple[str, ...]) -> None:
    (bench.folder / "mine.toml").write_text(MINE, encoding="utf-8")
    directory = bench.folder / "copy"
    shutil.copytree(synthetic, directory)
    with watched() as seen:
        status, said = bench.run(*(word.format(dir=directory) for word in words))
    assert seen == []
    assert "Traceback" not in said
    assert status in (0, 1, 2)
    assert not bench.was_run


def test_the_watch_sees_what_is_executed(bench: Bench) -> None:
    with watched() as seen:
        bench.run("compare", "./evil", "./evil", "--dry-run")
    assert seen


def test_no_answer_is_no(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from dbversus.cli import consent

    class Terminal:
        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> int:
            return len(text)

        def flush(self) -> None: ...

    monkeypatch.setattr(consent, "sys", type("Sys", (), {"stdin": Terminal(), "stderr": Terminal()}))
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: False)
    with pytest.raises(UsageError, match="was not allowed, and nothing was started"):
        consent._ask("It brings something")
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: True)
    consent._ask("It brings something")
