"""Experiments that come with dbversus, as files that can be copied and changed (experiments/*.toml)."""

from pathlib import Path

from dbversus.errors import UsageError
from dbversus.names import near


def ready_experiments() -> dict[str, Path]:
    """Their files by name."""
    package = Path(__file__).resolve().parents[2]
    places = (package / "experiments", package.parents[1] / "experiments")
    return {path.stem: path for place in reversed(places) for path in sorted(place.glob("*.toml"))}


def find_experiment(name: str) -> Path:
    """The file of a ready experiment by its name, or the file of that path; UsageError when it is neither."""
    if name.endswith(".toml") or Path(name).is_file():
        return Path(name)
    ready = ready_experiments()
    if name in ready:
        return ready[name]
    raise UsageError(
        f"Unknown experiment '{name}'.{near(name, ready)} Accepted: {', '.join(ready)}, "
        "or the path of an experiment file (docs/experiments.md)."
    )
