"""Two configs are taken apart into what differs, and any mixture of them is a target that says the same."""

from pathlib import Path

import pytest

from dbversus.builds.target import parse_target
from dbversus.campaign.screening.factors import Settings, settings_of
from dbversus.errors import UsageError
from dbversus.servers.config.load import load_config
from dbversus.servers.config.sizing import Sizing

SIZING = Sizing(2**34, 2, 4, 2**30)


def values(dbms: str, version: str, target: str, place: Path | None = None) -> dict[str, str]:
    """All that a target sets, by name."""
    config = load_config(dbms, version, parse_target(target).configs, SIZING, place)
    ddl = {f"ddl.{name}": value for name, value in config.ddl.items()}
    return {**config.settings, **config.environment, **config.init_options, **ddl}


def check_ends(dbms: str, version: str, configs: tuple[str, str], place: Path | None = None) -> Settings:
    """Either end as a mixture comes to what the config itself does."""
    settings = settings_of(dbms, version, configs, place)
    names = [factor.name for factor in settings.factors]
    build = f"{dbms}:{version}"
    for config, second in zip(configs, ((), names), strict=True):
        target = settings.target(build, second)
        assert values(dbms, version, target, place) == values(dbms, version, f"{build}@{config}", place)
        assert set(settings.chosen(target)) == set(second)
    return settings


def test_what_both_say_is_common_and_what_differs_is_a_factor() -> None:
    settings = check_ends("postgres", "17.2", ("work_mem=1MB,jit=on", "jit=on,work_mem=8MB,env.X=1"))
    assert settings.common == ("jit=on",)
    assert [(one.name, one.first, one.second) for one in settings.factors] == [
        ("work_mem", "work_mem=1MB", "work_mem=8MB"),
        ("env.X", None, "env.X=1"),
    ]
    assert settings.target("postgres:17.2", ["env.X"]) == "postgres:17.2@jit=on,work_mem=1MB,env.X=1"


def test_what_only_repeats_the_base_is_no_factor(tmp_path: Path) -> None:
    base = values("postgres", "17.2", "postgres:17.2")
    for first in (f"jit={base['jit']}", "base"):
        settings = check_ends("postgres", "17.2", (first, "work_mem=8MB"))
        assert [one.name for one in settings.factors] == ["work_mem"]
        assert settings.target("postgres:17.2", ()) == "postgres:17.2"


@pytest.mark.parametrize("dbms,version", [("postgres", "17.2"), ("mysql", "8.0.33"), ("mariadb", "10.11.6")])
def test_the_servers_own_defaults_against_the_base(dbms: str, version: str) -> None:
    settings = check_ends(dbms, version, ("server_defaults", "base"))
    assert settings.common == ("server_defaults",) and len(settings.factors) > 10
    assert all(one.first is None for one in settings.factors)


def test_values_with_commas_quotes_and_braces_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres/odd.conf").write_text(
        "search_path = 'a, \"b\"'\ndatestyle = '''x'''\napplication_name = '{{braces}}'\n"
        "[ddl]\nindex = 'WITH (fillfactor = 50, deduplicate_items = off)'\n"
    )
    settings = check_ends("postgres", "17.2", ("work_mem=1MB", "odd"), tmp_path)
    assert len(settings.factors) == 5
    check_ends("postgres", "17.2", ("odd", "work_mem=1MB"), tmp_path)


def test_spellings_of_one_setting_are_one_factor() -> None:
    settings = settings_of("mysql", "8.0.33", ("log_bin=x", "skip-log-bin="), None)
    assert [one.name for one in settings.factors] == ["skip-log-bin"]


def test_a_config_file_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.conf"
    file.write_text("work_mem = 8MB\n[since 99]\njit = on\n")
    settings = settings_of("postgres", "17.2", ("base", str(file)), None)
    assert [one.second for one in settings.factors] == ["work_mem=8MB"]


def test_equal_and_unknown_configs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="jit=on and jit=on say the same for postgres 17"):
        settings_of("postgres", "17.2", ("jit=on", "jit=on"), None)
    with pytest.raises(UsageError, match="There is no config 'nosuch' for postgres"):
        settings_of("postgres", "17.2", ("base", "nosuch"), None)
    with pytest.raises(UsageError, match="cannot be read"):
        settings_of("postgres", "17.2", ("base", str(tmp_path / "gone.conf")), None)
