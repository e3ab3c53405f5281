import pytest

from dbversus.dbms.versions import is_version, nearest, version_key, version_matches


def test_order() -> None:
    ordered = [
        "9.6.3",
        "9.6.24",
        "10.4",
        "10.23",
        "17devel",
        "17beta1",
        "17rc1",
        "17rc2",
        "17",
        "17.0",
        "17.2",
        "17.11",
    ]
    shuffled = ordered[1::2] + ordered[::2]
    assert sorted(shuffled, key=version_key) == ordered


@pytest.mark.parametrize("text", ["", "x", "17.", ".1", "17.2-1", "17.x", "17 "])
def test_not_a_version(text: str) -> None:
    assert not is_version(text)
    with pytest.raises(ValueError, match="not a version"):
        version_key(text)


@pytest.mark.parametrize(
    ("version", "wanted", "matches"),
    [
        ("17.11", "17", True),
        ("17.11", "17.1", False),
        ("17.1", "17.1", True),
        ("9.6.24", "9.6", True),
        ("19rc1", "19", True),
        ("19rc1", "19rc1", True),
        ("19.0", "19rc1", False),
        ("1.7", "17", False),
    ],
)
def test_matches(version: str, wanted: str, matches: bool) -> None:
    assert version_matches(version, wanted) is matches


def test_nearest() -> None:
    versions = ["11.7", "11.13", "12.3", "12.6", "19rc1"]
    assert nearest("11.10", versions) == ["11.7", "11.13"]
    assert nearest("12.4", versions) == ["12.3", "12.6"]
    assert nearest("8", versions) == ["11.7"]
    assert nearest("99", versions) == ["19rc1"]
    assert nearest("1", []) == []
