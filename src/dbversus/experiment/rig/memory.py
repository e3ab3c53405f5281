"""The limit of memory of each server: while it is measured, and not while its data is loaded.

A load under the limit would take longer and come to the same data, which experiments with and without a limit share.
"""

from collections.abc import Collection
from pathlib import Path

from dbversus.errors import RunError
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.host import memory_limit, page_cache
from dbversus.units import show_memory


def limit_memory(rig: Rig, fresh: Collection[str]) -> None:
    """Before servers start: nothing of data that was restored (names in `fresh`) is cached, and each gets its limit.

    Pages that the copying has left in the page cache would count as ours, and servers would read them without any limit.
    """
    if rig.spec.memory is None:
        return
    page_cache.drop([target.server.data_dir for target in rig.alive if target.name in fresh])
    for target in rig.alive:
        if directory := _directory(target):
            try:
                memory_limit.set_limit(directory, rig.spec.memory)
            except OSError as error:
                asked = show_memory(rig.spec.memory)
                raise RunError(
                    f"{target.label}: {directory} does not take the limit {asked}: {error.strerror}."
                ) from error


def lift_limit(target: Target) -> None:
    """Before its data is made."""
    if directory := _directory(target):
        memory_limit.set_limit(directory, None)


def _directory(target: Target) -> Path | None:
    return target.placement.cgroup.memory if target.placement.cgroup else None
