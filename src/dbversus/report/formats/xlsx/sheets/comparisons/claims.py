"""Claims of repeated posts, a line per figure, with the interval of ours."""

from dbversus.posts.scored import ScoredClaim
from dbversus.report.formats.tables import claims_table
from dbversus.report.model import Assessment
from dbversus.report.table import Column, Form, Lines, Row, Sheet, Table
from dbversus.stats.means import Spread, spread_of

_COLUMNS = (
    *(Column(title) for title in ("claim", "says", "result", "test", "metric", "new", "old", "server", "said")),
    *(Column(title, Form.RATIO) for title in ("published", "from", "to", "ours", *Spread._fields)),
    Column("blocks", Form.COUNT),
    *(Column(title) for title in ("result of the figure", "size", "note", "differs")),
)


def sheet(assessment: Assessment) -> Sheet | None:
    rows = [row for post in assessment.posts for claim in post.claims for row in _rows(claim)]
    if not rows:
        return None
    said = Lines("", [claims_table.sentence(post) for post in assessment.posts])
    return Sheet("Claims", "Published claims, and what was found of them", [Table(_COLUMNS, rows).trimmed(), said])


def _rows(claim: ScoredClaim) -> list[Row]:
    head = (claim.name, claim.says, str(claim.status))
    figures: list[Row] = [
        (
            *head,
            *(one.test, one.metric, one.new, one.old, one.server, one.said),
            *(one.published, one.published_low, one.published_high, one.ratio, *spread_of(one), one.blocks),
            *(str(one.status), one.size, one.note, one.differences),
        )
        for one in claim.figures
    ]
    nothing = (None,) * (len(_COLUMNS) - len(head) - 4)
    unmeasured: Row = (*head, *nothing, str(claim.status), None, claim.note, None)
    return figures or [unmeasured]
