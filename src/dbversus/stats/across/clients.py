"""Several numbers of clients as levels of a factor: the names of cases (`scan@1`, `scan@4`), and of all of them together."""


def case_of(name: str) -> tuple[str, int] | None:
    """Test and number of clients of a case; None: the name has no number of clients."""
    test, at, clients = name.rpartition("@")
    return (test, int(clients)) if at and clients.isdecimal() else None


def test_of(name: str) -> str:
    """The test of a case, without its number of clients."""
    case = case_of(name)
    return case[0] if case else name


def pooled_name(test: str) -> str:
    """What a test is called where all its numbers of clients are taken together: `scan@all`."""
    return f"{test}@all"
