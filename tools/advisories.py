"""Known vulnerabilities of what dbversus needs at run time (`make audit`): pip-audit for Python, `cargo audit` for the engine.

Both ask databases of advisories, so they need a network. Status 0: none is known but those that SECURITY.md has; 1: some are;
2: not all could be looked up.
"""

import json
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# In an environment of its own: what dbversus is measured and tested with does not change.
ENVIRONMENT = ROOT / ".venv/audit"
PIP_AUDIT = "pip-audit==2.10.1"
# Read by hand; SECURITY.md says why each does not reach us.
READ_BY_HAND = ("RUSTSEC-2023-0071",)


@dataclass(frozen=True)
class Audit:
    """Of how many packages advisories were read, what they say, and why others could not be looked up."""

    packages: int = 0
    known: list[str] = field(default_factory=list)
    missed: str = ""


def main() -> int:
    """Says what is known, and ends with one sentence."""
    python, rust = audit_python(), audit_rust()
    known = python.known + rust.known
    for line in known:
        print(line)
    counted = f"of {python.packages} Python packages and {rust.packages} crates"
    if missed := "; ".join(filter(None, (python.missed, rust.missed))):
        print(f"Not everything was audited: {missed}.")
    elif known:
        print(f"Known vulnerabilities {counted}: {len(known)}.")
    else:
        print(
            f"No vulnerability {counted} is known but what was read by hand (SECURITY.md): {', '.join(READ_BY_HAND)}."
        )
    return 1 if known else 2 if missed else 0


def audit_python() -> Audit:
    """What pip-audit says of requirements.txt; it calls a package that it cannot look up a success."""
    try:
        program = _pip_audit()
    except (OSError, subprocess.CalledProcessError):
        return Audit(missed=f"{PIP_AUDIT} cannot be installed for the Python packages (is there a network?)")
    options = ["--disable-pip", "--no-deps", "--progress-spinner", "off", "--format", "json"]
    told = _told([program, *options, "-r", str(ROOT / "requirements.txt")])
    if told is None:
        return Audit(missed="pip-audit could not ask for Python's advisories (is there a network?)")
    found = told["dependencies"]
    skipped = [one["name"] for one in found if "skip_reason" in one]
    known = [
        f"{one['name']} {one['version']}: {fault['id']} (mended in {', '.join(fault['fix_versions']) or 'no version yet'})"
        for one in found
        for fault in one.get("vulns", ())
    ]
    missed = (
        f"{len(skipped)} Python packages are not known where pip-audit asks (is there a network?)" if skipped else ""
    )
    return Audit(len(found) - len(skipped), known, missed)


def audit_rust() -> Audit:
    """What `cargo audit` says of engine/Cargo.lock."""
    if shutil.which("cargo-audit") is None:
        return Audit(missed="cargo-audit is not installed for the engine's crates (cargo install cargo-audit --locked)")
    ignored = [word for advisory in READ_BY_HAND for word in ("--ignore", advisory)]
    told = _told(["cargo", "audit", "--json", "--file", str(ROOT / "engine/Cargo.lock"), *ignored])
    if told is None:
        return Audit(missed="cargo-audit could not fetch RustSec's advisories (is there a network?)")
    known = [
        f"{one['package']['name']} {one['package']['version']}: {one['advisory']['id']} ({one['advisory']['title']})"
        for one in told["vulnerabilities"]["list"]
    ]
    return Audit(told["lockfile"]["dependency-count"], known)


def _pip_audit() -> str:
    """The path of pip-audit, installed if it is not here."""
    program = ENVIRONMENT / "bin/pip-audit"
    if not program.exists():
        venv.create(ENVIRONMENT, with_pip=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PIP_AUDIT]
        subprocess.run([ENVIRONMENT / "bin/python", *install], check=True, capture_output=True)
    return str(program)


def _told(command: list[str]) -> Any:
    """What a program says as JSON, whatever its status; None when it says something else."""
    result = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    try:
        return json.loads(result.stdout)
    except ValueError:
        return None


if __name__ == "__main__":
    sys.exit(main())
