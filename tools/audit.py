"""auditwheel, also for a wheel of another machine: `audit.py aarch64 repair --plat manylinux_2_28_aarch64 …`.

It checks such a wheel well, but its command line only lets this machine's platforms be named.
"""

import platform
import sys

from auditwheel.main import main

if __name__ == "__main__":
    machine = sys.argv.pop(1)
    platform.machine = lambda: machine
    sys.exit(main())
