"""Storage engines that are a library of their own: where a server keeps them, and who brings a missing one."""

import re
from pathlib import Path

from dbversus.builds.packages.contents import holds_text
from dbversus.dbms.known import KNOWN
from dbversus.dbms.model import Dbms
from dbversus.errors import UsageError

# Tarballs; Debian and packages of the makers; Red Hat.
PLUGIN_FOLDERS = ("lib/plugin", "lib/mysql/plugin", "lib64/mysql/plugin", "lib/mariadb/plugin", "lib64/mariadb/plugin")

# What the server says of itself -> who has the engine for it. The first that fits.
_BRINGERS = (
    (
        "MariaDB",
        "the package mariadb-plugin-rocksdb (Debian) or MariaDB-rocksdb-engine (MariaDB's own) of the same version"
        " brings it",
    ),
    ("Percona", "the package percona-server-rocksdb of the same version brings it"),
    ("", "Oracle's MySQL has none; MariaDB, Percona Server and Facebook's MySQL do"),
)


def find_plugin(prefix: Path, file: str) -> Path | None:
    """Where below the prefix a plugin's library lies, e.g. `lib/mysql/plugin/ha_rocksdb.so`; None: nowhere."""
    return next((prefix / folder / file for folder in PLUGIN_FOLDERS if (prefix / folder / file).is_file()), None)


def check_plugin(dbms: Dbms, prefix: Path, binary: Path, words: str) -> None:
    """UsageError when `dbms` is a storage engine that this server does not have; `words`: how it presents itself."""
    if not dbms.plugin or find_plugin(prefix, dbms.plugin) or holds_text(binary, dbms.built_in):
        return
    raise UsageError(f"{prefix} has no {dbms.title}: {dbms.plugin} is missing; {plugin_bringer(words)}")


def plugin_bringer(words: str) -> str:
    """Who brings the storage engine that a server lacks; `words`: its version line, or the name of its maker."""
    return next(sentence for mark, sentence in _BRINGERS if re.search(mark, words))


def built_in_engines(dbms: Dbms, binary: Path) -> list[str]:
    """Titles of the storage engines among those known that the server needs no library for."""
    relatives = (each for each in KNOWN if each.plugin and each.binaries == dbms.binaries)
    return [each.title for each in relatives if holds_text(binary, each.built_in)]
