"""dbversus demo: the main job on the embedded default, for a first look."""

from dbversus.cli import options
from dbversus.cli.verbs.measure.compare import compare
from dbversus.errors import DbversusError


def demo(out: options.Out = None, quiet: options.Quiet = False) -> int:
    """Compare two SQLite targets in a minute and a half: the bundled library against the host's, or two configurations.

    - `dbversus demo`
    """
    return compare(_targets(), profile="demo", out=out, quiet=quiet)


def _targets() -> list[str]:
    from dbversus.builds.providers.path import host_sqlite

    try:
        host_sqlite()
    except DbversusError:
        return ["sqlite:bundled@wal", "sqlite:bundled@wal,cache_64mb"]
    return ["sqlite:host@wal", "sqlite:bundled@wal"]
