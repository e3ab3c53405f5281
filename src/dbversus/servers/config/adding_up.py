"""Settings whose values add up over configs: `mrr=off,icp=off`, or for each family `default={compression=kZSTD};other={…}`."""

from collections.abc import Iterator

_RESET = "default"
"""Of switches: the server's own for all that are not named after it."""


def added(earlier: str, later: str) -> str:
    """What `later` says, and what `earlier` says of anything else. Raises ValueError with the text that cannot be read."""
    if "{" not in earlier + later:
        return later if _RESET in later.split(",") else _joined({**_named(earlier, ","), **_named(later, ",")}, ",")
    known = {name: _named(inner, ";") for name, inner in _of_each(earlier)}
    for name, inner in _of_each(later):
        known[name] = {**known.get(name, {}), **_named(inner, ";")}
    return _joined({name: f"{{{_joined(of_one, ';')}}}" for name, of_one in known.items()}, ";")


def _joined(values: dict[str, str], separator: str) -> str:
    return separator.join(f"{name}={value}" if value else name for name, value in values.items())


def _of_each(text: str) -> Iterator[tuple[str, str]]:
    for name, value in _named(text, ";").items():
        if not (value.startswith("{") and value.endswith("}")):
            raise ValueError(text)
        yield name, value[1:-1]


def _named(text: str, separator: str) -> dict[str, str]:
    """`a=1;b={c=2;d=3}`: a and b, whose value is in braces."""
    found = {}
    for item in _items(text, separator):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not (equals and value) and name != _RESET:
            raise ValueError(text)
        found[name] = value
    return found


def _items(text: str, separator: str) -> Iterator[str]:
    """What stands between separators that are in no braces."""
    depth, start = 0, 0
    for position, char in enumerate(text):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth < 0:
            raise ValueError(text)
        if char == separator and depth == 0:
            yield text[start:position]
            start = position + 1
    if depth:
        raise ValueError(text)
    if text[start:].strip():
        yield text[start:]
