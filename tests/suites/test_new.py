from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import load_suite
from dbversus.suites.writing.new import write_template


def test_a_template_is_a_suite_and_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "shop.toml"
    write_template(path)
    assert load_suite(path).sequence == ["load", "orders-of", "note"]
    with pytest.raises(UsageError, match="is there already"):
        write_template(path)
    with pytest.raises(UsageError, match=r"ends in \.toml"):
        write_template(tmp_path / "shop")
