"""What runs inside the simulator: one cocotb test that does the jobs of a `Soc`, one after another.

Python is here for what happens once a job: reset, loading by the back door, starting the CPU, reading
counters and results. In between it sleeps until the wrapper says `done`, waking a few times a second to
look at the wall clock. :mod:`axiloom.cosim.soc` writes the jobs and reads the results; both are values of
:mod:`axiloom.cosim.job`.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cocotb
import numpy as np
from cocotb.triggers import First, RisingEdge, Timer

from axiloom.base.errors import AxiloomError, ProtocolError
from axiloom.cosim import coverage, debugger, diagnosis, pauses, referee, reset, tally
from axiloom.cosim.core import Core, library
from axiloom.cosim.diagnosis import Channel, Device, Outcome, Stopped
from axiloom.cosim.job import ERROR_FILE, FABRIC, FROM_SESSION, TO_SESSION, Job, Result, Work
from axiloom.cosim.model_device import Models
from axiloom.cosim.profile import Profile
from axiloom.cosim.tally import Tally
from axiloom.isa.contract.rtl import REGISTERS_AT
from axiloom.isa.contract.types import WaitRegister

if TYPE_CHECKING:
    from axiloom.isa import AcceleratorSpec

Dut = Any  # what a handle has is known to the simulator alone

_WAKE_S = 0.25
_PROGRESS_S = 2.0


class _Clock:
    """The glue's cheap clock: what part of a run was the CPU's."""

    def __init__(self, library: Path | None) -> None:
        glue = ctypes.CDLL(str(library) if library else None)
        for name in ("axl_glue_ticks", "axl_glue_cpu_ticks"):
            getattr(glue, name).restype = ctypes.c_uint64
        self._now, self._cpu = glue.axl_glue_ticks, glue.axl_glue_cpu_ticks
        self.restart()

    def restart(self) -> None:
        self._begin, self._cpu_begin = self._now(), self._cpu()

    def cpu_share(self) -> float:
        """Of the time since `restart`, between 0 and 1."""
        return float((self._cpu() - self._cpu_begin) / max(self._now() - self._begin, 1))


class _Wall:
    """Wall clock of one run: limits, progress lines, and how much of it Python itself took."""

    def __init__(
        self,
        timeout_s: float,
        progress: bool,
        where: Callable[[float], str] = lambda _: "",
        expected: int = 0,
    ) -> None:
        self._where, self._expected = where, expected
        self._begin = self._progress_at = time.perf_counter()
        self._process_begin = time.process_time()
        self._awake_since = self._begin
        self._timeout_s = timeout_s
        self._progress = progress
        self.python_s = 0.0

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self._begin

    @property
    def process_s(self) -> float:
        """CPU time of this process: what a busy machine does not stretch."""
        return time.process_time() - self._process_begin

    @property
    def expired(self) -> bool:
        return self.elapsed > self._timeout_s

    def sleeps(self) -> float:
        """Python is about to hand over to the simulator; returns the time."""
        now = time.perf_counter()
        self.python_s += now - self._awake_since
        return now

    def wakes(self) -> float:
        self._awake_since = time.perf_counter()
        return self._awake_since

    def report(self, dut: Dut, period_ps: int) -> None:
        now = time.perf_counter()
        if not self._progress or now - self._progress_at < _PROGRESS_S:
            return
        self._progress_at = now
        cycles, words = _int(dut.now), _total(dut.stat_words_in) + _total(dut.stat_words_out)
        where = self._where(self.elapsed) or share_text(words, self._expected, self.elapsed)
        print(
            f"{where}{cycles * period_ps / 1e9:.3f} ms, {cycles:,} fabric cycles, {words:,} words",
            file=sys.stderr,
            flush=True,
        )


def share_text(words: int, expected: int, seconds: float) -> str:
    """How much of its words a program has moved after so many seconds, and about how long the rest takes."""
    if not expected or not words:
        return ""
    done = min(words / expected, 0.99)  # what is expected is an estimate
    return f"{100 * done:.0f} %, about {seconds * (1 - done) / done:.0f} s left; "


def layer_text(core: Core, job: Job, seconds: float) -> str:
    """Which layer of a network runs after so many seconds, and about how long the rest will take."""
    if not job.layers:
        return ""
    number = int(core.read("axl_layer", (1,), "int32")[0])
    if not 0 <= number < len(job.layers):
        return ""
    total = sum(share for _, share in job.layers)
    done = sum(share for _, share in job.layers[:number])
    left = f", about {seconds * (total - done) / done:.0f} s left" if done else ""
    share = f"{100 * done / total:.0f} %, " if total else ""
    return f"{share}layer {number + 1} of {len(job.layers)} ({job.layers[number][0]}){left}; "


def _int(handle: Any) -> int:
    value = handle.value
    # Icarus: what reset has not reached yet is unknown; Verilator has no such state.
    return int(value) if value.is_resolvable else 0


def _each(handle: Any, count: int, bits: int) -> list[int]:
    """Of a port that is as wide as there are accelerators, the part of each."""
    value = _int(handle)
    return [value >> bits * number & ((1 << bits) - 1) for number in range(count)]


def _total(handle: Any) -> int:
    """A counter, of all accelerators together where each has one."""
    return sum(_each(handle, len(handle) // 64, 64))


def _check_alive(dut: Dut, core: Core) -> None:
    if core.is_orphan:
        os._exit(1)  # whoever wants the result is gone, killed before it could stop us
    if dut.now.value.is_resolvable:
        return
    watched = {
        "s_axis_tvalid, s_axis_tready": dut.stat_in_flags,
        "m_axis_tvalid, m_axis_tready": dut.stat_out_flags,
        "debug_error": dut.stat_error,
    }
    unknown = [name for name, handle in watched.items() if not handle.value.is_resolvable]
    names = " and ".join(unknown) or "debug_idle"
    raise ProtocolError(f"the RTL drives unknown values (X) on {names}: reset must reach all of it")


async def _wait_until_done(dut: Dut, core: Core, wall: _Wall, period_ps: int, live: bool) -> bool:
    """False if the wall clock ran out first. In a `live` session time stands still while nobody asks."""
    cycles = 50_000  # adapted so that Python wakes a few times a second, whatever the speed
    while True:
        slept = wall.sleeps()
        timer = Timer(cycles * period_ps, "ps")
        woken = await First(RisingEdge(dut.done), timer)
        if live:
            wall.wakes()
        elif wall.wakes() - slept < _WAKE_S / 2:
            cycles *= 2
        elif cycles > 1000:
            cycles //= 2
        if woken is not timer or _int(dut.done):
            return True
        if wall.expired:
            return False
        _check_alive(dut, core)
        wall.report(dut, period_ps)


async def _prepare(dut: Dut, work: Work, job: Job, period_ps: int) -> None:
    """Hold CPU (and hardware) and clear the counters. Values change between clock edges."""
    dut.ctl_go.value = 0
    dut.ctl_reset.value = int(job.reset)
    dut.cfg_stall.value = job.stall or 0
    dut.cfg_invert_reset.value = int(job.invert_reset)
    dut.cfg_ram_bytes.value = work.system.profile.ram_bytes
    dut.cfg_watchdog.value = job.watchdog_cycles or work.system.watchdog_cycles
    dut.cfg_read_latency.value = work.system.profile.ddr_read_cycles
    dut.cfg_write_latency.value = work.system.profile.ddr_write_cycles
    await Timer(8 * period_ps, "ps")
    dut.ctl_reset.value = 0
    await Timer(2 * period_ps, "ps")


_COUNTS_EACH = ("words_in", "words_out", "transfers_in", "transfers_out")


def _accelerators(dut: Dut, work: Work) -> dict[str, dict[str, int]]:
    """Name to what was counted of each accelerator alone."""
    count = len(work.system.devices)
    columns = {name: _each(getattr(dut, f"stat_{name}"), count, 64) for name in _COUNTS_EACH}
    columns["compute"] = _each(dut.stat_computing, count, 64) if count > 1 else [_int(dut.stat_compute)]
    return {
        spec.name: {name: column[number] for name, column in columns.items()}
        for number, spec in enumerate(work.system.devices)
    }


def _fabric(dut: Dut) -> dict[str, int]:
    counts = {name: _total(getattr(dut, f"stat_{name}")) for name in FABRIC}
    return {"cycles": _int(dut.now), **counts}


def _descriptor_bytes(core: Core, address: int) -> int:
    """What the descriptor asks for: STRIDE_VSIZE and CONTROL, docs/driver.md."""
    if address + 32 > core.ram.size:
        return 0
    words = core.ram[address : address + 32].view(np.uint32)
    return (int(words[6]) & 0x3FFFFFF) * max(int(words[4]) >> 19, 1)


def _channel(dut: Dut, core: Core, work: Work, number: int, name: str, stream: str) -> Channel:
    def part(port: str, bits: int) -> int:
        return _each(getattr(dut, port), len(work.system.devices), bits)[number]

    flags = part(f"stat_{stream}_flags", 4)
    asked, descriptor = part(f"stat_{name}_length", 32), None
    if work.system.devices[number].link.dma.scatter_gather:
        descriptor = asked
        asked = _descriptor_bytes(core, descriptor)
    return Channel(
        status=part(f"stat_{name}_dmasr", 32),
        bytes_asked=asked,
        words_moved=part(f"stat_{name}_words", 32),
        valid=bool(flags & 8),
        ready=bool(flags & 4),
        busy=bool(flags & 1),
        last=bool(flags & 2),
        descriptor=descriptor,
    )


def _stopped(
    dut: Dut, core: Core, work: Work, models: Models | None, outcome: Outcome, reason: str = ""
) -> Stopped:
    state, count = core.state, len(work.system.devices)
    devices = (
        Device(
            name=spec.name if count > 1 else "",
            error=_each(dut.stat_error, count, 4)[number],
            mm2s=_channel(dut, core, work, number, "mm2s", "in"),
            s2mm=_channel(dut, core, work, number, "s2mm", "out"),
            protocol=core.protocol_text(number),
            why=models.error(number) if models else "",
            instructions=core.instructions(number),
            undone=tuple(core.hints(number)),
            fifo=work.system.fifo is not None,
        )
        for number, spec in enumerate(work.system.devices)
    )
    return Stopped(
        outcome=outcome,
        reason=reason,
        cycles=_int(dut.now),
        devices=tuple(devices),
        cpu=_where(core),
        polled="".join(polled_register(spec, state.reads) for spec in work.system.devices),
        registers=referee.unstarted(work.system, core.accesses()),
    )


def _where(core: Core) -> str:
    state = core.state
    place = f"CPU at {state.line and f'{state.line}, '}{state.pc}" if core.program else "the session"
    return place + (f", waiting for {state.waiting}" if state.waiting else "")


def polled_register(spec: AcceleratorSpec, address: int) -> str:
    """What is said of a read of one of the accelerator's registers that the driver waits for."""
    at = address - spec.link.dma.address - REGISTERS_AT
    for name, offset in spec.link.rtl.registers.items():
        waits = [
            access
            for before, after in spec.accesses.values()
            for access in (*before, *after)
            if isinstance(access, WaitRegister) and access.register == name and offset == at
        ]
        if waits:
            return f"the device does not say that it is done: {waits[0]} waits for register {name} at {at:#x}"
    return ""


def _simulation(dut: Dut, core: Core, wall: _Wall, cpu_share: float) -> dict[str, float]:
    total = max(wall.elapsed, 1e-9)
    python = min(wall.python_s / total, 1.0)
    evaluated = _int(dut.now) - _int(dut.stat_skipped)
    cpu_s = max(cpu_share * total, 1e-9)
    return {
        "wall_s": total,
        "process_s": wall.process_s,
        "rtl_cycles": float(evaluated),
        "rtl_cycles_per_s": evaluated / total,
        "cpu_mips": core.counters()["instructions"] / cpu_s / 1e6,
        "rtl_share": max(1.0 - cpu_share - python, 0.0),
        "cpu_share": cpu_share,
        "python_share": python,
    }


async def _run(dut: Dut, core: Core, clock: _Clock, models: Models | None, work: Work, job: Job) -> Result:
    period_ps = round(1e12 / work.system.profile.fabric_hz)
    core.watch_rules()
    await _prepare(dut, work, job, period_ps)
    if job.reset:
        core.reset_protocol()
    core.record_timeline(work.timeline)
    core.set_devices(job.devices)
    if job.live:
        core.begin_live(*job.live)
    else:
        debugger.say(job)
        # A copy of this process would write to the same waveform, and take what is typed.
        reversible = work.system.trace is None and not job.terminal.descriptors
        elf, argv = work.folder / job.elf, job.arguments
        core.begin(elf, job.inputs, job.terminal, job.gdb, reversible=reversible, arguments=argv)
    if job.strict:
        core.stop_at_stale()
    if job.coverage:
        core.keep_blocks()
    if job.section:
        core.section_at(job.section, clean=job.section_clean)
        if job.section_outputs:
            core.section_keep(job.outputs)
    if job.layers:
        core.lap_at("axl_layer")

    wall = _Wall(job.timeout_s, work.progress, lambda seconds: layer_text(core, job, seconds), job.words)
    clock.restart()
    before = models.seconds if models else 0.0
    dut.ctl_go.value = 1
    ended = await _wait_until_done(dut, core, wall, period_ps, job.live is not None)
    if models:
        models.check()
        wall.python_s += models.seconds - before
    simulation = _simulation(dut, core, wall, clock.cpu_share())

    outcome, state = Outcome(_int(dut.stat_outcome)), core.state
    hang = fault = stopped = None
    if not ended:
        cycles = f"{_int(dut.now):,} fabric cycles"
        reason = f"the run did not end within {job.timeout_s:g} s of wall time ({cycles})"
        stopped = _stopped(dut, core, work, models, outcome, reason)
        hang = diagnosis.hang_message(stopped)
    elif outcome is not Outcome.HALT:
        stopped = _stopped(dut, core, work, models, outcome)
        hang = diagnosis.hang_message(stopped)
    elif state.hangs and state.fault:
        stopped = _stopped(dut, core, work, models, outcome, state.fault)
        hang = diagnosis.hang_message(stopped)
    if hang:
        core.tell_debugger(hang)
    elif state.breach and state.fault:
        fault = state.fault
    elif state.fault:
        stale = core.stale() if job.strict else []
        fault = stale[0] if stale else state.fault
        if work.system.user_rtl is not None and work.system.user_rtl.master is not None:
            fault = fault.replace("the DMA", "the accelerator")  # of its operands the DMA moves none
    elif state.exit_code:
        fault = diagnosis.exit_message(
            _stopped(dut, core, work, models, outcome), state.exit_code, of_runtime=core.uses_runtime
        )
        if printed := core.console.strip().splitlines():
            fault += f"; it printed last: {printed[-1]}"
    breaches = core.breaches(work.system, ended=ended and outcome is Outcome.HALT and not state.fault)
    if state.breach:
        breaches.append(referee.tlast(work.system, str(fault), _int(dut.now)))
    read = core.read if hang or fault else core.read_result
    profile = core.profile(_int(dut.now), work.timeline)
    calls = core.section_cycles()
    return Result(
        outputs={symbol: read(symbol, *form) for symbol, form in job.outputs.items()},
        exit_code=state.exit_code,
        counters=core.counters(),
        events=core.events(),
        fabric=_fabric(dut),
        accelerators=_accelerators(dut, work),
        simulation=simulation,
        profile=profile,
        stale=core.stale(),
        mistakes=core.mistakes(),
        outside=core.outside(),
        breaches=breaches,
        broken=state.breach,
        laps=core.laps(),
        until=_until(dut, core, work, profile) if job.layers else [],
        section_cycles=calls[0] if calls else 0,
        calls=calls,
        call_outputs=core.section_outputs(),
        section_stack=core.section_stack(),
        console=core.console,
        taken=core.taken,
        is_board=core.program is not None and core.program.is_board,
        notes=core.notes(),
        covered=coverage.Covered(core.executed(), coverage.of_rtl(work.system)) if job.coverage else None,
        hang=hang,
        stopped=stopped,
        fault=fault,
    )


def _until(dut: Dut, core: Core, work: Work, profile: Profile) -> list[Tally]:
    accelerators = _accelerators(dut, work)
    words = [(counts["words_in"], counts["words_out"]) for counts in accelerators.values()]
    end = tally.at_end(core.counters(), core.events(), _fabric(dut), profile, words, list(accelerators))
    return [*core.until_laps(), end]


def _answer(number: int, result: Result) -> None:
    """Of a job; one that was run again under pauses has another."""
    _write(FROM_SESSION.format(number), result)


def _write(name: str, value: object) -> None:
    """Whole or not at all: there may be no place for it."""
    half = Path(f"{name}.half")
    half.write_bytes(pickle.dumps(value))
    half.rename(name)


@cocotb.test()
async def session(dut: Dut) -> None:
    """Do all jobs; each leaves its file as soon as it is finished."""
    work: Work = pickle.loads(Path(TO_SESSION).read_bytes())
    try:
        clock = _Clock(work.glue)
        core = Core(work.system.profile, *work.system.devices, beside=work.system.placed)
        models = Models(library(), work.system.specs) if work.system.model else None
        results: list[Result] = []
        for number, job in enumerate(work.jobs):
            result = await _run(dut, core, clock, models, work, job)
            if not job.live and reset.may_be_wrong(work.system, job, result):
                other = await _run(dut, core, clock, models, work, reset.turned(job, result))
                result = reset.told(work.system, result, other)
            results.append(result)
            _answer(number, result)
            if work.stop_at_failure and result.failed:
                return
        for seed in pauses.seeds(work.stall):
            if not any(pauses.goes_on(result, work.stall) for result in results):
                return
            for number, job in enumerate(work.jobs):  # all: one may stand on what another has left
                terminal = job.terminal.again(results[number].taken)
                limit_s = pauses.limit_s(results[number])
                again = replace(job, stall=seed, timeout_s=limit_s, terminal=terminal, gdb=None)
                again = replace(again, coverage=False)  # that of the first run is kept
                held = await _run(dut, core, clock, models, work, again)
                results[number] = pauses.compared(results[number], held, again)
                _answer(number, results[number])
    except AxiloomError as error:
        _write(ERROR_FILE, error)
