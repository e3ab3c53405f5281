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
        (["hold"], r"Unknown variant 'hold'\. Did you mean 'held'\? Accepted: fresh, .*held, slow, other\."),
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


def test_a_suite_without_variants_says_so(tmp_path: Path) -> None:
    tables = '[tables.t]\n[tables.t.columns]\nid = { type = "int4", values = { gen = "sequence" } }\n'
    tests = '[tests.q]\ntitle = "q"\ngroup = "point"\nstatements = [{ name = "q", sql = "SELECT 1" }]\n'
    text = f'title = "t"\n{tables}{tests}[[phases]]\nname = "all"\ntests = ["q"]\n'
    with pytest.raises(UsageError, match="Accepted: none, as the suite has no variants"):
        load(tmp_path, "bursts", text=text)


OF_PHASES = """\
title = "Phases"
extends = "sysbench"

[[phases]]
name = "reads"
settle = true
tests = ["point-query"]

[[phases]]
name = "writes"
data = "aged"
settle = "vacuum"
tests = ["update-index"]

[variants.new]
title = "New, with a phase of its own"
data = "loaded"
[[variants.new.phases]]
name = "old"
data = "aged"
settle = true
suffix = ".old"
tests = ["update-index"]

[variants.hasty]
title = "Nothing settles"
settle = false

[variants.settled]
title = "All settles"
settle = true
"""


@pytest.mark.parametrize(
    ("variants", "data", "settle"),
    [
        ([], ["loaded", "aged"], [(True, False), (False, True)]),
        (["new"], ["loaded", "loaded", "aged"], [(True, False), (False, True), (True, False)]),
        (["hasty"], ["loaded", "aged"], [(False, False), (False, False)]),
        (["settled"], ["loaded", "aged"], [(True, False), (True, False)]),
    ],
)
def test_a_variant_says_of_all_phases_on_what_data_they_run_and_whether_they_settle(
    tmp_path: Path, variants: list[str], data: list[str], settle: list[tuple[bool, bool]]
) -> None:
    suite = load(tmp_path, *variants, text=OF_PHASES)
    assert [phase.data for phase in suite.phases] == data
    assert [(phase.settle, phase.vacuum) for phase in suite.phases] == settle


def test_the_order_of_variants_makes_no_difference(tmp_path: Path) -> None:
    for names in (("new", "hasty"), ("hasty", "new")):
        phases = load(tmp_path, *names, text=OF_PHASES).phases
        assert [(phase.data, phase.settle) for phase in phases] == [
            ("loaded", False),
            ("loaded", False),
            ("aged", True),
        ]


def test_two_variants_that_say_it_of_all_phases_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"shop\.toml:\d+: variants hasty and settled both define settle; an experiment"
    ):
        load(tmp_path, "hasty", "settled", text=OF_PHASES)


def test_sysbench_runs_fresh_and_unsettled() -> None:
    usual, fresh = load_suite("sysbench"), load_suite("sysbench", ["fresh"])
    assert usual.ages and not fresh.ages and len(fresh.stretches) == 1
    assert fresh.sequence == usual.sequence
    both = load_suite("sysbench", ["fresh", "aged-too"])
    assert both.sequence[len(usual.sequence) :] == ["update-index.aged", "write-only.aged"]
    assert [data for data, _ in both.stretches] == ["loaded", "aged"]
    assert not any(phase.settle for phase in load_suite("sysbench", ["unsettled"]).phases)
    assert not load_suite("sysbench-now", ["fresh"]).ages


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
