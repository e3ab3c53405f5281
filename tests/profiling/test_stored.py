"""Profiles beside an experiment's results: which count, and what is damaged."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.profiling.stored import measured_profiles
from dbversus.results.read import open_results
from dbversus.results.schema import JOURNAL

from ..results.samples import HEADER, write_journal
from .samples import MOVED_FROM, write_profiles

LABELS = [target["label"] for target in HEADER["targets"]]
TEST = "point-query"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_journal(tmp_path, 2)
    return tmp_path


def test_what_was_measured_beside_results_is_found(results: Path) -> None:
    assert measured_profiles(open_results(results)) == []
    write_profiles(results, LABELS, TEST)
    (found,) = measured_profiles(open_results(results))
    assert (found.test, found.target, found.base, found.stacks) == (TEST, LABELS[1], LABELS[0], "unwind tables")
    assert (found.samples, found.profile.blocks) == (2 * 6 * 4000, 6)
    assert found.profile.functions[0].gone == ("mblen", "utf_mblen")


def test_of_a_test_that_was_measured_twice_the_last_counts(results: Path) -> None:
    write_profiles(results, LABELS, TEST, number=2)
    write_profiles(results, LABELS, TEST, (MOVED_FROM, MOVED_FROM), number=10)
    (found,) = measured_profiles(open_results(results))
    assert not found.profile.whole.is_shown


def test_what_is_against_another_base_or_not_begun_is_passed_over(results: Path) -> None:
    write_profiles(results, ["postgres:12.1", LABELS[1]], TEST)
    (results / "measured/2/profile").mkdir(parents=True)
    (results / f"measured/2/profile/{JOURNAL}").write_text('{"type":"experiment"')
    assert measured_profiles(open_results(results)) == []


def test_a_file_that_was_changed_or_is_gone_is_named(results: Path) -> None:
    folder = write_profiles(results, LABELS, TEST)
    file = folder / f"profiles/{TEST}@t1.3.folded"
    file.write_text("main 5\n")
    with pytest.raises(UsageError, match=r"t1\.3\.folded is not what was recorded"):
        measured_profiles(open_results(results))
    file.unlink()
    with pytest.raises(UsageError, match=r"t1\.3\.folded cannot be read"):
        measured_profiles(open_results(results))


def test_no_link_leads_out_of_the_results(results: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = write_profiles(results, LABELS, TEST)
    file = folder / f"profiles/{TEST}@t1.3.folded"
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "x"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    with pytest.raises(UsageError, match="leads out"):
        measured_profiles(open_results(results))
