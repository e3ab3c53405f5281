"""What the demo compares, and how."""

from typing import Any

import pytest

from dbversus.cli.verbs.measure import demo
from dbversus.errors import DbversusError


@pytest.mark.parametrize(
    ("has_library", "targets"),
    [
        (True, ["sqlite:host@wal", "sqlite:bundled@wal"]),
        (False, ["sqlite:bundled@wal", "sqlite:bundled@wal,cache_64mb"]),
    ],
)
def test_it_compares_what_is_at_hand_with_its_own_profile(
    has_library: bool, targets: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def library() -> str:
        if not has_library:
            raise DbversusError("there is none")
        return "libsqlite3.so.0"

    def compare(targets: list[str], **choices: Any) -> int:
        asked.update(choices, targets=targets)
        return 0

    monkeypatch.setattr("dbversus.builds.providers.path.host_sqlite", library)
    monkeypatch.setattr(demo, "compare", compare)
    assert demo.demo() == 0
    assert (asked["targets"], asked["profile"]) == (targets, "demo")
