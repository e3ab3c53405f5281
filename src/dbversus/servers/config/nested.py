"""Settings that say something of each of several things: `default={write_buffer_size=8M;compression=kZSTD};other={…}`."""

from collections.abc import Iterator


def merged(earlier: str, later: str) -> str:
    """What `later` says, and of `earlier` what it says nothing about; a value in braces is one value.

    Either is as it is where it cannot be read: the server refuses it.
    """
    try:
        known = {name: _named(inner) for name, inner in _of_each(earlier)}
        for name, inner in _of_each(later):
            known[name] = {**known.get(name, {}), **_named(inner)}
    except ValueError:
        return later
    return ";".join(
        f"{name}={{{';'.join(f'{option}={value}' for option, value in of_one.items())}}}"
        for name, of_one in known.items()
    )


def _of_each(text: str) -> Iterator[tuple[str, str]]:
    for name, value in _named(text).items():
        if not (value.startswith("{") and value.endswith("}")):
            raise ValueError(value)
        yield name, value[1:-1]


def _named(text: str) -> dict[str, str]:
    """`a=1;b={c=2;d=3}`: a and b. Raises ValueError where something has no value or braces do not match."""
    found = {}
    for item in _items(text):
        name, equals, value = item.partition("=")
        if not equals:
            raise ValueError(item)
        found[name.strip()] = value.strip()
    return found


def _items(text: str) -> Iterator[str]:
    """Between semicolons that are in no braces."""
    depth, start = 0, 0
    for position, char in enumerate(text):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth < 0:
            raise ValueError(text)
        if char == ";" and depth == 0:
            yield text[start:position]
            start = position + 1
    if depth:
        raise ValueError(text)
    if text[start:].strip():
        yield text[start:]
