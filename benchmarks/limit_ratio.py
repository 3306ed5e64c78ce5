"""How far above the limit a whole run is: v3_16 and v4_16, Cs, 256^3, one blocking transfer an opcode."""

from __future__ import annotations

from axiloom import isa
from axiloom.drivergen import matmul_mlir
from axiloom.workflow import Run


def main() -> None:
    print("256x256x256 int32, flow Cs, one blocking transfer an opcode")
    print(f"{'':>6} {'fabric cycles':>14} {'limit':>10} {'limit.ratio':>12} {'task-clock':>12} {'wall':>8}")
    for name in ("v3_16", "v4_16"):
        report = Run(
            "matmul:256x256x256", matmul_mlir(256, 256, 256, "int32"), isa.builtin(name), flow="Cs"
        ).report()
        assert report["result"]["matches"], report["result"]["first"]
        print(
            f"{name:>6} {report['fabric']['cycles']:>14,} {report['limit']['cycles']:>10,} "
            f"{report['limit']['ratio']:>12.2f} {report['counters']['task-clock'] / 1e6:>9.2f} ms "
            f"{report['simulation']['wall_s']:>6.1f} s"
        )


if __name__ == "__main__":
    main()
