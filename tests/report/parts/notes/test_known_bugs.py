"""Known bugs as notes of tests."""

from dbversus.report.parts.notes.known_bugs import bug_notes
from dbversus.results.stored import Target

TARGETS = (
    Target("t0", "mysql:5.6.24@cx6d", "mysql", "5.6.24", "cx6d"),
    Target("t1", "mysql:8.0.22@cx6d", "mysql", "8.0.22", "cx6d"),
    Target("t2", "mysql:8.0.33@cx6d,dive200", "mysql", "8.0.33", "cx6d,dive200"),
)


def test_a_note_names_the_targets_that_have_it() -> None:
    (bug,) = bug_notes(TARGETS, "hot-points@4")
    assert bug.startswith("known bug, MySQL bug 102037, on mysql:8.0.22@cx6d: long lists")
    of_list = bug_notes(TARGETS, "points-covered-si")
    assert [note.split(" on ")[1].split(":")[1] for note in of_list] == ["8.0.22@cx6d", "8.0.33@cx6d,dive200"]
    assert of_list[1].startswith("known, and no bug, eq_range_index_dive_limit")


def test_nothing_is_known_of_most() -> None:
    assert bug_notes(TARGETS, "point-query") == []
