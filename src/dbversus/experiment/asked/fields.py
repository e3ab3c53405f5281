"""Every choice of an experiment: its type, limits, default, and its flag on the command line.

The flags are a table that is generated from here: after a change, `python -m dbversus.cli.generate`.
"""

from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from dbversus.experiment.asked.demands import CONDITIONS
from dbversus.experiment.asked.flag import Flag
from dbversus.experiment.asked.shares import Inject
from dbversus.stats.judgeable import JUDGEABLE, USUAL

LAB = "lab"
"""The table of an experiment file with the settings of `IN_LAB`."""
IN_LAB = ("placement", "freeze", "cache", "cold_slot_ms", "restart", "restore")
"""Settings for experiments about measuring itself; no question about a database needs them."""
RENAMED = {"settle_ms": "warm_up_ms"}
"""Settings as an older dbversus wrote them in results folders → as they are called now."""
LAB_PANEL = "For the lab: experiments about measuring itself"
LEAST_MEMORY_BYTES = 2**20


class Fields(BaseModel):
    """The settings of experiment.toml, before ExperimentSpec has checked how they go together.

    Times: `*_ms` ms, `*_s` seconds. `looks` are numbers of blocks after which tests are judged; the last is the most
    blocks that are run. `test_seconds`: by glob, for tests whose time is not `seconds`. With several `clients`, or several
    sizes in `table_size`, every test runs with each. `memory`: bytes that each server may have while it is measured, with
    what the page cache holds for it (None: no limit). `judge`: short names of metrics that make verdicts,
    `margins`: shares by metric (0.03 = 3 %).
    `lead_in_s`: before the rows of each test that changes data, in every block, the same work is done uncounted until the
    slowest target has taken that long for it, so that flushing, checkpoints and purge are under way in the rows (0: no lead-in).
    `drain_s`: the time that every server has after each test that changes data, to do what that has left (0: none); it is
    done when it was idle for `drain_idle_s`.
    `calibration`: widen margins by what this host was found to vary by, and cite it (docs/calibration.md).
    `alone`: there is one target, and it is measured without a comparison.
    `at_once`: most servers that are up together in interleaved order, the base among them (None: all). `optional`: configs
    whose targets are left out, and said to be, where the server refuses them.
    `inject`: known slowdowns, by target, kind and test (experiment/asked/shares.py); with it, be it empty, every server carries
    the library that makes them (None: none does).
    `functions`: while rows are driven, perf samples which functions of the servers use the CPU (docs/explain.md); that costs
    time, so the experiment is one beside that which makes the verdicts. `waits`: the same of what the threads wait for that serve
    the clients.
    `judge_load`: the load of the suite's tables is a test, the first of each block, on a freshly initialised server.
    `cache`: warm: tables are read into memory before each block; cold: servers are restarted and the page cache is dropped
    before each row, with slots of about `cold_slot_ms`; mixed: the same once, at the start of each block.
    `restart`, `restore`: servers are started, and data restored, for each block or only for the first.
    `wait_quiet_s`: before each block, how long to wait at most for other work on the host to end; `require_quiet`: where it has
    not, end the run.
    `posts`: published posts that the experiment repeats, whose claims its results are held against (docs/posts.md).
    `fail_on`, `require_verdicts`: what the exit status demands of a run, where the command line says nothing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    targets: list[str] = Field(min_length=1)
    label: Annotated[
        str | None,
        Flag("What this experiment is called, in titles and in its folder's name, e.g. patch-123.", ("compare", "run")),
    ] = Field(None, min_length=1, max_length=80)
    suite: Annotated[
        str, Flag("Suite by name (`dbversus suites list`) or TOML file.", ("compare", "explain", "upgrade"))
    ] = "sysbench"
    variants: Annotated[
        list[str],
        Flag(
            "Variants of the suite, commas between: what `dbversus suites show SUITE` lists as such, e.g. bursts.",
            ("compare", "calibrate", "explain", "upgrade"),
            "names",
            name="--variant",
        ),
    ] = Field(default_factory=list)
    tests: Annotated[
        str | None,
        Flag(
            "Only these tests: globs, comma separated, e.g. 'point-*,scan'.",
            ("compare", "calibrate", "explain", "upgrade"),
        ),
    ] = None
    profile: Annotated[
        str,
        Flag(
            "How much to measure: demo, quick, standard, fine, sustained, io-bound, reference-2017, -2021 or -2021-io. fine: 1 % "
            "between settings of one build; between builds, luck of layout is larger than that (docs/trust.md).",
            ("compare", "explain", "upgrade"),
        ),
    ] = "standard"
    mode: Annotated[Literal["prepared", "unprepared"], Flag("Statements: prepared or unprepared.")] = "prepared"
    table_size: Annotated[
        int,
        Flag(
            "Rows per table, e.g. 100k; 1m,10m measures each.",
            ("compare", "run", "calibrate", "explain", "upgrade"),
            "counts",
            default="profile's",
        ),
    ] = Field(1_000_000, ge=1)
    tables: Annotated[int, Flag("Number of tables.", default="profile's")] = Field(1, ge=1)
    memory: Annotated[
        int | None,
        Flag(
            "What each server may have, page cache of its files included, e.g. 512m (docs/memory.md).",
            ("compare", "run", "calibrate", "explain", "upgrade"),
            "memory",
            default="no limit",
        ),
    ] = Field(None, ge=LEAST_MEMORY_BYTES)
    clients: Annotated[
        list[int],
        Flag(
            "Concurrent connections; 1,2,4 runs every test with each.",
            ("compare", "calibrate"),
            "counts",
            default="profile's",
        ),
    ] = Field(default=[1], min_length=1)
    order: Annotated[
        Literal["interleaved", "sequential"],
        Flag("interleaved: targets alternate in slots; sequential: one after the other (docs/modes.md)."),
    ] = "interleaved"
    alone: Annotated[
        bool, Flag("Measure one target by itself: figures without a comparison, and no verdict.", ("compare", "run"))
    ] = False
    at_once: Annotated[
        int | None,
        Flag("Most servers up at once, the base among them; the others take turns.", default="all"),
    ] = Field(None, ge=2)
    optional: list[str] = Field(default_factory=list)
    seed: Annotated[int, Flag("Seed of data and parameters.", ("compare", "calibrate", "explain", "upgrade"))] = Field(
        1, ge=0, lt=2**63
    )
    slot_ms: float = Field(20, ge=1, le=3_600_000)
    write_slot_ms: float = Field(40, ge=1, le=3_600_000)
    warm_up_ms: float = Field(5, ge=0, le=600_000, validation_alias=AliasChoices("warm_up_ms", "settle_ms"))
    lead_in_s: float = Field(0, ge=0, le=3600)
    drain_s: float = Field(2.0, ge=0, le=600)
    drain_idle_s: float = Field(0.2, gt=0, le=60)
    rows: int = Field(36, ge=1)
    seconds: float = Field(5, gt=0)
    test_seconds: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    looks: list[int] = Field(default=[3, 4, 6, 8, 12], min_length=1)
    time_budget_s: Annotated[
        float | None,
        Flag(
            "Start no block that would end later than this, e.g. 45m.",
            ("compare", "resume", "calibrate", "explain", "upgrade"),
            "duration",
            default="none",
        ),
    ] = Field(None, gt=0)
    wait_quiet_s: Annotated[
        float | None,
        Flag(
            "Before each block, wait up to so long for other work on the host to end, e.g. 5m.",
            ("compare", "run", "resume", "calibrate"),
            "duration",
            default="no wait",
        ),
    ] = Field(None, gt=0)
    require_quiet: Annotated[
        bool,
        Flag(
            "End the run where other work goes on before a block; `resume` goes on with it.",
            ("compare", "run", "calibrate"),
        ),
    ] = False
    placement: Annotated[
        Literal["auto", "split", "together", "apart", "none"],
        Flag("CPUs of client and server: auto, split, together, apart or none.", panel=LAB_PANEL),
    ] = "auto"
    freeze: Annotated[bool, Flag("Do not freeze idle servers between slots.", panel=LAB_PANEL)] = True
    config_dir: Annotated[
        str | None,
        Flag(
            "Look here first for config files named in targets (docs/configs.md).",
            ("compare", "configs", "explain", "upgrade"),
            "path",
            default="./configs",
        ),
    ] = None
    check_events: int = Field(20, ge=0)
    judge: Annotated[
        list[str],
        Flag(
            f"Metrics that make verdicts, one or more of {', '.join(JUDGEABLE)}: e.g. cpu,throughput,io,p99.",
            ("compare", "run", "calibrate", "explain", "upgrade"),
            "metrics",
        ),
    ] = Field(default=[*USUAL])
    judge_load: Annotated[
        bool,
        Flag(
            "Repeat the load of the tables in every block, in turns with the other targets, and judge it as the test `load`.",
            ("compare", "run"),
        ),
    ] = False
    margins: Annotated[
        dict[str, float],
        Flag(
            "Changes below this are boring, e.g. cpu=0.05 or p99=0.2 (repeatable).",
            kind="margins",
            name="--margin",
            default="3 % CPU/op, 5 % throughput, IO/op, mean and median response time, 10 % p95 and p99",
        ),
    ] = Field(default_factory=dict)
    inject: Inject | None = None
    calibration: Annotated[bool, Flag("Leave this host's calibration out: the usual margins for all tests.")] = True
    cache: Annotated[
        Literal["warm", "cold", "mixed"],
        Flag(
            "warm: tables are read before each block; cold: every row begins after a restart; mixed: every block does.",
            panel=LAB_PANEL,
        ),
    ] = "warm"
    cold_slot_ms: float = Field(2000, ge=1, le=3_600_000)
    restart: Annotated[
        Literal["block", "never"], Flag("Start servers for each `block`, or `never` again.", panel=LAB_PANEL)
    ] = "block"
    restore: Annotated[
        Literal["block", "never"], Flag("Restore data for each `block`, or `never` again.", panel=LAB_PANEL)
    ] = "block"
    functions: bool = False
    waits: bool = False
    posts: list[str] = Field(default_factory=list)
    fail_on: Annotated[
        list[str],
        Flag(
            f"Exit with 99 when there is one: {', '.join(CONDITIONS)} (commas between, repeatable; small: a small change for the "
            "worse, or a regression); "
            "with 98 when nothing could be judged of the run or of one of its targets.",
            ("compare", "run", "resume", "report"),
            "texts",
        ),
    ] = Field(default_factory=list)
    require_verdicts: Annotated[
        str | None,
        Flag(
            "Exit with 98 when fewer comparisons (a test on a target) than this share, e.g. 80%, are found to be a "
            "regression, an improvement, a small change or equivalent.",
            ("compare", "run", "resume", "report"),
            default="none",
        ),
    ] = None
