"""``python -m axiloom`` is the ``axiloom`` command."""

import sys

from axiloom.cli import main

sys.exit(main())
