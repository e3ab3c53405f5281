"""Variants of a suite: what `--variant` adds and replaces; roles that phases and tests share; pauses."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import Suite, definition, load_suite
from dbversus.suites.load import list_variants

SHOP = """\
title = "Shop"
extends = "sysbench"

[roles.readers]
statements = ["point"]

[roles.holders]
transaction = true
counts = false
statements = [{ use = "point", pause = "hold" }]

[variables]
hold = "2s"

[tests.busy]
kind = "step"
title = "Updates"
group = "write"
[tests.busy.roles]
readers = "readers"
writers = { operations = 100, statements = ["update-index"] }

[tests.plain]
title = "Reads"
group = "point"
statements = ["point"]

[[phases]]
name = "all"
tests = ["busy", "plain"]

[variants.held]
title = "Once more beside a transaction"
[[variants.held.phases]]
name = "held"
suffix = ".held"
roles = { holders = "holders" }
tests = ["busy"]

[variants.slow]
title = "Longer"
variables = { hold = "5s" }
[variants.slow.statements.point]
sql = "SELECT 1"

[variants.other]
title = "Another statement"
[variants.other.statements.point]
sql = "SELECT 2"
"""


def load(tmp_path: Path, *variants: str, text: str = SHOP) -> Suite:
    (tmp_path / "shop.toml").write_text(text)
    return load_suite(tmp_path / "shop.toml", variants)


def test_a_suite_is_as_ever_without_its_variants(tmp_path: Path) -> None:
    suite = load(tmp_path)
    assert suite.sequence[1:] == ["busy", "plain"]
    assert [role.name for role in suite.tests["busy"].roles] == ["readers", "writers"]
    assert list_variants(tmp_path / "shop.toml")["held"] == "Once more beside a transaction"


def test_variants_add_phases_and_replace_definitions(tmp_path: Path) -> None:
    suite = load(tmp_path, "slow", "held")
    assert suite.sequence[1:] == ["busy", "plain", "busy.held"]
    assert [role.name for role in suite.tests["busy"].roles] == ["readers", "writers"]
    roles = {role["name"]: role for role in definition(suite.tests["busy.held"], "postgres", 100)["roles"]}
    assert list(roles) == ["readers", "writers", "holders"]
    (held,) = roles["holders"]["statements"]
    assert (held["sql"], held["pause_ns"]) == ("SELECT 1", 5_000_000_000)


@pytest.mark.parametrize(
    ("variants", "words"),
    [
        (["hold"], r"Unknown variant 'hold'\. Did you mean 'held'\? Accepted: held, slow, other\."),
        (["held", "held"], "variant 'held' is named twice"),
        (
            ["slow", "other"],
            r"shop\.toml:\d+: variants slow and other both define statements\.point; an experiment with each",
        ),
    ],
)
def test_wrong_variants_are_refused_with_those_that_there_are(tmp_path: Path, variants: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        load(tmp_path, *variants)


def test_a_suite_without_variants_says_so() -> None:
    with pytest.raises(UsageError, match="Accepted: none, as the suite has no variants"):
        load_suite("scan", ["bursts"])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('readers = "readers"', 'readers = "reader"', r"shop\.toml:20: unknown role 'reader'\. Did you mean 'readers'"),
        ('holders = "holders"', 'holders = "holder"', r"shop\.toml:\d+: unknown role 'holder'.*of \[roles\]"),
        ('tests = ["busy"]', 'tests = ["plain"]', r"shop\.toml:\d+: test 'plain' of this phase has no roles"),
        ('pause = "hold"', "pause = 0", r"shop\.toml:10: pause is 0 microseconds; a time up to a day is accepted"),
        ('pause = "hold"', 'pause = "2d"', "pause is 172800000000 microseconds"),
        (
            'statements = ["point"]\n\n[[',
            'statements = [{ use = "point", pause = 5 }]\n\n[[',
            "`pause` is for statements of a role",
        ),
        ('kind = "step"\n', "", "`operations` of a role is for tests of kind"),
        (
            "counts = false\n",
            'counts = false\narrivals = { kind = "constant", rate = 1 }\n',
            r"shop\.toml:11: `pause` is for statements of a role without `arrivals`",
        ),
    ],
)
def test_mistakes_are_refused_with_their_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in SHOP
    with pytest.raises(UsageError, match=words):
        suite = load(tmp_path, "held", text=SHOP.replace(old, new))
        for test in suite.tests.values():
            definition(test, "sqlite", 100)
