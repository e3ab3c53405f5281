"""Every mistake in a suite file is refused with file, line and what would be accepted."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import definition, load_suite

TABLE = '[tables.t]\ncolumns = { id = { type = "int4", values = { gen = "sequence" } } }'
GOOD = """\
title = "Mine"

[variables]
range = 10

[generators]
any_id = { gen = "uniform", low = 1, high = "table_size" }
same = { gen = "ref", of = "id" }
[tables.t]
columns = { id = { type = "int4", values = { gen = "sequence" } } }

[statements.point]
sql = "SELECT c FROM t{table} WHERE id = :id"
params = { id = "any_id" }

[tests.one]
title = "One of {range}"
group = "point"
statements = ["point"]

[tests.many]
title = "Many"
group = "write"
variants = { range = [1, 2] }
transaction = true
statements = [
  { use = "point", repeat = 2 },
  { name = "change", sql = "UPDATE t SET k = 1 WHERE id = :again", table = "point", params = { again = "same" } },
]

[[phases]]
name = "before"
suffix = ".pre"
settle = true
tests = ["one"]

[[phases]]
name = "all"
tests = [
  "one",
  "many",
]

[selections]
quick = ["one*"]
"""


def load(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        definition(load_suite(path).tests["one"], "sqlite", 2)
    return str(error.value).replace(f"{tmp_path}/", "")


def test_the_file_is_good(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD)
    assert load_suite(tmp_path / "mine.toml").sequence == ["load", "one.pre", "one", "many-1", "many-2"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('title = "Mine"', 'titel = "Mine"', "mine.toml:1: the file: unknown key 'titel'. Did you mean 'title'?"),
        ('title = "Many"', "", "mine.toml:21: tests.many has no `title`"),
        ('group = "write"', 'group = "writes"', "mine.toml:23: unknown group 'writes'. Did you mean 'write'"),
        ("[tests.many]", "[tests.one]", "mine.toml:21: this is not TOML"),
        ("settle = true", "settle = yes", "mine.toml:34: this is not TOML"),
        ("settle = true", "settle = 1", "mine.toml:34: phases.0.settle is 1; it has to be true or false."),
        ("[tests.many]", '[tests."Many!"]', "mine.toml:21: tests.Many!: 'Many!' is no name"),
        ('gen = "uniform"', 'gen = "unifrom"', "mine.toml:7: generators.any_id: unknown generator 'unifrom'."),
        ('gen = "uniform", low', "low", "mine.toml:7: generators.any_id: `gen` is missing. Accepted: uniform, zipfian"),
        ("low = 1", "lo = 1", "mine.toml:7: generators.any_id: unknown key 'lo'. Did you mean 'low'?"),
        ("low = 1, ", "", "mine.toml:7: generators.any_id has no `low`"),
        (
            "low = 1",
            "low = 1.5",
            "mine.toml:7: id: low is 1.5, and type int8 is drawn from integers; an integer or an expression is accepted",
        ),
        ("low = 1", 'low = "1 +"', "mine.toml:7: generators.any_id.low is '1 +': \"1 +\" is no expression"),
        ("low = 1", 'low = "rang"', "mine.toml:7: unknown variable 'rang'. Did you mean 'range'? Accepted: range, ta"),
        ("low = 1", "low = 3", "mine.toml:7: id: low is 3 and high is 2; low ≤ high is accepted."),
        ('high = "table_size"', 'high = "range - 10"', "mine.toml:7: id: low is 1 and high is 0"),
        ('high = "table_size"', "high = 9, count = 0", "mine.toml:7: count is 0; 1 or more is accepted."),
        ('high = "table_size"', 'high = "1 / (range - 10)"', 'mine.toml:7: "1 / (range - 10)" divides by zero.'),
        ('high = "table_size"', "high = 9, consecutive = true", "mine.toml:7: id: `consecutive` needs `count`"),
        (
            '{ gen = "uniform", low = 1, high = "table_size" }',
            '{ gen = "text", template = "#", count = 2 }',
            "mine.toml:7",
        ),
        ("id = :id", "id = :ids", "mine.toml:13: statement 'point' has no parameter for :ids. Did you mean 'id'?"),
        ("id = :id", "id = 1 -- :id", "mine.toml:14: statement 'point' does not use its parameter 'id'"),
        ('{ id = "any_id" }', '{ id = "an_id" }', "mine.toml:14: unknown generator 'an_id'. Did you mean 'any_id'?"),
        ('{ id = "any_id" }', "{ id = 1 }", "mine.toml:14: statements.point.params.id is 1; it has to be a table."),
        ('["point"]', '["pont"]', "mine.toml:19: unknown statement 'pont'. Did you mean 'point'?"),
        ('["point"]', '["point", "point"]', "mine.toml:19: two statements are called 'point'"),
        (
            '["point"]',
            '[{ use = "point", answers = "sett" }]',
            "mine.toml:19: tests.one.statements.0.answers is 'sett': \"ex",
        ),
        (
            '["point"]',
            '[{ use = "point", answers = { tolerance = 2 } }]',
            'mine.toml:19: tests.one.statements.0.answers is {\'tolerance\': 2}: "exact", "set" and { tolerance = 1e-9 }',
        ),
        ('["point"]', "[]", "mine.toml:19: tests.one.statements is []; it has to be at least one item."),
        ('["point"]', '[{ sql = "SELECT 1" }]', "mine.toml:19: a statement has `name` and `sql`, or `use`"),
        ('["point"]', '["point"]\nrows_per_op = "rows"', "mine.toml:20: unknown variable 'rows'."),
        (
            '["point"]',
            '["point"]\nwork_per_op = { metrics = "range - 10" }',
            "mine.toml:20: metrics is 0; 1 or more is accepted.",
        ),
        ('["point"]', '["point"]\nbounded_by = "time"', "mine.toml:20: bounded_by is for tests that change data"),
        ('group = "write"', 'group = "write"\nbounded_by = "ops"', "mine.toml:24: tests.many.bounded_by is 'ops'"),
        ('title = "Mine"', 'title = "Mine"\nprobes = ["disk"]', "mine.toml:2: probes.0 is 'disk'"),
        ("{range}", "{rang}", "mine.toml:17: unknown variable 'rang' in \"One of {rang}\"; known here: range."),
        ("repeat = 2", "repeat = 0", "mine.toml:27: repeat is 0; 1 or more is accepted."),
        (
            'table = "point"',
            'table = "pont"',
            "mine.toml:28: table = 'pont' is no earlier statement. Did you mean 'point'",
        ),
        (
            'of = "id"',
            'of = "ids"',
            "mine.toml:8: again refers to 'ids', which is no earlier parameter with one number.",
        ),
        (
            "[1, 2]",
            "[]",
            "mine.toml:24: tests.many.variants is {'range': []}: give variables with at least one value each",
        ),
        ("[1, 2]", "[1, 1]", "mine.toml:24: tests.many.variants is {'range': [1, 1]}: '1' is given twice"),
        ("[tests.one]", "[tests.many-2]", "mine.toml:21: a variant of many is called 'many-2', and there is a test"),
        ('  "many",', '  "mani",', "mine.toml:41: unknown test 'mani'. Did you mean 'many'"),
        ('  "many",', '  "one",\n  "many",', "mine.toml:41: 'one' is there twice in phase 'all'."),
        ('suffix = ".pre"', "", "mine.toml:40: 'one' is there twice, in phase 'before' and phase 'all'; a `suffix`"),
        ('suffix = ".pre"', 'suffix = "pre"', "mine.toml:33: phases.0.suffix: 'pre' is no name"),
        ('  "many",', "", "mine.toml:21: test 'many' is in no phase"),
        ('quick = ["one*"]', 'quick = ["two*"]', "mine.toml:45: no test matches 'two*'."),
        ('quick = ["one*"]', 'one = ["many*"]', "mine.toml:45: a selection is called 'one' like a test"),
        (
            'values = { gen = "sequence" }',
            'values = "any"',
            "mine.toml:10: unknown generator 'any'. Did you mean 'any_id'?",
        ),
        ('{ gen = "sequence" }', '{ gen = "sequence", step = 0 }', "mine.toml:10: id: `step` is 0"),
        (TABLE, "", "mine.toml:1: there are no tables"),
        (TABLE, f"{TABLE}\n[load]\ncolumns = {{}}", "mine.toml:11: load is {'columns': {}}: columns belong to a table"),
        ('"int4"', '"integer"', "mine.toml:10: column 'id': 'integer' is no type; accepted: int2, int4"),
        ('"int4"', '"char"', "mine.toml:10: column 'id': type char needs a length"),
        ('"int4"', '"decimal"', "mine.toml:10: column 'id': type decimal needs digits, and digits after the point"),
        (
            '"int4"',
            '"decimal(20,2)"',
            "mine.toml:10: column 'id': 'decimal(20,2)' is no type; accepted is decimal(P,S)",
        ),
        ('"int4"', '"decimal(2,3)"', "mine.toml:10: column 'id': 'decimal(2,3)' has more digits after the point"),
        (
            '"int4"',
            '"timestamp(3)"',
            "mine.toml:10: column 'id': 'timestamp(3)' is no type; timestamp has whole seconds",
        ),
        ('"int4"', '"bytes(0)"', "mine.toml:10: column 'id': 'bytes(0)' is no type: 0 is no length"),
        (
            '"int4"',
            '"bytes(8)"',
            "mine.toml:10: column 'id' of type bytes(8) takes bytes or texts, and is given integers",
        ),
        ('"int4", ', '"int4", default = "a", ', "mine.toml:10: column 'id': the default 'a' is no value of type int4."),
        ('"int4", ', '"date", identity = true, ', "mine.toml:10: column 'id' is date; servers number integers only."),
        (
            '{ gen = "sequence" }',
            '{ gen = "sequence", nulls = 0.5 }',
            "mine.toml:10: column 'id' would be NULL in some",
        ),
        (
            '{ gen = "sequence" }',
            '{ gen = "sequence", nulls = 50 }',
            "mine.toml:10: tables.t.columns.id.values.nulls is 50",
        ),
        (
            '{ gen = "sequence" }',
            '{ gen = "sequence", round = 2 }',
            "mine.toml:10: id is int4; `round` is for float4 and",
        ),
        (
            '{ gen = "sequence" }',
            '{ gen = "constant", value = 1.5 }',
            "mine.toml:10: id: 1.5 is no value of type int4.",
        ),
        (
            '{ gen = "sequence" }',
            '{ gen = "bytes", length = 0 }',
            "mine.toml:10: column 'id' of type int4 takes integers, and is given bytes.",
        ),
        (
            "low = 1",
            'type = "flaot8", low = 1',
            "mine.toml:7: generators.any_id.type is 'flaot8': 'flaot8' is no type;",
        ),
        (
            "low = 1",
            "nulls = 0.1, count = 2, low = 1",
            "mine.toml:7: id: `nulls` is for single values, and `count` makes",
        ),
        (
            "low = 1",
            'type = "date", low = -1_000_000_000_000_000_000',
            "mine.toml:7: id of type date: low is -10000000000",
        ),
        (
            'low = 1, high = "table_size"',
            'type = "decimal(3,2)", low = 1, high = 10.5',
            "mine.toml:7: id of type decimal(3,2): high is 10.5; accepted is -9.99 to 9.99.",
        ),
        ("low = 1", "low = 2024-01-01T00:00:00Z", "mine.toml:7: id: low is 1704067200000000 and high is 2; low"),
        ('"int4"', '"text"', "mine.toml:10: column 'id' of type text takes texts, and is given integers"),
        (TABLE, f'{TABLE}\nprimary_key = ["ids"]', "mine.toml:11: there is no column 'ids'. Did you mean 'id'?"),
        (TABLE, f'{TABLE}\nrows = "sizes"', "mine.toml:11: unknown variable 'sizes'"),
        (TABLE, f"{TABLE}\ncopies = 0", "mine.toml:11: copies is 0; 1 or more is accepted"),
        ('title = "Mine"', 'title = "Mine"\nextends = "sysbensh"', "mine.toml:2: Unknown suite 'sysbensh'."),
        ('title = "Mine"', 'title = "Mine"\nextends = "mine.toml"', "mine.toml:2: "),
        ('title = "Mine"', 'title = "Mine"\nextends = "absent.toml"', "absent.toml cannot be read: No such file"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in GOOD
    message = load(tmp_path, GOOD.replace(old, new, 1))
    assert message.startswith(expected), message


def test_a_mistake_in_an_extended_file_is_reported_there(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(GOOD.replace("id = :id", "id = :ids", 1))
    assert load(tmp_path, 'title = "x"\nextends = "base.toml"\n').startswith("base.toml:13: ")
