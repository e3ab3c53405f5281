"""The worker of a local run: this process."""

from dbversus.experiment.cell.block import run_cell
from dbversus.experiment.crew.worker import Order, Take
from dbversus.experiment.rig.rig import Rig


class LocalWorker:
    """Its records are given away as they come, so that what was measured of a cell is kept when a run is stopped."""

    name = "this process"

    def __init__(self, rig: Rig):
        self.rig = rig

    def perform(self, order: Order, take: Take) -> None:
        self.rig.records = take
        run_cell(self.rig, order.cell)

    def close(self) -> None:
        self.rig.close()

    stop = close
