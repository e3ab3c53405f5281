import pytest

from dbversus.dbms.sizes import size_bytes
from dbversus.errors import UsageError
from dbversus.servers.config.memory import check_together

GIB = 2**30


@pytest.mark.parametrize(
    ("text", "unit_bytes", "found"),
    [("128M", 1, 2**27), ("1GB", 8192, GIB), ("16384", 8192, 2**27), ("1.5 GB", 1, 1.5 * GIB), ("512B", 8192, 512)],
)
def test_sizes(text: str, unit_bytes: int, found: float) -> None:
    assert size_bytes(text, unit_bytes) == found
    assert size_bytes("lots") is None


def test_the_servers_that_are_up_together_must_fit() -> None:
    needs = [("a", 6.0 * GIB), ("b", 2.0 * GIB), ("c", 5.0 * GIB)]
    check_together(needs, 1, 8 * GIB)
    check_together(needs, 2, 11 * GIB)
    with pytest.raises(UsageError, match=r"ask for 11\.0 GiB \(a 6\.0 GiB, c 5\.0 GiB\), more than the 10\.0 GiB"):
        check_together(needs, 2, 10 * GIB)
    with pytest.raises(UsageError, match=r"ask for 13\.0 GiB .*--at-once"):
        check_together(needs, 3, 12 * GIB)
