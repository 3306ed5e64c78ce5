"""The clock of the default accelerators with their DMA on an ECP5 of speed grade 6, and what limits it.

Yosys and nextpnr with its first seed, no pins constrained. Aims: 100 MHz for int8, 80 MHz for int32. The
router is asked for 2 % more with int8, which is what ``axiloom estimate --device ecp5-85k`` does, and for
less where it would tear up ways for long and miss it. Hours for all; what was routed once is in the user's
cache.
"""

from __future__ import annotations

from axiloom import isa
from axiloom.explore.estimate import estimate

ACCELERATORS = ("v3_8", "v4_16", "conv_v3", "conv_v4")
AIMS_MHZ = {"int8": 100, "int32": 80}
ASKED_MHZ = {"int8": {"": 102, "conv_v4": 97}, "int32": {"": 66, "conv_v4": 62}}
"""By type; of an accelerator, or else of all others."""


def main() -> None:
    print(f"{'accelerator':<13}{'type':>6}{'aim, MHz':>10}{'MHz':>7}  slowest path")
    missed = []
    for data_type, aim in AIMS_MHZ.items():
        for name in ACCELERATORS:
            asked = ASKED_MHZ[data_type].get(name, ASKED_MHZ[data_type][""])
            estimated = estimate(isa.builtin(name, data_type=data_type), "ecp5-85k", target_hz=asked * 1e6)
            if estimated.routed is None:
                print(f"{name:<13}{data_type:>6}{aim:>10}{'-':>7}  does not fit", flush=True)
                continue
            reached = estimated.routed.fmax_hz / 1e6
            print(
                f"{name:<13}{data_type:>6}{aim:>10}{reached:>7.1f}  {estimated.routed.critical}", flush=True
            )
            if reached < aim:
                missed.append(f"{name} {data_type}")
    print("each reaches its aim: " + ("no: " + ", ".join(missed) if missed else "yes"))


if __name__ == "__main__":
    main()
