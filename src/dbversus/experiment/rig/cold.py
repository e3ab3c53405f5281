"""Cold and mixed caches: servers started anew while the page cache holds nothing of their files, and nothing read for them."""

import contextlib
from pathlib import Path
from typing import Any

from dbversus.dbms.known import find_dbms
from dbversus.errors import RunError
from dbversus.experiment.rig.rig import Rig
from dbversus.host import page_cache


def cache_facts(cache: str, folder: Path) -> dict[str, Any]:
    """How the page cache of data in `folder` is dropped, for host.json; nothing with warm caches.

    Raises UsageError when this host cannot drop its page cache.
    """
    return {} if cache == "warm" else {"page_cache_dropped_by": page_cache.check(folder)}


def empty_caches(rig: Rig, block: int) -> None:
    """Stops the servers that are up, drops the page cache, and starts them again without warming them.

    What they have left to do (purge) is done and the stop is a clean one, so that no start reads data for want of that. Tests
    that were open are not any more.
    """
    targets = rig.alive
    for target in targets:
        with contextlib.suppress(RunError):  # of a server that is gone
            target.server.thaw()
            target.server.warm([])
        rig.remove(target)
        for name in find_dbms(target.server.dbms).cache_dumps:
            (target.server.data_dir / name).unlink(missing_ok=True)
    page_cache.drop([target.server.data_dir for target in targets])
    for target in targets:
        try:
            rig.start(target, goes_on=True, block=block)
            target.server.warm([])
        except RunError as error:
            rig.failure(target, "start", str(error), final=True, block=block)
