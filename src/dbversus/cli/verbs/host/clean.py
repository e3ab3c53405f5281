"""dbversus clean: what is kept on this host, and giving it back."""

import json as json_module
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from dbversus.storage.listing import Kept


def clean(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="What is listed, by name; or builds, snapshots, libraries, downloads, data, leftovers: all of a kind."
        ),
    ] = None,
    unused: Annotated[
        str | None, typer.Option(help="Remove what was not used for so long: 12h, 30d, 2w.", show_default="none")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would be removed.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the list, or what was removed, as JSON.")] = False,
) -> int:
    """List the builds, snapshots, libraries, downloads, data and leftovers that are kept, or remove some.

    Your own installations, results and calibrations are left alone, and so is what is in use.

    - `dbversus clean`
    - `dbversus clean --unused 30d --dry-run`
    - `dbversus clean --unused 30d`
    - `dbversus clean postgres:maven/17.2 3f9a21c0d5e7`
    - `dbversus clean snapshots`
    """
    from dbversus.storage.listing import own_installations
    from dbversus.storage.removal import choose, parse_age
    from dbversus.storage.removal import unused as unused_of

    age_s = parse_age(unused) if unused else None
    kept = _look()
    if not names and age_s is None:
        _print_json(kept) if json else _print_list(kept)
        return 0
    chosen = choose(kept, names, own_installations()) if names else kept
    if age_s is not None:
        chosen = unused_of(chosen, age_s)
    return _remove(chosen, dry_run=dry_run, json=json, by_name=bool(names))


def _look() -> "list[Kept]":
    from dbversus.report.terminal import make_console
    from dbversus.storage.listing import list_kept

    with make_console(stderr=True).status("adding up sizes"):  # seen on a terminal only
        return list_kept()


def _remove(chosen: "Sequence[Kept]", *, dry_run: bool, json: bool, by_name: bool) -> int:
    """Removes what it can; status 1 when something that was named is in use."""
    from dbversus.storage.removal import remove
    from dbversus.units import show_bytes

    removed: list[Kept] = []
    left: list[tuple[Kept, str]] = []
    for one in chosen:
        why = (f"in use by {one.user}" if one.user else "") if dry_run else remove(one)
        if why:
            left.append((one, why))
            print(f"dbversus: {one.kind} {one.name} is kept: {why}", file=sys.stderr)
            continue
        removed.append(one)
        if not json:
            print(f"{'would remove' if dry_run else 'removed'} {one.kind} {one.name} ({show_bytes(one.size_bytes)})")
    freed_bytes = sum(one.size_bytes for one in removed)
    if json:
        words = [{"kind": one.kind, "name": one.name, "why": why} for one, why in left]
        content = {"dry_run": dry_run, "removed": _fields(removed), "kept": words, "freed_bytes": freed_bytes}
        print(json_module.dumps(content, indent=1))
    else:
        print(f"{'would free' if dry_run else 'freed'} {show_bytes(freed_bytes)}")
    return 1 if left and by_name else 0


def _print_list(kept: "Sequence[Kept]") -> None:
    from dbversus.home import home_dir
    from dbversus.report.terminal import make_console, plain_table, print_table
    from dbversus.units import show_bytes

    if not kept:
        print(f"nothing is kept in {home_dir()}", file=sys.stderr)
        return
    table = plain_table("kind", "name", "size", "last used", "what")
    for one in kept:
        used = f"in use by {one.user}" if one.user else f"{_age(time.time() - one.used_unix_s)} ago"
        table.add_row(one.kind, one.name, show_bytes(one.size_bytes), used, one.about)
    print_table(make_console(), table)
    total = show_bytes(sum(one.size_bytes for one in kept))
    print(f"{total} in {home_dir()}; remove some: dbversus clean NAME…, or --unused 30d", file=sys.stderr)


def _age(seconds: float) -> str:
    for unit, name in ((86400, "d"), (3600, "h")):
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 60:.0f} min"


def _print_json(kept: "Sequence[Kept]") -> None:
    print(json_module.dumps(_fields(kept), indent=1))


def _fields(kept: "Sequence[Kept]") -> list[dict[str, Any]]:
    return [
        {
            "kind": one.kind,
            "name": one.name,
            "about": one.about,
            "path": str(one.path),
            "size_bytes": one.size_bytes,
            "used_unix_s": round(one.used_unix_s),
            "in_use_by": one.user or None,
        }
        for one in kept
    ]
