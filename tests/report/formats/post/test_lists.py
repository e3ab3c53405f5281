"""Lists of ratios with many targets: a line per target."""

from dataclasses import replace

from dbversus.report.formats.post.aspects import Aspect
from dbversus.report.formats.post.lists import MOST_COLUMNS, lists
from dbversus.report.formats.post.phases import Case
from dbversus.report.model import Assessment
from dbversus.stats.comparison import Comparison
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import Verdict

ASPECT = Aspect(THROUGHPUT, "throughput", "Throughput", "qps", True)
TARGETS = [f"t{number}" for number in range(MOST_COLUMNS + 1)]


def test_a_target_that_shares_the_load_of_another_has_no_line(assessment: Assessment) -> None:
    known = next(one for one in assessment.findings if one.metric == THROUGHPUT and one.ratio)
    findings = {THROUGHPUT: replace(known, ratio=0.26)}
    load = Case("load", "load", None, "writes", {"t3": Comparison("load", "t3", Verdict.NOT_REPLICATED, findings)})
    _, drawn = lists([load], TARGETS, [ASPECT])
    assert [line.split()[-1] for line in drawn.splitlines() if "t" in line and "`" not in line] == ["t3"]
