"""Measures cases one after another by the commands that a user would type; what is finished is left alone."""

import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from independent_runs.measure import commit_at_hand, forget_data, measure_in_turn

from dbversus.builds.target import parse_target
from dbversus.campaign.run import is_begun
from dbversus.errors import RunError
from dbversus.files import write_text
from dbversus.results.read import open_results
from dbversus.results.schema import LOAD_TEST
from planted.answer import Answer, read_answers, tests_of, write_answers
from planted.case import Named, command
from planted.libraries import compile_all

RESULTS = "results"
FOLDER = "{folder}"
COMPARE, EXPLAIN = "compare", "explain"
NOTHING_TO_MEASURE = 2
"""Exit status: no setting to try, and no CPU time that changed."""


@dataclass(frozen=True)
class Plan:
    """`kept`: file of answers. `again`: cases that have some are measured once more. `minutes`: no case is begun after them."""

    folder: Path
    cases: Sequence[Named]
    kept: Path
    again: bool = False
    minutes: float | None = None


def measure_all(plan: Plan) -> None:
    """Raises RunError when cases could not be finished, after all the others; UsageError at once."""
    latest = {answer.case: answer.run for answer in sorted(read_answers(plan.kept), key=lambda answer: answer.run)}
    left = [named for named in plan.cases if plan.again or named.name not in latest]
    wanted = ((named.name, partial(_measure, plan, named, latest.get(named.name, 0) + 1)) for named in left)
    measure_in_turn(plan.folder, wanted, plan.minutes)


def _measure(plan: Plan, named: Named, run: int) -> None:
    keep(plan.kept, measure_one(plan, named, run))
    forget_data(named.seed)


def keep(path: Path, answer: Answer) -> None:
    """Adds an answer to the file, which is replaced as a whole: a kill leaves the old one or the new one."""
    answers = sorted([*read_answers(path), answer], key=lambda one: (one.case, one.run))
    unfinished = path.with_name(f"{path.name}.part")
    with unfinished.open("w", newline="") as file:
        write_answers(answers, file)
    unfinished.replace(path)


def measure_one(plan: Plan, named: Named, run: int) -> Answer:
    folder = (plan.folder / f"{named.name}-{run}").absolute()
    prepare(named, folder)
    results = folder / RESULTS
    if results.exists() and not is_begun(results):
        shutil.rmtree(results)  # what a kill in the first moment has left
    if not is_begun(results):
        _dbversus(folder, COMPARE, [*command(named, folder, RESULTS), "--wait", "--quiet"])
    elif open_results(results).finished is None:
        _dbversus(folder, COMPARE, ["resume", RESULTS, "--wait", "--quiet"])
    found = _explained(folder, ["explain", RESULTS, "--json"]) or []
    if found:
        found = _explained(folder, ["explain", RESULTS, "--measure", "--json", "--wait", "--quiet"]) or found
    tests = [test for test in open_results(results).tests if test != LOAD_TEST]
    minutes = _minutes(folder)
    return Answer(
        named.name,
        run,
        datetime.now(UTC).date().isoformat(),
        _short(commit_at_hand()),
        minutes[COMPARE],
        minutes[EXPLAIN],
        len(tests),
        tests_of(found),
    )


def prepare(named: Named, folder: Path) -> None:
    """What the commands read, and nothing else: configs, the suite, libraries. The key stays where it is.

    RunError where the folder is of the same case in an earlier form.
    """
    case, digest = named.case, folder / "case.sha256"
    folder.mkdir(parents=True, exist_ok=True)
    form = hashlib.sha256(msgspec.json.encode(case)).hexdigest()
    if digest.exists() and digest.read_text() != form:
        raise RunError(f"{folder} holds what was measured of {named.name} before its file changed; delete it.")
    write_text(digest, form)
    dbms = parse_target(case.target.replace("{folder}", str(folder))).dbms
    configs = folder / "configs" / dbms
    configs.mkdir(parents=True, exist_ok=True)
    for name, text in case.configs.items():
        write_text(configs / f"{name}.conf", text)
    if case.suite:
        write_text(folder / "suite.toml", case.suite)
    compile_all(case.libraries, folder)


def _short(commit: str) -> str:
    commit, dash, dirty = commit.partition("-")
    return commit[:12] + dash + dirty


def _explained(folder: Path, words: Sequence[str]) -> list[dict[str, Any]] | None:
    """None where there is nothing to measure."""
    told = _dbversus(folder, EXPLAIN, words, accepted=NOTHING_TO_MEASURE)
    if told is None:
        return None
    found: list[dict[str, Any]] = json.loads(told.replace(str(folder), FOLDER))
    return found


def _dbversus(folder: Path, step: str, words: Sequence[str], accepted: int = 0) -> str | None:
    """Its standard output; None where its status is `accepted`, RunError where it fails. When it began and ended is noted."""
    _note(folder, step, "began")
    with (folder / "talk.log").open("a") as talk:
        talk.write(f"$ dbversus {' '.join(words)}\n")
        talk.flush()
        program = str(Path(sys.executable).with_name("dbversus"))
        done = subprocess.run([program, *words], cwd=folder, stdout=subprocess.PIPE, stderr=talk, text=True)
    if done.returncode not in (0, accepted):
        raise RunError(f"dbversus {words[0]} left with status {done.returncode}; {folder / 'talk.log'} has its words.")
    _note(folder, step, "ended")
    return None if done.returncode else done.stdout


def _note(folder: Path, step: str, what: str) -> None:
    with (folder / "times.jsonl").open("a") as file:
        file.write(json.dumps({"step": step, "what": what, "s": round(time.time(), 1)}) + "\n")


def _minutes(folder: Path) -> dict[str, float | None]:
    """Of each step; None where it was interrupted."""
    lines = [json.loads(line) for line in (folder / "times.jsonl").read_text().splitlines()]
    found: dict[str, float | None] = {}
    for step in (COMPARE, EXPLAIN):
        own = [line for line in lines if line["step"] == step]
        pairs = list(zip(own[::2], own[1::2], strict=False))
        whole = len(own) % 2 == 0 and all((one["what"], other["what"]) == ("began", "ended") for one, other in pairs)
        found[step] = sum(other["s"] - one["s"] for one, other in pairs) / 60 if whole else None
    return found
