"""Each format is written whole or not at all, through no link, and in UTF-8 whatever the locale."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.errors import RunError, UsageError
from dbversus.report.formats.registry import FORMATS
from dbversus.report.model import Assessment

from ...soak.disk import SmallDisk, can_mount

_MAIN = "from dbversus.cli.main import main; main()"


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def whole(assessment: Assessment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All reports, of an experiment that is called otherwise."""
    folder = tmp_path_factory.mktemp("reports")
    for each in FORMATS.values():
        each.write(replace(assessment, title="an earlier one"), folder)
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder that nobody named, with files that have the names of reports; it is as it was at the end."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in ("precious.txt", "README.txt", "qps.mine.csv", "cpu.svg"):
        (folder / name).write_text("dear to me")
    before = content(folder)
    yield folder
    assert content(folder) == before


@pytest.mark.parametrize("name", FORMATS)
def test_files_that_are_links_are_replaced(
    name: str, assessment: Assessment, whole: Path, outside: Path, tmp_path: Path
) -> None:
    files = [path.relative_to(whole) for path in whole.rglob("*") if path.is_file()]
    for number, file in enumerate(files):
        for end, target in (("", outside / "precious.txt"), (".partial", outside / f"new-{number}")):
            link = tmp_path / "results" / f"{file}{end}"
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
    path = FORMATS[name].write(assessment, tmp_path / "results")
    assert not any(one.is_symlink() for one in (path, *path.rglob("*")) if one.suffix != ".partial")


@pytest.mark.parametrize("dangling", [False, True])
@pytest.mark.parametrize(("name", "place"), [("post", "post"), ("reference", "reference/now")])
def test_folders_that_are_links_are_refused(
    name: str, place: str, dangling: bool, assessment: Assessment, outside: Path, tmp_path: Path
) -> None:
    link = tmp_path / "results" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(outside / "new" if dangling else outside)
    with pytest.raises(UsageError, match=rf"{link} is a link, and nothing in {tmp_path}/results is written through"):
        FORMATS[name].write(assessment, tmp_path / "results")


def test_of_earlier_summaries_only_our_own_go(
    assessment: Assessment, whole: Path, outside: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "results/reference"
    shutil.copytree(whole / "reference", folder)
    (folder / "now/qps.abs.gone.csv").write_text("of a target that was")
    (folder / "now/notes.txt").write_text("my own")
    (folder / "now/elsewhere").symlink_to(outside)
    FORMATS["reference"].write(assessment, tmp_path / "results")
    assert not (folder / "now/qps.abs.gone.csv").exists()
    assert (folder / "now/notes.txt").read_text() == "my own"
    assert content(folder).keys() - {"now/notes.txt"} == content(whole / "reference").keys()


@pytest.mark.parametrize("name", FORMATS)
def test_a_full_disk_leaves_the_reports_that_were_there(
    name: str, assessment: Assessment, whole: Path, tmp_path: Path
) -> None:
    if not can_mount():
        pytest.skip("needs the right to mount a file system")
    with SmallDisk(tmp_path / "disk", 1 << 26) as disk:
        directory = disk.folder / "results"
        shutil.copytree(whole, directory)
        before = content(directory)
        disk.fill()
        file = FORMATS[name].folder or FORMATS[name].file
        with pytest.raises(RunError, match=rf"^{directory}/{file}.* cannot be written: No space left on device\.$"):
            FORMATS[name].write(assessment, directory)
        assert content(directory) == before


@pytest.mark.slow
def test_reports_are_the_same_in_the_c_locale(results_dir: Path, tmp_path: Path) -> None:
    made = {}
    for locale in ("C.UTF-8", "C"):
        directory = tmp_path / locale / "results"
        shutil.copytree(results_dir, directory)
        command = [sys.executable, "-c", _MAIN, "report", "results", "--format", ",".join(FORMATS)]
        environment = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        done = subprocess.run(command, cwd=directory.parent, env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        made[locale] = content(directory)
    assert {each.file.split("/")[0] for each in FORMATS.values()} <= {Path(name).parts[0] for name in made["C"]}
    assert made["C"].keys() == made["C.UTF-8"].keys()
    assert [name for name in made["C"] if made["C"][name] != made["C.UTF-8"][name]] == []
