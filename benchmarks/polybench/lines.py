"""Lines that a user writes against lines of the HLS C++ they replace, neither blank nor comments only.

``python -m benchmarks.polybench.lines`` prints a row for each kernel that has a schedule, at Medium. `loops`
are the lines of the kernel's function in C, which both ways need; `schedule` those of ``schedules/``; `hls`
those of the emitted HLS C++, lanes as loops under ``#pragma HLS unroll``. Sizes (``#define``) do not count.
"""

from __future__ import annotations

from axiloom.nest.emit import hls_text
from axiloom.nests.hls.lines import lines_of_c, lines_of_python
from axiloom.nests.read.c import read
from axiloom.nests.schedule.replay import replay
from benchmarks.polybench import sizes


def row(kernel: str) -> tuple[int, int, int]:
    """Lines of loops, of the schedule, and of HLS C++."""
    given = {name: str(value) for name, value in sizes.MEDIUM[kernel].items()}
    source = sizes.source(kernel)
    text = (sizes.FOLDER / "schedules" / f"{kernel}.sched").read_text(encoding="utf-8")
    schedule = replay(read(source, "", given).program, text)
    loops = "\n".join(line for line in source.read_text(encoding="utf-8").splitlines() if line[:1] != "#")
    return lines_of_c(loops), lines_of_python(text), lines_of_c(hls_text(schedule))


def main() -> None:
    print(f"{'kernel':<10} {'loops':>6} {'schedule':>9} {'hls':>5} {'hls/schedule':>13} {'hls/both':>9}")
    for file in sorted((sizes.FOLDER / "schedules").glob("*.sched")):
        loops, schedule, hls = row(file.stem)
        print(
            f"{file.stem:<10} {loops:>6} {schedule:>9} {hls:>5} {hls / schedule:>13.1f}"
            f" {hls / (loops + schedule):>9.2f}"
        )


if __name__ == "__main__":
    main()
