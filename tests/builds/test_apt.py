import pytest

from dbversus.builds.apt import source_lines, upstream_version
from dbversus.errors import RunError

HOST = """bookworm|Debian|main|http://mirror/debian/
bookworm|Debian|non-free|http://mirror/debian/
bookworm-updates|Debian|main|http://mirror/debian/
bookworm-security||main|http://mirror/security/
bookworm-pgdg|PGDG|main|http://other/
tools-bookworm|Tools|main|http://other/
bookworm|Other|main|http://other/"""


def test_lines_of_another_release_come_from_the_hosts_mirrors() -> None:
    assert source_lines(HOST, "bookworm", "trixie", "/k.gpg") == [
        "deb [signed-by=/k.gpg] http://mirror/debian/ trixie main",
        "deb [signed-by=/k.gpg] http://mirror/debian/ trixie-updates main",
        "deb [signed-by=/k.gpg] http://mirror/security/ trixie-security main",
    ]


def test_rolling_suites_have_no_pockets() -> None:
    assert source_lines(HOST, "bookworm", "sid") == ["deb http://mirror/debian/ sid main"]


def test_hosts_of_another_kind_have_no_lines() -> None:
    assert source_lines("jammy|Ubuntu|main|http://mirror/ubuntu/", "jammy", "trixie") == []
    assert source_lines("", "", "trixie") == []


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("17.12-0+deb13u1", "17.12"),
        ("19~rc1-1", "19rc1"),
        ("1:10.5.29-0+deb11u1", "10.5.29"),
        ("3.40.1-2+deb12u2", "3.40.1"),
        ("18~beta2-1~exp1", "18beta2"),
    ],
)
def test_upstream_version(text: str, version: str) -> None:
    assert upstream_version(text) == version


def test_odd_version() -> None:
    with pytest.raises(RunError, match="unknown"):
        upstream_version("unknown")
