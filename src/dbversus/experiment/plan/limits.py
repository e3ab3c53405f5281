"""From what on other work disturbs a row, on this host with this placement."""

import os

from dbversus.host.pinning import PlacementPlan
from dbversus.stats.validity.disturbance import Limits


def limits_with(plan: PlacementPlan) -> Limits:
    cpus = os.cpu_count() or 1
    return Limits.of(cpus, len(plan.foreground_cpus) or cpus)
