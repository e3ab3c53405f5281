"""Which group a test is shown in, for results that do not say: the reference's groups, by the test's name."""

from dbversus.results.records import Experiment

GROUPS = (
    "point queries",
    "range queries without aggregation",
    "range queries with aggregation",
    "writes",
    "other",
)
_BY_WORD = (
    ("write", GROUPS[3]),
    ("update", GROUPS[3]),
    ("insert", GROUPS[3]),
    ("delete", GROUPS[3]),
    ("point", GROUPS[0]),
    ("read-only", GROUPS[2]),
    ("range", GROUPS[1]),
    ("scan", GROUPS[1]),
)


def group_of(test: str, header: Experiment) -> str:
    """The one named in the experiment's header (`kinds`: test → title), else the one its name suggests."""
    return header.kinds.get(test) or next((group for word, group in _BY_WORD if word in test), GROUPS[4])
