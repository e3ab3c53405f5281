"""Asking a server of the MySQL family whether it takes its settings, before it has a data directory."""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from dbversus.dbms.flavour import Flavour
from dbversus.errors import UsageError
from dbversus.names import nearest
from dbversus.servers.mysql.files import Installation, last_words, option_names, plain, render, write_config
from dbversus.servers.mysql.taken import changes, values_said
from dbversus.servers.process.program import Command, Done, run

# what a server passes over with a warning is not what was asked for
_ADJUSTED = re.compile(r"adjusted to|was not recognized|ignoring option|unique option prefix", re.IGNORECASE)
# the server misses its system tables, which a check has no use for; it fits what nobody chose to the host's limits, and it
# says what it does at the end
_NOT_ABOUT_SETTINGS = re.compile(r"Changed limits|max_open_files|mysql\.plugin|Aborting\.?$", re.IGNORECASE)
_VALUES: Command = ["--verbose", "--help"]
_CRASH = "got signal"
_CRASHES = "this server crashes when it is asked for its settings: a wrong one shows at its start only"


def check_config(
    place: Installation, flavour: Flavour, settings: Mapping[str, str], asked: Mapping[str, str], folder: Path
) -> list[str]:
    """Lets the server itself read the settings, without a data directory; returns notes on what it cannot, or rounds.

    What that takes is in `folder` for the moment. `asked` are the settings of the config, without our own. Raises UsageError
    with the server's own line for a setting that it does not know, or a value that it does not take as it was written.
    """
    directory = Path(tempfile.mkdtemp(prefix="check-", dir=folder))
    try:
        (directory / "data").mkdir()
        own = {**settings, "datadir": str(directory / "data")}
        write_config(directory / "my.cnf", render(own))
        place.user.own(directory)
        place.user.own(directory / "data")
        program: Command = [place.program, f"--defaults-file={directory / 'my.cnf'}"]
        if flavour.mysql_since(8, 0, 16):
            validate: Command = [*program, "--validate-config", "--log-error-verbosity=2"]
            _refuse_complaints(place, flavour, settings, run(validate, place.user, place.environment))
        done = run([*program, *_VALUES], place.user, place.environment)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if _CRASH in done.stderr:  # MariaDB 10.1.8, whatever its settings
        if complaint := next((words for words in _complaints(done.stderr) if _CRASH not in words), ""):
            raise _refused(place, complaint)
        return [_CRASHES]
    _refuse_complaints(place, flavour, settings, done)
    return list(_roundings(place, asked, done.stdout))


def _refuse_complaints(place: Installation, flavour: Flavour, settings: Mapping[str, str], done: Done) -> None:
    complaint = next(_complaints(done.stderr), "")
    if not complaint and flavour.mysql_since(8) and flavour.mysql_before(8, 0, 16):
        complaint = _unknown_name(place, settings)  # these versions do not say
    if done.returncode == 0 and not complaint:
        return
    raise _refused(
        place, complaint or last_words(done.stderr) or f"exit status {done.returncode}, and it does not say why"
    )


def _refused(place: Installation, complaint: str) -> UsageError:
    unknown = re.search(r"unknown (?:variable|option) '(?:--)?([\w-]+)", complaint)
    hint = nearest(unknown[1].replace("-", "_"), _underscored(option_names(place))) if unknown else ""
    return UsageError(f"{place.build.name} does not accept its settings: {complaint}{hint}.")


def _roundings(place: Installation, asked: Mapping[str, str], help_text: str) -> Iterator[str]:
    """Notes on values that the server rounds; UsageError for one that it turns into another."""
    for change in changes(asked, values_said(help_text)):
        if not change.rounded:
            raise _refused(place, f"it makes {change.name} = {change.asked} into {change.taken}")
        yield f"{change.name} = {change.asked} is rounded to {change.taken} by the server"


def _complaints(stderr: str) -> Iterator[str]:
    """What the server says against its settings, errors first, without time stamps."""
    lines = [line.strip() for line in stderr.splitlines()]
    for line in lines:
        if "[ERROR]" in line and not _NOT_ABOUT_SETTINGS.search(line):
            yield plain(line)
    for line in lines:
        if _ADJUSTED.search(line) and not _NOT_ABOUT_SETTINGS.search(line):
            yield plain(line)


def _unknown_name(place: Installation, settings: Mapping[str, str]) -> str:
    """Complains, as other versions do, about the first name that is not in the server's list."""
    known = set(_underscored(option_names(place)))
    for name in settings:
        bare = re.sub(r"^(?:skip|loose|enable|disable)_", "", name.replace("-", "_"))
        if bare not in known and name not in known and not name.startswith("loose_"):
            return f"unknown variable '{name}={settings[name]}'"
    return ""


def _underscored(names: list[str]) -> list[str]:
    return [name.replace("-", "_") for name in names]
