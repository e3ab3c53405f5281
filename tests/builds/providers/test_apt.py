import re
from pathlib import Path

import pytest

from dbversus.builds.catalog import CatalogEntry, Layout
from dbversus.builds.client import Progress
from dbversus.builds.providers import apt
from dbversus.builds.providers.apt import source_lines, upstream_version
from dbversus.errors import RunError

from ..conftest import silent

KEYS = Path("/k.gpg")
HOST = """bookworm|Debian|main|http://mirror/debian/
bookworm|Debian|non-free|http://mirror/debian/
bookworm-updates|Debian|main|http://mirror/debian/
bookworm-security||main|http://mirror/security/
bookworm-pgdg|PGDG|main|http://other/
tools-bookworm|Tools|main|http://other/
bookworm|Other|main|http://other/"""


def test_lines_of_another_release_come_from_the_hosts_mirrors() -> None:
    assert source_lines(HOST, "bookworm", "trixie", KEYS) == [
        "deb [signed-by=/k.gpg] http://mirror/debian/ trixie main",
        "deb [signed-by=/k.gpg] http://mirror/debian/ trixie-updates main",
        "deb [signed-by=/k.gpg] http://mirror/security/ trixie-security main",
    ]


def test_rolling_suites_have_no_pockets() -> None:
    assert source_lines(HOST, "bookworm", "sid", KEYS) == ["deb [signed-by=/k.gpg] http://mirror/debian/ sid main"]


def test_hosts_of_another_kind_have_no_lines() -> None:
    assert source_lines("jammy|Ubuntu|main|http://mirror/ubuntu/", "jammy", "trixie", KEYS) == []
    assert source_lines("", "", "trixie", KEYS) == []


def test_without_debians_keys_nothing_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apt, "_KEYRING_FOLDER", tmp_path)
    with pytest.raises(RunError, match=f"{tmp_path} holds no debian-archive-keyring.gpg; install Debian package"):
        apt.keyring()
    ring = tmp_path / "debian-archive-keyring.pgp"
    ring.touch()
    assert apt.keyring() == ring


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


class TestFetch:
    """Which packages are asked for; apt-get itself is not run."""

    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        asked: list[str] = []

        def bring(kind: str, packages: list[str], into: Path) -> list[Path]:
            asked.append(f"{kind} {' '.join(packages)}")
            return [into / f"{re.split('[=/]', name)[0]}_1_amd64.deb" for name in packages]

        def closure(packages: list[str], environment: dict[str, str], into: Path, progress: Progress) -> list[Path]:
            return bring("closure", packages, into)

        def download(packages: list[str], environment: dict[str, str], into: Path, progress: Progress) -> list[Path]:
            return bring("download", packages, into)

        monkeypatch.setattr(apt, "_prepare", lambda suites, arch, progress: {})
        monkeypatch.setattr(apt, "_closure", closure)
        monkeypatch.setattr(apt, "_download", download)
        monkeypatch.setattr(apt, "_upstream_version", lambda archives, package, progress: "1")
        monkeypatch.setattr(apt, "host_suite", lambda: "bookworm")
        return asked

    @pytest.mark.parametrize(
        ("package", "options", "commands"),
        [
            ("a b", {"suite": "bookworm"}, ["download a b"]),
            ("a b", {"suite": "trixie"}, ["closure a b"]),
            ("a b", {"suite": "trixie", "libraries": "host"}, ["download a b"]),
            ("a b", {"suite": "trixie", "base_packages": "a c"}, ["closure a c", "download b"]),
            ("a b", {"suite": "bookworm", "base_packages": "a c"}, ["download a b"]),
            ("a=1:2 b=1:2", {"suite": "bullseye", "base_packages": "a=1:2"}, ["closure a=1:2", "download b=1:2"]),
            (
                "a b",
                {"suite": "experimental", "base_suite": "sid", "base_packages": "a"},
                ["closure a", "download a/experimental b/experimental"],
            ),
        ],
    )
    def test_packages(
        self, asked: list[str], tmp_path: Path, package: str, options: dict[str, str], commands: list[str]
    ) -> None:
        entry = CatalogEntry("mariadb", "1", "apt", "x", package, Layout(), options={"arch": "amd64", **options})
        fetched = apt.fetch(entry, tmp_path, silent)
        assert asked == commands
        assert fetched.own_libc == commands[0].startswith("closure")
