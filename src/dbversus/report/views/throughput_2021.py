"""Throughput in the form that the reference method had in January 2021."""

from dbversus.report.formats.tables import throughput_table
from dbversus.report.views.registry import Shown
from dbversus.report.views.throughput import shown_as
from dbversus.results.stored import Results


def show(results: Results) -> Shown:
    return shown_as(results, throughput_table.january_2021)
