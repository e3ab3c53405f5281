from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dbversus.builds.catalog import CatalogEntry, Layout
from dbversus.builds.client import Progress
from dbversus.builds.providers import maven

from ..conftest import silent


@pytest.mark.parametrize(("digest", "option"), [("", "--strict-checksums"), ("0" * 64, "--lax-checksums")])
def test_what_has_no_pin_needs_the_repositorys_checksum(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, digest: str, option: str
) -> None:
    commands: list[Sequence[str]] = []

    def run(command: Sequence[str], progress: Progress, **options: Any) -> str:
        commands.append(command)
        jar = home / "cache/maven/a/b/c/1.0/c-1.0.jar"
        jar.parent.mkdir(parents=True)
        jar.touch()
        return ""

    monkeypatch.setattr(maven, "find_client", lambda name: name)
    monkeypatch.setattr(maven, "run_client", run)
    entry = CatalogEntry("postgres", "1.0", "maven", "x", "a.b:c:1.0", Layout(), digest=digest)
    assert maven.fetch(entry, tmp_path, silent).archives == (tmp_path / "c-1.0.jar",)
    assert [word for word in commands[0] if word.endswith("-checksums")] == [option]
