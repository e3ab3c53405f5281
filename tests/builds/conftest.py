import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own that, unlike tmp_path, an unprivileged server could enter."""
    folder = Path(tempfile.mkdtemp(prefix="dbv-builds-"))
    folder.chmod(0o755)
    monkeypatch.setenv("DBVERSUS_HOME", str(folder))
    yield folder
    shutil.rmtree(folder)


def silent(text: str) -> None:
    """A progress that says nothing."""
