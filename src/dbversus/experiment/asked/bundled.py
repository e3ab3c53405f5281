"""Experiments that come with dbversus, as files that can be copied and changed (experiments/*.toml, experiments/posts/*.toml)."""

from collections.abc import Iterable
from pathlib import Path

from dbversus.errors import UsageError
from dbversus.home import shipped
from dbversus.names import did_you_mean
from dbversus.private import whole

POSTS = "posts"
"""The folder of experiments that repeat published ones."""


def ready_experiments() -> dict[str, Path]:
    """Their files by name: `durability`, `posts/2021-01-10-pg-mem`."""
    return {
        path.relative_to(place).with_suffix("").as_posix(): path
        for place in reversed(shipped("experiments"))
        for glob in ("*.toml", f"{POSTS}/*.toml")
        for path in sorted(place.glob(glob))
    }


def find_experiment(name: str) -> Path:
    """The file of a ready experiment by its name, or the file of that path; UsageError when it is neither."""
    name = whole(name)
    if name.endswith(".toml") or Path(name).is_file():
        return Path(name)
    ready = ready_experiments()
    if name in ready:
        return ready[name]
    raise UsageError(
        f"Unknown experiment '{name}'.{did_you_mean(name, ready)} Accepted: {', '.join(_briefly(ready))}, "
        "or the path of an experiment file (docs/experiments.md)."
    )


def absolute_name(name: str) -> str:
    """The same experiment, named for any working directory."""
    return name if name in ready_experiments() and not Path(name).is_file() else str(Path(name).absolute())


def _briefly(names: Iterable[str]) -> list[str]:
    """Posts are many: they are one item."""
    return [*(name for name in names if "/" not in name), f"{POSTS}/… (docs/posts.md)"]
