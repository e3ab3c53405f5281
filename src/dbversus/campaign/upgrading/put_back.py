"""Which settings of the newer server can be given the values that they have on the older one."""

from collections.abc import Mapping, Sequence
from typing import Any

from dbversus.builds.model import Build
from dbversus.builds.store import obtained
from dbversus.builds.target import parse_target
from dbversus.dbms.settings import setting_key
from dbversus.explain.known import settings_named
from dbversus.explain.settings_diff import differing_settings
from dbversus.results.stored import Results
from dbversus.servers.config.load import inline
from dbversus.servers.create import refused_of

MOST = 15
"""Settings that are put back: so many take about ten minutes to screen."""


def put_back(results: Results, build: str, config: Sequence[str]) -> dict[str, str]:
    """Setting → the text that gives it the older value, as it stands in a target, of those that the newer build takes.

    Settings that differ between the two servers and are known to matter (explain/settings.toml), without those of `config`.
    """
    dbms = results.targets[1].dbms
    texts = older_texts(dbms, [results.server_json(target, "settings.json") for target in results.targets[:2]])
    own = {setting_key(dbms, inline(item).name) for item in config if "=" in item}
    texts = {name: text for name, text in texts.items() if setting_key(dbms, name) not in own}
    with obtained(parse_target(build)) as newer:
        taken = [name for name, text in texts.items() if _is_taken(newer, text)]
    return {name: texts[name] for name in taken[:MOST]}


def older_texts(dbms: str, settings: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """`name=value` of what is known to matter and differs; switches of one list are one setting.

    `settings`: of the older and of the newer server. What the newer one alone has gets the value that is known to bring the older
    behaviour back.
    """
    texts = [{name: str(value) for name, value in of_server.items()} for of_server in settings]
    found: dict[str, dict[str, str]] = {}
    for one in differing_settings(texts, [dbms, dbms]):
        name, _, switch = one.name.partition(".")
        meanings = settings_named(one.name, dbms)
        if one.values[1] is not None and meanings and (value := one.values[0] or meanings[0].back):
            found.setdefault(name, {})[switch] = meanings[0].back if "=" in meanings[0].back else value
    return {name: _text(name, values, texts[0].get(name, "")) for name, values in found.items()}


def _text(name: str, values: Mapping[str, str], whole: str) -> str:
    """`values`: by the switch of a list, or by the empty name. A list of modes has to be given as a whole."""
    alone = values.get("")
    if alone is not None:
        return alone if "=" in alone else f"{name}={alone}"
    switches = [f"{switch}={value}" for switch, value in values.items()]
    return f"{name}={','.join(switches) if '=' in whole else whole}"


def _is_taken(build: Build, text: str) -> bool:
    name, _, value = text.partition("=")
    quoted = value.replace("'", "''")
    return not refused_of(build, f"{name} = '{quoted}'\n")
