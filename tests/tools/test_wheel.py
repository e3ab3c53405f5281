"""What a wheel carries. `make wheel` builds the engine and checks which glibc it needs; here two scripts stand for it."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ("dbversus-engine", "libdbversus_inject.so")


def build(into: Path, **environment: str) -> zipfile.ZipFile:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(into)]
    subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=True, capture_output=True, timeout=600)
    (path,) = into.glob("*.whl")
    return zipfile.ZipFile(path)


def test_a_wheel_carries_the_engine_and_all_that_is_data(tmp_path: Path) -> None:
    for name in ENGINE:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "LICENSES.txt").write_text("texts")

    wheel = build(tmp_path / "dist", DBVERSUS_WHEEL_ENGINE=str(tmp_path), DBVERSUS_WHEEL_ARCH="aarch64")

    assert str(wheel.filename).endswith("-py3-none-linux_aarch64.whl")
    for name in ENGINE:
        mode = wheel.getinfo(f"dbversus/bin/{name}").external_attr >> 16
        assert mode & 0o111 == 0o111, f"{name} cannot be executed"
    assert wheel.read("dbversus/bin/LICENSES.txt") == b"texts"
    assert shipped(wheel, "configs", "*/*.*") and shipped(wheel, "experiments", "*.toml")
    assert shipped(wheel, "src/dbversus/suites", "**/*.toml")
    assert {path.rpartition("/")[2] for path in wheel.namelist() if "/licenses/" in path} == {"LICENSE", "NOTICE"}


def shipped(wheel: zipfile.ZipFile, folder: str, pattern: str) -> bool:
    """Whether the wheel has each of these files of the source tree."""
    paths = {path.relative_to(ROOT) for path in (ROOT / folder).glob(pattern)}
    names = {f"dbversus/{str(path).removeprefix('src/dbversus/')}" for path in paths}
    return bool(names) and names <= set(wheel.namelist())


def test_a_package_built_without_the_engine_is_for_any_platform(tmp_path: Path) -> None:
    wheel = build(tmp_path, DBVERSUS_WHEEL_ENGINE="", DBVERSUS_WHEEL_ARCH="")

    assert str(wheel.filename).endswith("-py3-none-any.whl")
    assert not [name for name in wheel.namelist() if name.startswith("dbversus/bin/")]
