"""A file of `[data.NAME]`: where it is, what its content's hash is, and how it is to be read."""

import contextlib
import csv
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from dbversus.errors import DbversusError
from dbversus.files import write_whole
from dbversus.home import home_dir, private_dir
from dbversus.names import did_you_mean
from dbversus.packed import Allowance, TooMuch, counted
from dbversus.private import whole, with_short_paths
from dbversus.suites.expression import Expression
from dbversus.suites.file import shape
from dbversus.suites.file.source import Place

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = ".parquet"
ACCEPTED = ".csv, .tsv, .csv.gz, .tsv.gz and .parquet"
_LONGEST_LINE = 2_000_000
ENCODINGS = ("utf-8", "utf-16", "latin-1")
HASHES = "hashes.json"
"""In the home's folder `data`: SHA-256 of files by path, inode, size and time of change."""
ORIGINS = "data.json"
"""In a results folder, beside the suite."""


@dataclass(frozen=True)
class Origin:
    """A file as a results folder names it."""

    file: str
    sha256: str


@dataclass(frozen=True)
class DataFile:
    """One file with its content's hash. `delimiter` is "" for Parquet; `names`: of a text file's columns, in order.

    `place`: of its `[data.NAME]`; `rows`: how many of its rows count at most, None for all.
    """

    name: str
    path: Path
    sha256: str
    delimiter: str
    null: str
    encoding: str
    names: tuple[str, ...]
    place: Place
    rows: Expression | None = None

    @property
    def is_parquet(self) -> bool:
        return not self.delimiter

    @property
    def folder(self) -> str:
        """What is made of it lies there, in the home's folder `data`."""
        return f"{self.name}-{self.sha256[:16]}"

    @property
    def options(self) -> dict[str, object]:
        """All that, with the content, determines the values."""
        return {"delimiter": self.delimiter, "null": self.null, "encoding": self.encoding, "names": self.names}


def read_origins(folder: Path) -> dict[str, Origin]:
    """What `write_origins` made; nothing where a results folder names no data."""
    try:
        named = json.loads((folder / ORIGINS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return {name: Origin(whole(origin["file"]), origin["sha256"]) for name, origin in named.items()}


def write_origins(files: Sequence[DataFile]) -> bytes:
    """The text by which a results folder names the files of its suite's data, and their content."""
    named = {file.name: {"file": str(file.path), "sha256": file.sha256} for file in files}
    return (with_short_paths(json.dumps(named, indent=1)) + "\n").encode()


def find_file(name: str, given: shape.Data, place: Place, origins: Mapping[str, Origin]) -> DataFile:
    """The file of `[data.NAME]`; UsageError with the suite's line when it is missing or not what it has to be.

    `origins`: the files that a results folder was measured with, by name; empty for a suite outside of one.
    """
    delimiter = _delimiter(given, place)
    if origin := origins.get(name):
        path, sha256 = _of_results(origin, place), origin.sha256
    else:
        path = (Path(place.source.path).parent / given.file).absolute()
        sha256 = _hash(path, place)
        if given.sha256 and sha256 != given.sha256.lower():
            raise place.at("sha256").mistake(f"{path} has the SHA-256 {sha256}; it is another file, or has changed.")
    made = DataFile(name, path, sha256, delimiter, given.null, given.encoding, tuple(given.columns), place, given.rows)
    return made if made.is_parquet else _with_header(made)


def _of_results(origin: Origin, place: Place) -> Path:
    """The file that was measured with: where it was, or beside the suite in the results folder."""
    path = Path(origin.file)
    for candidate in (path, Path(place.source.path).parent / path.name):
        with contextlib.suppress(OSError):
            if _known_hash(candidate) == origin.sha256:
                return candidate
    raise place.at("file").mistake(
        f"this was measured with {path} of SHA-256 {origin.sha256}, which is not there or has changed; put it back, or put "
        f"a copy into {Path(place.source.path).parent}."
    )


def _delimiter(given: shape.Data, place: Place) -> str:
    suffix = Path(given.file.removesuffix(".gz")).suffix.lower()
    if suffix == _PARQUET and not given.file.endswith(".gz"):
        return ""
    if suffix not in _DELIMITERS and given.delimiter is None:
        raise place.at("file").mistake(
            f"'{given.file}' is of no known kind.{did_you_mean(suffix, [*_DELIMITERS, _PARQUET])} Accepted: {ACCEPTED}, "
            "or any text file with a `delimiter`."
        )
    return given.delimiter or _DELIMITERS[suffix]


def _with_header(file: DataFile) -> DataFile:
    """With the names of the columns, from the first line where the suite does not give them."""
    names = file.names or tuple(_first_record(file))
    if not names:
        raise file.place.at("file").mistake(f"{file.path} is empty; its first line has to name its columns.")
    if not all(names):
        raise file.place.at("file").mistake(
            f"{file.path}:1: column {names.index('') + 1} has no name; `columns` may give all of them."
        )
    seen = [name.lower() for name in names]
    if twice := next((name for name in seen if seen.count(name) > 1), None):
        raise file.place.at("file").mistake(
            f"{file.path}:1: the column '{twice}' is there twice; `columns` may give other names."
        )
    return DataFile(**{**vars(file), "names": names})


def _first_record(file: DataFile) -> list[str]:
    try:
        with _opened(file) as text:
            return next(csv.reader(_lines(text), delimiter=file.delimiter), [])
    except UnicodeDecodeError:
        words = f"{file.path} is not {file.encoding}; `encoding` may be {', '.join(ENCODINGS)}."
        raise file.place.at("file").mistake(words) from None
    except (gzip.BadGzipFile, EOFError, zlib.error, csv.Error) as error:
        raise file.place.at("file").mistake(f"{file.path}:1 cannot be read: {error}.") from error
    except TooMuch as error:
        raise file.place.at("file").mistake(str(error)) from error


def where(file: DataFile, row: int) -> str:
    """Place of a row (from 1): with its line in a text file, which may have line ends in values and lines that are empty."""
    if file.is_parquet:
        return f"{file.path}, row {row}"
    with _opened(file) as text:
        reader = csv.reader(_lines(text), delimiter=file.delimiter)
        line, left = 1, row + (not file.place.has("columns"))
        for record in reader:
            left -= bool(record) or len(file.names) == 1
            if left == 0:
                break
            line = reader.line_num + 1
    return f"{file.path}:{line}"


def _lines(text: TextIO) -> Iterator[str]:
    """DuckDB takes no longer ones either; csv would read them into memory before it says so."""
    while line := text.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise csv.Error("a line is longer than 2 MB")
        yield line


@contextlib.contextmanager
def _opened(file: DataFile) -> Iterator[TextIO]:
    encoding = _PYTHON_ENCODINGS.get(file.encoding, file.encoding)
    with unpacking(file.path) as content, io.TextIOWrapper(content, encoding, newline="") as text:
        yield text


@contextlib.contextmanager
def unpacking(path: Path) -> Iterator[BinaryIO]:
    """The content of a text file, unpacked where it is gzipped. Raises TooMuch as it is read."""
    with path.open("rb") as file:
        if path.suffix != ".gz":
            yield file
            return
        with gzip.open(file) as packed:
            yield counted(cast(BinaryIO, packed), Allowance(path))


# a byte order mark is no part of the first name
_PYTHON_ENCODINGS = {"utf-8": "utf-8-sig"}


def _hash(path: Path, place: Place) -> str:
    try:
        return _known_hash(path)
    except OSError as error:
        raise place.at("file").mistake(f"{path} cannot be read: {error.strerror}.") from error


def _known_hash(path: Path) -> str:
    """SHA-256 of the content; remembered by size and time of change, since a large file takes long."""
    if not path.is_file():
        raise FileNotFoundError(2, "there is no such file")
    facts = path.stat()
    key = f"{path.resolve()} {facts.st_ino} {facts.st_size} {facts.st_mtime_ns}"
    memory = home_dir() / "data" / HASHES
    known: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(memory.read_text(encoding="utf-8"))
    if key not in known:
        with path.open("rb") as content:
            known[key] = hashlib.file_digest(content, "sha256").hexdigest()
        remember(memory, json.dumps(known))
    return known[key]


def make_dir(folder: Path) -> None:
    """The home's folder `data`, or one in it: nobody else may enter it. RunError when refused."""
    private_dir("data")
    private_dir(*folder.relative_to(home_dir()).parts)


def remember(path: Path, text: str) -> None:
    """Writes a file of the home; what cannot be written is only forgotten."""
    with contextlib.suppress(OSError, DbversusError):
        make_dir(path.parent)
        write_whole(path, text, private=True)
