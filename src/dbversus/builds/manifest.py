"""build.json: what is installed in a folder of the store. A folder without one is not an installed build."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dbversus.builds.model import Build
from dbversus.builds.packages.inspect import Inspection, sha256_of
from dbversus.home import why_not_ours

MANIFEST = "build.json"
_FORMAT = 1


@dataclass(frozen=True)
class Manifest:
    """`binary` and `prefix` are absolute; size and time of the binary tell quickly whether it is still the same."""

    dbms: str
    version: str
    provider: str
    name: str
    prefix: str
    binary: str
    checksum: str
    binary_size_bytes: int
    binary_mtime_ns: int
    machine: str
    series: str = ""
    package: str = ""
    package_sha256: str = ""
    compiled: str = ""
    lacks: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    format: int = _FORMAT

    def build(self) -> Build:
        """The build it stands for."""
        return Build(
            self.dbms,
            self.version,
            self.provider,
            Path(self.prefix),
            self.checksum,
            self.compiled,
            dict(self.environment),
        )

    def is_intact(self) -> bool:
        """Is the binary the one that was installed: same size and time, else same checksum."""
        binary = Path(self.binary)
        if not binary.is_file():
            return False
        facts = binary.stat()
        same_at_a_glance = (facts.st_size, facts.st_mtime_ns) == (self.binary_size_bytes, self.binary_mtime_ns)
        return same_at_a_glance or sha256_of(binary) == self.checksum


def manifest_of(found: Inspection, prefix: Path, provider: str, name: str) -> Manifest:
    """The manifest of an inspected installation."""
    facts = found.binary.stat()
    return Manifest(
        dbms=found.dbms,
        version=found.version,
        provider=provider,
        name=name,
        prefix=str(prefix),
        binary=str(found.binary),
        checksum=found.checksum,
        binary_size_bytes=facts.st_size,
        binary_mtime_ns=facts.st_mtime_ns,
        machine=found.machine,
        compiled=found.compiled,
    )


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write it whole or not at all: its presence is what makes the folder a build."""
    partial = folder / f".{MANIFEST}.partial"
    partial.write_text(json.dumps(asdict(manifest), indent=2) + "\n", encoding="utf-8")
    partial.chmod(0o644)
    partial.replace(folder / MANIFEST)


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest in a folder, None when there is none that this version understands, or others may have written it."""
    if why_not_ours(folder) or why_not_ours(folder / MANIFEST):
        return None
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return Manifest(**{**content, "lacks": tuple(content["lacks"])}) if content.get("format") == _FORMAT else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
