"""What a calibration can inject; apart from its plan, so that the command line can name them at once."""

from enum import StrEnum


class Kind(StrEnum):
    """What is added to the third copy."""

    CPU = "cpu"
    IO = "io"
    NONE = "none"
