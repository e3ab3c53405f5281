"""Runs the suite's scripts ([setup]) on a server, through the engine; what it refuses is told with file, line and statement."""

import contextlib
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path

from dbversus.dbms.known import find_dbms
from dbversus.dbms.sql.session import utf8_sql
from dbversus.errors import RunError, UsageError
from dbversus.experiment.rig.data.refused import LoadRefused
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.suites.model import Script, Suite
from dbversus.suites.scripts import (
    Note,
    Piece,
    Reading,
    check_databases,
    read_script,
    shown,
    unpacked,
    why_harmless,
)

_BATCH_PIECES = 1000
_READ_BYTES = 4096
# PostgreSQL's answer to all that follows an error in a transaction
_ABORTED = "ERROR 25P02"


def check_scripts(suite: Suite, dbms_names: Sequence[str]) -> list[str]:
    """Cuts every script into statements; says what will not be run as it stands.

    Raises UsageError for what cannot be taken, for a second database, and for a DBMS whose tables none makes or that has none.
    """
    notes: list[Note] = []
    for dbms in dict.fromkeys(dbms_names):
        scripts = suite.scripts_for(dbms)
        needs_one = not suite.tables or any(rules.made_like.made_by_scripts for rules in suite.tables)
        if suite.scripts and needs_one and not scripts:
            some = next(iter(suite.scripts.values()))[0]
            known = ", ".join(name or "sql" for name in suite.scripts)
            raise UsageError(f"{some.place}: there is no script for {dbms} in [setup], which has {known}.")
        if scripts and not find_dbms(dbms).is_database:
            raise UsageError(
                f"{scripts[0].place}: [setup] has scripts for a database, and {dbms} is none; name databases only."
            )
        database_of(suite, dbms)
        notes += [note for script in scripts for note in _read(script, dbms).notes]
    return _words(dict.fromkeys(notes))


def database_of(suite: Suite, dbms: str) -> str:
    """What the scripts for a DBMS call their database; empty when they do not say. Raises as `check_scripts`."""
    return check_databases(_read(script, dbms) for script in suite.scripts_for(dbms))


def run_scripts(rig: Rig, target: Target) -> list[str]:
    """Says what was not run as it stands. Raises LoadRefused for the first statement that the server does not take."""
    notes: list[Note] = []
    for script in rig.suite.scripts_for(target.server.dbms):
        rig.display.doing(f"{target.label}: running {script.path.name}")
        reading = _read(script, target.server.dbms)
        with _Run(rig, target) as run:
            run.pieces([*_in_utf8(script, target.server.dbms), *reading.pieces])
        notes += [*reading.notes, *run.notes]
    return _words(notes)


def _in_utf8(script: Script, dbms: str) -> list[Piece]:
    """What comes before a script, which may say that its texts are something else."""
    names = utf8_sql(dbms)
    return [Piece(script.path, 1, 0, 0, instead=names.encode())] if names else []


def _read(script: Script, dbms: str) -> Reading:
    return read_script(script.path, find_dbms(dbms).family, script.beside)


def _words(notes: Iterable[Note]) -> list[str]:
    """One sentence for each reason in each file, with the first place."""
    by_reason: dict[tuple[Path, str], list[Note]] = {}
    for note in notes:
        by_reason.setdefault((note.path, note.why), []).append(note)
    return [_sentence(found) for found in by_reason.values()]


def _sentence(notes: Sequence[Note]) -> str:
    first, others = notes[0], sorted({note.line for note in notes[1:]} - {notes[0].line})
    more = f", and {len(notes) - 1} more like it up to line {max(others)}," if others else ""
    said = f" ({first.said})" if first.said else ""
    return f"{first.path.name}:{first.line}: '{first.text}'{more} was passed over: {first.why}{said}"


class _Run(contextlib.ExitStack):
    """One script on a connection of its own. `notes`: what the server refused, and was passed over."""

    def __init__(self, rig: Rig, target: Target):
        super().__init__()
        self.rig, self.target = rig, target
        self.notes: list[Note] = []
        self._folder = target.server.data_dir.parent
        self._plain: dict[Path, Path] = {}
        self._refused: tuple[Piece, str] | None = None

    def pieces(self, pieces: Sequence[Piece]) -> None:
        """All of them, with those in a row together that stand in the same file."""
        self.callback(self._end_connection)
        for path, group in groupby(pieces, lambda piece: None if piece.instead is not None else piece.path):
            while batch := list(islice(group, _BATCH_PIECES)):
                self._run(self._file(path) if path else self._written(batch), batch, written=path is None)

    def _file(self, path: Path) -> Path:
        if path not in self._plain:
            self._plain[path] = self._for_engine(self.enter_context(unpacked(path, self._folder)))
        return self._plain[path]

    def _for_engine(self, path: Path) -> Path:
        """The file, or where the engine has not our rights, a copy of what is the user's; one of ours is given to it."""
        if (user := self.rig.engine.user) is None:
            return path
        if not path.is_relative_to(self._folder):
            path = Path(shutil.copyfile(path, self._folder / f"{len(self._plain)}.sql"))
            self.callback(path.unlink, missing_ok=True)
        user.give(path)
        return path

    def _written(self, batch: Sequence[Piece]) -> Path:
        """A file with what is run in place of statements, one after another."""
        path = self._folder / "instead.sql"
        path.write_bytes(b"".join(piece.instead or b"" for piece in batch))
        self.callback(path.unlink, missing_ok=True)
        return self._for_engine(path)

    def _run(self, file: Path, batch: Sequence[Piece], *, written: bool) -> None:
        sent = list(_ranges(batch)) if written else [piece.engine_piece() for piece in batch]
        done = 0
        while done < len(batch):
            reply = self.rig.engine.call(
                "script", target=self.target.name, file=str(file), pieces=sent[done:], more=True
            )
            done += reply["done_pieces"]
            if words := reply.get("failed"):
                self._judge(batch[done], _head(file, sent[done]["sql"]), words)
                done += 1

    def _judge(self, piece: Piece, text: bytes, words: str) -> None:
        """Passes over what leaves data as it would have been; raises LoadRefused for all else."""
        if why := why_harmless(find_dbms(self.target.server.dbms).family, text, words):
            self._refused = piece, words
            self.notes.append(Note(piece.path, piece.line, shown(text), why, shown(words.encode())))
            return
        said = f"{piece.path}:{piece.line}: {self.target.label} refuses a statement: {words} (statement: {shown(text)})"
        if self._refused and words.startswith(_ABORTED):
            before, why = self._refused
            said += f"; the transaction ended at {before.path}:{before.line}: {why}; run that outside of one"
        elif missing := [note.text for note in self.notes if note.text.upper().startswith("CREATE EXTENSION")]:
            said += f"; these were passed over before: {'; '.join(missing)}"
        raise LoadRefused(said)

    def _end_connection(self) -> None:
        with contextlib.suppress(RunError):
            self.rig.engine.call("script", target=self.target.name, file="/dev/null", pieces=[])


def _ranges(batch: Sequence[Piece]) -> Iterator[dict[str, list[int]]]:
    """Where they are in the file of `_written`."""
    begin = 0
    for piece in batch:
        length = len(piece.instead or b"")
        yield {"sql": [begin, length]}
        begin += length


def _head(file: Path, sql: Sequence[int]) -> bytes:
    with file.open("rb") as text:
        text.seek(sql[0])
        return text.read(min(sql[1], _READ_BYTES))
