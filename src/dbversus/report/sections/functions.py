"""Which functions the servers' CPU time goes to, in tests that were profiled: a table, and a flame graph of the difference.

waits.py shows in the same way what operations wait for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dbversus.explain.functions import in_brief
from dbversus.profiling import wait_samples
from dbversus.profiling.figures import Difference, FunctionCost, Profile
from dbversus.profiling.moved import FEW
from dbversus.profiling.perf import CPU_CLOCK, Stacks
from dbversus.profiling.stored import Profiled
from dbversus.report.charts.flame import draw_flame
from dbversus.report.figures import BlockFigures, block_figures, estimate
from dbversus.report.judged import Judged
from dbversus.report.model import Estimate
from dbversus.report.section import Chart, Section
from dbversus.report.table import SOFT, Cell, Column, Form, Table, Value
from dbversus.report.words import percent
from dbversus.stats.means import Spread
from dbversus.stats.metrics import CPU
from dbversus.stats.model import CHANGES, Finding

LACKS = "has nothing for --table functions: nothing was profiled. `dbversus explain DIR --measure` does that (docs/explain.md)."
TITLE = "Functions that the CPU time goes to"


@dataclass(frozen=True)
class Words:
    """`of`: what an operation takes of it; `part`, `parts`: what it is told by."""

    title: str
    of: str
    part: str
    parts: str
    sheet: str
    recorded: str
    counted: str
    meaning: str


_WORDS = Words(
    TITLE,
    "of CPU",
    "function",
    "functions",
    "Functions",
    "Measured",
    "samples",
    "Functions of one build that took the place of others are told in one line. The kernel's time is that of a system call. "
    "Of a stripped build only exported names are known: the time of other functions has the name of the build, or of one "
    "that lies before them.",
)
FUNCTIONS_SHOWN = 12
"""Of one test and target, in reports; spreadsheets and programs have all that are shown to differ, and no fewer."""
_COLUMNS = [
    Column("test"),
    Column("target"),
    Column("function"),
    Column("under"),
    Column("base", Form.NUMBER, "µs/op", name="of_base"),
    Column("target's", Form.NUMBER, "µs/op", name="of_target"),
    Column("change", Form.NUMBER, "µs/op", spread=True, name="change", ends="change_"),
    Column("with callees", Form.NUMBER, "µs/op", name="total_change"),
    Column("share of the change", Form.SHARE, name="share"),
    Column("shown", name="shown"),
]
_OWN = [column.name for column in _COLUMNS[2:]].index("change")
_CHARTS_NOTE = (
    "Width: µs per operation, on the same scale in both pictures of a test; a function stands on its caller. Red: with what it "
    "calls it costs more on the target, blue: less; grey: not shown to differ. What moved from one function to another has the "
    "colour of the sum."
)
_BY_STACKS = {
    Stacks.FRAME_POINTERS: "callers by frame pointers",
    Stacks.UNWIND_TABLES: "callers by unwind tables",
    Stacks.NONE: "without callers: functions that were renamed are found by their names alone",
}


def section(judged: Judged) -> Section | None:
    profiled, troubles = list(judged.measured.profiles.values()), judged.measured.troubles
    if not profiled:
        return Section(title=TITLE, notes=troubles) if troubles else None
    figures = block_figures(judged.results, judged.findings)
    sentences = [sentence_of(one, _WORDS, _verdict(one, figures, judged.findings)) for one in profiled]
    return section_of(profiled, _WORDS, sentences, troubles)


def section_of(
    profiled: Sequence[Profiled], words: Words, sentences: Sequence[str], troubles: Sequence[str] = ()
) -> Section:
    return Section(
        title=words.title,
        sentences=sentences,
        tables=[_table(one, words) for one in profiled],
        notes=[*_notes(profiled, words), *troubles],
        data=[
            Table(
                _COLUMNS,
                [row for one in profiled for row in _rows(one, _told(one))],
                lead=3,
                title=words.title,
                sheet=words.sheet,
            )
        ],
        charts=[chart for one in profiled for chart in _charts(one, words)],
        charts_note=_CHARTS_NOTE,
        content=[_content(one) for one in profiled],
    )


@dataclass(frozen=True)
class _Verdict:
    """CPU time of an operation on the base and on the target in the blocks of the verdict, and its ratio, where that changed."""

    sides: tuple[Estimate, Estimate]
    ratio: float | None

    def differs(self, profile: Profile) -> bool:
        """Whether the profile has one of them outside of its interval."""
        values = profile.whole.base_us, profile.whole.mine_us
        return any(
            side.low is not None and side.high is not None and not side.low <= value <= side.high
            for side, value in zip(self.sides, values, strict=True)
        )

    @property
    def words(self) -> str:
        base, mine = (_us(side.value or 0.0) for side in self.sides)
        return f" ({base} and {mine} in the blocks of the verdict)"


def _verdict(one: Profiled, figures: BlockFigures, findings: Sequence[Finding]) -> _Verdict | None:
    base, mine = (estimate(figures.get((one.test, label), {}).get(CPU, ())) for label in (one.base, one.target))
    changed = (each for each in findings if each.key == (one.test, one.target, CPU) and each.counted in CHANGES)
    found = next(changed, None)
    return _Verdict((base, mine), found.ratio if found else None) if base.n and mine.n else None


def sentence_of(one: Profiled, words: Words, verdict: _Verdict | None = None) -> str:
    profile, whole = one.profile, one.profile.whole
    head = f"{one.test}: {_us(whole.base_us)} µs {words.of} per operation on {one.base}, {_us(whole.mine_us)} on {one.target}"
    if verdict and (verdict.differs(profile) or profile.is_opposite(verdict.ratio)):
        head += verdict.words
    if not whole.is_shown:
        return f"{head}; the difference is not shown over {profile.blocks} blocks."
    if verdict and profile.is_opposite(verdict.ratio):
        return f"{head}; it went the other way, so no function is blamed."
    if not profile.has_names:
        return f"{head}; {_nameless(one)}"
    share = profile.explained or 0.0
    return f"{head}; {words.parts} whose difference is shown come to {percent(share, 0)} of the change."


def _nameless(one: Profiled) -> str:
    base, mine = (percent(share, 0) for share in one.profile.unnamed)
    return (
        f"{base} of the time on {one.base} and {mine} on {one.target} is in functions without a name (a stripped build), so no "
        "function is blamed: what costs more or less there may have another line on the other side."
    )


def _us(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _sampled(event: str) -> str:
    """`perf (cpu-clock)`, or what else has told it."""
    if event == wait_samples.EVENT:
        return "reading, every 2 ms, which system call each thread is in (perf may not tell it here)"
    outside = (
        ", outside the kernel, whose part is told as a whole: kernel.perf_event_paranoid of 1 shows its system calls"
        if event.endswith(":u")
        else ""
    )
    return f"perf ({event}{outside})"


def _notes(profiled: Sequence[Profiled], words: Words) -> Iterator[str]:
    first = profiled[0]
    samples = sum(one.samples for one in profiled)
    yield (
        f"{words.recorded} by {_sampled(first.event)} in blocks of their own, with {samples:,} {words.counted}; "
        f"{_BY_STACKS[Stacks(first.stacks)]}. "
        f"Means over blocks with 95 % intervals, moderated over {words.parts}; of those shown, 5 % may be chance "
        "(Benjamini-Hochberg)."
    )
    if first.event.startswith(CPU_CLOCK) and not first.all_cpus:
        yield (
            "Processes were sampled one by one, which makes each switch to one of them dearer, by some µs on a virtual machine. "
            "Root, or kernel.perf_event_paranoid of 0, samples all CPUs, which does not."
        )
    yield words.meaning


def _told(one: Profiled) -> list[FunctionCost]:
    """All that are shown to differ, and those that make most of the rest."""
    functions = one.profile.functions
    return [cost for place, cost in enumerate(functions) if cost.own.is_shown or place < FUNCTIONS_SHOWN]


def _table(one: Profiled, words: Words) -> Table:
    costs = one.profile.functions[:FUNCTIONS_SHOWN]
    rows = [row[2:-1] for row in _rows(one, costs)]
    columns = [_COLUMNS[2]._replace(title=words.part), *_COLUMNS[3:-1]]
    # of waits, and without callers, some columns have nothing, or the same as another
    told = [
        place
        for place, column in enumerate(_COLUMNS[2:-1])
        if any(row[place].value not in ("", None, _same(column, row)) for row in rows)
    ]
    shown = [[row[place] for place in told] for row in rows]
    title = f"{words.title}: {one.test}, {one.target} against {one.base}"
    return Table([columns[place] for place in told], shown, title=title)


def _same(column: Column, row: Sequence[Cell]) -> Value:
    """What stands in the cell before it, of what a function costs with its callees: the same where it has none."""
    return row[_OWN].value if column.name == "total_change" else None


def _rows(one: Profiled, costs: Sequence[FunctionCost]) -> Iterator[list[Any]]:
    for cost in costs:
        look = "" if cost.own.is_shown else SOFT
        yield [
            *(one.test, one.target, Cell(name_of(cost), look), Cell(cost.under, look)),
            *(Cell(cost.own.base_us, look), Cell(cost.own.mine_us, look), _change(cost.own, look)),
            Cell(cost.total.change_us if cost.total else None, look),
            Cell(one.profile.share(cost), look),
            "yes" if cost.own.is_shown else "no",
        ]


def name_of(cost: FunctionCost) -> str:
    """`gone → new`, with those that both have after it; of many the costliest (report.json has all)."""
    both = [name for name in cost.names if name not in (*cost.gone, *cost.new)]
    if cost.gone and cost.new and len(cost.names) <= FEW:
        beside = f" (with {in_brief(both, None)})" if both else ""
        return f"{in_brief(cost.gone, None)} → {in_brief(cost.new, None)}{beside}"
    return in_brief(cost.names, None)


def _change(own: Difference, look: str) -> Cell:
    return Cell(own.change_us, look, Spread(own.low_us, own.high_us))


def _charts(one: Profiled, words: Words) -> Iterator[Chart]:
    """Of the target, and of the base, on the same scale."""
    profile = one.profile
    most_us, whole_us = max(profile.whole.base_us, profile.whole.mine_us), abs(profile.whole.change_us)
    changes = dict(_changes(profile.functions))
    for label, side in ((one.target, profile.mine), (one.base, profile.base)):
        caption = f"{one.test} on {label}: {_us(sum(side.values()))} µs {words.of} per operation"
        yield Chart(caption, partial(draw_flame, side, changes, most_us, whole_us))


def _changes(functions: Sequence[FunctionCost]) -> Iterator[tuple[str, float]]:
    """Of those whose difference is shown: with what they call; of some whose cost moved, all together."""
    for cost in functions:
        difference = cost.total or cost.own
        if difference.is_shown:
            yield from ((name, difference.change_us) for name in cost.names)


def _content(one: Profiled) -> dict[str, Any]:
    whole = one.profile.whole
    return {
        "test": one.test,
        "target": one.target,
        "base": one.base,
        "event": one.event,
        "stacks": one.stacks,
        "samples": one.samples,
        "blocks": one.profile.blocks,
        "of_base_us": whole.base_us,
        "of_target_us": whole.mine_us,
        "change_is_shown": whole.is_shown,
        "explained": one.profile.explained,
        "functions": [_function(one, cost) for cost in _told(one)],
    }


def _function(one: Profiled, cost: FunctionCost) -> dict[str, Any]:
    return {
        "names": list(cost.names),
        "gone": list(cost.gone),
        "new": list(cost.new),
        "under": cost.under,
        "of_base_us": cost.own.base_us,
        "of_target_us": cost.own.mine_us,
        "change_low_us": cost.own.low_us,
        "change_high_us": cost.own.high_us,
        "shown": cost.own.is_shown,
        "share": one.profile.share(cost),
        "members": [
            {"name": part.names[0], "of_base_us": part.own.base_us, "of_target_us": part.own.mine_us}
            for part in cost.members
        ],
    }
