"""What changed between two takes, in sentences: what is shown alone, or what has no intervals and is said so."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbversus.cli.main import app
from dbversus.errors import UsageError
from dbversus.importing.find import Wanted
from dbversus.importing.run import import_results
from dbversus.report.side_by_side.since import MOST_TESTS, since
from dbversus.results.read import open_results
from dbversus.results.stored import Results

from ..pairs import Contender
from .experiments import ALIKE, BASE, SLOWER, write_experiment


def imported(folder: Path, rates: dict[str, tuple[float, float]]) -> Results:
    """Test → queries/s of old and new, one run of each."""
    folder.mkdir()
    blocks = [f"sb.r.qps.{test}.pk1\n{old}\tx.old.a.pk1\n{new}\tx.new.a.pk1\n" for test, (old, new) in rates.items()]
    (folder / "o.qps.abs.all").write_text("\n".join(blocks))
    import_results([folder], folder / "results", Wanted())
    return open_results(folder / "results")


def test_what_is_shown_to_have_changed_is_told_with_both_ratios(tmp_path: Path) -> None:
    before = write_experiment(tmp_path / "take-2")
    said = since(write_experiment(tmp_path / "take-3", (BASE, SLOWER), seed=2), before)
    assert said[0].startswith("The earlier take is take-2 (4 blocks")
    (line,) = [line for line in said if line.startswith("point-query on postgres:17: throughput was ")]
    assert line.startswith("point-query on postgres:17: throughput was 1.00") and " and is 0.80" in line
    assert line.endswith(": worse.")
    assert any("that both takes have with intervals, 4 are shown to have changed" in line for line in said)


def test_two_alike_takes_have_nothing_to_tell_but_counts(tmp_path: Path) -> None:
    takes = [write_experiment(tmp_path / name, seed=seed) for seed, name in enumerate("ab", 1)]
    said = since(takes[1], takes[0])
    assert not any(" was " in line for line in said)
    assert any("with intervals, none is shown to have changed" in line for line in said)


def test_imports_have_no_intervals_and_that_is_said(tmp_path: Path) -> None:
    before = imported(tmp_path / "a", {"scan.range100": (100, 90), "insert.range100": (100, 80)})
    now = imported(tmp_path / "b", {"scan.range100": (100, 91), "insert.range100": (100, 120)})
    said = since(now, before)
    assert "insert.range100 on x.new.a.pk1: throughput was 0.800 of x.old.a.pk1 and is 1.200." in said
    assert not any(line.startswith("scan") for line in said)
    assert any(line.startswith("1 ratio has changed by more than the margin, without intervals") for line in said)


def test_the_tests_that_changed_most_are_told_and_the_others_counted(tmp_path: Path) -> None:
    names = [f"test{number}.range1" for number in range(MOST_TESTS + 2)]
    before = imported(tmp_path / "a", dict.fromkeys(names, (100, 100)))
    now = imported(tmp_path / "b", {name: (100, 200 + 10 * number) for number, name in enumerate(names)})
    said = since(now, before)
    assert [line.split()[0] for line in said[1 : MOST_TESTS + 1]] == names[:1:-1]
    assert "2 more ratios changed less than these: test1.range1 and test0.range1." in said


def test_targets_may_have_had_other_labels(tmp_path: Path) -> None:
    old_names = (Contender("pg:11", "postgres", "11.22"), ALIKE)
    before, now = write_experiment(tmp_path / "a", old_names), write_experiment(tmp_path / "b", seed=2)
    with pytest.raises(UsageError, match="--rename 'pg:11=postgres:11'"):
        since(now, before)
    assert since(now, before, ["pg:11=postgres:11"])


def test_the_same_take_is_none_before(tmp_path: Path) -> None:
    take = write_experiment(tmp_path / "a")
    with pytest.raises(UsageError, match="named twice"):
        since(take, take)


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["report", *map(str, arguments)])
    return result.exit_code, result.output


def test_the_post_has_it(tmp_path: Path) -> None:
    write_experiment(tmp_path / "a")
    write_experiment(tmp_path / "b", (BASE, SLOWER), seed=2)
    status, _ = run(tmp_path / "b", "--format", "post", "--since", tmp_path / "a")
    text = (tmp_path / "b/post.md").read_text()
    assert status == 0 and "## Since the earlier take\n\n- The earlier take is a (" in text
    run(tmp_path / "b", "--format", "post")
    assert "## Since" not in (tmp_path / "b/post.md").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--since", "a"), "--since a names an earlier take for a post; add --format post."),
        (("--format", "post", "--rename", "x=y"), "--rename x=y is for targets of an earlier take; add --since DIR."),
        (("--format", "post", "--since", "nowhere"), "nowhere has no journal.jsonl"),
    ],
)
def test_bad_options_are_refused(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    write_experiment(tmp_path / "a")
    status, output = run(tmp_path / "a", *options)
    assert status == 2 and words in " ".join(output.split())
