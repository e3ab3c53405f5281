"""`report --base` and `show --base`, on a synthetic experiment and on an import."""

import hashlib
import json
from pathlib import Path

import pytest

from dbversus.cli.verbs.results.report import report
from dbversus.cli.verbs.results.show import show
from dbversus.importing.run import import_results
from dbversus.report.assessment import build_assessment
from dbversus.report.model import Assessment
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.model import Verdict

from .synthetic import FAILED_TEST, LABELS, WRONG_TEST, write_results

IMPORTED = Path(__file__).parents[1] / "data/imported/reference/sysbench-2020"
REPORTS = {"report.html", "report.json", "report.md", "report.csv"}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment of its own, since reports are written into it."""
    return write_results(tmp_path_factory.mktemp("base") / "results")


@pytest.fixture(scope="module")
def judged(directory: Path) -> Assessment:
    return build_assessment(open_results(directory, base=LABELS[1]))


def stored(directory: Path) -> dict[str, str]:
    files = [path for path in directory.rglob("*") if path.is_file() and path.name not in REPORTS]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def ratios(assessment: Assessment, target: str) -> dict[tuple[str, str], float]:
    return {
        (item.test, item.metric): item.ratio
        for item in assessment.findings
        if item.target == target and item.judged and item.ratio and item.verdict is not Verdict.NO_STEADY_STATE
    }


def test_ratios_turn_round(assessment: Assessment, judged: Assessment) -> None:
    """Same rows, the other way up: t1/t0 and t0/t1."""
    forth, back = ratios(assessment, LABELS[1]), ratios(judged, LABELS[0])
    assert forth.keys() == back.keys()
    assert len(forth) > 20
    for key, ratio in forth.items():
        assert ratio * back[key] == pytest.approx(1, rel=1e-6), key


def test_verdicts_turn_round(judged: Assessment) -> None:
    verdicts = {item.test: item.verdict for item in judged.comparisons if item.target == LABELS[0]}
    assert verdicts["range-notcovered-si"] is Verdict.IMPROVEMENT
    assert verdicts["read-only-10000"] is Verdict.REGRESSION
    assert verdicts["hot-points"] is Verdict.EQUIVALENT
    assert verdicts[WRONG_TEST] is Verdict.WRONG_RESULT
    failed = [item for item in judged.comparisons if item.verdict is Verdict.FAILED]
    assert [(item.test, item.target) for item in failed] == [(FAILED_TEST, LABELS[2])]


def test_the_report_says_what_choosing_costs(assessment: Assessment, judged: Assessment) -> None:
    assert assessment.chosen_base == ()
    first, retired, level = judged.chosen_base
    assert first == (
        "Judged against postgres:17.11, which was chosen as the base afterwards; the experiment's own base is postgres:13.1."
    )
    assert retired.startswith("When to stop measuring 1 of 12 tests was decided against postgres:13.1.")
    assert "that level is not guaranteed" in level


def test_every_format_says_it_and_nothing_else_in_the_folder_changes(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = stored(directory)
    report(directory, base=LABELS[1], format="html,json,md,csv")
    assert stored(directory) == before
    assert "chosen as the base afterwards" in capsys.readouterr().out
    for name in ("report.html", "report.md"):
        assert "chosen as the base afterwards" in (directory / name).read_text()
    assert json.loads((directory / "report.json").read_text())["base"] == LABELS[1]
    header, first, *_ = (directory / "report.csv").read_text().splitlines()
    assert first.split(",")[header.split(",").index("base")] == LABELS[1]


def test_show_says_it_beside_the_data(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(directory, base="t1", format="csv")
    shown = capsys.readouterr()
    assert "chosen as the base afterwards" in shown.err
    assert f",{LABELS[0]}," in shown.out
    assert f",{LABELS[1]}," not in shown.out


def of_import(tmp_path: Path, base: str | None = None) -> Results:
    if not tmp_path.joinpath("out").exists():
        import_results([IMPORTED], tmp_path / "out")
    return open_results(tmp_path / "out", base)


def test_an_import_has_other_ratios_and_no_level(tmp_path: Path) -> None:
    other = of_import(tmp_path).targets[1].label
    own, chosen = build_assessment(of_import(tmp_path)), build_assessment(of_import(tmp_path, other))
    forth, back = ratios(own, other), ratios(chosen, own.base.label)
    assert forth
    for key, ratio in forth.items():
        assert ratio * back[key] == pytest.approx(1), key
    assert len(chosen.chosen_base) == 1


def test_targets_of_two_groups_share_no_rows(tmp_path: Path) -> None:
    """t1 and t2 were each up with t0 alone: the report says that their rows are not the same ones."""
    folder = write_results(tmp_path / "groups", rows=4)
    lines = []
    for line in (folder / "journal.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["type"] != "row":
            lines.append(line)
            continue
        for group, target in enumerate(("t1", "t2")):
            slots = [slot for slot in record["slots"] if slot["target"] in ("t0", target)]
            started = record["started_unix_ns"] + group * 10**10
            lines.append(json.dumps({**record, "slots": slots, "group": f"g{group}", "started_unix_ns": started}))
    (folder / "slots.parquet").unlink()
    (folder / "journal.jsonl").write_text("\n".join(lines) + "\n")

    said = " ".join(build_assessment(open_results(folder, base="t1")).chosen_base)

    assert f"{LABELS[2]} had no rows in common with {LABELS[1]}, being in other groups" in said
    assert f"{LABELS[0]} had no rows" not in said
