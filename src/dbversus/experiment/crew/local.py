"""The worker of a local run: this process."""

from dbversus.experiment.cell.block import run_cell
from dbversus.experiment.crew.worker import Order, Take
from dbversus.experiment.rig.session import Session


class LocalWorker:
    """Its records are given away as they come, so that what was measured of a cell is kept when a run is stopped."""

    name = "this process"

    def __init__(self, session: Session):
        self.session = session

    def perform(self, order: Order, take: Take) -> None:
        self.session.records = take
        run_cell(self.session, order.cell)

    def close(self) -> None:
        self.session.close()

    stop = close
