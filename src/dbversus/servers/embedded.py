"""What servers without a process of their own have in common: there is nobody to signal, and no log."""

from dbversus.servers.log_event import LogEvent


class WithoutProcess:
    """The client's thread is the server; `_running` says whether clients may come."""

    _running = False

    def stop(self) -> None:
        self._running = False

    def kill(self) -> None:
        self._running = False

    def thaw(self) -> None: ...

    def await_counts(self) -> None: ...

    def is_running(self) -> bool:
        return self._running

    @property
    def root_pid(self) -> int | None:
        return None

    def status_text(self) -> str:
        return ""

    def log_end(self) -> int:
        return 0

    def log_since(self, begin: int) -> str:
        return ""

    def events_in(self, log: str) -> list[LogEvent]:
        return []

    def log_tail(self, lines: int = 40) -> str:
        return ""
