from axiloom.base.errors import AxiloomError as Error
from axiloom.library.accelerators import Device
from axiloom.library.calls import plan, run
from axiloom.library.choices import explore
from axiloom.library.devices import board, device
from axiloom.library.loops import nest
from axiloom.library.models import quantize
from axiloom.library.plans import Plan
from axiloom.library.proofs import prove
from axiloom.library.runs import Run, compare
from axiloom.library.sessions import soc
from axiloom.library.works import read

__version__: str
__all__ = [
    "Device",
    "Error",
    "Plan",
    "Run",
    "board",
    "compare",
    "device",
    "explore",
    "nest",
    "plan",
    "prove",
    "quantize",
    "read",
    "run",
    "soc",
]
