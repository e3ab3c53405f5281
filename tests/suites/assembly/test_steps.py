"""Roles in a step: who has an end, who follows whom, and what does not go together."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import Suite, definition, load_suite
from dbversus.suites.send.define import operations_of, work_words

SUITE = (Path(__file__).parents[2] / "data/steps.toml").read_text()
LEADER = '[tests.churn.roles.inserters]\noperations = "table_size / 2"\n'
FOLLOWER = 'follows = "inserters"\nlead = 8\n'


def _suite(folder: Path, old: str = "", new: str = "") -> Suite:
    assert old in SUITE
    path = folder / "mine.toml"
    path.write_text(SUITE.replace(old, new, 1) if old else SUITE)
    return load_suite(path)


def test_a_follower_has_as_many_operations_as_its_leader_and_others_none(tmp_path: Path) -> None:
    suite = _suite(tmp_path)
    test = suite.tests["churn"]
    inserters, deleters, readers = definition(test, "sqlite", 1000)["roles"]
    assert (inserters["operations"], deleters["operations"]) == (500, 500)
    assert (deleters["follows"], deleters["lead"]) == ("inserters", 8)
    assert not {"operations", "follows", "lead"} & readers.keys() and "follows" not in inserters
    assert test.work and operations_of(test.work, test, 1000, 1) == 1000
    assert work_words(suite, 1000, 1)[0] == (
        "churn: inserters 500 operations, deleters 500 operations, readers until these are done, "
        "in slices of 50 ms on each target"
    )


def test_operations_may_depend_on_the_number_of_clients(tmp_path: Path) -> None:
    test = _suite(tmp_path, LEADER, '[tests.churn.roles.inserters]\noperations = "10 * clients"\n').tests["churn"]
    assert definition(test, "sqlite", 1000, clients=4)["roles"][0]["operations"] == 40
    assert test.work and operations_of(test.work, test, 1000, 1, clients=4) == 80


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (LEADER, "[tests.churn.roles.inserters]\n", "a step needs a role with `operations`"),
        (FOLLOWER, 'follows = "inserter"\n', "mine.toml:33: there is no role 'inserter' in this test. Did you mean"),
        (FOLLOWER, 'follows = "deleters"\n', "mine.toml:33: deleters follows deleters, which in the end follows deleters"),
        (LEADER, LEADER + 'follows = "deleters"\n', "follows deleters, which in the end follows inserters: none could begin"),
        (FOLLOWER, "lead = 8\n", "mine.toml:33: `lead` says by how many operations another role may be ahead: it goes with"),
        (FOLLOWER, 'follows = "inserters"\nlead = 0\n', "mine.toml:34: lead is 0; 1 or more is accepted"),
        (LEADER, LEADER.replace('"table_size / 2"', "0"), "mine.toml:30: operations is 0; 1 or more is accepted"),
        ("slice_ms = 50\n", "operations = 5\n", "mine.toml:28: a step with roles has no `operations` of its own"),
        ('kind = "step"\n', "", '`slice_ms` is for tests of kind = "step"'),
        ('kind = "step"\n', 'kind = "statement"\n', '`slice_ms` is for tests of kind = "step"'),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(tmp_path: Path, old: str, new: str, expected: str) -> None:
    with pytest.raises(UsageError) as error:
        _suite(tmp_path, old, new)
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ('kind = "slots"', '`operations` of a role is for tests of kind = "step", and this one\'s is "slots"'),
        ('kind = "statement"', '`operations` of a role is for tests of kind = "step", and this one\'s is "statement"'),
    ],
)
def test_only_steps_have_roles_with_an_end(tmp_path: Path, kind: str, expected: str) -> None:
    begin, end = SUITE.index('kind = "step"'), SUITE.index("[tests.churn.roles.inserters]")
    old = SUITE[begin:end]
    with pytest.raises(UsageError) as error:
        _suite(tmp_path, old, old.replace('kind = "step"', kind).replace("slice_ms = 50\n", ""))
    assert expected in str(error.value)


def test_a_follower_with_more_operations_than_its_leader_would_wait_for_ever(tmp_path: Path) -> None:
    test = _suite(tmp_path, FOLLOWER, FOLLOWER + "operations = 501\n").tests["churn"]
    assert test.work and operations_of(test.work, test, 1002, 1) == 1002
    with pytest.raises(
        UsageError, match=r"mine.toml:35: deleters would wait for ever: it has 501 .* inserters, which has 500"
    ):
        operations_of(test.work, test, 1000, 1)
