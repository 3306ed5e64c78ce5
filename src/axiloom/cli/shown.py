"""What a run shows and writes: the same for problems, networks, loops and programs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axiloom.base.errors import MismatchError
from axiloom.base.files import write_arrays
from axiloom.cli import terminal
from axiloom.cli.applet import Group, option, output_file, output_folder
from axiloom.cli.options import JSON, KEEP
from axiloom.cosim.job import Result
from axiloom.cosim.profile import Timeline
from axiloom.cosim.soc import HungError
from axiloom.library.plans import Plan
from axiloom.library.progress import Progress, told
from axiloom.library.runs import Run, simulated
from axiloom.report import build as report
from axiloom.report import page, perfetto
from axiloom.report.types import Kernel, Report
from axiloom.run.run import Watch


@dataclass(frozen=True)
class Shown:
    """What is printed of a run, and the files that are written."""

    quiet: bool = False
    json: Path | None = None
    report: Path | None = None
    perfetto: Path | None = None
    keep: Path | None = None

    @property
    def timeline(self) -> bool:
        """Whether something needs one."""
        return self.report is not None or self.perfetto is not None

    def watch(self, progress: Progress | None = None) -> Watch:
        return Watch(progress or told(), sys.stderr.isatty(), self.keep, self.timeline)

    def print(self, built: Report) -> int:
        """The table, or the summary; the exit code of a comparison."""
        shown = "\n".join(report.summary(built)) if self.quiet else report.table(built)
        print(terminal.painted(shown, terminal.has_colour()))
        return MismatchError.exit_code if built["result"]["matches"] is False else 0

    def write(
        self, built: Report, timeline: Timeline | None, driver: str | None, words: Sequence[str]
    ) -> None:
        """The files that were asked for. `words`: the command line, `driver`: its C."""
        if timeline is not None:
            if self.perfetto:
                title = f"{built['config']['problem']} on {built['config']['accelerator']}"
                perfetto.write(timeline, title, self.perfetto)
            if self.report:
                page.write(built, page.Source(timeline, driver, f"axiloom {shlex.join(words)}"), self.report)
        if self.json:
            report.write_json(built, self.json)

    def hung(self, error: HungError, built: Report, driver: str | None, words: Sequence[str]) -> HungError:
        """Write what was asked for of a run that hung; the error, which says where the page is."""
        result = error.result
        assert result is not None
        self.write(built, result.profile.timeline, driver, words)
        page_said = f"; the page is {self.report / page.FILE}" if self.report else ""
        tries = built["result"].get("hang", {}).get("remedies", [])
        advice = f"; {tries[0][0].lower()}{tries[0][1:]}" if tries else ""
        return type(error)(f"{error}{advice}{page_said}", result)

    def run(
        self, plan: Plan, job: Any, words: Sequence[str], *, watch: Watch, against: Kernel | None = None
    ) -> Run:
        """The `job` of a plan, simulated; what hangs is reported, and raised."""
        try:
            return simulated(plan, job, watch, against)
        except HungError as error:
            if error.result is not None:
                raise self.hung(error, job.checked(error.result), job.driver.c, words) from None
            raise

    def end(self, run: Run, words: Sequence[str], output: Path | None = None) -> int:
        """Print it and write its files; `output`: arrays by name. The caller raises what is wrong with a run
        that came to its end (:func:`judge`)."""
        if output is not None:
            write_arrays(output, run.outputs)
        self.write(run.report, run.timeline, run.c, words)
        return self.print(run.report)


def say_process(result: Result, function: str = "") -> None:
    """What a Linux process did beside the accelerator's work."""
    if function:
        print(f"Linux process: the call of {function} took {result.section_cycles:,} fabric cycles")
    print(f"Linux process: {result.events['syscalls']:,} system calls")
    if result.console:
        print(result.console, end="" if result.console.endswith("\n") else "\n")


SHOWN = Group(
    "what it shows and writes",
    (
        option("--quiet", action="store_true", first=True, help="print the result and the time alone"),
        JSON,
        option(
            "--report",
            type=output_folder,
            metavar="DIR",
            first=True,
            help="write a page: where the time went, with a timeline",
        ),
        option(
            "--perfetto",
            type=output_file,
            metavar="FILE.json",
            help="write the timeline for Perfetto (ui.perfetto.dev)",
        ),
        KEEP,
    ),
    "shown",
    Shown,
)
