"""How often the clocks of servers strike before what a test has left them counts as done."""

# At the first strike of its clock after a test, InnoDB's page cleaner finds that there was work since the last one. At the
# second it finds that there was none, and writes the pages that the test has left.
_STRIKES = 2


def strikes(put_off_s: float, freeze: bool) -> int:
    """How often servers are frozen for `put_off_s` and let go until they are idle, after a test that changes data."""
    return _STRIKES if put_off_s and freeze else 1
