import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .samples import fill_home


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with one of everything, in a folder that, unlike tmp_path, an unprivileged server could enter."""
    folder = Path(tempfile.mkdtemp(prefix="dbv-storage-"))
    folder.chmod(0o755)
    monkeypatch.setenv("DBVERSUS_HOME", str(folder / "home"))
    yield fill_home(folder)
    shutil.rmtree(folder)
