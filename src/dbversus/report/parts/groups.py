"""Which group a test is shown in, for results that do not say: the reference's groups, by the test's name."""

from collections.abc import Mapping
from typing import Any

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


def group_of(test: str, header: Mapping[str, Any]) -> str:
    """The group named in the experiment's header (`groups`: test → title), else the one its name suggests."""
    named = (header.get("groups") or {}).get(test)
    return str(named) if named else next((group for word, group in _BY_WORD if word in test), GROUPS[4])
