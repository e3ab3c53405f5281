"""The two ways in which dbversus gives up: the user asked for something impossible, or a run went wrong."""


class DbversusError(Exception):
    """One clear sentence for the user; `status` is the exit status of the command."""

    status = 1


class UsageError(DbversusError):
    """Bad input. The message names the thing that is wrong and what would be accepted; nothing was started or changed."""

    status = 2


class RunError(DbversusError):
    """Something failed while running; the message carries the server's or the system's own words."""

    status = 1


def reason(error: Exception) -> str:
    """What went wrong, without the number and the path that Python puts around an error of the system."""
    return getattr(error, "strerror", None) or str(error)
