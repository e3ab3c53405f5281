"""What could not be measured: said by the host, and seen in figures that no slot has."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dbversus.results.attributed import WHOLE_DEVICE
from dbversus.results.records import Remark
from dbversus.results.stored import Results
from dbversus.results.tables.counters import lack_spanned_ops

_HOST_LACKS = {
    "pmu": "CPU counters (PMU): no instructions or cache misses per operation",
    "pressure_stall_information": "pressure (PSI): disturbance is seen in other processes' CPU and stalls only",
}
_FIGURES = {
    "server_cpu_ns": "server CPU",
    "server_user_ns": "server CPU in user and system mode apart",
    "server_foreground_cpu_ns": "foreground and background CPU apart",
    "server_wait_ns": "waiting for a CPU",
    "server_switches": "context switches",
    "server_minor_faults": "page faults",
    "server_read_bytes": "bytes read",
    "server_write_bytes": "bytes written",
    "host_foreign_cpu_ns": "CPU used by other processes",
    "host_steal_ns": "CPU taken by the hypervisor",
}
# keys of host.json that hold sentences; they are shown here and not among the facts
SENTENCE_KEYS = ("notes", "not_measured")


def not_measured(results: Results) -> tuple[str, ...]:
    """One text per gap, without repeats."""
    said = [*_of_host(results.host), *_of_slots(results), *_of_counters(results), *_remarks(results)]
    return tuple(dict.fromkeys(said))


def _of_host(host: Mapping[str, Any]) -> Iterator[str]:
    for key in SENTENCE_KEYS:
        yield from map(str, host.get(key) or ())
    for key, words in _HOST_LACKS.items():
        if host.get(key) is False:
            yield words


def _of_slots(results: Results) -> Iterator[str]:
    target_of_slot = results.slots["target"]
    own = {target.label: target_of_slot == target.label for target in results.targets}
    labels = [label for label, slots in own.items() if slots.any()]
    for column, words in _FIGURES.items():
        missing = np.ma.getmaskarray(results.slots[column])
        without = [label for label in labels if missing[own[label]].all()]
        if without:
            where = "on any target" if len(without) == len(labels) else f"on {', '.join(without)}"
            yield f"{words}: not known {where}"


def _of_counters(results: Results) -> Iterator[str]:
    if lack_spanned_ops(results.records):
        yield (
            "operations that the servers' own counters span: an older dbversus divided by those of counted slots alone, "
            "so counters per operation are too high"
        )


def _remarks(results: Results) -> Iterator[str]:
    """What the engine and the servers' modules said of their figures."""
    for record in results.of_type(Remark):
        words = WHOLE_DEVICE.sub(
            r"disk \1 of the server alone: not known, only those of the whole device", record.words
        )
        yield f"{results.label(record.target)}: {words}" if record.target else words
