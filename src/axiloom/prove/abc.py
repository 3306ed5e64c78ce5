"""A bench through Yosys to one AIGER file a property, and ABC's verdict on each.

ABC comes with Yosys, as a program beside it. Its answer is read from what ``write_status`` writes, not from
what it prints.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from axiloom.base import processes
from axiloom.base.cache import content_hash, remembered
from axiloom.base.errors import BuildError
from axiloom.boards.synthesis import yosys
from axiloom.prove import certify, ranks, repeats
from axiloom.prove.aiger import Aiger, Run
from axiloom.prove.bench import TOP, Bench, Property
from axiloom.prove.liveness import SAVES, loops, rounds
from axiloom.prove.verdict import Answer, Verdict

_SYMBOL = re.compile(rb"^i(\d+) (\S+?)(?:\[(\d+)\])?$", re.MULTILINE)
_LOWER = (
    "hierarchy -check -top {top}; proc; flatten; async2sync; opt_clean; opt -full; memory -nomap; {memories}"
    "memory_map; opt -full; dffunmap; "
    "techmap; opt_expr -mux_undef; opt_clean; {undriven}aigmap"
)

_ANY_FILE = Path(__file__).parent / "any_memory.v"
LARGE = 4096
"""Bits of a user's memory above which its content is taken for anything."""
# Registers behind a port are no part of it then: each read is of the same cycle.
_ANY = (
    f"memory_nordff; techmap -D LIMIT={LARGE} -map {_ANY_FILE.name}; setundef -undriven -expose; opt -full; "
)

_SOURCES = "abc", "aiger", "certify", "liveness", "ranks", "repeats", "steps"
"""What an answer in the cache hangs on, beside its question."""
_ALL = "all.aig"
RANK = "rank"
"""Of what is owed: a number that falls meanwhile."""
INDUCTION = "induction"
"""Over cycles, from any state in which all lemmas hold."""

_FAIR_ROUNDS = 4

BUSY = 20
"""Times that a program may take longer on a busy machine."""

RUNS = 6
"""That go on in simulation, at most."""

CONSTANT = "constant"
"""What certifies an output that is no function of anything."""

TOGETHER = 5
"""Times the limit of an engine: an induction is over all lemmas at once."""

DEPTH = 40
"""Cycles to which a property is looked at that no engine proves."""


@dataclass(frozen=True)
class Engine:
    """A few lines of ABC's script, after the property is read."""

    name: str
    script: str
    bounded: bool = False
    helped: bool = False
    """It looks at the output that takes lemmas for granted."""
    cpu_s: int = 0
    """Seconds of CPU after which it is ended: its own limits are of the clock."""


def engines(limit_s: int, depth: int = DEPTH) -> tuple[Engine, ...]:
    """In the order in which they are tried."""
    return (
        # With other generalisations of what is not reached: each is quick on others (-s: another solver).
        Engine("pdr", f"pdr -nc -T {max(limit_s // 12, 3)}"),
        Engine("pdr", f"pdr -nc -s -f -T {max(limit_s // 4, 5)}"),
        Engine("pdr", f"pdr -s -f -T {max(limit_s // 2, 5)}"),
        Engine("pdr", f"pdr -T {max(limit_s // 4, 5)}"),
        Engine("scorr, pdr", f"scorr; write_aiger {{name}}.small; pdr -T {limit_s}"),
        Engine("bmc", f"bmc3 -F {depth} -T {limit_s}", bounded=True),
    )


COVER = (Engine("bmc", "bmc3 -F 80 -T 60", bounded=True), Engine("pdr", "pdr -T 60"))


@dataclass(frozen=True)
class Outcome:
    """What an engine said: is the output reachable, in which cycle, and how."""

    reachable: bool | None
    cycles: int | None
    engine: str
    stimulus: tuple[dict[str, int], ...] = ()
    """Where it is reachable: the bench's inputs in each cycle, up to the one in which the output is high."""
    certified: str = ""
    """Of what is never reachable: who has checked the proof, if anybody."""
    loop: int | None = None
    """Of what is owed for ever: the cycle to which the one behind the last goes back."""


def prove(
    module: str,
    bench: Bench,
    *,
    sources: Sequence[tuple[str, str]] = (),
    limit_s: int = 60,
    depth: int = DEPTH,
    jobs: int = 2,
    tried: Sequence[Engine] = (),
    say: Callable[[Verdict, Property, Outcome], None] = lambda _verdict, _property, _found: None,
    asks: Callable[[str], None] = lambda _place: None,
) -> Iterator[tuple[Verdict, Outcome]]:
    """The verdicts on all properties of `bench`, in their order; `say` is told of each as it comes, `asks` of
    what is looked at. What ends it, such as Ctrl-C, ends its programs too.

    `sources` are files that its instances need, Verilog or Yosys' own language (``.il``): name and text.
    `tried` are the engines, if not those that suit each property. Raises BuildError where Yosys refuses.
    """
    with processes.scratch("axiloom-prove-") as place:
        stopped = threading.Event()
        asked = Asked(Path(place), lower(bench, Path(place), sources), stopped.is_set)
        trusted = False
        ranks: dict[tuple[str, str], Outcome] = {}  # that fall, by the names of their checks

        def decide(prop: Property) -> tuple[Verdict, Outcome]:
            begun = time.perf_counter()
            asks(f"{module}.{prop.port}.{prop.name}")
            if rank := ranks.get((prop.port, prop.ranked)):
                outcome, cached = replace(rank, engine=RANK), False
            elif prop.live:
                owed = prop.helped if trusted and prop.helped else prop.output
                outcome, cached = _decide_live(asked, prop, owed, bench, limit_s)
            else:
                outcome, cached = _decide(asked, prop, tried or _tried(prop, limit_s, depth, trusted))
                if prop.rank and outcome.reachable:  # another number may fall
                    outcome = Outcome(None, None, outcome.engine)
            return told(prop, outcome, time.perf_counter() - begun, cached)

        def told(prop: Property, outcome: Outcome, seconds: float, cached: bool) -> tuple[Verdict, Outcome]:
            verdict = _verdict(module, prop, outcome, seconds, cached)
            say(verdict, prop, outcome)
            return verdict, outcome

        def induct(props: Sequence[Property]) -> dict[Property, tuple[Verdict, Outcome]]:
            """All at once; if that fails, its halves: what is left out is not inductive."""
            begun = time.perf_counter()
            done, cached = (
                _together(asked, [prop.helped for prop in props], TOGETHER * limit_s)
                if props
                else (True, True)
            )
            if done:
                seconds = (time.perf_counter() - begun) / max(len(props), 1)
                outcome = Outcome(False, None, INDUCTION, certified=certify.SOLVER)
                return {prop: told(prop, outcome, seconds, cached) for prop in props}
            half = len(props) // 2
            return induct(props[:half]) | induct(props[half:]) if half else {}

        with _pool(jobs, stopped) as pool:
            lemmas = [prop for prop in bench.properties if prop.lemma]
            decided = induct(lemmas)
            rest = [prop for prop in lemmas if prop not in decided]
            decided |= dict(zip(rest, pool.map(decide, rest), strict=True))
            missing = [prop.name for prop in lemmas if not decided[prop][0].unbounded]
            trusted = bool(lemmas) and not missing
            rules = [prop for prop in bench.properties if not (prop.lemma or prop.is_cover or prop.live)]
            decided |= induct(rules) if trusted else {}
            for live in (False, True):  # which may follow from a rank
                rest = [prop for prop in bench.properties if prop.live is live and prop not in decided]
                decided |= dict(zip(rest, pool.map(decide, rest), strict=True))
                for prop, (verdict, outcome) in decided.items():
                    if prop.rank and verdict.unbounded:
                        ranks[prop.port, prop.name] = outcome
    for prop in bench.properties:
        verdict, outcome = decided[prop]
        if prop.lemma and missing and verdict.unbounded:  # they hold together or not at all
            said = f"{verdict.solver}; rests on {', '.join(missing)}"
            verdict = replace(verdict, answer=Answer.OPEN, solver=said)
        yield verdict, outcome


@contextlib.contextmanager
def _pool(jobs: int, stopped: threading.Event) -> Iterator[ThreadPoolExecutor]:
    """Threads that end soon where something ends the whole: what they wait for ends, and nothing begins."""
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool
    except BaseException:
        stopped.set()
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _tried(prop: Property, limit_s: int, depth: int, trusted: bool) -> tuple[Engine, ...]:
    """The engines for a property; rules may rely on lemmas where all of these are proved."""
    if prop.is_cover:
        return COVER
    helped = Engine("pdr, lemmas", f"pdr -T {max(limit_s // 4, 5)}", helped=True)
    if prop.lemma:
        return helped, Engine("bmc, lemmas", f"bmc3 -F {depth} -T {limit_s}", bounded=True, helped=True)
    return ((helped,) if trusted else ()) + engines(limit_s, depth)


@dataclass(frozen=True)
class Asked:
    """A bench that was lowered: files of its outputs, made as they are asked for."""

    folder: Path
    whole: Aiger
    stop: Callable[[], bool] = lambda: False

    def cone(self, *outputs: str) -> Aiger:
        return self.whole.cone(*(self.whole.output(output) for output in outputs))

    def file(self, output: str) -> Path:
        path = self.folder / f"{output}.aig"
        if not path.exists():
            path.write_bytes(self.cone(output).numbered().write())
        return path


def lower(bench: Bench, folder: Path, sources: Sequence[tuple[str, str]] = ()) -> Aiger:
    """`bench` as gates, each property an output; its files are in `folder`."""
    (folder / "bench.il").write_text(bench.text, encoding="utf-8")
    (folder / "user").mkdir(exist_ok=True)
    for name, text in sources:
        (folder / "user" / name).write_text(text, encoding="utf-8")
    # What nobody drives may have any value, in any cycle; a register without a first value begins with any.
    undriven = "setundef -undriven -expose; " if sources else ""
    any_memories = any(name.endswith(".il") for name, _ in sources)
    if any_memories:
        (folder / _ANY_FILE.name).write_text(_ANY_FILE.read_text(encoding="utf-8"), encoding="utf-8")
    script = [
        yosys.read_theirs([source for source in sources if not source[0].endswith(".il")]),
        *(f"read_rtlil user/{name}\n" for name, _ in sources if name.endswith(".il")),
        "read_rtlil bench.il\n",
        _LOWER.format(top=TOP, undriven=undriven, memories=_ANY if any_memories else ""),
        "; ",
    ]
    script.append(f"opt_clean -purge; write_aiger -zinit -symbols {_ALL}\n")
    yosys.run("".join(script), folder, "lower the bench")
    return Aiger.read((folder / _ALL).read_bytes())


@cache
def _tools() -> str:
    texts = [(Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8") for name in _SOURCES]
    return content_hash(*texts, yosys.version(), certify.version())


def _together(asked: Asked, outputs: Sequence[str], limit_s: int) -> tuple[bool, bool]:
    """Is each of these outputs low in the first cycle, and by induction ever after? And: was that known?"""
    # ABC gives up where an output is constant: Yosys has shown it then.
    outputs = [output for output in outputs if asked.whole.outputs[asked.whole.output(output)] != 0]
    if not outputs:
        return True, False
    cone = asked.cone(*outputs)
    key = content_hash("induction", _tools(), cone.write().hex())

    def ask() -> dict[str, Any]:
        return {"holds": _inductive(asked, "together", cone, limit_s)}

    facts, cached = remembered("prove", key, ask, lambda facts: facts["holds"])
    return facts["holds"], cached


def _inductive(asked: Asked, name: str, cone: Aiger, limit_s: int) -> bool:
    """Do both engines say so of all outputs of `cone`?"""
    for file, data in {f"{name}_first": cone.write(), f"{name}_step": cone.step().write()}.items():
        (asked.folder / f"{file}.aig").write_bytes(data)
        # Glucose: quicker here than ABC's own solver where memories are compared.
        engine = Engine(file, f"bmc3 -g -F 2 -T {limit_s}", bounded=True)
        outcome = _run(asked.folder, file, engine, asked.stop)
        if outcome is None or outcome.reachable or outcome.cycles != 1:
            return False
    return certify.induction(cone)


def _decide(asked: Asked, prop: Property, tried: Sequence[Engine]) -> tuple[Outcome, bool]:
    """What the first engine says that says anything; from the cache, if this question was asked before."""
    read = [asked.file(_output(prop, engine)).read_bytes().hex() for engine in tried]
    key = content_hash("prove", _tools(), *read, *(engine.script for engine in tried))

    def ask() -> dict[str, Any]:
        return asdict(_ask(asked, prop, tried))

    facts, cached = remembered("prove", key, ask, lambda facts: facts["reachable"] is not None)
    return Outcome(**facts | {"stimulus": tuple(facts["stimulus"])}), cached


def _decide_live(asked: Asked, prop: Property, owed: str, bench: Bench, limit_s: int) -> tuple[Outcome, bool]:
    """Whether something is owed for ever in a fair run; from the cache, if this question was asked before."""
    pairs = len(bench.fair_pairs)
    cone = asked.cone(owed, *bench.fairness, *(name for pair in bench.fair_pairs for name in pair))
    data = cone.numbered().write().hex()
    key = content_hash("live", _tools(), data, pairs, limit_s)

    def ask() -> dict[str, Any]:
        ask_it = _ask_fair if prop.is_cover else _ask_live
        return asdict(ask_it(asked, cone, pairs, owed, limit_s))

    facts, cached = remembered("prove", key, ask, lambda facts: facts["reachable"] is not None)
    return Outcome(**facts | {"stimulus": tuple(facts["stimulus"])}), cached


def _ask_live(asked: Asked, cone: Aiger, pairs: int, name: str, limit_s: int) -> Outcome:
    """Rounds are counted further and further, until nothing is owed through so many; and loops are sought."""
    if cone.outputs[0] == 0:
        return Outcome(False, None, "Yosys", certified=CONSTANT)
    begun = time.perf_counter()
    quick, loop = max(limit_s // 12, 2), f"{name}_loop"
    (asked.folder / f"{loop}.aig").write_bytes(loops(cone, pairs).write())
    runs: list[Run] = []
    for count, depth in ((1, 0), (1, 12), (2, 0), (4, 0), (0, 0), (8, 30), (16, 0), (32, 80)):
        if not count:
            if (outcome := _ask_ranks(asked, cone, pairs, name, limit_s)) is not None:
                return outcome
            continue
        left = max(limit_s - int(time.perf_counter() - begun), quick)
        if depth:
            engine = Engine("loop", f"bmc3 -F {depth} -T {left if depth == 80 else quick}", bounded=True)
            outcome = _run(asked.folder, loop, engine, asked.stop)
            if outcome is not None and outcome.reachable:
                begins = next(i for i, values in enumerate(outcome.stimulus) if values.get(SAVES))
                return replace(outcome, loop=begins)
        if depth == 12:
            if (outcome := _repeats(cone, pairs, runs)) is not None:
                return outcome
            continue
        seconds, question = (quick if count < 8 else left // 2), rounds(cone, count, pairs)
        outcome = _count(asked, f"{name}_{count}", question, f"pdr, {count} rounds", seconds)
        if outcome is not None and outcome.reachable:
            runs.append(outcome.stimulus)
        elif outcome is not None and outcome.cycles is None:
            return outcome
    return Outcome(None, None, "pdr, loops")


def _repeats(cone: Aiger, pairs: int, runs: Sequence[Run]) -> Outcome | None:
    """Whether one of these goes on for ever."""
    for run in runs[:RUNS]:
        if repeated := repeats.find(cone, pairs, run):
            shown, begins = repeated
            return Outcome(True, len(shown) - 1, "simulation", tuple(map(dict, shown)), loop=begins)
    return None


def _ask_ranks(asked: Asked, cone: Aiger, pairs: int, name: str, limit_s: int) -> Outcome | None:
    """Why nothing is owed for ever, from registers inside; or a run in which it is."""
    met: list[Run] = []

    def never(question: Aiger) -> tuple[bool, Run]:
        outcome = _count(asked, f"{name}_ranks", question, RANK, max(limit_s // 12, 2))
        if outcome is not None and outcome.reachable:
            met.append(outcome.stimulus)
        certified = outcome is not None and not outcome.reachable and bool(outcome.certified)
        return certified, outcome.stimulus if outcome is not None else ()

    if ranks.argue(cone, pairs, 2 * limit_s, never):
        return Outcome(False, None, RANK, certified=certify.SOLVER)
    return _repeats(cone, pairs, met)


def _count(asked: Asked, file: str, question: Aiger, name: str, seconds: int) -> Outcome | None:
    """By an engine that proves without a bound, in one of two ways."""
    (asked.folder / f"{file}.aig").write_bytes(question.numbered().write())
    if _constant_zero(asked.folder / f"{file}.aig"):
        return Outcome(False, None, name, certified=CONSTANT)
    engines = (
        Engine(name, f"pdr {options} -T {BUSY * seconds}", cpu_s=seconds) for options in ("-nc", "-s -f")
    )
    return next((said for engine in engines if (said := _run(asked.folder, file, engine, asked.stop))), None)


def _ask_fair(asked: Asked, cone: Aiger, pairs: int, name: str, limit_s: int) -> Outcome:
    """A run of some rounds shows that fairness does not contradict what is assumed."""
    (asked.folder / f"{name}.aig").write_bytes(rounds(cone, _FAIR_ROUNDS, pairs).numbered().write())
    for engine in (
        Engine("bmc", f"bmc3 -F 200 -T {limit_s}", bounded=True),
        Engine("pdr", f"pdr -T {limit_s}"),
    ):
        outcome = _run(asked.folder, name, engine, asked.stop)
        if outcome is not None and (outcome.reachable or outcome.cycles is None):
            return outcome
    return Outcome(None, None, "bmc")


def _output(prop: Property, engine: Engine) -> str:
    return prop.helped if engine.helped else prop.output


def _ask(asked: Asked, prop: Property, tried: Sequence[Engine]) -> Outcome:
    folder = asked.folder
    weaker: Outcome | None = None
    for engine in tried:
        if engine.bounded and weaker is not None:  # it holds without a bound
            continue
        name = _output(prop, engine)
        if _constant_zero(folder / f"{name}.aig"):
            return Outcome(False, None, engine.name if engine.helped else "Yosys", certified=CONSTANT)
        outcome = _run(folder, name, engine, asked.stop)
        if outcome is None:
            continue
        if outcome.reachable or outcome.certified:
            return outcome
        weaker = outcome  # to a bound, or without a proof that another engine can check
    return weaker or Outcome(None, None, tried[-1].name)


def _run(folder: Path, name: str, engine: Engine, stop: Callable[[], bool]) -> Outcome | None:
    file = folder / f"{name}.aig"
    files = {end: file.with_suffix(f".{end}") for end in ("status", "cex", "small", "pla")}
    for written in files.values():
        written.unlink(missing_ok=True)
    commands = engine.script.format(name=name).replace("pdr ", f"pdr -d -I {files['pla'].name} ")
    script = f"read_aiger {name}.aig; {commands}; write_status {name}.status; "
    # A counter-example is of the property as it was read, also after it was made smaller.
    script += f"write_cex -a {name}.cex\n"
    (folder / f"{name}.abc").write_text(script.replace("; ", "\n"), encoding="utf-8")
    # ABC may end in a way that looks like a fault: the status says what was found.
    with contextlib.suppress(BuildError):
        yosys.abc(f"{name}.abc", folder, stop, cpu_s=engine.cpu_s)
    if files["small"].exists() and _constant_zero(files["small"]):
        return Outcome(False, None, engine.name, certified=_by_induction(Aiger.read(file.read_bytes())))
    words = files["status"].read_text().split() if files["status"].exists() else []
    answer = words[0].removeprefix("snl_") if words else ""
    if answer == "UNSAT":
        certified = _certified(file, files["pla"])
        return None if certified is None else Outcome(False, None, engine.name, certified=certified)
    if answer == "SAT":
        stimulus = _stimulus(file, files["cex"])
        return Outcome(True, len(stimulus) - 1, engine.name, stimulus)
    reached = int(words[1]) if engine.bounded and len(words) > 1 and words[1].isdigit() else 0
    return Outcome(False, reached, engine.name) if reached > 0 else None


def _certified(file: Path, invariant: Path) -> str | None:
    """Who has checked that the output is never high. None: the invariant is none."""
    aiger = Aiger.read(file.read_bytes())
    cubes = certify.cubes(invariant) if invariant.exists() else None
    if cubes is None:  # the engine has no invariant of this file
        return _by_induction(aiger)
    return certify.SOLVER if certify.invariant(aiger, cubes) else None


def _by_induction(aiger: Aiger) -> str:
    """Who has checked it, where few cycles are enough; else nobody."""
    return certify.SOLVER if any(certify.induction(aiger, count) for count in (1, 2)) else ""


def _stimulus(aiger: Path, witness: Path) -> tuple[dict[str, int], ...]:
    """The inputs of `aiger` by name in each cycle of a counter-example, whose first line is of latches."""
    data = aiger.read_bytes()
    inputs = int(data.split(None, 3)[2])
    places: dict[int, tuple[str, int]] = {}
    for number, name, bit in _SYMBOL.findall(_symbols(data)):
        places[int(number)] = (name.decode(), int(bit or 0))
    cycles = []
    for line in witness.read_text(encoding="utf-8").splitlines()[1:]:
        if not line or set(line) - {"0", "1", "x"}:
            break
        values: dict[str, int] = {}
        for place, value in enumerate(line[:inputs]):
            if place not in places:  # of the step of an induction: what a register holds
                continue
            name, bit = places[place]
            values[name] = values.get(name, 0) | (value == "1") << bit
        cycles.append(values)
    return tuple(cycles)


def _symbols(data: bytes) -> bytes:
    """The symbol table of a binary AIGER file: it follows the gates, two numbers each of 7 bits a byte."""
    _, _, _, latches, outputs, gates = (
        int(word) if word.isdigit() else 0 for word in data.split(b"\n")[0].split()
    )
    at = 0
    for _ in range(1 + latches + outputs):
        at = data.index(b"\n", at) + 1
    left = 2 * gates
    while left:
        left -= data[at] < 0x80
        at += 1
    return data[at:]


def _constant_zero(path: Path) -> bool:
    """Yosys has simplified the property away: ABC does not take a network without latches."""
    lines = path.read_bytes().split(b"\n")
    return lines[1 + int(lines[0].split()[3])] == b"0"  # the output, after a line a latch


def _verdict(module: str, prop: Property, outcome: Outcome, seconds: float, cached: bool) -> Verdict:
    if outcome.reachable:
        answer, bound = (Answer.SEEN if prop.is_cover else Answer.VIOLATED), outcome.cycles
    elif outcome.reachable is None:
        answer, bound = Answer.OPEN, None
    else:
        answer, bound = (Answer.NEVER if prop.is_cover else Answer.HOLDS), outcome.cycles
    return Verdict(
        module,
        prop.port,
        prop.name,
        prop.text,
        prop.source,
        answer,
        bound,
        outcome.engine,
        seconds,
        cached,
        prop.needed,
        certified=outcome.certified,
        loop=outcome.loop,
    )
