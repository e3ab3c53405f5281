"""What an experiment records of the calibrations that it stands on."""

from dbversus.results.records.base import Part


class FalseAlarms(Part, frozen=True):
    """Share of virtual suites of equal targets in which a change was found.

    low: lower end of its 95 % interval
    high: upper end
    count: virtual suites
    """

    share: float
    low: float
    high: float
    count: int | None = None


class Detected(Part, frozen=True):
    """How often a change is found.

    effect: its size, as a share
    share: of the changes of that size
    """

    effect: float
    share: float


class CalibrationBrief(Part, frozen=True, kw_only=True):
    """A calibration of this host (docs/calibration.md).

    id: its name
    at_unix_s: when it was begun
    kernel: the host's at that time
    dbms_title: name of the DBMS for people
    target: label
    clients: numbers of clients
    tests: how many
    blocks: how many
    suites: virtual suites that were judged
    detection: of lasting changes
    bursts: of changes in bursts; absent: none were injected
    injected: whether the changes were injected, not added by arithmetic
    metrics: those that it judged
    changed: the metric that `detection` is of
    changed_as_measured: tests that its blocks as they were measured call changed, though nothing was
    wider_margins: test → metric → share, which its figures stand on
    margins: whether it gives this experiment its margins
    """

    id: str
    at_unix_s: float
    kernel: str | None = None
    dbms: str
    dbms_title: str
    version: str
    target: str
    profile: str | None = None
    clients: list[int]
    tests: int
    blocks: int
    suites: int | None = None
    false_alarms: FalseAlarms
    detection: list[Detected]
    bursts: Detected | None = None
    injected: bool | None = None
    metrics: list[str] | None = None
    changed: str | None = None
    changed_as_measured: list[str] | None = None
    wider_margins: dict[str, dict[str, float]] | None = None
    margins: bool | None = None
