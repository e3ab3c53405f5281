"""The kinds of campaigns that there are."""

from dbversus.campaign.calibrating.agenda import Calibration
from dbversus.campaign.screening.agenda import Screening

AnyAgenda = Calibration | Screening
