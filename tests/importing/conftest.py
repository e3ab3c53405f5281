"""Small files of every format, copied from what the tools wrote, and what an import makes of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dbversus.importing.find import Wanted
from dbversus.importing.run import import_results
from dbversus.results.read import open_results
from dbversus.results.stored import Results

DATA = Path(__file__).parents[1] / "data/imported"
REFERENCE = DATA / "reference"
TOOLS = DATA / "tools"

Import = Callable[..., Results]


@pytest.fixture
def imported(tmp_path: Path) -> Import:
    """Imports paths and opens what was made."""

    def run(*paths: Path, base: str | None = None, **wanted: object) -> Results:
        out = tmp_path / "imported"
        import_results(paths, out, Wanted(**wanted), base=base)  # type: ignore[arg-type]
        return open_results(out)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Writes a file of results under a path."""

    def run(name: str, content: str) -> Path:
        path = tmp_path / "from" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    return run
