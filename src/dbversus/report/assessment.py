"""Everything that the reports show, built from stored results alone."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from statistics import fmean
from typing import Any

import numpy as np

from dbversus.builds.target import same_targets
from dbversus.dbms.known import find_dbms
from dbversus.explain.cause import Cause, Explanation
from dbversus.explain.change import Seen
from dbversus.explain.conditions import (
    drift_causes,
    driven_figures,
    log_causes,
    memory_causes,
    regime_causes,
    unfinished_causes,
)
from dbversus.explain.costs import Place, cost_causes
from dbversus.explain.executed import counts_that_differ, planning_of, planning_told
from dbversus.explain.find import explain
from dbversus.explain.pair import Pair
from dbversus.explain.plan_diff import PlanDifference, differing_plans
from dbversus.explain.settings_diff import SettingDifference, differing_settings
from dbversus.explain.storage import Blocks, device_blocks, storage_causes
from dbversus.private import config_told, without_secret_settings
from dbversus.report import figures
from dbversus.report.code_layout import layout_note
from dbversus.report.judged import Judged, Measured
from dbversus.report.model import (
    Assessment,
    Disturbance,
    Failure,
    Figure,
    NotedComparison,
    RolePart,
    SlotRatios,
    StatementPart,
    TargetFacts,
    TestPart,
)
from dbversus.report.parts.each_test import roles
from dbversus.report.parts.each_test.groups import group_of
from dbversus.report.parts.each_test.statements import statements_of_tests
from dbversus.report.parts.each_test.timeline import courses, server_events, worst_seconds
from dbversus.report.parts.experiment import disturbance
from dbversus.report.parts.experiment.loads import load_figures
from dbversus.report.parts.experiment.trials import trials_among
from dbversus.report.parts.layouts.figures import layout_part
from dbversus.report.parts.notes import background, not_replicated
from dbversus.report.parts.notes.calibration import calibration_words
from dbversus.report.parts.notes.cause_words import also_changed, condition_notes
from dbversus.report.parts.notes.chosen_base import base_sentences
from dbversus.report.parts.notes.known_bugs import bug_notes
from dbversus.report.parts.notes.missing import SENTENCE_KEYS, not_measured
from dbversus.report.parts.notes.settings import settings_notes
from dbversus.report.parts.notes.state import state_sentences
from dbversus.report.parts.steps import stalls
from dbversus.report.sections.objects import reads_by_other_indexes
from dbversus.report.sections.registry import sections_of
from dbversus.report.words import SHORT_TITLES, listing, summary_sentences, title_of, typographic
from dbversus.results.records import Answers, Latency, Resumed
from dbversus.results.records import Failure as FailureRecord
from dbversus.results.sql import columns_of, names
from dbversus.results.stored import Results, Target
from dbversus.results.tables.background import DRAINS
from dbversus.stats.across.clients import case_of, test_of
from dbversus.stats.comparison import Comparison, by_test_and_target
from dbversus.stats.headline import headline
from dbversus.stats.judge import judge, judge_over_clients, judge_over_sizes
from dbversus.stats.metrics import CPU, WAIT
from dbversus.stats.model import CHANGES, SPOILT, Finding, Verdict
from dbversus.stats.values.finished import counted_blocks, of_finished_blocks
from dbversus.stats.values.levels import at_level

CLIENT_BOUND_SHARE = 0.8
BUSY = 0.5
"""Of the rows of a test: where other work disturbed more, waits for a CPU are its doing."""
LONG_WAIT_SHARE = 0.1
"""Of the CPU time: waiting in the run queue that is worth a word."""

_TYPES = {float: "DOUBLE", int: "BIGINT", bool: "BOOLEAN"}
# a table of findings has these columns even where nothing was judged
FINDING_COLUMNS = {
    one.name: next((name for kind, name in _TYPES.items() if one.type in (kind, kind | None)), "VARCHAR")
    for one in fields(Finding)
}

Findings = Mapping[tuple[str, str], Mapping[str, Finding]]


def build_assessment(results: Results) -> Assessment:
    """Judges `results` and gathers all that the reports show, of the blocks that were finished."""
    judged = judged_of(results)
    results, findings, tests = judged.results, judged.findings, judged.tests
    base = results.base.label
    targets = tuple(_target_facts(results, target, tests) for target in results.targets)
    others = [target.label for target in results.targets[1:]]
    blocks = len(counted_blocks(results))
    steps = judged.steps
    return Assessment(
        title=title_of(results.header, base, others),
        directory=results.directory.resolve().name,
        header=results.header,
        sentences=tuple(sentence for facts in targets for sentence in facts.sentences),
        outcome=_outcome(results),
        blocks=blocks,
        targets=targets,
        tests=tests,
        findings=findings,
        loads=load_figures(results),
        failures=tuple(_failure(results, record) for record in results.failures),
        settings=_named_first(_settings(results), tests),
        plans=tuple(_plans(results)),
        other_indexes=reads_by_other_indexes(results),
        disturbance=disturbance.total_disturbance(test.disturbance for test in tests),
        host={name: value for name, value in results.host.items() if name not in SENTENCE_KEYS},
        not_measured=not_measured(results),
        calibration=calibration_words(results.header, results.host.get("kernel")),
        command=results.header.command,
        over_clients=judged.over_clients,
        steps=steps,
        layouts=layout_part(results, steps, findings),
        data_state=state_sentences(results),
        waits=disturbance.waits_of(results),
        chosen_base=base_sentences(results),
        code_layout=layout_note(results.header.targets),
        sections=sections_of(judged),
    )


def judged_of(results: Results) -> Judged:
    """Of the blocks that were finished."""
    return Judged(of_finished_blocks(results), _tests)


def query(results: Results, sql: str) -> list[tuple[list[str], list[tuple[Any, ...]]]]:
    """Runs SQL on all tables, findings among them (judged only when the query names them); gives each result."""
    wanted = names(sql, "findings")
    findings = [*judge(results), *judge_over_clients(results), *judge_over_sizes(results)] if wanted else []
    rows = [asdict(item) for item in findings]
    return results.sql_results(sql, typed={"findings": (columns_of(rows, FINDING_COLUMNS), FINDING_COLUMNS)})


def _named_first(settings: Sequence[SettingDifference], tests: Sequence[TestPart]) -> tuple[SettingDifference, ...]:
    """Those that all know first; of these and of the others, what is named as a cause of a change."""
    causes = [cause.what for test in tests for one in test.explanations for cause in one.causes]
    named = {name for what in causes for name in what.split(", ")}
    return tuple(sorted(settings, key=lambda one: (not one.known_to_all, one.name not in named)))


def _tests(judged: Judged) -> tuple[TestPart, ...]:
    results, compared, settings = judged.results, judged.comparisons, _settings(judged.results)
    findings = by_test_and_target(judged.findings)
    absolute = figures.block_figures(results, judged.findings)
    for more in (
        at_level(background.block_figures(results), judged.findings, results.base.label),
        at_level(figures.counter_figures(results), judged.findings, results.base.label),
        driven_figures(results),
        stalls.block_figures(results),
    ):
        for place, of_block in more.items():
            absolute.setdefault(place, {}).update(of_block)
    ratios = figures.slot_ratios(results, judged.findings)
    disturbed = disturbance.disturbances(results)
    plans, asked = _plans(results), statements_of_tests(results)
    noted = (*memory_causes(results), *drift_causes(results))
    of_roles = roles.roles_of_tests(results)
    of_device = device_blocks(results)
    return tuple(
        _test(
            results,
            name,
            findings,
            [item for item in compared if item.test == name],
            absolute,
            tuple(ratios.get(name, ())),
            disturbed.get(name, disturbance.NOTHING),
            _plans_of(name, plans),
            asked(name),
            [cause for cause in noted if cause.test == name],
            of_roles.get(name, ()),
            of_device,
            settings,
            judged.measured,
        )
        for name in results.repeated_tests
    )


def _plans_of(case: str, plans: Sequence[PlanDifference]) -> tuple[PlanDifference, ...]:
    """A test has the same plans with any number of clients (`scan@4`)."""
    test = test_of(case)
    return tuple(plan for plan in plans if plan.statement.startswith((f"{test}/", f"{test} / ")))


def _test(
    results: Results,
    name: str,
    findings: Findings,
    compared: Sequence[Comparison],
    absolute: figures.BlockFigures,
    slots: tuple[SlotRatios, ...],
    disturbed: Disturbance,
    plans: tuple[PlanDifference, ...],
    asked: tuple[StatementPart, ...],
    noted: Sequence[Cause],
    of_roles: tuple[RolePart, ...],
    of_device: Blocks,
    settings: Sequence[SettingDifference],
    measured: Measured,
) -> TestPart:
    of_targets = [absolute.get((name, target.label), {}) for target in results.targets]
    work = [metric for metric, _ in figures.work_metrics(results, name)]
    shown = tuple(
        figure
        for metric in (*figures.SHOWN, *work, *background.metrics(of_targets), *stalls.METRICS)
        if (figure := _figure(metric.name, metric.title, metric.unit, name, results, findings, absolute))
    )
    latencies = {
        target.label: latency
        for target in results.targets
        if (latency := figures.latency_figures(results.latency(name, target).values()))
    }
    of_labels = {target.label: findings.get((name, target.label), {}) for target in results.targets[1:]}
    latencies = figures.latencies_at_level(latencies, of_labels, results.base.label)
    worst = worst_seconds(results, name)
    storage = storage_causes(results, name, absolute, of_device, writes=_writes(results, name))
    return TestPart(
        name=name,
        group=group_of(name, results.header),
        how=_how(results, name),
        comparisons=tuple(_noted(item, results, absolute) for item in compared),
        figures=shown,
        latency=latencies,
        slots=slots,
        disturbance=disturbed,
        plans=plans,
        courses=courses(results, name),
        events=server_events(results, name),
        worst_seconds=worst,
        notes=_notes_of_test(results, name, absolute, storage, noted, of_roles),
        roles=of_roles,
        statements=asked,
        explanations=_explanations(
            results,
            compared,
            absolute,
            settings,
            plans,
            (*storage, *noted),
            measured,
            busy=disturbed.disturbed_share > BUSY,
        ),
    )


def _notes_of_test(
    results: Results,
    name: str,
    absolute: figures.BlockFigures,
    storage: Sequence[Cause],
    noted: Sequence[Cause],
    of_roles: tuple[RolePart, ...],
) -> tuple[str, ...]:
    """What has to be known of how it was measured, on all targets."""
    return (
        *(["each operation opens a connection, and closes it"] if _connects(results, name) else []),
        *settings_notes(results.header, name),
        *bug_notes(results.targets, name),
        *condition_notes(regime_causes(results, name, absolute)),
        *condition_notes(storage),
        *condition_notes(log_causes(results, name)),
        *_test_notes(results, name, absolute),
        *worst_seconds(results, name),
        *stalls.notes(results, name),
        *condition_notes([*unfinished_causes(results, name), *noted]),
        *roles.notes(of_roles),
    )


def _explanations(
    results: Results,
    comparisons: Sequence[Comparison],
    absolute: figures.BlockFigures,
    settings: Sequence[SettingDifference],
    plans: Sequence[PlanDifference],
    conditions: Sequence[Cause],
    measured: Measured,
    *,
    busy: bool,
) -> tuple[Explanation, ...]:
    """Why a test changed, on each target where it did and its figures count."""
    found = []
    for place, (item, target) in enumerate(zip(comparisons, results.targets[1:], strict=True), start=1):
        if item.verdict in (*CHANGES, Verdict.NO_STEADY_STATE):
            told = all(_known(results.server_json(one, "settings.json")) for one in (results.base, target))
            pair = Pair(results.header, results.base, target, (0, place), settings if told else None)
            base, mine = (
                figures.means(absolute.get((item.test, one), {})) for one in (results.base.label, target.label)
            )
            of_both = item.test, target.label
            profile, waits = measured.profiles.get(of_both), measured.waits.get(of_both)
            planning_ms = planning_of(test_of(item.test), *(_planning(results, one) for one in (results.base, target)))
            writes = _writes(results, item.test)
            tried = [*measured.trials.get(of_both, ()), *trials_among(results, target, comparisons)]
            ran, asked = (
                [_known(results.server_json(one, name)) for one in (results.base, target)]
                for name in ("executed.json", "plans.json")
            )
            counted = counts_that_differ(test_of(item.test), *ran)
            same = _same_plans(test_of(item.test), *asked, differing={plan.statement for plan in plans})
            evidence = writes, plans, conditions, profile, planning_ms, tried, counted, same
            seen = Seen(
                *(item.test, item.findings, base, mine, *evidence),
                connects=_connects(results, item.test),
                waits=waits,
                busy=busy,
                paced=_is_paced(results, item.test),
                others={
                    one.target: one.findings for one in comparisons if one is not item and one.verdict not in SPOILT
                },
            )
            found.append(explain(pair, seen))
    return tuple(one for one in found if one)


def _same_plans(
    test: str, base: Mapping[str, str], mine: Mapping[str, str], *, differing: Collection[str]
) -> dict[str, str]:
    """Statement of a test → the plans of both after each other, where their shapes are equal."""
    own = [one for one in base if one.partition("/")[0] == test and one in mine and one not in differing]
    return {one: f"{base[one]}\n{mine[one]}" for one in own}


def _connects(results: Results, test: str) -> bool:
    stored = results.stored_tests.get(test_of(test))
    return stored is not None and stored.connect


def _writes(results: Results, test: str) -> bool:
    """Whether it changes data: who does is drained after it, or has rows changed."""
    if any(row["test"] == test for row in results.rows(DRAINS)):
        return True
    here = results.slots["test"] == test
    return "affected" in results.slots and bool(np.ma.filled(results.slots["affected"][here], 0).sum())


def _is_paced(results: Results, test: str) -> bool:
    plan = results.slot_plans.get(test)
    return plan is not None and plan.writes_at_set_rates


def _figure(
    metric: str, title: str, unit: str, test: str, results: Results, findings: Findings, absolute: figures.BlockFigures
) -> Figure | None:
    """None when it is zero or unknown everywhere."""
    labels = [target.label for target in results.targets]
    values = {label: absolute.get((test, label), {}).get(metric, []) for label in labels}
    if not any(any(of_target) for of_target in values.values()):
        return None
    of_metric = {
        label: finding for label in labels if (finding := findings.get((test, label), {}).get(metric)) is not None
    }
    estimates = {label: figures.estimate(of_target) for label, of_target in values.items()}
    return Figure(metric, title, unit, estimates, of_metric)


def _noted(item: Comparison, results: Results, absolute: figures.BlockFigures) -> NotedComparison:
    return NotedComparison(**vars(item), notes=tuple(_notes(item, results, absolute)))


def _notes(item: Comparison, results: Results, absolute: figures.BlockFigures) -> Iterator[str]:
    """Why it has its verdict; of one that figures have made, what changed beside that."""
    base = results.base.label
    if item.answers:
        yield _difference(*item.answers)
    elif item.failure:
        yield item.failure.message
    elif item.verdict is Verdict.SLA_FAILED:
        missed = [label for label, is_so in ((base, item.base_missed), (item.target, item.missed)) if is_so]
        yield f"not compared, since a role did not reach its rate on {listing(missed)}"
    else:
        _, sentence = headline(list(item.findings.values()))
        of_base, mine = (figures.means(absolute.get((item.test, label), {})) for label in (base, item.target))
        target = next(one for one in results.targets if one.label == item.target)
        writes, paced = _writes(results, item.test), _is_paced(results, item.test)
        place = Place.of(results.base, target, writes=writes, paced=paced)
        causes = cost_causes(item.findings, of_base, mine, place)
        cpu_us = max(of_base.get(CPU, 0.0), mine.get(CPU, 0.0))
        said = sentence, *_withheld(item.findings, sentence), also_changed(causes, cpu_us)
        yield from (typographic(note) for note in said if note)


def _withheld(findings: Mapping[str, Finding], sentence: str) -> list[str]:
    """Why what seems to have changed is undecided, unless the sentence says so."""
    return [
        f"{SHORT_TITLES[finding.metric]} undecided: {finding.note}"
        for finding in findings.values()
        if finding.judged and finding.is_unpaid and finding.note not in sentence
    ]


def _difference(ours: Answers, of_base: Answers) -> str:
    for name, words in (("rows", "rows returned"), ("affected", "rows changed")):
        own, other = getattr(ours, name), getattr(of_base, name)
        if own != other:
            return f"other answers than the base: {own} {words} instead of {other}"
    return "other answers than the base: the same number of rows with other values"


def _how(results: Results, test: str) -> str:
    """Slot length and rows, in words."""
    slots = results.slot_plans.get(test)
    if not slots:
        return ""
    if "slice_ms" in slots.slot:
        return f"{slots.slot['ops']:,} operations per block, in slices of {slots.slot['slice_ms']:,} ms"
    if slots.rows == 1 and slots.slot == {"ops": 1}:
        return "once in each block"
    length = f"{slots.slot['ops']:,} operations" if "ops" in slots.slot else f"{slots.slot.get('ms', '?')} ms"
    return f"{slots.rows} rows per block, slots of {length}"


def _test_notes(results: Results, test: str, absolute: figures.BlockFigures) -> list[str]:
    """Client-bound targets, those that waited for a CPU, and errors with an example of the server's words."""
    notes = []
    for target in results.targets:
        of_target = absolute.get((test, target.label), {})
        share = _client_share(of_target, _clients(results, test))
        if share is not None and not find_dbms(target.dbms).embedded and share > CLIENT_BOUND_SHARE:
            notes.append(f"client-bound on {target.label}: the client used {share:.0%} of its CPU")
        wait_us, cpu_us = (fmean(of_target.get(metric) or [0.0]) for metric in (WAIT, CPU))
        if wait_us > LONG_WAIT_SHARE * cpu_us:
            notes.append(f"{target.label} waited {wait_us:,.1f} µs per op for a CPU, besides {cpu_us:,.1f} µs on one")
    examples = {
        (results.label(name), kind, text)
        for record in results.of_type(Latency)
        if record.test == test
        for name, kinds in (record.error_examples or {}).items()
        for kind, text in kinds.items()
    }
    return notes + [f"{kind} on {label}, e.g.: {text}" for label, kind, text in sorted(examples)]


def _clients(results: Results, test: str) -> int:
    """Clients of a test, of all its roles; with several numbers of clients its name tells which: `scan@4`.

    A single statement has one.
    """
    if test in results.roles["test"]:
        return int(results.slots["clients"][results.slots["test"] == test].max())
    clients = results.header.clients or [1]
    case = case_of(test)
    if case and len(clients) > 1:
        return case[1]
    return clients[0] if len(clients) == 1 else 1


def _names(targets: Iterable[Target]) -> Iterator[str]:
    """What targets are that were given names, the only place that says so."""
    told = [f"{target.label} is {target.spelled}{_version(target)}" for target in targets if target.spelled]
    if told:
        yield f"{'; '.join(told)}."


def _version(target: Target) -> str:
    known = target.version and target.version not in (target.spelled or "")
    return f" ({find_dbms(target.dbms).title} {target.version})" if known else ""


def _client_share(of_target: Mapping[str, Sequence[float]], clients: int) -> float | None:
    cpu_us, ops_per_s = of_target.get("client_cpu_us_per_op"), of_target.get("throughput_ops_per_s")
    if not cpu_us or not ops_per_s:
        return None
    return sum(cpu_us) / len(cpu_us) * 1e-6 * sum(ops_per_s) / len(ops_per_s) / clients


def _target_facts(results: Results, target: Target, tests: Sequence[TestPart]) -> TargetFacts:
    own = [item for test in tests for item in test.comparisons if item.target == target.label]
    same = [words for label, words in same_targets(results.header.told_apart).items() if label == target.label]
    said = not_replicated.sentences(own, target.label, results.base.label)
    said = said or summary_sentences(own, target.label, results.base.label)
    named = [results.base, target] if target is not results.base else [target] * (len(results.targets) == 1)
    return TargetFacts(
        target=target,
        build=results.server_json(target, "build.json"),
        config_text=config_told(results.server_text(target, "config.txt") or ""),
        log_tail=results.server_text(target, "log_tail.txt") or "",
        sizes=results.server_json(target, "sizes.json"),
        verdict_counts=Counter(item.verdict for item in own),
        sentences=(*same, *said, *_names(named)),
    )


def _outcome(results: Results) -> str:
    """Empty when the experiment ended as planned, and ran in one go."""
    if results.finished is None:
        return "This experiment has not ended: it is under way or was interrupted; `dbversus resume` goes on with it."
    if results.finished == "time budget":
        return "The time budget ended this experiment before all tests were decided."
    if resumed := len(results.of_type(Resumed)):
        return (
            f"This experiment did not run in one go: it was resumed {'once' if resumed == 1 else f'{resumed} times'}."
        )
    return ""


def _failure(results: Results, record: FailureRecord) -> Failure:
    places = [record.test] if record.test else []
    places += [] if record.block is None else [f"block {record.block + 1}"]
    target = results.label(record.target) if record.target else "dbversus"
    return Failure(target, record.stage, ", ".join(places), record.message, record.final)


def _dbms(results: Results) -> list[str]:
    return [target.dbms for target in results.targets]


def _known(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Server facts, or nothing when the server refused to give them."""
    return {} if set(content) == {"unavailable"} else content


def _settings(results: Results) -> list[SettingDifference]:
    settings = [_known(results.server_json(target, "settings.json")) for target in results.targets]
    # results of earlier versions have them as they are
    texts = [without_secret_settings({name: str(value) for name, value in one.items()}) for one in settings]
    return differing_settings(texts, _dbms(results))


def _planning(results: Results, target: Target) -> dict[str, float]:
    return planning_told(*(_known(results.server_json(target, name)) for name in ("executed.json", "planning.json")))


def _plans(results: Results) -> list[PlanDifference]:
    plans = [_known(results.server_json(target, "plans.json")) for target in results.targets]
    executed = [_known(results.server_json(target, "executed.json")) for target in results.targets]
    return differing_plans(plans, _dbms(results), executed)
