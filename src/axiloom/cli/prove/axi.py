"""``axiloom prove axi``: the rules of AXI on every port of a module."""

from __future__ import annotations

import argparse
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.base import processes
from axiloom.base.errors import AxiloomError, UsageError
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, Option, option
from axiloom.cli.kinds import Kind
from axiloom.cli.prove import shared as proofs
from axiloom.hw.rtl_files.packaged import sources

if TYPE_CHECKING:
    from axiloom.prove.abc import Outcome
    from axiloom.prove.axi.user import User
    from axiloom.prove.bench import Bench, Property
    from axiloom.prove.verdict import Verdict

QUIET_S = 20
"""After so long without a verdict a line says what is being looked at."""
OUTSTANDING, WITHIN = 16, 32


def _tied(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    try:
        number = int(value, 0)
    except ValueError:
        number = -1
    if not name or number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not PORT=VALUE, such as ACLK_EN=1 or mode=0x3")
    return name, number


def _parameter(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not re.fullmatch(r"[A-Za-z_]\w*", name) or not re.fullmatch(
        r"-?\d+|\d*'s?[bodhBODH][0-9a-fA-F_xz]+|\"[\w .]*\"", value
    ):
        raise argparse.ArgumentTypeError(
            f'{text!r} is not NAME=VALUE, such as WIDTH=64, MASK=8\'hF0 or KIND="fast"'
        )
    return name, value


def _macro(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not re.fullmatch(r"[A-Za-z_]\w*", name) or not re.fullmatch(r"[^\s;\"#]*", value):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME or NAME=VALUE without spaces")
    return name, value


def _once(told: Sequence[tuple[str, Any]] | None, flag: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in told or ():
        if values.setdefault(name, value) != value:
            raise UsageError(f"{flag} {name}: {values[name]} and {value}: give one value")
    return values


class _Told:
    """Prints each verdict as it comes, what breaks a rule at once, and a line where nothing comes."""

    def __init__(self, work: Sequence[tuple[str, Bench, User | None]], *, lines: bool) -> None:
        from axiloom.prove.verdict import line

        self._line, self._lines = line, lines
        self._names = [
            (f"{name}.{prop.port}" if prop.port else name, prop.name)
            for name, bench, _ in work
            for prop in bench.properties
        ]
        self._lock = threading.Lock()
        self._last = time.monotonic()
        self._done = threading.Event()
        self.asked: dict[str, float] = {}
        self.verdicts: list[Verdict] = []
        self._widths = [max((len(name[i]) for name in self._names), default=4) for i in (0, 1)]

    def header(self) -> None:
        if self._lines:
            print(self._line(None, self._widths), flush=True)

    def asks(self, place: str) -> None:
        with self._lock:
            self.asked[place] = time.monotonic()

    def says(self, verdict: Verdict, note: str = "") -> None:
        with self._lock:
            self.asked.pop(f"{verdict.module}.{verdict.port}.{verdict.name}", None)
            self.verdicts.append(verdict)
            self._last = time.monotonic()
            if note:
                print(note, flush=True)
            if self._lines:
                print(self._line(verdict, self._widths), flush=True)

    def _beat(self) -> None:
        while not self._done.wait(1):
            with self._lock:
                now = time.monotonic()
                if now - self._last < QUIET_S:
                    continue
                self._last = now
                at = ", ".join(f"{place} for {now - since:.0f} s" for place, since in self.asked.items())
                count = f"{len(self.verdicts)} of {len(self._names)} decided"
                print(f"  {count}; {at or 'lemmas, or Yosys'}", file=sys.stderr, flush=True)

    def __enter__(self) -> _Told:
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._done.set()

    @property
    def left(self) -> int:
        return len(self._names) - len(self.verdicts)


Work = list[tuple[str, "Bench", "User | None"]]
"""What is to be proved: name, bench, and the user's module if it is one."""


@dataclass(frozen=True)
class How:
    """How hard it is tried, and what is shown and kept."""

    outstanding: int = OUTSTANDING
    within: int = WITHIN
    live: bool = False
    limit: int = proofs.LIMIT_S
    depth: int = 40
    enough: int | None = None
    replay: Path = Path("replay")
    waves: bool = False
    table: bool = False
    json_file: Path | None = None


def of_ours(
    modules: Sequence[str] = (),
    names: bool = False,
    rule: Sequence[str] = (),
    stream_width: int | None = None,
    outstanding: int | None = None,
    **how: Any,
) -> int:
    from axiloom.prove.axi import ours
    from axiloom.prove.axi.ours import whole

    chosen = ours.chosen(modules)
    if names:
        print("\n".join(f"{name:<20} {ours.TARGETS[name].text}" for name in chosen))
        return 0
    for flag, value, has_it in (
        ("--stream-width", stream_width, "streams"),
        ("--outstanding", outstanding, "bursts"),
    ):
        if value is not None and not any(getattr(ours.TARGETS[name], has_it) for name in chosen):
            raise UsageError(f"{flag}: {', '.join(chosen)} has no {has_it}")
    asked = How(outstanding or OUTSTANDING, **how)

    def work() -> Work:
        width = stream_width or 32
        return [
            (name, ours.TARGETS[name].bench(width, asked.outstanding, live=asked.live), None)
            for name in chosen
        ]

    return _prove(work, asked, rule, whole.PORTS)


def of_users(
    rtl: Sequence[Path],
    top: str | None = None,
    clock: Sequence[str] = (),
    reset: Sequence[str] = (),
    tie: Sequence[tuple[str, int]] = (),
    assume: Sequence[Path] = (),
    fair: Sequence[Path] = (),
    parameter: Sequence[tuple[str, str]] = (),
    define: Sequence[tuple[str, str]] = (),
    include: Sequence[Path] = (),
    rule: Sequence[str] = (),
    **how: Any,
) -> int:
    from axiloom.prove.axi import user
    from axiloom.prove.design import VerilogOptions

    files, top = sources(tuple(rtl), top)
    asked, name = How(**how), top or files[0].stem

    def work() -> Work:
        settings = VerilogOptions(_once(parameter, "--parameter"), _once(define, "-D"), tuple(include))
        module = user.read(
            files, name, clock, reset, options=settings, tied=_once(tie, "--tie"), assume=assume, fair=fair
        )
        for told in module.told:
            print(f"{name}: {told}")
        return [(name, user.bench(module, asked.outstanding, asked.within, live=asked.live), module)]

    return _prove(work, asked, rule, {})


def _prove(work: Callable[[], Work], how: How, rule: Sequence[str], ports: Mapping[str, Any]) -> int:
    # Imported here: provers and simulators are for this command alone.
    from amaranth.hdl import UnusedElaboratable

    from axiloom.prove import abc
    from axiloom.prove.axi import watched
    from axiloom.prove.axi.matrix import matrix
    from axiloom.prove.verdict import summary

    begun = time.perf_counter()
    # A bench that is left out, or that a wrong option ends, is nobody's fault to be warned of.
    warnings.simplefilter("ignore", UnusedElaboratable)
    benches = work()
    if rule:
        unknown = [set(bench.only(rule)) for _, bench, _ in benches]
        if missing := set.intersection(*unknown):
            raise UsageError(f"--rule {', '.join(sorted(missing))}: no port has a rule of that name")
    broken: list[tuple[Path, Bench, Property, Outcome, User | None]] = []
    with _Told(benches, lines=not how.table) as told:
        told.header()
        try:
            for name, bench, module in benches:
                if not bench.properties:  # none of those of --rule
                    continue

                def says(
                    verdict: Verdict,
                    prop: Property,
                    counterexample: Outcome,
                    name: str = name,
                    bench: Bench = bench,
                    module: User | None = module,
                ) -> None:
                    if verdict.good or not counterexample.stimulus:
                        told.says(verdict)
                        return
                    place = how.replay / re.sub(r"\W+", "_", f"{name}_{prop.port}_{prop.name}")
                    source = f" ({prop.source})" if prop.source else ""
                    note = f"{name}.{prop.port}: {prop.text}{source}: not so "
                    if counterexample.loop is None:
                        note += f"in cycle {counterexample.cycles}"
                    else:
                        note += (
                            f"where cycles {counterexample.loop} to {len(counterexample.stimulus) - 2} "
                            "come again and again"
                        )
                    if module and (free := module.free) and (prop.live or prop.name in watched.ANSWERS):
                        note += f"; free to stop it: {', '.join(free)} (--tie PORT=VALUE)"
                    if module and counterexample.loop is not None and not module.fair and module.registers:
                        note += f"; if it waits for a command on {', '.join(module.registers)}: --fair FILE"
                    if _guesses(bench, counterexample):
                        note += ", if a memory holds what it would have to: the simulator will say"
                    broken.append((place, bench, prop, counterexample, module))
                    told.says(verdict.with_replay(str(place)), f"{note}; {place}")

                for _ in abc.prove(
                    name,
                    bench,
                    sources=module.sources if module else (),
                    limit_s=how.limit,
                    depth=how.depth,
                    say=says,
                    asks=told.asks,
                ):
                    pass
        except (KeyboardInterrupt, processes.EndedError):
            print(f"stopped with {told.left} not decided; {summary(told.verdicts)}", flush=True)
            proofs.ended(how.json_file, told.verdicts, how.enough)
            raise
    proved_s = time.perf_counter() - begun
    _replay(broken, told.verdicts, how)
    verdicts = told.verdicts
    if how.table:
        print("\n".join(matrix(verdicts, ports)))
    print(f"{summary(verdicts)}; {proved_s:.0f} s", flush=True)
    return proofs.ended(how.json_file, verdicts, how.enough)


def _guesses(bench: Bench, counterexample: Outcome) -> list[str]:
    """What the run drives that is no input: contents of large memories, and nets that nobody drives.

    What registers hold at first (``init:`` by Yosys) is no such guess: a simulator has its own.
    """
    from axiloom.prove.liveness import OVER, SAVES

    inputs = {signal.name for signal in bench.inputs} | {"clock"}
    names = {name for values in counterexample.stimulus for name in values}
    return sorted(name for name in names - inputs if not name.startswith((OVER, SAVES, "init:")))


def _shows(place: Path) -> bool:
    """Whether the simulator shows it; a simulator that cannot take the module says nothing."""
    from axiloom.prove import replay

    try:
        return replay.shows(place)
    except AxiloomError as error:
        print(f"{place}: {error}", file=sys.stderr)
        return False


def _replay(
    broken: Sequence[tuple[Path, Bench, Property, Outcome, User | None]],
    told: list[Verdict],
    how: How,
) -> None:
    """Writes the counter-examples, after all verdicts are told.

    Runs them in the simulator with ``--waves``, and where one rests on what a large memory may hold: it
    decides.
    """
    from axiloom.prove import replay
    from axiloom.prove.axi import host
    from axiloom.prove.verdict import Answer

    waves = how.waves
    begun = time.perf_counter()
    for place, bench, prop, counterexample, module in broken:
        sources = module.simulated if module else ()
        parameters = module.design.parameters if module else {}
        replay.write(place, bench, prop, counterexample.stimulus, sources, counterexample.loop, parameters)
        if module:
            limits = {"outstanding": how.outstanding, "within": how.within, "limit_s": how.limit}
            if said := host.advice(module, prop, counterexample, place, **limits):
                print(f"{place}: {said}", flush=True)
        guesses = _guesses(bench, counterexample)
        if not (waves or guesses):
            print(f"pytest {place / replay.TEST} runs it")
        elif _shows(place):
            print(f"{place}: the simulator shows it", flush=True)
        elif guesses:
            print(f"{place}: the simulator does not show it: not decided, it rests on what a memory holds")
            at = next(i for i, verdict in enumerate(told) if verdict.replay == str(place))
            told[at] = replace(told[at], answer=Answer.OPEN, solver=f"{counterexample.engine}, not run")
        else:
            print(f"{place}: the simulator does not: it depends on what registers hold before a reset")
    if broken and waves:
        print(f"{len(broken)} replays; {time.perf_counter() - begun:.0f} s")


def _how(**more: Any) -> tuple[Option, ...]:
    """The options of :class:`How`, and which rules; `more`: of each."""
    return (
        option(
            "--rule",
            action="append",
            metavar="NAME",
            help="only this one, such as ar_4k, or those like *_live; repeat for more",
            first=True,
            **more,
        ),
        option(
            "--outstanding",
            type=shared.positive,
            metavar="N",
            help=f"bursts under way (default {OUTSTANDING})",
            **more,
        ),
        option(
            "--live",
            action="store_true",
            help="also what happens at last: where the other sides are fair, each VALID is taken and each "
            "burst ends",
            first=True,
            **more,
        ),
        option(
            "--depth",
            type=shared.positive,
            metavar="N",
            help="cycles to which a rule is checked that no engine proves (default 40)",
            **more,
        ),
        option(
            "--enough",
            type=shared.positive,
            metavar="N",
            help="exit code 0 also where a rule was looked at for N cycles only",
            **more,
        ),
        option(
            "--replay",
            type=Path,
            metavar="DIR",
            help="where counter-examples go (default: ./replay)",
            first=True,
            **more,
        ),
        option(
            "--waves",
            action="store_true",
            help="run counter-examples in the simulator too, and keep waves.vcd",
            **more,
        ),
        option(
            "--table",
            action="store_true",
            help="a line a port, with how far each kind of rule holds",
            first=True,
            **more,
        ),
        replace(proofs.limit("an engine"), **more),
        replace(proofs.JSON, **more),
    )


_NAMED = {"names": "--list names the modules and proves nothing"}
APPLET = Applet(
    "prove axi",
    "the rules of AXI4, AXI4-Lite and AXI4-Stream on every port of Axiloom's modules",
    of_ours,
    (
        option("modules", nargs="*", metavar="MODULE", help="of Axiloom (default: all; --list names them)"),
        option("--list", dest="names", action="store_true", help="name the modules and end"),
        shared.stream_width("of Axiloom's modules (default 32)", excludes=_NAMED),
        *_how(excludes=_NAMED),
    ),
    "With --rtl FILE: on your Verilog or VHDL (`axiloom prove verilog`). What the other side of a port "
    "must keep is assumed. Exit code 1 if a rule is violated, not decided, or looked at for some cycles "
    "only. Verdicts are kept in the user's cache, by the content of the question.",
)
USERS = Kind(
    Applet(
        "prove verilog",
        "the same rules on every port of your Verilog or VHDL",
        of_users,
        (
            option(
                "--rtl",
                action="append",
                required=True,
                type=shared.rtl_file,
                metavar="FILE",
                help="your Verilog or VHDL, once for each file; or a component.xml",
                first=True,
            ),
            option(
                "--top",
                metavar="NAME",
                help="the module of --rtl (default: the name of its first file)",
                first=True,
            ),
            option(
                "--clock",
                action="append",
                metavar="PORT",
                help="of --top, where its name does not say so; again for each port that the same clock "
                "drives",
                first=True,
            ),
            option(
                "--reset",
                action="append",
                metavar="PORT",
                help="of --top; one that ends in n is active low; again for each port that the same reset "
                "drives",
                first=True,
            ),
            option(
                "--tie",
                action="append",
                type=_tied,
                metavar="PORT=VALUE",
                help="an input of --top that is constant",
                first=True,
            ),
            option(
                "--assume",
                action="append",
                type=Path,
                metavar="FILE",
                help="what else may be assumed: a condition in Verilog a line over the ports of --top, or "
                "a module whose inputs are ports of --top and whose outputs are always 1",
                first=True,
            ),
            option(
                "--fair",
                action="append",
                type=Path,
                metavar="FILE",
                help="with --live: what comes again and again, such as a command that starts --top; a file "
                "like that of --assume",
                needs={"live": "says what comes again and again"},
            ),
            option(
                "--parameter",
                action="append",
                type=_parameter,
                metavar="NAME=VALUE",
                help="of --top in Verilog",
            ),
            shared.define("a macro of --rtl", "NAME[=VALUE]", type=_macro),
            shared.include("a folder of headers of --rtl"),
            option(
                "--within",
                type=shared.positive,
                metavar="N",
                help="cycles in which what is accepted is answered, where the other sides are ready and "
                f"ask for nothing new (default {WITHIN})",
            ),
            *_how(),
        ),
        "AXI ports are found by their names. What the other side of a port must keep is assumed. Exit code "
        "1 if a rule is violated, not decided, or looked at for some cycles only.",
    ),
    lambda said: "--rtl is your own" if "rtl" in said else "",
)
