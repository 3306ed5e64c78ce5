"""Mistakes of drivers: each is named with file and line, fails, and gives the bytes of a truthful memory.

`driver_mistakes.c` has them, beside right drivers, which must not be accused. They run on a Cortex-A9 and a
Cortex-A53, from C as ``axiloom simulate`` compiles it, and from an ELF file that has full
debug information. What the CPU sees in the end (`seen`) was worked out by hand.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from axiloom import boards, isa
from axiloom.base.errors import AxiloomError
from axiloom.cosim.build import guards, toolchain
from axiloom.cosim.build.user_code import CompileOptions
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc, raise_failure, refuse_run
from axiloom.cosim.system import System

SOURCE = Path(__file__).with_suffix(".c")
WORDS = 64
BOARDS = {"A9": "pynq-z2", "A53": "zcu104"}
WATCHDOG = 20_000
Array = np.ndarray[Any, Any]

ONE: Array = np.arange(1, WORDS + 1, dtype=np.int32)
OLD: Array = np.full(WORDS, -1, np.int32)


def halves(first: Array, second: Array) -> Array:
    return np.concatenate([first[: WORDS // 2], second[WORDS // 2 :]])


def overwritten(line_bytes: int) -> Array:
    """The result begins 16 bytes behind the line's begin; the rest of that line is old."""
    seen = ONE.copy()
    seen[: line_bytes // 4 - 4] = -1
    return seen


@dataclass(frozen=True)
class Mistake:
    """One function of the source. `code`: the exit code; `words` stand in the message."""

    name: str
    code: int
    words: tuple[str, ...] = ()
    seen: Array | Callable[[int], Array] | None = None
    """None: the run ends before the CPU looks, or what it sees is undefined."""
    first: int = WORDS
    """So many words of it count."""
    is_exact: bool = True
    """The line is the one that the comment is at."""

    @property
    def is_queue(self) -> bool:
        return self.name.startswith("sg_")

    @property
    def line(self) -> int:
        lines = SOURCE.read_text(encoding="utf-8").splitlines()
        (number,) = [number for number, text in enumerate(lines, 1) if text.endswith(f"/* {self.name} */")]
        return number

    def faults(self, result: Result, line_bytes: int) -> list[str]:
        """What is not as it has to be."""
        code, message = verdict(result)
        faults = [] if code == self.code else [f"exit code {code}, not {self.code}"]
        faults += [f"no {word!r}" for word in self.words if word not in message]
        place = f"{SOURCE.name}:{self.line}" if self.code and self.is_exact else SOURCE.name
        if self.code and not re.search(rf"{re.escape(place)}(?![0-9])", message):
            faults.append(f"no {place}")
        wanted = self.seen(line_bytes) if callable(self.seen) else self.seen
        if wanted is not None and not np.array_equal(
            result.outputs["seen"][: self.first], wanted[: self.first]
        ):
            faults.append(f"other bytes: {result.outputs['seen'].tolist()}")
        return [f"{fault}: {message}" for fault in faults]


def verdict(result: Result) -> tuple[int, str]:
    """Exit code and message of ``axiloom simulate``."""
    try:
        raise_failure(result)
        refuse_run(result.stale, result.mistakes, result.outside)
    except AxiloomError as error:
        return error.exit_code, str(error)
    return 0, ""


RIGHT = (
    Mistake("right", 0, seen=ONE),
    Mistake("right_again", 0, seen=3 * ONE),
    Mistake("right_late", 0, seen=ONE),
    Mistake("right_dirty_before", 0, seen=ONE),
    Mistake("right_beside", 0, seen=ONE),
    Mistake("sg_right", 0, seen=ONE),
    Mistake("sg_right_again", 0, seen=3 * ONE),
)
CACHES = (
    Mistake("no_clean", 9, ("missing flush", " of A (0x"), ONE),
    Mistake("clean_before_a_store", 9, ("missing flush", "bytes 20 to 21 of A (0x"), 2 * ONE),
    Mistake("clean_too_short", 9, ("missing flush", " of A (0x"), halves(2 * ONE, ONE)),
    Mistake("clean_too_late", 9, ("missing flush", " of A (0x"), ONE),
    Mistake("clean_of_another", 9, ("missing flush", " of A (0x"), ONE),
    Mistake("invalidate_for_clean", 9, ("lost store", " of A (0x"), ONE),
    Mistake("second_send_not_cleaned", 9, ("missing flush", " of A (0x"), ONE),
    Mistake("no_invalidate", 9, ("missing invalidate", " of C (0x"), OLD),
    Mistake("invalidate_too_early", 9, ("missing invalidate", " of C (0x"), OLD),
    Mistake("invalidate_too_short", 9, ("missing invalidate", " of C (0x"), halves(ONE, OLD)),
    Mistake("second_receive_not_invalidated", 9, ("missing invalidate", " of C (0x"), ONE),
    Mistake("flush_of_a_dirty_result", 9, ("lost DMA data", " of C (0x"), 9 * ONE),
    Mistake("shared_line_invalidated", 9, ("lost store", " of shared (0x"), OLD, first=1),
    Mistake("shared_line_flushed", 9, ("lost DMA data", " of shared (0x"), overwritten),
    Mistake("sg_descriptor_not_cleaned", 9, ("missing flush", " of tx (0x"), ONE),
    Mistake("sg_status_not_invalidated", 9, ("missing invalidate", " of rx (0x"), 0 * ONE, first=1),
)
ORDER = (
    Mistake("read_before_the_wait", 7, ("reads C at 0x", "S2MM_DMASR has Idle")),
    Mistake("read_after_the_send", 7, ("reads C at 0x", "S2MM_DMASR has Idle")),
    Mistake("write_before_it_is_sent", 9, ("missing flush", "bytes 252 to 253 of A (0x"), ONE),
    Mistake("receive_never_started", 6, ("never wrote S2MM_LENGTH",)),
    Mistake("send_never_started", 6, ("never wrote MM2S_LENGTH",)),
    Mistake("result_before_the_send", 6, ("never wrote MM2S_LENGTH",)),
)
LENGTHS = (
    Mistake("length_cut", 7, ("MM2S_LENGTH (0x40400028), which has 26 bits: 256 is left",), ONE),
    Mistake("length_cut_to_nothing", 7, ("S2MM_LENGTH (0x40400058), which has 26 bits: 0 is left",)),
    Mistake("length_zero", 7, ("writes 0 to MM2S_LENGTH",)),
    Mistake("length_in_words", 6, ("64 words expected, 0 received",)),
    Mistake("receive_too_short", 7, ("S2MM_LENGTH", "the packet is longer", "32 words"), halves(ONE, OLD)),
    Mistake("receive_of_half_a_word", 7, ("S2MM_LENGTH", "less than a beat of 4 bytes")),
    Mistake("send_restarted", 7, ("MM2S_LENGTH", "while MM2S is busy"), ONE),
    Mistake("receive_restarted", 7, ("S2MM_LENGTH", "while S2MM is busy"), ONE),
)
REGISTERS = (
    Mistake("send_not_running", 7, ("MM2S_LENGTH", "MM2S_DMACR has RS 0")),
    Mistake("receive_not_running", 7, ("S2MM_LENGTH", "S2MM_DMACR has RS 0")),
    Mistake("source_unaligned", 7, ("MM2S_SA", "multiple of 4 bytes")),
    Mistake("destination_unaligned", 7, ("S2MM_DA", "multiple of 4 bytes")),
    Mistake("address_in_the_other_channel", 7, ("MM2S_SA (0x40400018) was not written",)),
    Mistake("reset_in_a_transfer", 7, ("writes Reset to MM2S_DMACR", "MM2S is busy")),
    Mistake(
        "register_of_the_other_mode", 7, ("0x40400008, which is no register", "MM2S_CURDESC is of the other")
    ),
    Mistake("wrong_offset", 7, ("0x4040002C, which is no register",)),
    Mistake("register_of_no_accelerator", 7, ("0x40408000, which is no register",)),
    Mistake("status_written", 7, ("MM2S_DMASR", "changes nothing")),
    Mistake("upper_address", 7, ("0x4040001C, which is no register",)),
    Mistake("no_memory_there", 7, ("0xF0000000", "not a word of RAM"), is_exact=False),
    Mistake("wrong_base", 7, ("0x41E00000",)),
    Mistake("byte_to_a_register", 7, ("0x40400000", "aligned 32-bit")),
    Mistake("sg_tail_not_running", 7, ("MM2S_TAILDESC", "MM2S_DMACR has RS 0")),
    Mistake("sg_no_current", 7, ("MM2S_TAILDESC", "MM2S_CURDESC was not written")),
    Mistake("sg_current_while_running", 7, ("MM2S_CURDESC", "RS 1")),
    Mistake("sg_tail_unaligned", 7, ("MM2S_TAILDESC", "multiple of 64 bytes")),
    Mistake("sg_tail_not_in_the_chain", 7, ("MM2S_TAILDESC", "NXTDESC does not lead there")),
    Mistake("sg_descriptor_used", 7, ("Cmplt", "SGIntErr")),
    Mistake("sg_length_zero", 7, ("with a length of 0", "MM2S_TAILDESC")),
    Mistake("sg_buffer_unaligned", 7, ("BUFFER_ADDRESS", "multiple of 4 bytes")),
    Mistake("sg_length_written", 7, ("0x40400028, which is no register", "MM2S_LENGTH is of the other mode")),
)
MISTAKES = (*CACHES, *ORDER, *LENGTHS, *REGISTERS)
ALL = (*RIGHT, *MISTAKES)


def system(board: str, queue: bool) -> System:
    """The loopback, behind a port that does not look into the caches."""
    profile = boards.load(BOARDS[board])
    profile = replace(profile, simulation=replace(profile.simulation, dma_buffers="cached"))
    spec = isa.builtin("loopback")
    spec = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=queue))
    return System(spec, profile, watchdog_cycles=WATCHDOG)


def compiled(on: System, form: str, folder: Path) -> Path:
    """Of C as `axiloom simulate` does it, or an ELF file of another compiler line."""
    cases = ",".join(case.name for case in ALL)
    elf = folder / f"{form}.elf"
    if form == "C":
        return on.compile_user([SOURCE], elf, CompileOptions((f"CASES={cases}",)), ())[0]
    script = folder / "link.ld"
    target = toolchain.bare_target(on.profile.host)
    script.write_text(guards.keeping_lines(target.script.read_text(encoding="utf-8")), encoding="utf-8")
    debug = ("-g", "-gdwarf-4", "-Wno-error")
    return toolchain.compile_bare(
        [SOURCE],
        elf,
        board=on.profile,
        spec=on.specs,
        opt="-O1",
        flags=debug,
        defines={"CASES": cases},
        script=script,
    )


def results(on: System, elf: Path, cases: Iterable[Mistake]) -> list[Result]:
    """What each gives, in one simulator process with a reset between them."""
    outputs = {"seen": ((WORDS,), "int32")}
    jobs = [Job(elf, {"which": np.array([ALL.index(case)], np.int32)}, outputs) for case in cases]
    return Soc(on).run_many(jobs, check=False)


def run(board: str, form: str, cases: Iterable[Mistake], folder: Path) -> dict[str, list[str]]:
    """Name to what is wrong with its verdict; empty: nothing is."""
    wrong: dict[str, list[str]] = {}
    for queue in (False, True):
        chosen = [case for case in cases if case.is_queue == queue]
        if not chosen:
            continue
        on = system(board, queue)
        ran = results(on, compiled(on, form, folder), chosen)
        line_bytes = on.profile.line_bytes
        wrong |= {
            case.name: case.faults(result, line_bytes) for case, result in zip(chosen, ran, strict=True)
        }
    return wrong


def main() -> None:
    ways = [(board, form) for board in BOARDS for form in ("C", "ELF")]
    with tempfile.TemporaryDirectory() as folder:
        wrong = {way: run(*way, ALL, Path(folder)) for way in ways}
    print(f"{'driver':<32}{''.join(f'{board} {form:<6}' for board, form in ways)}")
    for case in ALL:
        print(
            f"{case.name:<32}"
            + "".join(f"{'ok' if not wrong[way][case.name] else 'WRONG':<{len(way[0]) + 7}}" for way in ways)
        )
    lines = [
        f"{case.name}, {' '.join(way)}: {text}"
        for way in ways
        for case in ALL
        for text in wrong[way][case.name]
    ]
    print(*lines, sep="\n")
    count = len(ALL) * len(ways)
    good = sum(not wrong[way][case.name] for way in ways for case in ALL)
    print(f"{len(MISTAKES)} mistakes, {len(RIGHT)} right drivers, {len(ways)} ways: {good} of {count} good")


if __name__ == "__main__":
    main()
