"""Builds from Debian's suites, through `apt-get` with a state of its own: the host's packages are not touched.

A suite other than the host's comes with all libraries it needs, C library included ("closure").
"""

import contextlib
import os
import platform
import pwd
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from dbversus.builds.catalog import CatalogEntry
from dbversus.builds.client import Fetched, NotFoundError, Progress, find_client, run_client
from dbversus.errors import RunError
from dbversus.home import public_dir

_NOT_FOUND = (
    "Unable to locate package|Can't find a source|has no installation candidate|no packages found|404 +Not Found"
)
# Parts of a release that follow its name; a rolling suite has none of them.
_POCKETS = ("", "-updates", "-security")
_KEYRING_FOLDER = Path("/usr/share/keyrings")
_KEYRINGS = ("debian-archive-keyring.gpg", "debian-archive-keyring.pgp")


def fetch(entry: CatalogEntry, into: Path, progress: Progress) -> Fetched:
    """Bring packages (names separated by blanks, `name=version` for a certain one) of a suite into a folder.

    Options: `suite`; `libraries` = "host": the packages alone, never a closure; `base_suite` and `base_packages`: the
    closure of these is fetched, and the packages that it does not hold, or that are of another suite, laid over it.
    """
    suite = entry.options["suite"]
    base_suite = entry.options.get("base_suite", suite)
    packages = entry.package.split()
    own_libc = needs_closure(entry)
    environment = _prepare(sorted({base_suite, suite}), entry.options["arch"], progress)
    progress(f"apt: {entry.package} of {suite}")
    archives: list[Path] = []
    if own_libc:
        base_packages = entry.options.get("base_packages", entry.package).split()
        archives += _closure(base_packages, environment, into / "closure", progress)
    # Only a suite laid over another one is named: naming one would hide its security updates.
    wanted = [name for name in packages if not _archives_of(name, archives)]
    if base_suite != suite:
        wanted = [f"{name}/{suite}" for name in packages]
    if wanted:
        archives += _download(wanted, environment, into / "packages", progress)
    return Fetched(tuple(archives), _upstream_version(archives, packages[0], progress), own_libc=own_libc)


def download(packages: list[str], suite: str, arch: str, into: Path, progress: Progress) -> list[Path]:
    """Bring packages of a suite alone, without what they depend on; `arch` in Debian's words, `into` is made."""
    return _download(packages, _prepare([suite], arch, progress), into, progress)


def needs_closure(entry: CatalogEntry) -> bool:
    """Whether an entry comes with a C library of its own, to which its programs have to be tied."""
    base_suite = entry.options.get("base_suite", entry.options["suite"])
    return host_suite() != base_suite and entry.options.get("libraries") != "host"


def host_suite() -> str:
    """Code name of the host's release, e.g. `bookworm`; empty when it does not tell."""
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    except OSError:
        return ""


def source_lines(index_targets: str, host: str, suite: str, keyring: Path) -> list[str]:
    """Source lines for `suite`, on the mirrors where this host gets its own release from.

    `index_targets`: `RELEASE|ORIGIN|COMPONENT|URI` lines, as apt-get lists its sources.
    """
    rolling = suite in ("sid", "experimental", "unstable")
    lines = []
    for line in index_targets.splitlines():
        release, origin, component, uri = line.split("|")
        pocket = release.removeprefix(host)
        if (
            not release.startswith(host)
            or pocket not in _POCKETS
            or component != "main"
            or origin not in ("Debian", "")
        ):
            continue
        if not (rolling and pocket):
            lines.append(f"deb [signed-by={keyring}] {uri} {suite}{pocket} main")
    return sorted(set(lines))


def _prepare(suites: list[str], arch: str, progress: Progress) -> dict[str, str]:
    """An own apt state for these suites, with fresh package lists; returns the environment that makes apt use it."""
    client = find_client("apt-get")
    folder = public_dir("cache", "apt", "+".join(suites))
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text("\n".join(_sources(client, suites, progress)) + "\n", encoding="utf-8")
    config = folder / "apt.conf"
    config.write_text(
        f'Dir::Etc::sourcelist "{folder}/sources.list";\nDir::Etc::sourceparts "-";\n'
        f'Dir::Etc::preferences "-";\nDir::Etc::preferencesparts "-";\n'
        f'Dir::State::lists "{folder}/lists";\nDir::State::status "{folder}/status";\nDir::Cache "{folder}/cache";\n'
        f'APT::Architecture "{arch}";\n\nAcquire::Languages "none";\nDebug::NoLocking "1";\n',
        encoding="utf-8",
    )
    environment = {"APT_CONFIG": str(config)}
    progress(f"apt: package lists of {', '.join(suites)}")
    run_client([client, "-qq", "update"], progress, environment=environment)
    return environment


def _sources(client: str, suites: list[str], progress: Progress) -> list[str]:
    shape = "$(RELEASE)|$(ORIGIN)|$(COMPONENT)|$(REPO_URI)"
    targets = run_client([client, "indextargets", "--format", shape, "Created-By: Packages"], progress)
    lines = [line for suite in suites for line in source_lines(targets, host_suite(), suite, keyring())]
    if not lines:
        raise RunError(
            "this host's apt sources name no mirror of Debian; Debian's packages are only to be had through one"
        )
    return lines


def keyring() -> Path:
    """Debian's keys, by which its lists are checked, and by these the packages; RunError where the host has none."""
    for name in _KEYRINGS:
        if (_KEYRING_FOLDER / name).is_file():
            return _KEYRING_FOLDER / name
    raise RunError(
        f"Debian's packages cannot be checked: {_KEYRING_FOLDER} holds no {_KEYRINGS[0]};"
        " install Debian package debian-archive-keyring"
    )


def _closure(packages: list[str], environment: dict[str, str], into: Path, progress: Progress) -> list[Path]:
    """The packages with all they depend on."""
    archives = Path(environment["APT_CONFIG"]).parent / "cache" / "archives"
    for old in archives.glob("*.deb"):
        old.unlink()
    client = find_client("apt-get")
    options = ["-qq", "--assume-yes", "--no-install-recommends", "--download-only"]
    run_client([client, *options, "install", *packages], progress, not_found=_NOT_FOUND, environment=environment)
    into.mkdir()
    return [Path(shutil.move(archive, into)) for archive in sorted(archives.glob("*.deb"))]


def _download(packages: list[str], environment: dict[str, str], into: Path, progress: Progress) -> list[Path]:
    """The packages alone."""
    client = find_client("apt-get")
    into.mkdir()
    with _sandbox_may_write(into):
        run_client(
            [client, "-qq", "download", *packages], progress, not_found=_NOT_FOUND, folder=into, environment=environment
        )
    return sorted(into.glob("*.deb"))


@contextlib.contextmanager
def _sandbox_may_write(folder: Path) -> Iterator[None]:
    """apt started by root talks to mirrors as `_apt`, as long as that user can write where the packages go."""
    if os.geteuid() == 0:
        with contextlib.suppress(KeyError):
            os.chown(folder, pwd.getpwnam("_apt").pw_uid, -1)
    yield
    if os.geteuid() == 0:
        os.chown(folder, 0, -1)


def _upstream_version(archives: list[Path], package: str, progress: Progress) -> str:
    """The software's own version: Debian's without epoch and revision, `1:19~rc1-1+b2` is 19rc1."""
    newest = _archives_of(package, archives)
    if not newest:
        raise NotFoundError(f"apt-get brought no package {package}")
    client = find_client("dpkg-deb")
    text = run_client([client, "--field", str(newest[-1]), "Version"], progress).strip()
    return upstream_version(text)


def _archives_of(package: str, archives: list[Path]) -> list[Path]:
    """Of the archives, those of a package, which may be written `name=version`."""
    name = package.partition("=")[0]
    return [archive for archive in archives if archive.name.startswith(f"{name}_")]


def upstream_version(text: str) -> str:
    """`1:10.5.29-0+deb11u1` is 10.5.29, `19~rc1-1` is 19rc1."""
    match = re.match(r"(?:\d+:)?(\d+(?:\.\d+)*(?:~?(?:alpha|beta|rc)\d+)?)", text)
    if match is None:
        raise RunError(f"package version {shlex.quote(text)} is not understood")
    return match.group(1).replace("~", "")
