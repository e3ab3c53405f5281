from pathlib import Path

import pytest

from dbversus.builds.packages.contents import compiler_of, holds_text


@pytest.mark.parametrize(
    ("content", "compiler"),
    [
        (b"\0GCC: (Debian 12.2.0-14) 12.2.0\0", "gcc (Debian 12.2.0-14) 12.2.0"),
        (b"\0GCC: (GNU) 4.4.7 20120313 (Red Hat 4.4.7-18)\0GCC: (GNU) 11.2.1 20210728\0", "gcc (GNU) 11.2.1"),
        (b"\0GCC: (GNU) 9.3.1\0GCC: (GNU) 11.2.1\0GCC: (GNU) 4.8.5\0", "gcc (GNU) 11.2.1"),
        (
            b"GCC: (GNU) 4.8.5\0PostgreSQL 17.2 on x86_64-pc-linux-gnu, compiled by gcc (GCC) 7.5.0, 64-bit\0",
            "gcc (GCC) 7.5.0",
        ),
        (b"compiled by whom, nobody knows; GCC: (", ""),
        (b"nothing", ""),
    ],
)
def test_compiler(tmp_path: Path, content: bytes, compiler: str) -> None:
    (tmp_path / "x").write_bytes(content)
    assert compiler_of(tmp_path / "x") == compiler


def test_text(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(range(256)) * 100 + b"\0needle\0")
    assert holds_text(tmp_path / "x", "needle")
    assert not holds_text(tmp_path / "x", "thread")
