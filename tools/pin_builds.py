"""Writes the digests of the catalog's packages, `src/dbversus/builds/catalog/pins.toml`, for those that have none yet.

npm's are read from its metadata. All others are fetched, one at a time, hashed and removed: the newest minor version of each
major one first. Each is written as it comes, so that a run that was ended goes on where it was.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from dbversus.builds.catalog import CatalogEntry, available
from dbversus.builds.client import find_client, run_client, say
from dbversus.builds.digests import is_digest
from dbversus.builds.install import PROVIDERS
from dbversus.builds.packages.inspect import sha256_of
from dbversus.dbms.versions import version_key
from dbversus.errors import RunError

PINS = Path(__file__).resolve().parents[1] / "src/dbversus/builds/catalog/pins.toml"
MACHINES = ("x86_64", "aarch64")
HEAD = "# Digests of the catalog's packages, by architecture; written by tools/pin_builds.py (docs/builds.md).\n"


def main() -> int:
    """Pins what can be had within the time; status 1 when something is left."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machine", choices=MACHINES, action="append", help="only packages of this architecture")
    parser.add_argument("--minutes", type=float, default=30, help="when to stop fetching (default: 30)")
    chosen = parser.parse_args()
    until = time.monotonic() + 60 * chosen.minutes
    machines = chosen.machine or MACHINES
    pins = {
        machine: {entry.package_key: entry.digest for entry in _pinnable(machine) if entry.digest}
        for machine in MACHINES
    }
    left = {machine: [entry for entry in _pinnable(machine) if not entry.digest] for machine in machines}
    for machine, entries in left.items():
        for package, digest in _of_npm([entry.package for entry in entries if entry.provider == "npm"]).items():
            pins[machine][f"npm:{package}"] = digest
            write(pins)
    for machine, entries in left.items():
        for entry in newest_first(entries):
            if entry.package_key in pins[machine] or time.monotonic() > until:
                continue
            if digest := _fetched_digest(entry):
                pins[machine][entry.package_key] = digest
                write(pins)
    return _say_what_is_left(left, pins)


def _pinnable(machine: str) -> list[CatalogEntry]:
    """apt compares its packages with signed lists, and its suites move on."""
    return [entry for entry in available(machine=machine) if entry.provider != "apt"]


def newest_first(entries: Iterable[CatalogEntry]) -> list[CatalogEntry]:
    """The newest minor version of each major one, then the second newest of each, and so on."""
    ranked: defaultdict[tuple[str, int], int] = defaultdict(int)
    ranks = []
    for entry in sorted(entries, key=lambda entry: version_key(entry.version), reverse=True):
        major = (entry.dbms, version_key(entry.version)[0][0])
        ranks.append((ranked[major], entry))
        ranked[major] += 1
    return [entry for _, entry in sorted(ranks, key=lambda ranked: ranked[0])]


def _of_npm(packages: list[str]) -> dict[str, str]:
    """The digests that npm's metadata has of `name@version`s; one look-up per name."""
    versions: defaultdict[str, list[str]] = defaultdict(list)
    for package in packages:
        name, _, version = package.rpartition("@")
        versions[name].append(version)
    digests = {}
    for name, wanted in versions.items():
        say(f"npm: metadata of {name}")
        words = run_client(
            [find_client("npm"), "view", "--json", f"{name}@{' || '.join(wanted)}", "version", "dist.integrity"], say
        )
        told = json.loads(words or "[]")
        for one in told if isinstance(told, list) else [told]:
            if is_digest(one.get("dist.integrity", "")):
                digests[f"{name}@{one['version']}"] = one["dist.integrity"]
    return digests


def _fetched_digest(entry: CatalogEntry) -> str:
    """Of the package as it comes; empty, and said, when it does not come."""
    with tempfile.TemporaryDirectory(prefix="pin-builds-") as folder:
        try:
            return sha256_of(PROVIDERS[entry.provider](entry, Path(folder), say).archives[0])
        except RunError as error:
            say(f"{entry.package_key}: {error}")
            return ""


def write(pins: dict[str, dict[str, str]]) -> None:
    """Whole or not at all."""
    tables = (
        f"\n[{machine}]\n" + "".join(f'"{package}" = "{digest}"\n' for package, digest in sorted(known.items()))
        for machine, known in pins.items()
    )
    partial = PINS.with_suffix(".partial")
    partial.write_text(HEAD + "".join(tables), encoding="utf-8")
    partial.replace(PINS)


def _say_what_is_left(wanted: dict[str, list[CatalogEntry]], pins: dict[str, dict[str, str]]) -> int:
    left = {
        machine: [one for one in entries if one.package_key not in pins[machine]] for machine, entries in wanted.items()
    }
    for machine, entries in left.items():
        print(f"{machine}: {len(_pinnable(machine))} packages, {len(entries)} without a pin")
    return int(any(left.values()))


if __name__ == "__main__":
    sys.exit(main())
