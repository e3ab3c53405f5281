"""Which metrics make the verdicts of an experiment: what the first line of its journal says, under `judge`."""

from collections.abc import Iterable
from dataclasses import replace

from dbversus.errors import UsageError
from dbversus.results.records import Experiment
from dbversus.stats.judgeable import JUDGEABLE, USUAL, named
from dbversus.stats.metrics import SMOOTH, metric_named
from dbversus.stats.model import Metric

JUDGEABLE_METRICS: tuple[Metric, ...] = tuple(metric_named(name) for name in JUDGEABLE.values())
"""In the order in which reports show them."""


def judged_names(header: Experiment) -> list[str]:
    """Short names; older results, which do not tell, were judged by the usual ones. UsageError where one is unknown."""
    try:
        return named(header.judge or USUAL)
    except ValueError as error:
        raise UsageError(f"The `experiment` record of the journal: {error} (`judge`).") from error


def judged_metrics(header: Experiment) -> tuple[Metric, ...]:
    """The metrics that make verdicts, in the order in which reports show them."""
    names = {JUDGEABLE[short] for short in judged_names(header)}
    return marked((metric for metric in JUDGEABLE_METRICS if metric.name in names), header)


def judged_smooth(header: Experiment) -> tuple[Metric, ...]:
    """Those of CPU per op and throughput that make verdicts: every slot has one, so that they have trends and all their work."""
    smooth = {metric.name for metric in SMOOTH}
    return tuple(metric for metric in judged_metrics(header) if metric.name in smooth)


def marked(metrics: Iterable[Metric], header: Experiment) -> tuple[Metric, ...]:
    """`metrics`, primary where this experiment judges them: they are one family of tests, all others another."""
    names = {JUDGEABLE[short] for short in judged_names(header)}
    return tuple(replace(metric, primary=metric.name in names) for metric in metrics)
