"""A debugger on a simulated program: by a client of ours that speaks gdb's protocol, and by gdb itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cosim.debug.client import Client
from tests.cosim.test_board_program import HERE as PROGRAMS
from tests.cosim.test_board_program import build as board_program

from axiloom import boards, isa
from axiloom.base.errors import DriverError
from axiloom.cosim import debugger
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.build.user_code import CompileOptions
from axiloom.cosim.core import Core
from axiloom.cosim.elf import Program, load
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

HERE = Path(__file__).parent
SYSTEM = System(isa.builtin("v3", 4), watchdog_cycles=20_000)
MM2S_LENGTH = 0x40400028


def compiled(folder: Path, bug: int = 0) -> Path:
    options = CompileOptions((f"BUG={bug}",))
    elf, warnings = SYSTEM.compile_user([HERE / "bugs.c"], folder / f"bug{bug}.elf", options)
    assert not warnings
    return elf


@dataclass(frozen=True)
class Session:
    """A program under the debugger: who holds it, and where its symbols are."""

    gdb: Client
    program: Program

    def at(self, symbol: str, offset: int = 0) -> int:
        return (self.program.symbol(symbol).address & ~1) + offset

    def where(self) -> str:
        return self.program.describe(self.gdb.pc)

    def run_to(self, function: str) -> None:
        self.gdb.point(0, self.at(function))
        stop = self.gdb.go()
        assert (stop[:3], self.gdb.pc) == ("T05", self.at(function))
        self.gdb.point(0, self.at(function), on=False)


Script = Callable[[Session], bool]
"""Looks for a mistake; True: it is there."""


def debugged(soc: Soc, jobs: list[tuple[Path, Script]]) -> tuple[list[bool], list[Result]]:
    """Each program under its script, one after another in one simulator; what is left of it is killed."""
    servers = [debugger.listen(0) for _ in jobs]
    found: list[bool] = []
    errors: list[BaseException] = []

    def talk() -> None:
        try:
            for server, (elf, script) in zip(servers, jobs, strict=True):
                with Client(server.getsockname()[1], 300) as gdb:
                    found.append(script(Session(gdb, load(elf))))
                    gdb.send("k")
        except BaseException as error:
            errors.append(error)
            raise

    thread = threading.Thread(target=talk, daemon=True)
    thread.start()
    results = soc.run_many(
        [Job(elf, gdb=server.fileno()) for server, (elf, _) in zip(servers, jobs, strict=True)], check=False
    )
    thread.join(60)
    for server in servers:
        server.close()
    if errors:
        raise errors[0]
    return found, results


# --- ten mistakes of drivers ----------------------------------------------------------------------------


def missing_flush(s: Session) -> bool:
    s.run_to("send")
    return "differ" in s.gdb.monitor(f"stale {s.at('packet')} {4 * 35}")


def wrong_length(s: Session) -> bool:
    """What is written to LENGTH, where it is written."""
    s.gdb.point(2, MM2S_LENGTH)
    stop = s.gdb.go()
    assert stop.startswith(f"T05watch:{MM2S_LENGTH:x}"), stop
    assert "send" in s.where()
    s.gdb.point(2, MM2S_LENGTH, on=False)
    s.gdb.step()
    return " 140 bytes" not in s.gdb.monitor("dma").split("S2MM")[0]


def wrong_address(s: Session) -> bool:
    """The DMA reads what the CPU alone should."""
    s.run_to("send")
    s.gdb.point(3, s.at("in"), 64)
    s.gdb.point(0, s.at("receive"))
    return s.gdb.go().startswith("T05rwatch") and "the DMA reads" in s.gdb.output


def overwritten_buffer(s: Session) -> bool:
    """Something writes behind the result."""
    s.gdb.point(2, s.at("out", 64), 32)
    s.gdb.point(0, s.at("check"))
    return s.gdb.go().startswith("T05watch") and "the DMA writes" in s.gdb.output


def wrong_opcode_order(s: Session) -> bool:
    for opcode in ("sA", "sB", "cC"):
        s.gdb.monitor(f"break opcode {opcode}")
    assert s.gdb.go().startswith("T05")
    return "opcode sA, for the 1th time" not in s.gdb.output


def store_under_a_transfer(s: Session) -> bool:
    s.run_to("receive")
    s.gdb.point(2, s.at("out"), 64)
    s.gdb.point(0, s.at("check"))
    stop = s.gdb.go()
    while stop.startswith("T05watch") and "main" not in s.where():
        stop = s.gdb.go()
    if not stop.startswith("T05watch") or "axiloom: the DMA" in s.gdb.output.splitlines()[-1:]:
        return False
    return "whose end was not seen" in s.gdb.monitor("dma").split("S2MM")[1]


def overrun_array(s: Session) -> bool:
    """Who writes to `scale` behind A, beside its first value?"""
    s.gdb.point(2, s.at("in", 64))
    s.gdb.point(0, s.at("pack"))
    writers = 0
    while s.gdb.go().startswith("T05watch"):
        assert "fill" in s.where()
        writers += 1
    return writers > 1


def nobody_receives(s: Session) -> bool:
    """A hang: the run stops by itself, and the DMA says what was never started."""
    s.gdb.point(0, s.at("check"))
    stop = s.gdb.go()
    return s.gdb.pc != s.at("check") and stop.startswith("T05") and "never started" in s.gdb.monitor("dma")


def read_too_early(s: Session) -> bool:
    s.run_to("check")
    s.gdb.point(3, s.at("out"), 64)
    assert s.gdb.go().startswith("T05rwatch")
    return "whose end was not seen" in s.gdb.monitor("dma").split("S2MM")[1]


def word_left_out(s: Session) -> bool:
    """The last word of B, as the device sees it."""
    s.gdb.monitor("break stream in @34")
    assert s.gdb.go().startswith("T05")
    return "word 34 is 0x00000001" not in s.gdb.output


BUGS: tuple[Script, ...] = (
    missing_flush,
    wrong_length,
    wrong_address,
    overwritten_buffer,
    wrong_opcode_order,
    store_under_a_transfer,
    overrun_array,
    nobody_receives,
    read_too_early,
    word_left_out,
)


def test_ten_mistakes_are_found_and_none_in_the_right_driver(tmp_path: Path) -> None:
    soc = Soc(SYSTEM)
    right = compiled(tmp_path)
    jobs = [(compiled(tmp_path, number), script) for number, script in enumerate(BUGS, 1)]
    jobs += [(right, script) for script in BUGS]
    found, _ = debugged(soc, jobs)
    names = [script.__name__ for script in BUGS]
    assert dict(zip(names, found[: len(BUGS)], strict=True)) == dict.fromkeys(names, True)
    assert dict(zip(names, found[len(BUGS) :], strict=True)) == dict.fromkeys(names, False)


# --- a program on the CPU alone: registers, memory, steps, interrupts -----------------------------------

BOARD = boards.load(boards.DEFAULT)


@contextmanager
def held(elf: Path, board: boards.Board = BOARD) -> Iterator[tuple[Session, Core]]:
    """A program that needs no accelerator, under the debugger, in this process."""
    core, server = Core(board), debugger.listen(0)

    def run() -> None:
        core.begin(elf, gdb=os.dup(server.fileno()))
        with suppress(DriverError):
            core.run()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    with server, Client(server.getsockname()[1]) as gdb:
        yield Session(gdb, load(elf)), core
        thread.join(60)
    assert not thread.is_alive()


@pytest.fixture
def timers(tmp_path: Path) -> Path:
    return board_program(tmp_path, [PROGRAMS / "timers.c"])


def test_a_debugged_run_is_the_same_run(timers: Path) -> None:
    plain = Core(BOARD)
    plain.begin(timers)
    plain.run()
    with held(timers) as (s, core):
        s.run_to("main")
        before = s.gdb.pc
        assert [s.gdb.step()[:3] for _ in range(3)] == ["T05"] * 3
        assert before < s.gdb.pc <= before + 12
        assert s.gdb.go() == "W00"
        assert s.gdb.output == plain.console
    same = {
        name: value for name, value in plain.counters().items() if name not in ("cpu-cycles", "task-clock")
    }
    assert {name: core.counters()[name] for name in same} == same
    assert core.counters()["cpu-cycles"] == pytest.approx(plain.counters()["cpu-cycles"], abs=1000)


def test_registers_and_memory(timers: Path) -> None:
    with held(timers) as (s, _):
        gdb = s.gdb
        assert gdb.pc == s.program.entry
        assert "qXfer:features:read+" in gdb.features
        assert "org.gnu.gdb.arm.core" in gdb.ask("qXfer:features:read:target.xml:0,1000")
        s.run_to("main")
        assert gdb.ask("P0=78563412") == "OK"
        assert gdb.registers()[0] == 0x12345678 == int.from_bytes(bytes.fromhex(gdb.ask("p0")), "little")
        assert gdb.write(s.at("ticks"), b"\x01\x02\x03\x04") == "OK"
        assert gdb.word(s.at("ticks")) == 0x04030201
        assert gdb.ask(b"X%x,4:a}\x03}\x04b" % s.at("ticks")) == "OK"
        assert gdb.read(s.at("ticks"), 4) == b"a#$b"
        assert gdb.ask("me0000000,4") == "E0e"  # a register: no access behind the program's back
        assert gdb.ask("m1fffffff,2") == "E0e" == gdb.ask("M1fffffff,2:0000")
        assert gdb.write(s.at("ticks"), bytes(4)) == "OK"
        assert gdb.ask("G00") == "E01" == gdb.ask("Z2,ffffff00,200")  # a part of one; it ends nowhere
        assert "more than 32 bits" in gdb.monitor("write 0x40400000 0x100000000")
        for nonsense in (
            "Z2,",
            "p999",
            "Xzz",
            "vCont",
            "qRcmd,",
            "m",
            "Z9,0,0",
            "qXfer:features:read:target.xml:ffff,9",
        ):
            gdb.ask(nonsense)
        gdb.ask("D")


def test_an_interrupt_stops_it_anywhere(tmp_path: Path) -> None:
    with held(board_program(tmp_path, [PROGRAMS / "ends.c"], "-DHOW=3")) as (s, _):
        assert s.gdb.interrupt().startswith("T02")
        first = s.gdb.pc
        assert s.gdb.step().startswith("T05")
        assert s.gdb.pc != first
        s.gdb.send("k")


def test_a_crash_can_be_looked_at(tmp_path: Path) -> None:
    with held(board_program(tmp_path, [PROGRAMS / "ends.c"], "-DHOW=0")) as (s, _):
        assert s.gdb.go() == "T0bthread:1;"
        assert "load of 0x30000000" in s.gdb.output
        assert s.gdb.go() == "X0b"


@pytest.mark.skipif(shutil.which("gdb-multiarch") is None, reason="needs gdb-multiarch")
def test_gdb_itself(timers: Path) -> None:
    core, server = Core(BOARD), debugger.listen(0)
    commands = (
        *("set confirm off", "set remotetimeout 60", f"target remote 127.0.0.1:{server.getsockname()[1]}"),
        *("break main", "continue", "watch *(int*)&ticks", "continue", "bt 1", "stepi", "monitor cycles"),
        *("delete", "x/wx 0xe0000000", "continue"),
    )

    def run() -> None:
        core.begin(timers, gdb=os.dup(server.fileno()))
        core.run()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    words = [word for command in commands for word in ("-ex", command)]
    done = subprocess.run(
        ["gdb-multiarch", "-q", "-batch", "-nx", *words, str(timers)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    thread.join(60)
    text = done.stdout + done.stderr
    for part in (
        "Breakpoint 1, main ()",
        "Old value = 0\nNew value = 1",
        "fabric cycle",
        "Cannot access memory",
    ):
        assert part in text, text
    assert "[Inferior 1 (Remote target) exited normally]" in text or core.state.run == "exited", text


@pytest.mark.parametrize("name", ["zcu104", "nexys-video-rv32"])
def test_other_cpus(tmp_path: Path, name: str) -> None:
    board = boards.load(name)
    source = tmp_path / "sum.c"
    source.write_text(
        "volatile int total;\n__attribute__((noinline)) void add(int a) { total += a; }\n"
        "int main(void) {\n    for (int i = 0; i < 3; i++) add(i);\n    return 0;\n}\n"
    )
    elf = compile_bare([source], tmp_path / "sum.elf", board=board)
    plain = Core(board)
    plain.begin(elf)
    plain.run()
    with held(elf, board) as (s, core):
        s.gdb.point(0, s.at("add"))
        s.gdb.point(2, s.at("total"))
        assert s.gdb.ask("qXfer:features:read:target.xml:0,1000").count("<reg ") > 32
        stops = [s.gdb.go()[:8] for _ in range(7)]
        assert stops == 3 * ["T05threa", "T05watch"] + ["W00"]
    assert core.counters()["instructions"] == plain.counters()["instructions"]
