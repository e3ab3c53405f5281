"""All observers, in the order in which they are called."""

from dbversus.experiment.observe.background import Background
from dbversus.experiment.observe.counters import Counters
from dbversus.experiment.observe.functions import Functions
from dbversus.experiment.observe.injection import Injecting
from dbversus.experiment.observe.latency import Latency
from dbversus.experiment.observe.log import Log
from dbversus.experiment.observe.memory import Memory
from dbversus.experiment.observe.objects import Objects
from dbversus.experiment.observe.observer import Observer, Observers
from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.observe.space import Space
from dbversus.experiment.observe.timeline import Timeline
from dbversus.experiment.observe.waits import Waits

OBSERVERS: tuple[type[Observer], ...] = (
    Counters,
    Objects,
    Space,
    Memory,
    Injecting,
    Latency,
    Timeline,
    Background,
    Log,
    Functions,
    Waits,
)


BY_FORM: tuple[type[Observer], ...] = (Latency, Log)
"""Those that tell forms of a test apart while these take turns on one server."""

COUNTED_ALONE: tuple[type[Observer], ...] = (Counters, Objects)
"""Those that count what a server does, whoever asks for it."""


def observers_of(scene: Scene) -> Observers:
    """None for a replay, which journals nothing."""
    if scene.replay:
        return Observers(scene, ())
    return Observers(scene, BY_FORM if scene.case.forms else OBSERVERS)
