"""The programs that fetch builds and fit them to this host: where each is found, and which of them an entry needs."""

import importlib.util

from dbversus.builds.catalog import CatalogEntry
from dbversus.builds.client import CLIENTS, client_path
from dbversus.builds.providers import apt
from dbversus.errors import RunError


def missing_tools(entry: CatalogEntry) -> list[str]:
    """What is needed to fetch an entry and is not on this host."""
    return [name for name in _needed(entry) if client_path(name) is None]


def is_ready(entry: CatalogEntry) -> bool:
    """Whether this host has all that fetching the entry needs."""
    return not missing_tools(entry)


def check_tools(entry: CatalogEntry) -> None:
    """Raises RunError, before anything is downloaded, that names all that is missing and how to install it."""
    missing = missing_tools(entry)
    if missing:
        advice = "; ".join(f"{name}: {CLIENTS[name]}" for name in missing)
        raise RunError(
            f"{entry.name} cannot be fetched without {' and '.join(missing)}, which this host does not have; install {advice}"
        )


def _needed(entry: CatalogEntry) -> list[str]:
    match entry.provider:
        case "maven":
            return ["mvn"]
        case "npm":
            return ["npm"]
        case "pip":
            return [] if importlib.util.find_spec("pip") else ["pip3"]
        case "apt":
            return ["apt-get", "dpkg-deb", *(["patchelf"] if apt.needs_closure(entry) else [])]
        case _:
            return []
