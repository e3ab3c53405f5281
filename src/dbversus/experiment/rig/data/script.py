"""Runs the suite's scripts ([setup]) on a server, through the engine; what it refuses is told with file, line and statement."""

import contextlib
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from dbversus.dbms.known import find_dbms
from dbversus.dbms.model import Family
from dbversus.errors import RunError, UsageError
from dbversus.experiment.rig.data.refused import LoadRefused
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.suites.model import Script, Suite
from dbversus.suites.scripts import Piece, read_pieces, shown, unpacked

_BATCH_PIECES = 1000

# Statement and the server's words: what an older server, or one without the accounts of the dump's origin, does not know,
# and which changes no data.
_PASSED_OVER = (
    (r"(/\*!\d*\s*)?SET\b", "unrecognized configuration parameter|Unknown system variable"),
    (r".*\bOWNER TO\b|GRANT\b|REVOKE\b|ALTER DEFAULT PRIVILEGES\b", 'role "[^"]*" does not exist'),
    (r"SET @@GLOBAL\.GTID_PURGED", "GTID"),
)


def check_scripts(suite: Suite, dbms_names: Sequence[str]) -> None:
    """Cuts every script into statements. Raises UsageError for what cannot be taken, and for a DBMS whose tables none makes."""
    for dbms in dict.fromkeys(dbms_names):
        scripts = suite.scripts_for(dbms)
        if suite.scripts and not suite.tables and not scripts:
            some = next(iter(suite.scripts.values()))[0]
            known = ", ".join(name or "sql" for name in suite.scripts)
            raise UsageError(f"{some.place}: there is no script for {dbms} in [setup], which has {known}.")
        for script in scripts:
            _pieces(script.path, find_dbms(dbms).family)


def run_scripts(rig: Rig, target: Target) -> None:
    """Raises LoadRefused for the first statement that the server does not take."""
    for script in rig.suite.scripts_for(target.server.dbms):
        rig.display.doing(f"{target.label}: running {script.path.name}")
        with unpacked(script.path, target.server.data_dir.parent) as plain:
            try:
                _run(rig, target, script, plain)
            finally:
                with contextlib.suppress(RunError):  # the connection ends
                    rig.engine.call("script", target=target.name, file=str(plain), pieces=[])


def _run(rig: Rig, target: Target, script: Script, plain: Path) -> None:
    pieces = _pieces(script.path, find_dbms(target.server.dbms).family)
    done = 0
    while done < len(pieces):
        batch = [piece.engine_piece() for piece in pieces[done : done + _BATCH_PIECES]]
        reply = rig.engine.call("script", target=target.name, file=str(plain), pieces=batch, more=True)
        done += reply["done_pieces"]
        if words := reply.get("failed"):
            _judge(rig, target, script, pieces[done].line, _text(plain, pieces[done]), words)
            done += 1


def _judge(rig: Rig, target: Target, script: Script, line: int, text: str, words: str) -> None:
    """Passes over what changes no data; raises LoadRefused for all else."""
    where = f"{script.path.name}:{line}"
    for statement, refusal in _PASSED_OVER:
        if re.match(statement, text, re.IGNORECASE | re.DOTALL) and re.search(refusal, words):
            rig.remark(f"{where}: '{text}' was passed over: {words}", target)
            return
    raise LoadRefused(f"{script.path}:{line}: {target.label} refuses a statement: {words} (statement: {text})")


def _text(plain: Path, piece: Piece) -> str:
    with plain.open("rb") as file:
        file.seek(piece.begin)
        return shown(file.read(piece.end - piece.begin))


def _pieces(path: Path, family: Family) -> list[Piece]:
    found = path.stat()
    return _cached(path, family, found.st_mtime_ns, found.st_size)


@lru_cache
def _cached(path: Path, family: Family, mtime_ns: int, size: int) -> list[Piece]:
    """Once for each state of a file: a dump may be large."""
    return read_pieces(path, family)
