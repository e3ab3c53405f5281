"""dbversus export: an archive of results to publish."""

import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dbversus.errors import UsageError

if TYPE_CHECKING:
    from dbversus.results.export import LeftOut

_TAR: Mapping[str, Literal["gz", "xz", ""]] = {".tar.gz": "gz", ".tgz": "gz", ".tar.xz": "xz", ".tar": ""}
_ZIP = ".zip"


def export(
    directory: Annotated[Path, typer.Argument(help="Results directory.")],
    *,
    out: Annotated[
        Path, typer.Option(help="Archive (new): a name that ends in .tar.gz, .tgz, .tar.xz, .tar or .zip.", show_default=False)
    ],
) -> None:  # fmt: skip
    """Write an archive of results to publish: without data, dumps, secrets, paths and names of hosts.

    It says what it left out. Unpacked, it is a results directory for `show` and `report`. What stays: figures, the suite with its
    statements, settings, plans, names of tables, versions, and what host this is like.

    - `dbversus export results/20260101-120000-postgres-13.1-vs-postgres-17 --out pg13-vs-17.tar.gz`
    - `tar xf pg13-vs-17.tar.gz && dbversus report pg13-vs-17`
    """
    name = _checked_name(out)
    # statistics and charts take seconds to import: not for --help
    from dbversus.report.assessment import build_assessment
    from dbversus.report.formats.registry import USUAL, find_formats
    from dbversus.results.export import export as copy
    from dbversus.results.read import open_results
    from dbversus.units import show_bytes

    with tempfile.TemporaryDirectory(prefix="dbversus-") as scratch:
        folder = Path(scratch) / name
        folder.mkdir()
        left_out = copy(directory, folder)
        assessment = build_assessment(open_results(folder))
        for each in find_formats(USUAL):
            each.write(assessment, folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        _pack(files, folder.parent, out)
    _say(left_out)
    print(f"archive: {out} ({len(files)} files, {show_bytes(out.stat().st_size)})")


def _checked_name(out: Path) -> str:
    """The name of the folder in the archive: the archive's own, since that of the directory may tell something."""
    suffix = next((suffix for suffix in (*_TAR, _ZIP) if out.name.lower().endswith(suffix)), "")
    name = out.name[: len(out.name) - len(suffix)]
    if not suffix or not name:
        raise UsageError(f"--out {out} is no archive by its name; it has to end in {', '.join(_TAR)} or {_ZIP}.")
    if out.exists() or out.is_symlink():
        raise UsageError(f"{out} is there already; name a new file.")
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent} is no folder; name a file in one that is there.")
    return name


def _pack(files: list[Path], above: Path, out: Path) -> None:
    """With neither owner nor rights of the files. Raises as `whole_file`, of which a new one is made."""
    from dbversus.files import whole_file

    with whole_file(out, new=True) as archive:
        if out.name.lower().endswith(_ZIP):
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
                for path in files:
                    packed.write(path, path.relative_to(above))
            return
        kind = next(kind for suffix, kind in _TAR.items() if out.name.lower().endswith(suffix))
        with tarfile.open(fileobj=archive, mode=f"w:{kind}") as tar:  # type: ignore[call-overload]
            for path in files:
                tar.add(path, path.relative_to(above), filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def _say(left_out: "list[LeftOut]") -> None:
    """The first files of each reason."""
    by_why: dict[str, list[str]] = {}
    for one in left_out:
        by_why.setdefault(one.why, []).append(one.file)
    for why, files in by_why.items():
        more = f" and {len(files) - 5} more" if len(files) > 5 else ""
        print(f"left out: {', '.join(files[:5])}{more}: {why}")
    print(
        "rewritten in the others: paths, names of the host, what may be a secret, and values of your rows in plans and logs"
    )
