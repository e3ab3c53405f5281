"""dbversus upgrade: what gets slower with a newer version, why, and what to set."""

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from dbversus.builds.target import suggested_name
from dbversus.cli import campaigns, options
from dbversus.cli.choices import Choices, as_words, with_flags
from dbversus.cli.verbs.measure.compare import default_directory
from dbversus.errors import UsageError

if TYPE_CHECKING:
    from dbversus.builds.model import TargetSpec
    from dbversus.campaign.upgrading.agenda import Upgrade


@with_flags("upgrade")
def upgrade(
    older: Annotated[
        str, typer.Argument(metavar="OLD", help="What runs today: a build, such as mysql:5.7.", show_default=False)
    ],
    newer: Annotated[str, typer.Argument(metavar="NEW", help="What it is to become: mysql:8.0.", show_default=False)],
    *,
    config: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Your my.cnf or postgresql.conf; each version gets the lines that it takes. Or a config of dbversus by name.",
            show_default="each version's own defaults",
        ),
    ] = None,
    chosen: Choices,
    out: options.Out = None,
    json: options.Json = False,
    dry_run: options.DryRun = False,
    trust: options.Trust = False,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
) -> int:
    """Say what gets slower with a newer version, why, and what to set.

    Both versions run your statements with your settings. Where a test changed, the settings that differ between the two servers
    are put back on the newer one, so that it is known which of them make the change. A campaign that can be interrupted and
    resumed (docs/campaigns.md); its page is upgrade.md in the results directory.

    - `dbversus upgrade postgres:13 postgres:17 --time-budget 30m`
    - `dbversus upgrade mysql:5.7 mysql:8.0 --config /etc/mysql/my.cnf --suite ./shop.toml`
    - `dbversus upgrade mariadb:10.11 mariadb:11.4 --tests 'point-*,update-*' --profile quick --dry-run`
    """
    from dbversus.cli.consent import with_consent

    time_budget_s = chosen.pop("time_budget_s", None)
    agenda = _agenda(older, newer, config, chosen)
    _, may_execute = with_consent(lambda: agenda.first_spec, None, trust=trust, dry_run=dry_run)
    if dry_run:
        campaigns.print_first(agenda, as_json=json, may_execute=may_execute)
        return 0
    name = re.sub(r"[^\w.]+", "-", f"{older.rpartition('/')[2]}-{newer.rpartition('/')[2]}")
    directory = out or default_directory(agenda.first_spec, f"upgrade-{name}")
    words = ["dbversus", "upgrade", older, newer, *(["--config", config] if config else []), *as_words(chosen)]
    course = campaigns.measure(
        agenda, directory, shlex.join(words), time_budget_s=time_budget_s, wait=wait, quiet=quiet
    )
    return campaigns.conclude(course, as_json=json, quiet=quiet)


def _agenda(older: str, newer: str, config: str | None, chosen: Choices) -> "Upgrade":
    from dbversus.builds.target import parse_target, split_name, with_name
    from dbversus.campaign.screening.factors import written
    from dbversus.campaign.upgrading.agenda import Upgrade
    from dbversus.campaign.upgrading.carried import carry

    specs = parse_target(older), parse_target(newer)
    if specs[0].dbms != specs[1].dbms:
        raise UsageError(
            f"an upgrade is one between versions of one DBMS; {older} and {newer} are two, which `dbversus compare` compares."
        )
    if given := [spec.text for spec in specs if spec.configs]:
        raise UsageError(f"{given[0]} has settings of its own; name the build alone, and your settings with --config.")
    if specs[0].selector == specs[1].selector:
        raise UsageError(f"{older} and {newer} are the same build; name the one that runs today, and the one to come.")
    carried = carry(config, *specs, chosen.get("config_dir"))
    builds = [split_name(spec.text)[1] for spec in specs]
    names = _names(specs)
    before, after = (
        with_name(name, written(build, items))
        for name, build, items in zip(names, builds, (carried.older, carried.newer), strict=True)
    )
    return Upgrade(before, after, builds[1], carried.newer, dict(chosen), carried.left_out)


def _names(specs: "Sequence[TargetSpec]") -> list[str]:
    """As they were given, else by DBMS and version; where both would be called alike, by what they are."""
    made = [spec.name or suggested_name(f"{spec.dbms} {spec.selector.rpartition('/')[2]}") for spec in specs]
    return made if made[0] != made[1] else ["older", "newer"]
