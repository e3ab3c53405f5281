"""Causes in words, the same in every report: this is the one place that has them."""

from collections.abc import Iterable, Sequence

from dbversus.explain.cause import COUNT, ROWS, SIDES, Cause, Explanation, Fact, Kind
from dbversus.explain.conditions import AGED, LEAD_IN_S, LEAST_S, MEASURED_ON, MOST_S, PUT_OFF, STILL_WORKED
from dbversus.explain.costs import THREADS
from dbversus.explain.functions import GONE, HIGH, LOW, NAMES, NEW, UNDER
from dbversus.explain.operators import GENERIC
from dbversus.explain.storage import SLOW_BLOCK, SLOW_DEVICE, WAITS_FOR_DEVICE
from dbversus.explain.trials import TRIED
from dbversus.profiling.moved import FEW
from dbversus.profiling.symbols import KERNEL, shortened
from dbversus.report.words import change, listing, number, percent, typographic
from dbversus.stats.metrics import DRAIN_CPU, WAIT, metric_named
from dbversus.units import count_of, show_bytes, show_least, show_memory

NAMED_AT_MOST = 5
CAUSES_SHOWN = 5
"""Of one test and target; results have all of them."""
NEARLY_ALL = 0.99
LIKELY_CAUSE = "likely cause"
"""The column of it in tables of verdicts."""
_OPERATORS_SHOWN = 3
_FUNCTIONS_SHOWN = 3
LATER = "checkpoints of a full log and long histories come later (--profile sustained has more of them)"


def condition_notes(causes: Iterable[Cause]) -> list[str]:
    """A sentence for each; those of the regime of a test are one."""
    found = list(causes)
    notes = []
    for cause in found:
        if cause.kind is Kind.REGIME and cause.what == PUT_OFF:
            continue
        if cause.kind is Kind.REGIME and cause.what == MEASURED_ON:
            notes.append(_regime(cause, [one for one in found if one.what == PUT_OFF and one.test == cause.test]))
        else:
            notes.append(_condition(cause))
    return notes


def _condition(cause: Cause) -> str:
    match cause.kind:
        case Kind.STORAGE:
            return _storage(cause)
        case Kind.MEMORY:
            return _memory(cause)
        case Kind.DRIFT:
            moved = f"{cause.what} of {cause.target} moved by {change(cause.ratio)} during the slots of a block"
            return f"{moved}; verdicts stand on target/base, where what both do alike cancels"
        case Kind.LOG:
            return _log(cause)
        case _:
            assert cause.what == STILL_WORKED
            times = f"{cause.facts['times']} of {cause.facts['drains']} times"
            return (
                f"{cause.target} still worked {_number(cause.mine):.1f} s after the test ({times}): its drained CPU and "
                "bytes are too low"
            )


def _regime(cause: Cause, put_off: Sequence[Cause]) -> str:
    """On what data a test that changes data was measured, for how long, and how much work servers put off."""
    aged = "aged data: changed throughout since the load, so that fresh pages no longer split"
    data = aged if cause.facts[AGED] else "data as it was loaded"
    rest = ", ".join(map(_put_off, put_off))
    charged = f"; put off until after the test, and charged to it as drain: {rest}" if rest else ""
    return f"measured on {data}{_length(cause)}{charged}"


def _length(cause: Cause) -> str:
    """How long servers were driven before, where that was for the sake of the regime; else how long a short test lasted."""
    if lead_in_s := _number(cause.facts[LEAD_IN_S]):
        return f", in every block after a lead-in of {lead_in_s:g} s on the slowest target, uncounted"
    if LEAST_S not in cause.facts:
        return ""
    least, most = (f"{_number(cause.facts[name]):.2g}" for name in (LEAST_S, MOST_S))
    span = least if least == most else f"{least} to {most}"
    return f"; each server was driven for {span} s per block: {LATER}"


def _put_off(cause: Cause) -> str:
    """`mysql:8.0 31 % of its CPU and 80 % of its bytes written`"""
    return (
        f"{cause.target} {' and '.join(f'{_number(share):.0%} of its {what}' for what, share in cause.facts.items())}"
    )


def _storage(cause: Cause) -> str:
    facts = {name: _number(value) for name, value in cause.facts.items()}
    if cause.what == SLOW_BLOCK:
        return (
            f"{cause.target} met a slow device in block {facts['block']:.0f}: a request took {facts['await_ms']:.2f} ms "
            f"({facts['usual_ms']:.2f} ms in the median of {facts['blocks']:.0f} blocks), and throughput was "
            f"{facts['throughput_of_median']:.2f} of its median"
        )
    if cause.what == SLOW_DEVICE:
        return (
            f"{cause.target} met a slow device: a read took {facts['read_ms']:.2f} ms on average, and "
            f"{facts['probe_ms']:.2f} ms when the disk was probed before the run"
        )
    return (
        f"{cause.target} reads storage although its data fits: {facts['reads_per_op']:.2g} disk reads per op, "
        f"{show_bytes(facts['bytes_per_block'])} in a block, with {show_bytes(facts['data_bytes'])} of tables and indexes "
        f"and {show_bytes(facts['cache_bytes'])} of cache"
    )


def _memory(cause: Cause) -> str:
    limit = cause.facts["limit_bytes"]
    within = f" with a limit of {show_memory(int(_number(limit)))}" if limit else ""
    return (
        f"{cause.target} had too little memory{within}: {_number(cause.mine):.0f} times a second it waited for a page of "
        "its program, or of what it keeps in memory, to be read from disk (major page faults); smaller caches or more "
        "memory would help"
    )


def _log(cause: Cause) -> str:
    """`postgres:17 logged 14 lines in 3 of 8 blocks, such as "LOG: checkpoint starting: wal"`"""
    said = " and ".join(f'"{text}"' for text in cause.what.split("\n"))
    count = f"{cause.mine} line{'s' if _number(cause.mine) > 1 else ''}"
    where = f"{cause.facts['in_blocks']} of {cause.facts['blocks']} blocks"
    return f"{cause.target} logged {count} in {where}, such as {said}"


def likely_cause(explanation: Explanation | None) -> str:
    """For the line of a verdict: `lead: another plan, Sort → Incremental Sort`; empty where nothing changed."""
    if explanation is None:
        return ""
    if explanation.same:
        return "chance: the same binary and config"
    if not explanation.likely:
        return "not known"
    first = explanation.likely[0]
    return f"{'cause' if first.tested else 'lead'}: {brief(first, operators=2)}"


def brief(cause: Cause, operators: int = _OPERATORS_SHOWN) -> str:
    """`work_mem 16MB → 4MB`, `another plan, hashed SubPlan → Materialize`; `operators`: so many of each plan."""
    match cause.kind:
        case Kind.SETTING:
            return f"{cause.what} {_value(cause.base)} → {_value(cause.mine)}"
        case Kind.PLAN:
            what = "order of joins" if cause.facts["reordered"] else "plan"
            return f"another {what}{_operators(cause, operators)}{_took(cause)}"
        case Kind.DONE:
            return f"{cause.facts[COUNT]} {_whole(_number(cause.base))} → {_whole(_number(cause.mine))}"
        case Kind.PLANNING:
            return f"planning {number(_number(cause.base))} → {number(_number(cause.mine))} ms"
        case Kind.WAIT:
            return f"waiting for {cause.what}"
        case Kind.FUNCTION:
            return _functions(cause)
        case Kind.KNOWN:
            return f"{cause.what}, known of {cause.facts['on']}"
        case Kind.COUNTER | Kind.COST | Kind.BACKGROUND:
            return f"{_amounts(cause)}{_threads(cause)}"
        case Kind.STORAGE:
            return "a slow device" if cause.what in WAITS_FOR_DEVICE else "reads of data that fits in memory"
        case _:
            return "too little memory"


def _amounts(cause: Cause) -> str:
    return f"{metric_named(cause.what).title} {number(_number(cause.base))} → {number(_number(cause.mine))}"


def _threads(cause: Cause) -> str:
    """` (log_writer and page_cleaner)`: who does most of the background work."""
    names = str(cause.facts.get(THREADS, "")).splitlines()
    return f" ({listing(names)})" if names else ""


def _functions(cause: Cause) -> str:
    """`pg_mblen → pg_mblen_with_len and pg_utf_mblen_private, under bpcharlen`; `function do_select`; `the kernel, in read`;
    of many `functions under ExecSort (gone): puttuple_common, copytup_heap, palloc0 and 21 more`."""
    names, gone, new = (str(cause.facts[part] or "") for part in (NAMES, GONE, NEW))
    where = f", under {shortened(str(cause.facts[UNDER]))}" if cause.facts[UNDER] else ""
    if names.startswith(KERNEL):
        called = "\n".join(filter(None, (name.removeprefix(KERNEL).strip() for name in names.splitlines())))
        return f"the kernel, in {_some(called)}" if called else "the kernel"
    only = " (gone)" if gone == names else " (new)" if new == names else ""
    if where and len(names.splitlines()) > FEW:
        return f"functions{where.lstrip(',')}{only}: {_some(names)}"
    if gone and new:
        return f"{_some(gone)} → {_some(new)}{where}"
    what = "functions" if "\n" in names else "function"
    return f"{what} {_some(names)}{only}{where}"


def _some(text: str) -> str:
    """The first of some functions: `a, b and c`, `a, b, c and 2 more`."""
    names = text.splitlines()
    more = len(names) - _FUNCTIONS_SHOWN
    shown = [shortened(name) for name in names[:_FUNCTIONS_SHOWN]] + ([f"{more} more"] if more > 0 else [])
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def _function_told(cause: Cause) -> str:
    base, mine = (number(_number(value)) for value in (cause.base, cause.mine))
    low, high = cause.facts[LOW], cause.facts[HIGH]
    known = low is not None and high is not None
    interval = f" [{_signed(low)}, {_signed(high)}]" if known else ""
    of = " of CPU" if cause.kind is Kind.FUNCTION else ""
    return f"{brief(cause)}: {base} → {mine} µs/op{of}{interval}{_share(cause)}"


def _signed(fact: Fact) -> str:
    value = _number(fact)
    return f"{'−' if value < 0 else '+'}{number(abs(value))}"


def _value(fact: Fact) -> str:
    return "(not there)" if fact is None else str(fact) or "(empty)"


def _operators(cause: Cause, most: int) -> str:
    """`, Sort → Incremental Sort`, `, with JIT`; where many are gone or new, the first from the top of the plan."""
    joint = " over " if cause.facts["is_tree"] else ", "
    sides = []
    for whole in (str(cause.base).splitlines(), str(cause.mine).splitlines()):
        side = [operator for operator in whole if operator != GENERIC]
        left_out = [f"{len(side) - most} more"] if len(side) > most else []
        chain = joint.join([*side[:most], *left_out])
        sides.append(": ".join(filter(None, [GENERIC if GENERIC in whole else "", chain])))
    gone, new = sides
    return f", {gone} → {new}" if gone and new else f", with {new}" if new else f", without {gone}"


def _took(cause: Cause) -> str:
    """`, 310 → 98,000 rows, 0.4 → 12 ms`: of the first operator that differs, and of the statement, once executed."""
    rows = [cause.facts.get(f"{side}_rows") for side in SIDES]
    times = [cause.facts.get(f"{side}_total_ms") for side in SIDES]
    said = []
    if None not in rows and rows[0] != rows[1]:
        said.append(f", {' → '.join(_whole(_number(one)) for one in rows)} rows")
    if COUNT in cause.facts:
        counts = " → ".join(_whole(_number(cause.facts[f"{side}_count"])) for side in SIDES)
        said.append(f", {cause.facts[COUNT]} {counts}")
    if None not in times:
        said.append(f", {' → '.join(_whole(_number(one)) for one in times)} ms")
    return "".join(said)


def told(cause: Cause) -> str:
    """A cause with what it means, for a list of them."""
    match cause.kind:
        case Kind.PLAN:
            return f"{brief(cause)} ({cause.what}{_rows(cause)}){f': {cause.means}' if cause.means else ''}"
        case Kind.SETTING | Kind.COUNTER | Kind.KNOWN:
            return f"{brief(cause)}{f': {cause.means}' if cause.means else ''}{_share(cause)}"
        case Kind.COST | Kind.BACKGROUND:
            return f"{_amounts(cause)} {cause.unit}{_threads(cause)}{_share(cause)}"
        case Kind.PLANNING | Kind.DONE:
            return f"{brief(cause)} ({cause.what}){_share(cause)}"
        case Kind.FUNCTION | Kind.WAIT:
            return _function_told(cause)
        case _:
            return _condition(cause)


def _rows(cause: Cause) -> str:
    if ROWS not in cause.facts:
        return ""
    base, mine = (number(_number(cause.facts[side])) for side in ("rows_base", "rows_mine"))
    return f"; {cause.facts[ROWS]} {base} → {mine} per op"


def _share(cause: Cause) -> str:
    return "" if cause.share is None or cause.tested else f"; {percent(cause.share, 0)} of the change"


def why(explanation: Explanation) -> list[str]:
    """What changed and how much, why, and how sure that is: a sentence each."""
    least = f" ({typographic(show_least(explanation.least))})" if explanation.least else ""
    what = f"{metric_named(explanation.metric).title} {change(explanation.ratio)}{least} on {explanation.target}."
    what = what[:1].upper() + what[1:]
    if explanation.same:
        return [
            what,
            "Both targets are the same binary with the same config, so this is chance and has no cause in them.",
        ]
    if not explanation.likely:
        return [what, _nothing_tells(explanation), *_comes_with(explanation)]
    tested = [cause for cause in explanation.causes if cause.tested]
    if tested:
        return [what, f"The cause: {brief(tested[0])}.", _tested(tested[0], explanation)]
    first = explanation.likely[0].kind
    if first in (Kind.FUNCTION, Kind.WAIT):
        measured = [cause for cause in explanation.likely if cause.kind is first]
        return [what, f"Measured: {_measured(measured[:2])}.", _not_tested(explanation)]
    leads = [_lead(cause) for cause in explanation.likely[:2]]
    return [what, f"Likely cause, not tested: {'; with it '.join(leads)}.", _not_tested(explanation)]


def _measured(causes: Sequence[Cause]) -> str:
    """Of functions, or of waits."""
    rose = _number(causes[0].mine) > _number(causes[0].base)
    if causes[0].kind is Kind.WAIT:
        waits = "; and ".join(
            f"{brief(one)}, {number(_number(one.base))} → {number(_number(one.mine))} µs/op" for one in causes
        )
        return f"operations take longer {waits}" if rose else f"operations take less time {waits}"
    places = "; and to ".join(f"{brief(one)} ({percent(one.share or 0.0, 0)})" for one in causes)
    return f"the CPU time went to {places}" if rose else f"the CPU time that is saved went to {places}"


def _nothing_tells(explanation: Explanation) -> str:
    differ = len(explanation.causes)
    if not differ:
        return "Nothing that was stored tells why."
    verb = "differs" if differ == 1 else "differ"
    return f"Nothing that was stored tells why; of settings that can act on such a test, {differ} {verb}."


def _lead(cause: Cause) -> str:
    """In the sentence: of a plan with what is new about it in that version."""
    return f"{brief(cause)} ({cause.means})" if cause.kind is Kind.PLAN and cause.means else brief(cause)


def _tested(cause: Cause, explanation: Explanation) -> str:
    if words := cause.facts.get(TRIED):
        return f"Tested: {words}."
    what = "these settings are" if ", " in cause.what else "this setting is"
    leads = len(explanation.causes) - 1
    how = f"; {count_of(leads, 'lead')} may tell how it acts" if leads else ""
    return f"Tested: {what} all that tells the two targets apart, so the whole change is its effect{how}."


def _not_tested(explanation: Explanation) -> str:
    share = explanation.explained
    known = "How much of the change it explains is not known"
    if share is not None and share > NEARLY_ALL:
        known = "It explains the whole change, by its amount"
    elif share is not None:
        known = f"Causes with a known share explain {percent(share, 0)} of the change; {percent(1 - share, 0)} is not explained"
    has_command = any(cause.command for cause in explanation.causes[:CAUSES_SHOWN])
    return f"{known}{'; a command below tests a lead' if has_command else ''}."


def _comes_with(explanation: Explanation) -> list[str]:
    if explanation.same_config and not explanation.same_build:
        return ["Both targets have the same config, so it comes with the build and its defaults."]
    return []


def leads_left_out(explanation: Explanation) -> str:
    left_out = len(explanation.causes) - CAUSES_SHOWN
    return f"{count_of(left_out, 'lead')} more: dbversus show DIR --table causes" if left_out > 0 else ""


def also_changed(causes: Sequence[Cause], cpu_us: float) -> str:
    """The first of them in a sentence; empty when there is none. `cpu_us`: of an operation, where it is more."""
    named = causes[:NAMED_AT_MOST]
    return f"also changed: {', '.join(_cost(cause, cpu_us) for cause in named)}" if named else ""


def _cost(cause: Cause, cpu_us: float) -> str:
    words = f"{metric_named(cause.what).title} {change(cause.ratio)}"
    of_cpu = cause.unit == "µs/op" and cause.what not in (WAIT, DRAIN_CPU, "client_cpu_us_per_op")
    if not of_cpu:
        return words
    return f"{words} ({_whole(_number(cause.base))} → {_whole(_number(cause.mine))} of {_whole(cpu_us)} µs/op)"


def _whole(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _number(fact: Fact) -> float:
    """Of a fact that is one; its kind says so."""
    assert isinstance(fact, int | float)
    return fact
