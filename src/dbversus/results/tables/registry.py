"""All tables of results whose rows follow from the journal. One that is added here can be queried, and sealed."""

from dbversus.results.tables.amounts import AMOUNTS
from dbversus.results.tables.background import BACKGROUND_WORK, DRAINS
from dbversus.results.tables.counters import COUNTERS
from dbversus.results.tables.events import EVENTS
from dbversus.results.tables.memory import MEMORY
from dbversus.results.tables.objects import OBJECTS, PHASES
from dbversus.results.tables.stalls import STALLS
from dbversus.results.tables.table import ResultTable
from dbversus.results.tables.timeline import TIMELINE

TABLES: tuple[ResultTable, ...] = (
    DRAINS,
    BACKGROUND_WORK,
    COUNTERS,
    OBJECTS,
    PHASES,
    TIMELINE,
    EVENTS,
    STALLS,
    AMOUNTS,
    MEMORY,
)
