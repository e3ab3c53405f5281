"""Builds from a Maven repository, through `mvn`."""

import shutil
from pathlib import Path

from dbversus.builds.catalog import CatalogEntry
from dbversus.builds.client import Fetched, Progress, find_client, run_client
from dbversus.errors import RunError
from dbversus.home import public_dir


def fetch(entry: CatalogEntry, into: Path, progress: Progress) -> Fetched:
    """Bring the artifact `group:artifact:version[:type[:classifier]]` into a folder.

    One without a pin has to come with the repository's own checksum, and to be as that says. Some have none there.
    """
    progress(f"maven: {entry.package}")
    repository = _get(entry.package, progress, "--lax-checksums" if entry.digest else "--strict-checksums")
    artifact = repository / _path_of(entry.package)
    if not artifact.is_file():
        raise RunError(f"mvn said it was done, but {artifact.name} is not in {repository}")
    target = into / artifact.name
    shutil.move(artifact, target)
    # The local repository keeps mvn's own plugins; builds would double the space they take.
    shutil.rmtree(artifact.parent, ignore_errors=True)
    return Fetched((target,), entry.version)


def check(entry: CatalogEntry, progress: Progress) -> None:
    """Raises NotFoundError when the repository has no such version; only the artifact's description (a pom) is brought."""
    group, artifact, version = entry.package.split(":")[:3]
    progress(f"maven: is there a {artifact} {version}?")
    _get(f"{group}:{artifact}:{version}:pom", progress)


def _get(coordinate: str, progress: Progress, checksums: str = "--strict-checksums") -> Path:
    """Has mvn bring an artifact into its local repository, whose path is returned."""
    repository = public_dir("cache", "maven")
    run_client(
        [
            find_client("mvn"),
            "--batch-mode",
            "--quiet",
            checksums,
            "-Dstyle.color=never",
            f"-Dmaven.repo.local={repository}",
            "dependency:get",
            f"-Dartifact={coordinate}",
            "-Dtransitive=false",
        ],
        progress,
        not_found="Could not find artifact|Failure to find",
    )
    return repository


def _path_of(coordinate: str) -> Path:
    group, artifact, version, *rest = coordinate.split(":")
    kind = rest[0] if rest else "jar"
    classifier = f"-{rest[1]}" if len(rest) > 1 else ""
    return Path(*group.split("."), artifact, version, f"{artifact}-{version}{classifier}.{kind}")
