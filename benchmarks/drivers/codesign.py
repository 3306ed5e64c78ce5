"""Hardware chosen with its drivers under a XC7Z020: for one product, and for TinyBERT whole; both beat v4_16.

As ``axiloom explore WORK --accel v4_16 --device xc7z020 --confirm N``: what Yosys says fits, what the
simulation says is fastest. AXILOOM_CODESIGN names another network (default: examples/networks/tinybert.py,
quantised; needs the extra [networks]). Yosys takes minutes for each design, unless it was mapped before.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from axiloom.cli import main as axiloom
from axiloom.sweep import networks

DEVICE, ACCELERATOR = "xc7z020", "v4_16"
PRODUCT = "matmul:256x256x256:int8"
DRIVERS, DESIGNS = 1, 2
"""How many of the best are simulated: drivers of the product, designs for the network."""


def network(folder: Path) -> str:
    chosen = os.environ.get("AXILOOM_CODESIGN")
    if chosen:
        return chosen
    file = folder / "tinybert.mlir"
    networks.example("tinybert").write(file)
    return str(file)


def explored(work: str, confirm: int, folder: Path) -> bool:
    """Print what is chosen; whether it fits, is exact and is faster in simulation than what there was."""
    file = folder / "found.json"
    command = ["explore", work, "--accel", ACCELERATOR, "--device", DEVICE, "--confirm", str(confirm)]
    print("$ axiloom " + " ".join([command[0], Path(work).name, *command[2:]]), flush=True)
    code = axiloom([*command, "--show", "1", "--json", str(file)])
    if code:
        return False
    hardware = json.loads(file.read_text(encoding="utf-8"))["hardware"]
    ok = hardware["chosen"]["fits"] and hardware["factor_is"] == "simulated" and hardware["factor"] > 1
    print(f"{hardware['chosen']['name']} fits and is faster than {ACCELERATOR}: {'yes' if ok else 'no'}\n")
    return bool(ok)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="axiloom-codesign-") as folder:
        file = network(Path(folder))
        done = [explored(PRODUCT, DRIVERS, Path(folder)), explored(file, DESIGNS, Path(folder))]
    if not all(done):
        sys.exit("not as expected")


if __name__ == "__main__":
    main()
