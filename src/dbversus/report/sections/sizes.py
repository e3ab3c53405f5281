"""What the size of the tables changes: verdicts by size, the interaction of size and target, and plans that are others."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from dbversus.explain.plan_diff import normalise_plan
from dbversus.report.judged import Judged
from dbversus.report.section import Part, Section
from dbversus.report.sections import contrast
from dbversus.report.sections.contrast import Contrast, Factor, Line, dependence
from dbversus.report.table import Column, Form, Row, Table, ratio_cell
from dbversus.report.words import INTERVALS, listing
from dbversus.results.stored import Results, Target
from dbversus.stats.across.clients import test_of
from dbversus.stats.across.sizes import interaction_name, size_of
from dbversus.stats.comparison import Comparison
from dbversus.stats.judge import judge_over_sizes
from dbversus.stats.judged import judged_metrics
from dbversus.stats.model import Finding, Verdict
from dbversus.units import show_count

LACKS = "has one table size; --table sizes needs several (--table-size 1m,10m)."
_TITLE = "Whether target ÷ base depends on the size of the tables"
_NOTE = (
    "A larger size over the smallest is the ratio of two ratios, target ÷ base with each size, from the blocks that have "
    f"both [{INTERVALS}]: what larger tables cost both targets alike is not in it. It is judged by the metric's margin; "
    "these verdicts are a family of their own and change no other."
)


class _OfSizes(Factor[int]):
    what, level = "the size of the tables", Column("table size, rows", Form.COUNT, name="table_size")
    same, unshown = "the same with all sizes", "not shown to depend on the size"
    not_shown, everywhere = "that it depends on the size is not shown", "with all sizes"
    unjudged = "no test has figures that count from blocks with two sizes"
    more, at = " with more rows", "ratio with "

    def called(self, level: int) -> str:
        return show_count(level)

    def named(self, levels: Sequence[int]) -> str:
        return f"{self.named_again(levels)} rows per table"

    def named_again(self, levels: Sequence[int]) -> str:
        return f"with {_named(levels)}"

    def trend(self, moved: Mapping[int, Verdict]) -> str:
        """In which direction larger tables move target ÷ base."""
        verdicts = set(moved.values())
        if len(verdicts) > 1:
            return "up and down with the size"
        return f"{'worse' if Verdict.REGRESSION in verdicts else 'better'} against the base with larger tables"


OF_SIZES = _OfSizes()


def section(judged: Judged) -> Section | None:
    found = of_experiment(judged.results, judged.comparisons)
    if found is None:
        return None
    said = contrast.sentences(found)
    changed = [contrast.table(found, _TITLE, found.changed)] if found.changed else []
    return Section(
        title="Several table sizes",
        is_exact=True,
        sentences=said,
        tables=[contrast.table(found, _TITLE, found.lines)],
        notes=[_NOTE],
        data=[_over_the_smallest(found), contrast.data(found, "Several table sizes", "Sizes", [*said, _NOTE])],
        on_terminal=Part(changed, [_NOTE] if changed else []),
        content={
            "table_sizes": list(found.levels),
            "tests": [
                {
                    "test": line.test,
                    "target": line.target,
                    "words": line.sentence,
                    "plans": list(line.plans),
                    "verdicts": {str(size): item.verdict for size, item in line.comparisons.items()},
                    "interactions": {
                        str(size): contrast.content(of_size, found.judged)
                        for size, of_size in line.interactions.items()
                    },
                }
                for line in found.lines
            ],
        },
    )


def of_experiment(results: Results, comparisons: Sequence[Comparison]) -> Contrast[int] | None:
    """From stored results; None with one size. `comparisons`: those of the cases, with their verdicts."""
    sizes = tuple(sorted({case[1] for name in results.tests if (case := size_of(name))}))
    if len(sizes) < 2:
        return None
    found: dict[tuple[str, str], dict[str, Finding]] = defaultdict(dict)
    for finding in judge_over_sizes(results):
        found[finding.test, finding.target][finding.metric] = finding
    by_size: dict[tuple[str, str], dict[int, Comparison]] = defaultdict(dict)
    for item in comparisons:
        if case := size_of(item.test):
            by_size[case[0], item.target][case[1]] = item
    plans = {target.label: _plans_by_size(results, target) for target in results.targets}
    lines = []
    for (test, target), of_size in by_size.items():
        larger = {size: found.get((interaction_name(test, size, sizes[0]), target), {}) for size in sizes[1:]}
        planned = _other_plans(test_of(test), sizes, {name: plans[name] for name in (results.base.label, target)})
        lines.append(Line(test, target, of_size, larger, dependence(of_size, larger, OF_SIZES), tuple(planned)))
    return Contrast(OF_SIZES, sizes, tuple(lines), judged_metrics(results.header))


def _over_the_smallest(found: Contrast[int]) -> Table:
    """For `show`: a line per test, target, metric and size but the smallest."""
    columns = [*(Column(name) for name in ("test", "target", "metric", "table_size", "of_table_size", "verdict"))]
    columns += [Column("ratio", Form.RATIO, spread=True, name="ratio"), Column("blocks", Form.COUNT)]
    rows: list[Row] = [
        [line.test, line.target, name, size, found.levels[0], str(one.verdict), ratio_cell(one), one.blocks]
        for line in found.lines
        for size, of_size in line.interactions.items()
        for name, one in of_size.items()
    ]
    return Table(columns, rows)


Plans = Mapping[tuple[str, str], Mapping[int, str]]
"""Test and statement → size → plan without estimates and values."""


def _plans_by_size(results: Results, target: Target) -> Plans:
    plans: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for name, plan in results.server_json(target, "plans.json").items():
        case, _, statement = name.partition("/")
        if of_size := size_of(case):
            plans[of_size[0], statement][of_size[1]] = normalise_plan(str(plan))
    return plans


def _other_plans(test: str, sizes: Sequence[int], plans: Mapping[str, Plans]) -> Iterator[str]:
    """`the plan of q on postgres:17 is another with 10m rows than with 1m`, for each such statement and target."""
    first = sizes[0]
    for label, of_target in plans.items():
        for (name, statement), of_size in of_target.items():
            other = [size for size in sizes[1:] if of_size.get(size, "") != of_size.get(first, "") and size in of_size]
            if name == test and first in of_size and other:
                words = f"is another with {_named(other)} rows than with {show_count(first)}"
                yield f"the plan of {statement} on {label} {words}"


def _named(sizes: Sequence[int]) -> str:
    return listing([show_count(size) for size in sorted(sizes)], most=len(sizes))
