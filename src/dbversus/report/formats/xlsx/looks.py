"""Colours and number formats. A colour never stands alone: a word, with a sign, says the same in its cell or beside it."""

import math
from collections.abc import Mapping
from typing import Any

from dbversus.report.parts.steps.summary import BELOW, FASTER, SLOWER, VOID
from dbversus.report.table import SOFT, Form
from dbversus.report.words import SIGNIFICANT_DIGITS
from dbversus.stats.model import Verdict

Look = Mapping[str, Any]

GOLD, SILVER = "gold", "silver"
INK = "#1D2125"
_MOST_DECIMALS = 6

# those of the page on paper; blue and orange, green and red are told apart by blueness, too
_BROKEN: Look = {"font_color": "#8B1F52", "bg_color": "#FAE7F0", "bold": True}
_GREY: Look = {"font_color": "#4A5157", "bg_color": "#DCDFE0"}
_DOUBTFUL: Look = {"font_color": "#5B636B", "italic": True}
LOOKS: Mapping[str, Look] = {
    "": {},
    Verdict.REGRESSION: {"font_color": "#8A2F06", "bg_color": "#FCE0D0", "bold": True},
    Verdict.IMPROVEMENT: {"font_color": "#174A85", "bg_color": "#DBE8F8", "bold": True},
    Verdict.SMALL_CHANGE: {"font_color": INK, "bg_color": "#EFF0F0"},
    Verdict.EQUIVALENT: {"font_color": "#4A5157"},
    Verdict.NO_STEADY_STATE: {"bg_color": "#EFF0F0"},
    Verdict.UNDECIDED: _DOUBTFUL,
    Verdict.NOT_REPLICATED: _DOUBTFUL,
    Verdict.UNSTABLE: _DOUBTFUL,
    Verdict.SLA_FAILED: {**_GREY, "bold": True},
    Verdict.WRONG_RESULT: _BROKEN,
    Verdict.FAILED: _BROKEN,
    GOLD: {"bg_color": "#F7DC7A", "bold": True},
    SILVER: {"bg_color": "#D3D7DC", "bold": True},
    FASTER: {"font_color": "#174A85", "bg_color": "#DBE8F8"},
    SLOWER: {"font_color": "#8A2F06", "bg_color": "#FCE0D0"},
    BELOW: {"font_color": "#8A2F06", "bg_color": "#FCE0D0"},
    VOID: _GREY,
    SOFT: {"font_color": "#5B636B"},
}

TITLE: Look = {"bold": True, "font_size": 14}
HEADING: Look = {"bold": True, "font_size": 12}
HEADER: Look = {
    "bold": True, "text_wrap": True, "valign": "bottom", "bg_color": "#ECEEEE", "bottom": 1, "border_color": "#8A9199",
}  # fmt: skip
SENTENCE: Look = {"text_wrap": True, "valign": "top"}
VERBATIM: Look = {**SENTENCE, "font_name": "Courier New", "bg_color": "#EFF0F0"}
MEAN: Look = {"bold": True, "top": 1, "border_color": "#8A9199"}
LINK: Look = {"font_color": "#1D4F88", "underline": 1}


def number_format(form: Form, value: float) -> str:
    """As `words.number` and `words.ratio` show it; the cell keeps all digits."""
    if form is Form.COUNT:
        return "#,##0"
    if form is Form.SHARE:
        return "0.0%"
    if form is Form.RATIO and 0.1 <= value < 1000:
        return "0.000" if value < 10 else "#,##0.00"
    digits = SIGNIFICANT_DIGITS - 1 if form is Form.RATIO and value < 0.1 else SIGNIFICANT_DIGITS
    return f"#,##0{_decimals(value, digits)}"


def _decimals(value: float, digits: int) -> str:
    if value == 0:
        return ""
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    count = min(max(decimals, 0), _MOST_DECIMALS)
    return f".{'0' * count}" if count else ""
