"""The first record of a journal: what is measured."""

from typing import Any

import msgspec

from dbversus.results.records.base import Part, Record
from dbversus.results.records.calibration import CalibrationBrief


class Rendered(Part, frozen=True, omit_defaults=False):
    """A target's config with the values that this host gave it.

    name: of the config
    settings: of the server
    environment: variables of its process
    init_options: of the creation of its data directory
    chosen: names of settings and options that are not those of the base config
    ddl: what is changed in how tables and indexes are made
    """

    name: str
    settings: dict[str, str]
    environment: dict[str, str] = {}
    init_options: dict[str, str] = {}
    chosen: list[str] = []
    ddl: dict[str, str] = {}


class TargetFacts(Part, frozen=True, omit_defaults=False):
    """A target of the experiment.

    name: in the journal and in names of files: `t0`, `t1`, …
    label: for people: `postgres:13.1`, or the name that it was given
    spelled: what it is, where it was given a name: `postgres:13.1`
    version: of the build
    config: name of the config
    checksum: of the build's binary
    rendered: the config as it came out on this host
    """

    name: str
    label: str
    dbms: str = ""
    version: str | None = None
    config: str | None = None
    checksum: str | None = None
    rendered: Rendered | None = None
    spelled: str | None = None

    @property
    def written(self) -> str:
        """As a target is written: `postgres:13.1@x`, of one with a name and of the second of two equal ones too."""
        return self.spelled or self.label.partition("#")[0]

    @property
    def binary(self) -> tuple[str, str | None]:
        """The same for two targets only if they are the same binary."""
        return self.dbms, self.checksum or self.version

    @property
    def tells(self) -> bytes:
        """The same for two targets only if they are the same binary with the same config, whatever that is called."""
        config = msgspec.structs.replace(self.rendered, name="", chosen=[]) if self.rendered else self.config
        return msgspec.json.encode((*self.binary, config))


class StoredFile(Part, frozen=True):
    """A file of `suite/` or `configs/`.

    file: its path in the results directory
    sha256: of its content
    from: the file that it is a copy of
    """

    file: str
    sha256: str
    origin: str = msgspec.field(name="from")


class Experiment(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What is measured. The first line of every journal.

    schema: version of the records
    dbversus: its version
    command: what repeats the experiment
    targets: the first is the base
    tests: names in order
    kinds: test → title of its kind
    aged: tests that are measured on aged data
    settings: test → DBMS → name → value, of tests whose connections have settings of their own
    suite_checksum: of all that its tests do
    suite: name, or path of a file
    profile: name of the profile
    clients: numbers of clients
    table_size: rows of each table; the smallest where there are several sizes
    table_sizes: all of them, where there are several
    tables: how many
    data: what they hold in words, where `table_size` does not say it
    memory: bytes that each server may have; null: no limit
    seed: of all values and orders
    looks: numbers of blocks after which tests are judged
    judge: short names of the metrics that make verdicts; older results were judged by `cpu`, `throughput`, `io`
    margins: metric → share, where it was asked for
    calibration: one for each DBMS that has a calibration; null: left out on request
    test_margins: test → metric → share, only those wider than the default
    spec: all of `experiment.toml`
    files: those of `suite/` and `configs/`
    """

    schema: int
    dbversus: str = "?"
    command: str = ""
    targets: list[TargetFacts]
    tests: list[str]
    kinds: dict[str, str] = {}
    aged: list[str] = []
    settings: dict[str, dict[str, dict[str, bool | int | float | str]]] = {}
    suite: str = ""
    suite_checksum: str | None = None
    profile: str | None = None
    clients: list[int] = []
    table_size: int | None = None
    table_sizes: list[int] = []
    tables: int | None = None
    data: list[str] = []
    seed: int | None = None
    mode: str | None = None
    order: str | None = None
    cache: str = "warm"
    memory: int | None = None
    restart: str | None = None
    restore: str | None = None
    looks: list[int] = []
    judge: list[str] = []
    margins: dict[str, float] = {}
    calibration: list[CalibrationBrief] | None = []
    test_margins: dict[str, dict[str, float]] = {}
    spec: dict[str, Any] = {}
    files: list[StoredFile] = []

    @property
    def told_apart(self) -> list[tuple[str, bytes]]:
        """Labels of targets of which the binary is known, and what tells one from another; none where slowdowns are injected."""
        if self.spec.get("inject") is not None:
            return []
        return [(target.label, target.tells) for target in self.targets if target.checksum is not None]
