"""What is nobody else's business: passwords among settings, what tells a host from others, and where things lie on it.

One list of words for all that reads settings: a config made from a DBA's file, what servers are recorded to have, what is
exported, and lines of other tools that are kept. It errs on the side of leaving out.
"""

import json
import os
import platform
import re
from collections.abc import Mapping
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
# what those words stand in by chance: sizes, switches, names of ways
_NO_SECRET = re.compile(
    r"(?:.*_)?(?:primary|foreign)_keys?(?:_.*)?|key_(?:buffer|cache)(?:_.*)?|.*_key_(?:age_threshold|filtering|block_size)"
    r"|delay_key_write|.*_non_standard_key|max_seeks_for_key|optimizer_(?:.*_)?key_(?:.*_)?costs?|.*_token_size"
    r"|innodb_(?:default_encryption_key_id|encryption_rotate_key_age)|binlog_rotate_encryption_master_key_at_startup"
    r"|validate_password(?!.*dictionary_file).*|password_encryption|old_passwords|max_password_errors"
    r"|.*_?password_(?:validation|warnings|lifetime|history|reuse_.*|require_current|length|digest_rounds|proxy_users"
    r"|(?:enforce_)?storage_format|auto_generate_rsa_keys|expiration_warning_threshold)"
    r"|disconnect_on_expired_password|log_builtin_as_identified_by_password"
    r"|authentication_(?:timeout|policy)|default_authentication_plugin|secure_auth|show_(?:slave|replica)_auth_info"
    r"|auto_generate_certs|ssl|ssl_(?:fips_mode|(?:min|max)_protocol_version|prefer_server_ciphers|renegotiation_limit"
    r"|session_cache_(?:mode|timeout))|have_.*|version_ssl_library"
)
# of a host
_HOST = re.compile(
    r"(?:.*_)?hostname|.*_host|server_(?:uuid|uid)|cluster_name|bonjour_name|application_name|report_.*|.*_addresses|.*_address"
    r"|(?:general_log|slow_query_log|log_slow_query|(?:.*_)?pid)_file|log_error|log_basename|relay_log(?:_index|_basename)?"
    r"|wsrep_(?:node|cluster)_.*|krb_.*"
)
_IN_ADDRESS = re.compile(r"(://[^\s/:@\"']*:)[^\s/@\"']+(?=@)")
_VALUE = r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s\"',;}\]]+)"
# the name of a setting or an option, what stands between, and its value
_GIVEN = re.compile(rf"(?P<name>[A-Za-z_][\w.-]*)(?P<between>[\"']?\s*[=:]\s*){_VALUE}")
_OPTION = re.compile(rf"--(?P<name>[A-Za-z][\w-]*)(?P<between>\s+)(?!-){_VALUE}")
_SHORT_OPTION = re.compile(r"(\s-[pP](?!\d+\b)(?=\S))([^\s\"',;]+)")
_CONFIG_LINE = re.compile(r"^(\s*)([A-Za-z][\w.-]*)(\s*=\s*)(\S.*)$", re.M)
# as MariaDB and MySQL log the number that they made from the host's network card
_SERVER_ID = re.compile(r"(?i)(\buuid: |\bserver_uu?id )\S+")
_MAY_HOLD = re.compile(
    r"pass|pwd|secret|token|cred|salt|auth|conn|private|key|://|\s-p|pw|dsn|cert|_command|init_", re.I
)
HOME = "$DBVERSUS_HOME"
"""Where dbversus keeps what it fetches, in what is told."""


def holds_secret(name: str, value: str | None = None) -> bool:
    """Whether a setting may hold a password or a key, by its name in any spelling, or by an address with a password in it."""
    plain = name.strip("-").replace("-", "_").lower().removeprefix("loose_")
    by_name = _SECRET.search(plain) and not _NO_SECRET.fullmatch(plain)
    return bool(by_name) or bool(value and _IN_ADDRESS.search(value))


def tells_host(name: str, value: str) -> bool:
    """Whether a setting tells which host this is, or where a server's files lie on it."""
    return bool(_HOST.fullmatch(name.lower())) or value.startswith("/")


def recorded(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings of a server as results have them: without secrets, and without what tells its host."""
    return without_secret_settings(
        {name: value for name, value in settings.items() if not tells_host(name, value or "")}
    )


def without_secret_settings(settings: Mapping[str, str]) -> dict[str, str]:
    return {name: HIDDEN if value and holds_secret(name, value) else value for name, value in settings.items()}


def without_secrets(text: str) -> str:
    """Words of others, with `…` for what is given as a password, a key or the like."""
    if not _MAY_HOLD.search(text):
        return text
    for pattern in (_GIVEN, _OPTION):
        text = pattern.sub(_hidden, text)
    return _IN_ADDRESS.sub(rf"\1{HIDDEN}", _SHORT_OPTION.sub(rf"\1{HIDDEN}", text))


def _hidden(found: re.Match[str]) -> str:
    value = found["value"]
    if not holds_secret(found["name"]) or value.strip("\"'") in ("", HIDDEN):
        return found[0]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{found[0][: found.start('value') - found.start()]}{quote}{HIDDEN}{quote}"


def config_told(text: str) -> str:
    """A config file as it may be told: secrets hidden, folders from the home."""
    return told(_CONFIG_LINE.sub(_setting_hidden, text))


def _setting_hidden(found: re.Match[str]) -> str:
    before, name, between, value = found.groups()
    is_open = value in ("''", '""') or not holds_secret(name, value)
    return found[0] if is_open else f"{before}{name}{between}{HIDDEN}"


def said(text: str) -> str:
    """Words of a server as they may be told: without the host's name and the numbers that are made of it."""
    names = {name for name in (platform.node(), platform.node().partition(".")[0]) if name not in ("", "localhost")}
    if names:
        which = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        text = re.sub(rf"(?<![\w-])(?:{which})(?![\w-])", HIDDEN, text)
    return told(_SERVER_ID.sub(rf"\1{HIDDEN}", text))


def told(text: str) -> str:
    """The text with folders as they may be told: `$DBVERSUS_HOME/…` and `~/…`. JSON and TOML stay what they are."""
    for folder, name in ((str(home_dir()), HOME), (os.environ.get("HOME", ""), "~")):
        if len(folder) > 1:
            text = _folder(folder.rstrip("/")).sub(lambda _, name=name: name, text)  # type: ignore[misc]
    return text


def whole(text: str) -> str:
    """What `told` made of a path, or of several with `:` or `,` between them, as this host has it."""
    text = text.replace(HOME, str(home_dir()))
    return re.sub(r"(?<![\w./~-])~(?=/)", lambda _: str(expanded("~")), text)


@lru_cache
def _folder(folder: str) -> re.Pattern[str]:
    """The folder itself and what lies in it, as it is and as JSON has it; not one whose name only begins so."""
    forms = {folder, json.dumps(folder)[1:-1], json.dumps(folder, ensure_ascii=False)[1:-1]}
    return re.compile(rf"(?<![\w.~/-])(?:{'|'.join(map(re.escape, sorted(forms)))})(?![\w.-])")
