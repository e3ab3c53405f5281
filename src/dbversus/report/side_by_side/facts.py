"""What an experiment is called beside others, and where it was measured."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from dbversus.errors import UsageError
from dbversus.report.side_by_side.model import Facts
from dbversus.report.words import listing
from dbversus.results.records import Experiment
from dbversus.results.stored import Results
from dbversus.stats.values.finished import counted_blocks
from dbversus.stats.values.imported import is_imported
from dbversus.units import count_of, show_count


def facts_of(experiments: Sequence[Results], given: Sequence[str]) -> tuple[Facts, ...]:
    """Raises UsageError when `given` names are not one for each experiment, or not different."""
    names = _given(given, len(experiments)) if given else _names(experiments)
    return tuple(
        Facts(
            name=name,
            directory=str(each.directory),
            host=host_of(each),
            kernel=kernel_of(each),
            table_sizes=_table_sizes(each),
            clients=listing([str(count) for count in each.header.clients]) if each.header.clients else "",
            blocks=len(counted_blocks(each)),
            measured=_date(each),
            imported=is_imported(each),
        )
        for name, each in zip(names, experiments, strict=True)
    )


def _given(names: Sequence[str], count: int) -> list[str]:
    if len(names) != count:
        raise UsageError(
            f"--as is given {count_of(len(names), 'time')} for {count} results directories; name each of them, in their order."
        )
    if "" in names or len(set(names)) < count:
        raise UsageError(f"--as {', '.join(names)}: give each results directory a name of its own.")
    return list(names)


def _names(experiments: Sequence[Results]) -> list[str]:
    """By the first of these that tells them all apart; paths do."""
    tellers: tuple[Callable[[Results], str], ...] = (
        host_of,
        _kernel_name,
        _sizes_name,
        lambda one: one.directory.resolve().name,
    )
    for tell in tellers:
        names = [tell(each) for each in experiments]
        if all(names) and len(set(names)) == len(names):
            return names
    return [str(each.directory) for each in experiments]


def host_of(results: Results) -> str:
    """`AMD EPYC, 2 cores`; empty where the CPU's model is not known."""
    cpu = _part(results, "cpu")
    model, cores = cpu.get("model"), cpu.get("cores")
    if not model:
        return ""
    return f"{model}, {count_of(cores, 'core')}" if isinstance(cores, int) else str(model)


def kernel_of(results: Results) -> str:
    return str(results.host.get("kernel") or "")


def _kernel_name(results: Results) -> str:
    kernel = kernel_of(results)
    return f"kernel {kernel}" if kernel else ""


def _sizes_name(results: Results) -> str:
    sizes = _table_sizes(results)
    return f"{sizes} rows per table" if sizes else ""


def table_sizes(header: Experiment) -> list[int]:
    """Rows of each table; empty where they are not told."""
    return header.table_sizes or [size for size in (header.table_size,) if size]


def _table_sizes(results: Results) -> str:
    """`1m`, `1m and 10m`"""
    sizes = table_sizes(results.header)
    return listing([show_count(size) for size in sizes], most=len(sizes)) if sizes else ""


def _date(results: Results) -> str:
    at = results.header.at_unix_ns
    return f"{datetime.fromtimestamp(at / 1e9, UTC):%Y-%m-%d %H:%M} UTC" if at else ""


def _part(results: Results, name: str) -> Mapping[str, Any]:
    part = results.host.get(name)
    return part if isinstance(part, Mapping) else {}
