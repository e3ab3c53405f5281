"""Asking a server of the MySQL family whether it takes its settings, before it has a data directory."""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from dbversus.dbms.flavour import Flavour
from dbversus.dbms.settings import plain_name, split_prefix
from dbversus.host.program import Command, Done, run
from dbversus.names import did_you_mean_inline
from dbversus.servers.config.refused import Refused, SettingsRefusedError, all_refused
from dbversus.servers.mysql.adjusted_settings import changes, values_said
from dbversus.servers.mysql.files import Installation, option_names, plain, render, write_config

# what a server passes over with a warning is not what was asked for
_PASSED_OVER = re.compile(r"was not recognized|ignoring option", re.IGNORECASE)
# the server misses its system tables, which a check has no use for; it fits what nobody chose to the host's limits, and it
# says what it does at the end
_NOT_ABOUT_SETTINGS = re.compile(r"Changed limits|max_open_files|mysql\.plugin|Aborting\.?$", re.IGNORECASE)
# what it says whatever its settings are, and of settings that it takes
_BESIDES = re.compile(r"\[(?:Note|System)\]|deprecated|Aborting|starting as process|secure-file-priv", re.IGNORECASE)
_ADJUSTED = re.compile(r"adjusted to", re.IGNORECASE)  # seen in the values that it shows
_SHORTENED = re.compile(r"unique option prefix", re.IGNORECASE)
_VALIDATE: Command = ["--validate-config", "--log-error-verbosity=2"]
_VALUES: Command = ["--verbose", "--help"]
_CRASH = "got signal"
_CRASHES = "this server crashes when it is asked for its settings: a wrong one shows at its start only"


def check_config(
    place: Installation,
    flavour: Flavour,
    settings: Mapping[str, str],
    asked: Mapping[str, str],
    places: Mapping[str, str],
    folder: Path,
) -> list[str]:
    """Lets the server itself read the settings, without a data directory; returns notes on what it cannot, or rounds.

    What that takes is in `folder` for the moment. `asked` are the settings of the config, without our own, and `places` where
    they stand. Raises SettingsRefusedError with the server's own line for each setting that it does not know, or whose value it
    does not take as it was written.
    """
    directory = Path(tempfile.mkdtemp(prefix="check-", dir=folder))
    try:
        directory.chmod(0o755)  # the server's user reads the config there
        place.user.make_dir(directory / "data")
        question = _Question(place, flavour, settings, asked, directory)
        if refused := all_refused(asked, question.ask):
            raise SettingsRefusedError(place.build, refused, places)
        return question.notes
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@dataclass
class _Question:
    """`notes`: on what the server was asked last."""

    place: Installation
    flavour: Flavour
    settings: Mapping[str, str]
    asked: Mapping[str, str]
    directory: Path
    notes: list[str] = field(default_factory=list)

    def ask(self, left: Mapping[str, str]) -> Refused | None:
        """The first complaint of the server about those of the settings that are left."""
        given = {name: value for name, value in self.settings.items() if name in left or name not in self.asked}
        write_config(self.directory / "my.cnf", render({**given, "datadir": str(self.directory / "data")}))
        if self.flavour.mysql_since(8, 0, 16) and (complaint := self._complaint(self._run(_VALIDATE), given)):
            return complaint
        done = self._run(_VALUES)
        if _CRASH in done.stderr:  # MariaDB 10.1.8, whatever its settings
            self.notes = [_CRASHES]
            words = next((words for words in _complaints(done.stderr) if _CRASH not in words), "")
            return Refused("", words) if words else None
        if complaint := self._complaint(done, given):
            return complaint
        return self._adjusted(left, done)

    def _run(self, options: Command) -> Done:
        program: Command = [self.place.program, f"--defaults-file={self.directory / 'my.cnf'}"]
        return run([*program, *options], self.place.user, self.place.environment)

    def _complaint(self, done: Done, given: Mapping[str, str]) -> Refused | None:
        words = next(_complaints(done.stderr), "")
        if not words and self.flavour.mysql_since(8) and self.flavour.mysql_before(8, 0, 16):
            words = _unknown_name(self._known, given)  # these versions do not say
        if not words:
            last = [line for line in done.stderr.splitlines() if line.strip() and not _BESIDES.search(line)][-1:]
            if done.returncode == 0 or any(_ADJUSTED.search(line) for line in last):
                return None
            words = plain(last[0].strip()) if last else f"exit status {done.returncode}, and it does not say why"
        unknown = re.search(r"unknown (?:variable|option) '(?:--)?([\w-]+)", words)
        return Refused("", words, did_you_mean_inline(unknown[1].replace("-", "_"), self._known) if unknown else "")

    @cached_property
    def _known(self) -> list[str]:
        return [name.replace("-", "_") for name in option_names(self.place)]

    def _adjusted(self, left: Mapping[str, str], done: Done) -> Refused | None:
        """Notes values that the server rounds, and its warnings; refused is one that it turns into another."""
        self.notes = [plain(line.strip()) for line in done.stderr.splitlines() if _SHORTENED.search(line)]
        for change in changes(left, values_said(done.stdout)):
            if not change.rounded and not change.by_host:
                return Refused(change.name, f"it makes {change.name} = {change.asked} into {change.taken}")
            how = "is lowered to {} on this host" if change.by_host else "is rounded to {} by the server"
            self.notes.append(f"{change.name} = {change.asked} {how.format(change.taken)}")
        return None


def _complaints(stderr: str) -> Iterator[str]:
    """What the server says against its settings, errors first, without time stamps."""
    lines = [line.strip() for line in stderr.splitlines()]
    for line in lines:
        if "[ERROR]" in line and not _NOT_ABOUT_SETTINGS.search(line):
            yield plain(line)
    for line in lines:
        if _PASSED_OVER.search(line) and not _NOT_ABOUT_SETTINGS.search(line):
            yield plain(line)


def _unknown_name(known: Sequence[str], settings: Mapping[str, str]) -> str:
    """Complains, as other versions do, about the first name that is not in the server's list."""
    for name in settings:
        loose, switch, plain = split_prefix(plain_name("mysql", name))
        if not loose and plain not in known and switch + plain not in known:
            return f"unknown variable '{name}={settings[name]}'"
    return ""
