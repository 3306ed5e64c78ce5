"""Lines that a user writes against lines of the HLS C++ they replace, neither blank nor comments only.

``python -m benchmarks.polybench.lines`` prints a row for each schedule in ``schedules/``, at Medium. `loops`
are the lines of the kernel's function in C, which every way needs; `schedule` those of the schedule; `hls`
those of the emitted HLS C++, lanes as loops under ``#pragma HLS unroll``. Sizes (``#define``) do not count.
Shares of `hls`: what the schedule alone takes, with the loops, and the loops alone, which are all that a user
writes with ``axiloom nest --auto``.
"""

from __future__ import annotations

import re
from pathlib import Path

from axiloom.nest.emit import hls_text
from axiloom.nests.read.c import read
from axiloom.nests.schedule.replay import replay
from benchmarks.polybench import sizes

_BLOCK = re.compile(r"/\*.*?\*/", re.DOTALL)


def lines_of_c(text: str) -> int:
    """Of C and C++. Pragmas count: people write them."""
    without = _BLOCK.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    return sum(1 for line in without.splitlines() if line.split("//")[0].strip())


def lines_of_python(text: str) -> int:
    """Of a schedule in Python."""
    return sum(1 for line in text.splitlines() if line.split("#")[0].strip())


def row(file: Path) -> tuple[int, int, int]:
    """Lines of loops, of the schedule in `file`, and of HLS C++."""
    kernel = file.stem.partition(".")[0]
    defines = {name: str(value) for name, value in sizes.MEDIUM[kernel].items()}
    source, text = sizes.source(kernel), file.read_text(encoding="utf-8")
    schedule = replay(read(source, "", defines).program, text)
    loops = "\n".join(line for line in source.read_text(encoding="utf-8").splitlines() if line[:1] != "#")
    return lines_of_c(loops), lines_of_python(text), lines_of_c(hls_text(schedule))


def shares(loops: int, schedule: int, hls: int) -> str:
    return f"{schedule / hls:>13.1%} {(loops + schedule) / hls:>9.1%} {loops / hls:>10.1%}"


def main() -> None:
    print(
        f"{'schedule':<12} {'loops':>6} {'schedule':>9} {'hls':>5} {'schedule/hls':>13} {'both/hls':>9}"
        f" {'loops/hls':>10}"
    )
    rows = []
    for file in sorted((sizes.FOLDER / "schedules").glob("*.sched")):
        rows.append(row(file))
        loops, schedule, hls = rows[-1]
        print(f"{file.stem:<12} {loops:>6} {schedule:>9} {hls:>5} {shares(*rows[-1])}", flush=True)
    loops, schedule, hls = (sum(column) for column in zip(*rows, strict=True))
    print(f"{'all':<12} {loops:>6} {schedule:>9} {hls:>5} {shares(loops, schedule, hls)}")


if __name__ == "__main__":
    main()
