"""Settings and plans that differ, a column per target."""

from itertools import zip_longest

from dbversus.explain.settings_diff import SettingDifference
from dbversus.report.model import Assessment
from dbversus.report.table import SOFT, Cell, Column, Lines, Row, Sheet, Table
from dbversus.report.words import not_compared


def settings_sheet(assessment: Assessment) -> Sheet | None:
    if not assessment.settings:
        return None
    columns = [Column("setting"), Column("known to"), *_of_targets(assessment)]
    rows: list[Row] = []
    for setting in assessment.settings:
        values = [_value(setting, place) for place in range(len(setting.values))]
        rows.append([setting.name, "all" if setting.known_to_all else "some", *values])
    return Sheet("Settings", "Settings that differ", [Table(columns, rows), *_not_compared(assessment)])


def _value(setting: SettingDifference, place: int) -> Cell:
    if place in setting.others:
        return Cell("another DBMS", SOFT)
    value = setting.values[place]
    if value is None:
        return Cell("not known here", SOFT)
    return Cell(value) if value else Cell("empty", SOFT)


def plans_sheet(assessment: Assessment) -> Sheet | None:
    """A line of the sheet for each line of the longest plan, so that they stand side by side."""
    if not assessment.plans:
        return None
    columns = [Column("statement"), *_of_targets(assessment)]
    rows = [
        [plan.statement, *lines]
        for plan in assessment.plans
        for lines in zip_longest(*((text or "").splitlines() for text in plan.plans))
    ]
    return Sheet("Plans", "Plans that differ", [Table(columns, rows), *_not_compared(assessment)])


def _of_targets(assessment: Assessment) -> list[Column]:
    return [Column(facts.target.label) for facts in assessment.targets]


def _not_compared(assessment: Assessment) -> list[Lines]:
    said = not_compared([facts.target.dbms for facts in assessment.targets])
    return [Lines("Notes", [said])] if said else []
