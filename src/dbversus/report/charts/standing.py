"""Ratios of many tests as an SVG file that needs no style sheet: names on the left, a column per target."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import escape

from dbversus.report.charts import forest
from dbversus.stats.model import Finding

_NAMES_PX, _ROW_PX, _GAP_PX, _HEAD_PX, _LETTER_PX = 190, 20, 24, 40, 7
# as report.css has them on light paper; the paper is drawn, so that a dark page changes nothing
_STYLE = """
text{font:12px system-ui,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif;fill:#1d2125}
.axis text{font-size:10.5px;fill:#5b636b}.band{fill:#eceeee}.one{stroke:#a4a9ae}
.whisker{stroke:#646c74;stroke-width:1.5}circle{fill:#646c74;stroke:#646c74;stroke-width:1.5}.arrow{fill:#646c74}
.regression .whisker,.regression circle{stroke:#b4400f}.regression circle,.regression .arrow{fill:#b4400f}
.improvement .whisker,.improvement circle{stroke:#1f62ad}.improvement circle,.improvement .arrow{fill:#1f62ad}
.undecided circle,.not-replicated circle,.unstable circle{fill:#fcfcfa}
.undecided .whisker,.not-replicated .whisker,.unstable .whisker{stroke-dasharray:3 2}
"""


def draw(title: str, tests: Sequence[str], targets: Mapping[str, Mapping[str, Finding]]) -> str:
    """`targets`: label → test → finding of one metric. All share a scale."""
    scale = forest.scale_for(finding for of_target in targets.values() for finding in of_target.values())
    column_px = max(forest.WIDTH, _LETTER_PX * max((len(label) for label in targets), default=0)) + _GAP_PX
    names_px = max(_NAMES_PX, _LETTER_PX * max(map(len, tests), default=0)) + _GAP_PX
    width, height = names_px + column_px * len(targets), _HEAD_PX + _ROW_PX * len(tests) + _GAP_PX
    shapes = [f'<rect width="{width}" height="{height}" fill="#fcfcfa"/>', _text(0, 14, title)]
    for place, (label, of_target) in enumerate(targets.items()):
        left = names_px + place * column_px
        shapes += [_text(left, 14, label), _placed(left, 20, 14, forest.axis(scale))]
        shapes += _pictures(left, tests, of_target, scale)
    shapes += [_text(0, _HEAD_PX + 14 + number * _ROW_PX, test) for number, test in enumerate(tests)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    return f"{head}<title>{escape(title)}</title><style>{_STYLE}</style>{''.join(shapes)}</svg>\n"


def _pictures(left: int, tests: Sequence[str], findings: Mapping[str, Finding], scale: forest.Scale) -> Iterator[str]:
    for number, test in enumerate(tests):
        if finding := findings.get(test):
            yield _placed(left, _HEAD_PX + number * _ROW_PX, forest.HEIGHT, forest.picture(finding, scale))


def _placed(left: int, top: int, height: int, picture: str) -> str:
    return f'<svg x="{left}" y="{top}" width="{forest.WIDTH}" height="{height}">{picture}</svg>'


def _text(x: int, y: int, words: str) -> str:
    return f'<text x="{x}" y="{y}">{escape(words)}</text>'
