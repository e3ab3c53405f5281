"""What a report says of the calibration that an experiment stands on: one sentence, the same in every report."""

from collections.abc import Iterable, Sequence

from dbversus.dbms.known import find_dbms
from dbversus.errors import UsageError
from dbversus.report.words import NBSP, SHORT_TITLES, listing
from dbversus.results.records import CalibrationBrief, Experiment
from dbversus.results.schema import IMPORTED_SUITE
from dbversus.stats.judge import margins_of
from dbversus.stats.judgeable import CPU, JUDGEABLE, USUAL
from dbversus.stats.judged import judged_metrics, judged_names
from dbversus.stats.metrics import LOAD_TEST
from dbversus.stats.model import Metric

STALE_DAYS = 90
EFFECTS_SHOWN = (0.05, 0.03)
_DAY_S = 86_400
_SEQUENTIAL = (
    "No calibration tells what identical targets differ by when one is measured after the other, as here; those of this host are "
    "made in interleaved order."
)
_IMPORTED = (
    "These figures were imported. Other tools measured them, in runs that took no turns: "
    "ratios have neither interval nor verdict."
)
_LEFT_OUT = "The calibration of this host was left out, as was asked for."


def calibration_words(header: Experiment, kernel: str | None) -> str:
    """From the journal's first line, and the kernel that the experiment ran under. Ages are from the start of the run."""
    briefs = header.calibration
    if header.suite == IMPORTED_SUITE:
        return _IMPORTED
    if briefs is None:
        return _LEFT_OUT
    if header.order == "sequential":
        return _SEQUENTIAL
    began_s = header.at_unix_ns / 1e9
    said = [
        sentence(brief, began_s, kernel, before="before this run")
        + _other_metrics(brief, header)
        + _other_margins(brief, header)
        for brief in briefs
    ]
    calibrated = {brief.dbms for brief in briefs}
    said += _without(header, calibrated)
    return " ".join([*said, *_widened(briefs, header)])


def _widened(briefs: Iterable[CalibrationBrief], header: Experiment) -> list[str]:
    """Which tests have wider margins, and by whose measurement; empty where none has."""
    if not header.test_margins:
        return []
    whose = "Its margins" if any(brief.margins for brief in briefs) else "Margins of an earlier calibration"
    return [f"{whose} are wider than the usual for {listing(sorted(header.test_margins))}."]


def _metrics_of(brief: CalibrationBrief) -> Sequence[str]:
    """Those that it judged; a calibration of before they could be chosen judged the usual ones."""
    return brief.metrics or [JUDGEABLE[short] for short in USUAL]


def _calibrated(brief: CalibrationBrief, header: Experiment) -> list[Metric]:
    """Metrics that both judge."""
    return [metric for metric in judged_metrics(header) if metric.name in _metrics_of(brief)]


def _other_metrics(brief: CalibrationBrief, header: Experiment) -> str:
    """Which of the judged metrics the calibration did not judge; empty where it judged all."""
    known = _calibrated(brief, header)
    missing = [SHORT_TITLES[metric.name] for metric in judged_metrics(header) if metric not in known]
    if not missing:
        return ""
    was = "was" if len(missing) == 1 else "were"
    return f" {listing(missing)} {was} not calibrated: {command_for(brief.target, judged_names(header))} does."


def _other_margins(brief: CalibrationBrief, header: Experiment) -> str:
    """That the run has other margins than the figures stand on; empty where it has the same, or an old run does not tell."""
    wider = brief.wider_margins
    tests = [test for test in header.tests if test != LOAD_TEST]
    if wider is None:
        return ""
    own = margins_of(header, tests)
    other = [
        test
        for test in tests
        if any(
            own.get((test, one.name), one.margin) != wider.get(test, {}).get(one.name, one.margin)
            for one in _calibrated(brief, header)
        )
    ]
    return (
        f" Its figures stand on other margins than this run has in {len(other)} of {len(tests)} tests." if other else ""
    )


def sentence(brief: CalibrationBrief, now_s: float, kernel: str | None, before: str = "ago") -> str:
    """`Calibrated on this host 3 days ago (PostgreSQL 17.11, 42 tests): false alarms in 2 % [0–6 %] of suites, …`"""
    alarms = brief.false_alarms
    found = {round(one.effect, 4): one.share for one in brief.detection}
    effects = [effect for effect in EFFECTS_SHOWN if effect in found]
    changed = SHORT_TITLES[brief.changed or CPU]
    detection = ", ".join(
        f"+{effect * 100:g}{NBSP}%{f' {changed} found in' if not place else ' in'} {_percent(found[effect])}"
        for place, effect in enumerate(effects)
    )
    return (
        f"Calibrated on this host {age(now_s - brief.at_unix_s)} {before} ({what(brief)}): false alarms in "
        f"{_percent(alarms.share)} [{_percent(alarms.low, '')}–{_percent(alarms.high)}] of suites, {detection}"
        f"{_in_bursts(brief)}."
        f"{_as_measured(brief)}"
        f"{_stale(brief, now_s, kernel)}"
    )


def _in_bursts(brief: CalibrationBrief) -> str:
    """`, +10 % in bursts in 93 %`; empty in older calibrations."""
    bursts = brief.bursts
    return f", +{bursts.effect * 100:.0f}{NBSP}% in bursts in {_percent(bursts.share)}" if bursts else ""


def what(brief: CalibrationBrief) -> str:
    """`PostgreSQL 17.11, 42 tests, 16 blocks`, and the number of clients unless it is one."""
    clients = brief.clients
    said = [f"{brief.dbms_title} {brief.version}", f"{brief.tests} tests", f"{brief.blocks} blocks"]
    said += [] if clients == [1] else [f"{listing([str(count) for count in clients])} clients"]
    return ", ".join(said)


def age(seconds: float) -> str:
    """`less than an hour`, `5 hours`, `1 day`, `3 days`."""
    days, hours = int(seconds // _DAY_S), int(seconds // 3600)
    if days >= 1:
        return f"{days} day{'' if days == 1 else 's'}"
    return f"{hours} hour{'' if hours == 1 else 's'}" if hours >= 1 else "less than an hour"


def command_for(target: str, names: Sequence[str] = USUAL) -> str:
    """What calibrates this host for a target (given by its label), and for the metrics of these short names."""
    judge = "" if tuple(names) == USUAL else f" --judge {','.join(names)}"
    return f"`dbversus calibrate {target.partition('@')[0].partition('#')[0]} --quick{judge}`"


def _percent(share: float, unit: str = f"{NBSP}%") -> str:
    percent = share * 100
    return f"{percent:.{1 if 0 < percent < 1 or 99 < percent < 100 else 0}f}{unit}"


def _as_measured(brief: CalibrationBrief) -> str:
    changed = brief.changed_as_measured
    return (
        f" Its blocks as they were measured called {listing(changed)} changed, though nothing was." if changed else ""
    )


def _stale(brief: CalibrationBrief, now_s: float, kernel: str | None) -> str:
    reasons = []
    if now_s - brief.at_unix_s > STALE_DAYS * _DAY_S:
        reasons.append(f"it is over {STALE_DAYS} days old")
    if kernel and brief.kernel != kernel:
        reasons.append(f"the kernel was {brief.kernel} then and is {kernel} now")
    command = command_for(brief.target, [short for short, name in JUDGEABLE.items() if name in _metrics_of(brief)])
    return f" It is stale: {' and '.join(reasons)}; {command} makes a new one." if reasons else ""


def _without(header: Experiment, calibrated: Iterable[str]) -> list[str]:
    """One sentence for each DBMS without calibration."""
    labels: dict[str, str] = {}
    for target in header.targets:
        labels.setdefault(target.dbms, target.written)
    return [
        f"Not calibrated on this host{_title(dbms)}: how often identical targets would be called different, and how small a "
        f"change is found, was not measured here; {command_for(label, judged_names(header))} does."
        for dbms, label in labels.items()
        if dbms not in calibrated
    ]


def _title(dbms: str) -> str:
    try:
        return f" for {find_dbms(dbms).title}"
    except UsageError:
        return ""
