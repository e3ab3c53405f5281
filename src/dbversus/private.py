"""What is nobody else's business: passwords among settings, what tells a host from others, and where things lie on it.

One list of words for all that reads settings: a config made from a DBA's file, what servers are recorded to have, what is
exported, and lines of other tools that are kept. It errs on the side of leaving out.
"""

import json
import os
import platform
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from dbversus.home import expanded, home_dir

HIDDEN = "…"
"""In the place of what is not told."""

_SECRET = re.compile(
    # anywhere in a name
    r"pass|pwd|secret|token|credential|salt|auth|conninfo|connection_?str|private|key|ssl_?cert"
    # whole words of a name
    r"|(?:^|[._])(?:pw|creds?|dsn|ur[il]|cert(?:ificate)?s?|otp|nonce|ssl)(?=$|[._\d])"
    # SQL and programs that a server runs by itself, which may log in somewhere
    r"|^init_?(?:connect|file|slave|replica)$|_command$"
)
# these, whatever else is in the name
_SURELY = re.compile(r"pass|pwd|secret|token|credential|salt|private")
# what the other words stand in by chance: keys of tables, sizes, switches
_BY_CHANCE = re.compile(
    r"(?:.*_)?(?:primary|foreign)_keys?(?:_.*)?|key_(?:buffer|cache)(?:_.*)?|.*_key_(?:age_threshold|filtering|block_size)"
    r"|delay_key_write|.*_non_standard_key|max_(?:seeks_for_key|index_keys)|optimizer_(?:.*_)?key_(?:.*_)?costs?"
    r"|innodb_(?:default_encryption_key_id|encryption_rotate_key_age)|binlog_rotate_encryption_master_key_at_startup"
    r"|keyring_operations|(?:pre|post)_auth_delay|authentication_(?:timeout|policy)|default_authentication_plugin|secure_auth"
    r"|show_(?:slave|replica)_auth_info|auto_generate_certs|ssl|have_(?:open)?ssl"
    r"|ssl_(?:fips_mode|(?:min|max)_protocol_version|prefer_server_ciphers|renegotiation_limit|session_cache_(?:mode|timeout))"
    r"|version_ssl_library"
)
# how passwords are made and checked
_RULES = re.compile(
    r".*_token_size|validate_password(?!.*dictionary_file).*|password_encryption|old_passwords|max_password_errors"
    r"|.*_?password_(?:validation|warnings|lifetime|history|reuse_.*|require_current|length|digest_rounds|proxy_users"
    r"|(?:enforce_)?storage_format|auto_generate_rsa_keys|expiration_warning_threshold)"
    r"|disconnect_on_expired_password|log_builtin_as_identified_by_password"
)
_SWITCHES = ("", "on", "off", "yes", "no", "true", "false", "none", "null", "(disabled)", "default", "0", "1", "-1")
# of a host
_HOST = re.compile(
    r"(?:.*_)?hostname|.*_host|server_(?:uuid|uid)|cluster_name|bonjour_name|application_name|report_.*|.*_addresses|.*_address"
    r"|(?:general_log|slow_query_log|log_slow_query|(?:.*_)?pid)_file|log_error|log_basename|relay_log(?:_index|_basename)?"
    r"|wsrep_(?:node|cluster)_.*|krb_.*"
)
_IN_ADDRESS = re.compile(r"(://[^\s/:@\"']*:)[^\s/@\"']+(?=@)")
# what comes before a value: the name of a setting or of an option
_BEFORE = re.compile(r"(?P<setting>[A-Za-z_][\w.-]*)[\"']?\s*[=:]\s*|--(?P<option>[A-Za-z][\w-]*)\s+(?!-)")
_VALUE = re.compile(r"(?P<quote>[\"'])(?P<quoted>[^\"'\n]*)(?P=quote)|[^\s\"',;}\]]+")
_SHORT_OPTION = re.compile(r"(\s-[pP](?!\d+\b)(?=\S))([^\s\"',;]+)")
_CONFIG_LINE = re.compile(r"^(\s*)([A-Za-z][\w.-]*)(\s*=\s*)(\S.*)$", re.M)
# as MariaDB and MySQL log the number that they made from the host's network card
_SERVER_ID = re.compile(r"(?i)(\buuid: |\bserver_uu?id )\S+")
# a text that has none of them has no secret: looking for words is ten times as fast as one pattern of all
_HINTS = (
    "pass", "pwd", "secret", "token", "cred", "salt", "auth", "conninfo", "connection", "private", "key", "pw", "dsn",
    "url", "uri", "cert", "otp", "nonce", "ssl", "init_", "init-", "initc", "initf", "inits", "initr", "_command", "-command",
    "://", " -p", "\t-p",
)  # fmt: skip
HOME = "$DBVERSUS_HOME"
"""Where dbversus keeps what it fetches, in what is told."""


def holds_secret(name: str, value: str | None = None) -> bool:
    """Whether a setting may hold a password or a key, by its name in any spelling, or by an address with a password in it."""
    if value is not None and value.lower() in _SWITCHES:
        return False
    return _is_of_secret(name) or bool(value and _IN_ADDRESS.search(value))


@lru_cache(maxsize=4096)
def _is_of_secret(name: str) -> bool:
    plain = name.strip("-").replace("-", "_").lower().removeprefix("loose_")
    if not _SECRET.search(plain) or _RULES.fullmatch(plain):
        return False
    return not _BY_CHANCE.fullmatch(plain) or bool(_SURELY.search(plain))


def tells_host(name: str, value: str) -> bool:
    """Whether a setting tells which host this is, or where a server's files lie on it."""
    return bool(_HOST.fullmatch(name.lower())) or value.startswith("/")


def recorded(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings of a server as results have them: without secrets, and without what tells its host."""
    return without_secret_settings(
        {name: value for name, value in settings.items() if not tells_host(name, value or "")}
    )


def without_secret_settings(settings: Mapping[str, str]) -> dict[str, str]:
    return {name: HIDDEN if holds_secret(name, value) else value for name, value in settings.items()}


def without_secrets(text: str) -> str:
    """Words of others, with `…` for what is given as a password, a key or the like."""
    lowered = text.lower()
    if not any(hint in lowered for hint in _HINTS):
        return text
    text = "".join(_without_values(text))
    return _IN_ADDRESS.sub(rf"\1{HIDDEN}", _SHORT_OPTION.sub(rf"\1{HIDDEN}", text))


def _without_values(text: str) -> Iterator[str]:
    end = 0
    for before in _BEFORE.finditer(text):
        value = _VALUE.match(text, before.end())
        if before.start() >= end and value and holds_secret(before["setting"] or before["option"]):
            quote = value["quote"] or ""
            yield f"{text[end : before.end()]}{quote}{'' if value['quoted'] == '' else HIDDEN}{quote}"
            end = value.end()
    yield text[end:]


def config_told(text: str) -> str:
    """A config file as it may be told: secrets hidden, folders from the home."""
    return with_short_paths(_CONFIG_LINE.sub(_setting_hidden, text))


def _setting_hidden(found: re.Match[str]) -> str:
    before, name, between, value = found.groups()
    return f"{before}{name}{between}{HIDDEN}" if holds_secret(name, value.strip("\"'")) else found[0]


def said(text: str) -> str:
    """Words of a server as they may be told: without what tells the host, and with folders from the home."""
    return with_short_paths(without_host(text, host_names(platform.node())))


def host_names(*names: str) -> frozenset[str]:
    """Those by which a host may be called that has these names, with and without a domain."""
    return frozenset(one for name in names for one in (name, name.partition(".")[0]) if one not in ("", "localhost"))


def without_host(text: str, names: Collection[str]) -> str:
    """Without these names, with any domain, and without numbers that a server has made of the host's network card."""
    if names:
        which = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        text = re.sub(rf"(?<![\w-])(?:{which})(?:\.[A-Za-z][\w-]*)*(?![\w-])", HIDDEN, text)
    return _SERVER_ID.sub(rf"\1{HIDDEN}", text)


def with_short_paths(text: str) -> str:
    """The text with folders as they may be told: `$DBVERSUS_HOME/…` and `~/…`. JSON and TOML stay what they are."""
    for folder, name in ((str(home_dir()), HOME), (os.environ.get("HOME", ""), "~")):
        if len(folder) > 1:
            text = _folder(folder.rstrip("/")).sub(lambda _, name=name: name, text)  # type: ignore[misc]
    return text


def whole(text: str) -> str:
    """What `with_short_paths` made of a path, or of several with `:` or `,` between them, as this host has it."""
    text = text.replace(HOME, str(home_dir()))
    return re.sub(r"(?<![\w./~-])~(?=/)", lambda _: str(expanded("~")), text)


@lru_cache
def _folder(folder: str) -> re.Pattern[str]:
    """The folder itself and what lies in it, as it is and as JSON has it; not one whose name only begins so."""
    forms = {folder, json.dumps(folder)[1:-1], json.dumps(folder, ensure_ascii=False)[1:-1]}
    return re.compile(rf"(?<![\w.~/-])(?:{'|'.join(map(re.escape, sorted(forms)))})(?![\w.-])")
