"""The tools are scripts, no package: their folder has to be on the path to import them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
