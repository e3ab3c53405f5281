"""Throughput in the form that the reference method had in January 2021."""

from dbversus.report.judged import Judged
from dbversus.report.section import Section
from dbversus.report.sections import throughput

LACKS = throughput.LACKS


def asked(judged: Judged) -> Section | None:
    return throughput.shown_as(judged, throughput.january_2021)
