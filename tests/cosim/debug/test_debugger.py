"""A debugger on a simulated program: by a client of ours that speaks gdb's protocol, and by gdb itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
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
        for server, (elf, script) in zip(servers, jobs, strict=True):
            try:
                with Client(server.getsockname()[1], 300) as gdb:
                    found.append(script(Session(gdb, load(elf))))
                    gdb.send("k")
            except BaseException as error:  # the others are waited for
                errors.append(error)

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


def gdb_told(elf: Path, port: int, commands: Iterable[str]) -> str:
    """What gdb prints for these commands."""
    before = ("set confirm off", "set remotetimeout 60", f"target remote 127.0.0.1:{port}")
    words = [word for command in (*before, *commands) for word in ("-ex", command)]
    command = ["gdb-multiarch", "-q", "-batch", "-nx", *words, str(elf)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


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


# --- backwards ------------------------------------------------------------------------------------------

BEGIN = "T05replaylog:begin;thread:1;"


def fabric_cycle(s: Session) -> int:
    return int(s.gdb.monitor("cycles").split(";")[0].rpartition(" ")[2])


def back_to_the_store(s: Session) -> bool:
    """From a wrong value of `scale` to the instruction that has stored it, and on to the right one."""
    gdb, scale = s.gdb, s.at("in", 64)
    assert {"ReverseContinue+", "ReverseStep+"} <= {*gdb.features}
    s.run_to("pack")
    assert gdb.word(scale) == 17
    here = gdb.registers()
    gdb.point(2, scale)
    assert gdb.go("bc") == f"T05watch:{scale:x};thread:1;"
    assert ("fill" in s.where(), gdb.word(scale)) == (True, 1)
    store = gdb.registers()
    gdb.point(2, scale, on=False)
    assert (gdb.go("bs")[:3], gdb.registers()) == ("T05", store)  # gdb steps for the value, which is there
    before = []
    for _ in range(3):
        assert gdb.go("bs")[:3] == "T05"
        before.append(gdb.registers())
    assert before[0][15] == store[15] - 4
    assert [gdb.step()[:3] for _ in before] == ["T05"] * 3  # and forward again
    assert gdb.registers() == store
    gdb.step()
    assert gdb.word(scale) == 17
    s.run_to("pack")
    assert gdb.registers() == here
    gdb.point(2, scale)
    assert [gdb.go("bc")[:8] for _ in range(2)] == ["T05watch"] * 2
    assert gdb.word(scale) == 0
    assert gdb.go("bc") == BEGIN
    assert gdb.pc == s.program.entry
    return True


def back_to_the_dma(s: Session) -> bool:
    """... to the word that the DMA has written, to the opcode before, and from a new future there, too."""
    gdb, place = s.gdb, s.at("out", 12)
    s.run_to("check")
    cycles = gdb.monitor("cycles")
    gdb.point(2, place)
    for _ in range(2):
        assert gdb.go("bc") == f"T05watch:{place:x};thread:1;"
        assert "the DMA writes" in gdb.output.splitlines()[-1]
        assert gdb.word(place) == 0
        gdb.point(2, place, on=False)
        gdb.monitor("break opcode sB")
        assert gdb.go("bc")[:3] == "T05"
        assert "opcode sB, for the 1th time" in gdb.output.splitlines()[-1]
        gdb.monitor("delete")
        s.run_to("check")
        assert gdb.word(place) == 4
        gdb.point(2, place)
    return cycles.split(";")[-1] == gdb.monitor("cycles").split(";")[-1]  # the same instructions


def test_gdb_goes_back_to_what_has_written(tmp_path: Path) -> None:
    soc = Soc(SYSTEM)
    jobs = [(compiled(tmp_path, 7), back_to_the_store), (compiled(tmp_path), back_to_the_dma)]
    found, results = debugged(soc, jobs)
    assert found == [True, True]
    assert [result.fault for result in results] == ["the debugger ended the run"] * 2


def state_of_the_device(s: Session) -> bool:
    """Stops when a word comes into a memory of the RTL, and goes back to that cycle from later."""
    gdb, name = s.gdb, "buffer_a.bank_1"
    assert gdb.monitor(f"memory {name} 4 1") == "4: 0x0"
    assert f"accelerator.{name}: 8 words of 32 bits" in gdb.monitor("memory").splitlines()
    assert gdb.monitor(f"break state {name}[4] == 0x5") == f"break 1: state {name}[4] == 0x5"
    assert gdb.go()[:3] == "T05"
    assert f"break 1: state {name}[4] == 0x5" in gdb.output
    assert gdb.monitor(f"memory {name} 4 1") == "4: 0x5"
    cycle = fabric_cycle(s)
    gdb.monitor("delete")
    s.run_to("check")
    gdb.monitor(f"break state {name}[4] == 5")
    assert gdb.go("bc")[:3] == "T05"
    assert fabric_cycle(s) == cycle
    full = next(line.split()[0] for line in gdb.monitor("state").splitlines() if ".multiplier_0." in line)
    assert gdb.monitor(f"state {full}").startswith(f"{full} 0x")
    for command, answer in (
        ("memory bank_1", "is the end of several names"),
        (f"memory {name} 8 1", "has 8 words"),
        (f"state {name}", "is a memory"),
        ("break state nothing == 1", "there is no register or memory 'nothing'"),
        (f"break state {name}[8] == 1", "has 8 words"),
        (f"break state {name}[1] == 0x100000000", "has 32 bits"),
        ("break state compute v3 more", "one word too many"),
        ("break stream in @0", "counted from @1"),
        ("break stream in -1", "is no number"),
        ("delete 1x", "there is no break 1x"),
    ):
        assert answer in gdb.monitor(command), command
    return True


def test_gdb_sees_the_device(tmp_path: Path) -> None:
    assert debugged(Soc(SYSTEM, inspect=True), [(compiled(tmp_path), state_of_the_device)])[0] == [True]


def test_any_of_the_last_million_cycles(tmp_path: Path) -> None:
    """More than a million cycles without a stop: by snapshots to stores of the counter, and to the begin."""
    source = tmp_path / "count.c"
    source.write_text(
        'volatile int outer, inner;\n__attribute__((noinline)) void end(void) { __asm__ volatile(""); }\n'
        "int main(void) {\n    for (outer = 0; outer < 50; outer++)\n"
        "        for (int i = 0; i < 40000; i++) inner = i;\n    end();\n    return 0;\n}\n"
    )
    elf, _ = SYSTEM.compile_user([source], tmp_path / "count.elf", CompileOptions(("NOTHING",), (), ("-O1",)))

    def script(s: Session) -> bool:
        s.run_to("end")
        cycles = fabric_cycle(s)
        s.gdb.point(2, s.at("outer"))
        values = []
        for _ in range(8):
            assert s.gdb.go("bc").startswith("T05watch")
            values.append(s.gdb.word(s.at("outer")))
        assert values == [*range(49, 41, -1)]
        s.gdb.point(2, s.at("outer"), on=False)
        s.gdb.point(0, s.at("main"))
        assert (s.gdb.go("bc")[:3], s.where()) == ("T05", s.program.describe(s.at("main")))
        assert cycles - fabric_cycle(s) > 1_000_000
        s.run_to("end")
        return s.gdb.word(s.at("outer")) == 50

    assert debugged(Soc(SYSTEM), [(elf, script)])[0] == [True]


@pytest.mark.skipif(shutil.which("gdb-multiarch") is None, reason="needs gdb-multiarch")
def test_gdb_itself_goes_back(tmp_path: Path) -> None:
    options = CompileOptions(("BUG=7",), for_debugger=True)
    elf, _ = SYSTEM.compile_user([HERE / "bugs.c"], tmp_path / "bug.elf", options)
    commands = ("break pack", "continue", "watch in.scale", "reverse-continue", "info locals", "bt", "kill")
    told: list[str] = []
    with debugger.listen(0) as server:
        port = server.getsockname()[1]
        thread = threading.Thread(target=lambda: told.append(gdb_told(elf, port, commands)), daemon=True)
        thread.start()
        Soc(SYSTEM).run_many([Job(elf, gdb=server.fileno())], check=False)
        thread.join(60)
    for part in ("Old value = 17\nNew value = 1", "i = 16", "#0  fill ()", "bugs.c:45", "in main ()"):
        assert part in told[0], told[0]


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
        *("break main", "continue", "watch *(int*)&ticks", "continue", "bt 1", "stepi", "monitor cycles"),
        *("delete", "x/wx 0xe0000000", "continue"),
    )

    def run() -> None:
        core.begin(timers, gdb=os.dup(server.fileno()))
        core.run()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    text = gdb_told(timers, server.getsockname()[1], commands)
    thread.join(60)
    for part in (
        "Breakpoint 1, main ()",
        "Old value = 0\nNew value = 1",
        "fabric cycle",
        "Cannot access memory",
    ):
        assert part in text, text
    assert "[Inferior 1 (Remote target) exited normally]" in text or core.state.run == "exited", text


def test_it_continues_at_an_address(tmp_path: Path) -> None:
    source = tmp_path / "sum.c"
    source.write_text(
        "volatile int total;\n__attribute__((noinline)) void add(int a) { total += a; }\n"
        "int main(void) {\n    add(1);\n    add(2);\n    return total;\n}\n"
    )
    elf = compile_bare([source], tmp_path / "sum.elf", board=BOARD)
    with held(elf) as (s, core):
        s.run_to("add")
        s.gdb.point(0, s.at("add"))
        assert s.gdb.go(f"c{s.gdb.registers()[14]:x}")[:3] == "T05"  # back to the caller, not done
        assert (s.gdb.registers()[0], s.gdb.word(s.at("total"))) == (2, 0)
        assert s.gdb.go(f"s{s.at('add'):x}")[:3] == "T05"  # a step from there
        assert s.gdb.pc == s.at("add", 4)
        assert s.gdb.go() == "W02"
    assert core.state.exit_code == 2


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
