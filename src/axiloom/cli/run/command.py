"""``axiloom run`` (a problem, our driver) and ``axiloom simulate`` (the user's driver)."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from axiloom import boards
from axiloom.base.cache import content_hash
from axiloom.base.errors import CompileError, MismatchError, UnfitError, UsageError
from axiloom.base.files import read_array, read_text, write_arrays
from axiloom.cli import HELP, terminal
from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, has, output_file, refuse, reject
from axiloom.cli.nest import run as nest_run
from axiloom.cli.run import board_program, by_others, host_function, remedies, select, serial, shared_network
from axiloom.cli.run import program as program_run
from axiloom.cosim import last_run
from axiloom.cosim.build.user_code import CXX, CompileOptions
from axiloom.cosim.job import Job, Result
from axiloom.cosim.profile import Timeline
from axiloom.cosim.soc import HungError, Soc, judge, raise_failure
from axiloom.cosim.system import System
from axiloom.drivergen.dialects import templates
from axiloom.drivergen.network import is_network, network_data_type
from axiloom.explore import chosen
from axiloom.isa import dumps
from axiloom.library.progress import told
from axiloom.read import models
from axiloom.read.context.model import Model
from axiloom.read.mlir import file as mlir_file
from axiloom.report import build as report
from axiloom.report import hang, page, perfetto
from axiloom.report.types import Kernel, Report, Setup
from axiloom.run import device_bound, gains, neon_advice
from axiloom.run.choice import ranks
from axiloom.run.compare import Arrays, compare
from axiloom.run.network import ALL, CHANGED, LAYERS, WEIGHTS, Network, NetworkRun
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.resolve import BEST
from axiloom.run.run import CpuPart, Run, Watch, folder_or_temporary, simulate, simulate_both

NETWORK = "input output weights stop_after offload_from offload layers"
"""Options of networks alone."""
AGAINST: dict[str, Kernel] = {"cpu": "loops", "neon": "neon"}
"""Values of --against: the kernel that runs on the CPU alone."""


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = commands.add_parser(
        "run",
        help=HELP["run"],
        description="Exit code 0 only if the result equals NumPy's.",
    )
    run.add_argument(
        "problem",
        help="matmul:MxNxK[:int8|int16|int32], conv:, dwconv:, matvec:, vecmat:, dot:, bmm: (a wrong one "
        "says how they go on), a model: FILE.mlir, FILE.onnx, FILE.py:FUNCTION, loops: FILE.c[:FUNCTION] or "
        "a model with --schedule or --auto, or commands of an instruction set: FILE.program",
    )
    shared.add_accelerator(run, chosen=True)
    shared.add_schedule(run)
    shared.add_simulation(run)
    run.add_argument(
        "--against",
        choices=tuple(AGAINST),
        help="the same problem at -O3 on the simulated CPU beside it: plain loops, or NEON by hand",
    )
    run.add_argument(
        "--try",
        dest="try_remedies",
        action="store_true",
        help="run it again with each remedy of the report (five at most), and say what that won",
    )
    run.add_argument(
        "--calls",
        type=shared.calls,
        default=1,
        metavar="N",
        help="call the driver N times, each on what the call before has left, and report the cycles of the "
        "first call and of the later ones (default 1)",
    )
    run.add_argument("--seed", type=shared.natural, default=0, help="of the random inputs (default 0)")
    nest_run.add_search(run)
    program_run.add_options(run)
    network = run.add_argument_group("networks (functions with many ops), and of loops --input, --output")
    network.add_argument(
        "--input",
        type=Path,
        metavar="FILE.npz",
        help="inputs: input0, ..., of loops by name; of an int8 network also floats (default: random ones)",
    )
    network.add_argument(
        "--output",
        type=output_file,
        metavar="FILE.npz",
        help="write the results: output0, ... or by name; floats where the network has scales",
    )
    network.add_argument(
        "--weights",
        choices=WEIGHTS,
        default=WEIGHTS[0],
        help="put into memory by the simulator, or a part of the program (default %(default)s)",
    )
    network.add_argument(
        "--stop-after", metavar="N|NAME", help="run no further than this layer; nothing is compared then"
    )
    network.add_argument(
        "--layers",
        choices=tuple(reversed(LAYERS)),
        default=CHANGED,
        help="changed (default): only layers without a cached result. again: all, compared with the cache. "
        "all: all, cache unused",
    )
    network.add_argument(
        "--offload-from",
        type=shared.natural,
        default=0,
        metavar="N",
        help="products of fewer multiply-adds stay on the CPU (default 0: all that the accelerator takes)",
    )
    network.add_argument(
        "--offload",
        choices=("auto", "all"),
        default="auto",
        help="auto: products that are faster on the CPU by an estimate stay there; all: none does",
    )
    refuse(
        run,
        Refusal(
            "wait", lambda o: o.os == "linux" and o.wait == "irq", "--os linux polls the DMA: leave it out"
        ),
        Refusal("seed", has("input"), "of random inputs; here --input has them"),
        Refusal("output", has("stop_after"), "has the network's results, and --stop-after ends before them"),
        Refusal("try_remedies", has("against"), "runs the problem several times; try without --against"),
        Refusal("calls", lambda o: o.os == "linux", "for programs on bare metal: leave --os out"),
        Refusal("against", has("stop_after"), "compares whole runs, and --stop-after ends one earlier"),
    )
    run.set_defaults(execute=execute_run)

    simulate = commands.add_parser(
        "simulate",
        help=HELP["simulate"],
        description="C and C++ sources are compiled with the runtime in sw/; main() returns 0 for success. "
        "With --accel NAME,NAME the SoC has several accelerators; C then calls dma_select(AXL_ID_NAME) and "
        "dma_init(AXL_DMA_NAME).",
    )
    simulate.add_argument("driver", nargs="+", type=Path, metavar="DRIVER.c|.cpp|.mlir... | FILE.elf")
    simulate.add_argument(
        "-D",
        dest="define",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="a macro of the driver's; of a template of MLIR the value of ${NAME}",
    )
    simulate.add_argument(
        "-I",
        dest="include",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        help="a folder with headers, beside those of the sources",
    )
    shared.add_accelerator(simulate)
    shared.add_simulation(simulate)
    simulate.add_argument(
        "--load", action="append", default=[], metavar="SYMBOL=FILE.npy", help="fill an array before main"
    )
    simulate.add_argument(
        "--expect", action="append", default=[], metavar="SYMBOL=FILE.npy", help="compare an array after main"
    )
    board = simulate.add_argument_group("an ELF file that other tools built for a Zynq-7000")
    board.add_argument(
        "--input", metavar="FILE", help="what is typed at its UART; -: standard input (default: nothing)"
    )
    board.add_argument("--until", metavar="TEXT", help="it ends well when it has printed this")
    board.add_argument(
        "--limit", type=shared.seconds, metavar="SECONDS", help="of the board's time (default: 100)"
    )
    refuse(
        simulate,
        Refusal(
            "input until limit",
            lambda o: [file.suffix for file in o.driver] != [".elf"],
            "for an ELF file that other tools built",
        ),
        Refusal(
            "wait", lambda o: o.os == "linux" and o.wait == "irq", "--os linux polls the DMA: leave it out"
        ),
        Refusal(
            "wait os keep define include",
            lambda o: [file.suffix for file in o.driver] == [".elf"],
            "for sources, which are compiled; an ELF file is finished",
        ),
    )
    simulate.set_defaults(execute=execute_simulate)


def _check_os(options: argparse.Namespace) -> None:
    """Raises UsageError where the board's CPU runs no Linux here."""
    if options.os == "linux":
        boards.load(options.board).host.check_linux()


def execute_run(options: argparse.Namespace) -> int:
    others = nest_run.is_loops(options) or select.is_for_texts(options)  # -D is then theirs
    if mlir_file.is_mlir(options.problem) and options.define and not others:
        return _execute_template(options)
    problems = [options.problem] if nest_run.is_loops(options) else models.meant(options.problem)
    if len(problems) > 1:
        return _execute_each(options, problems)
    return _execute_one(options)


def _execute_template(options: argparse.Namespace) -> int:
    """A template of MLIR with the values of -D in it."""
    file = mlir_file.split(options.problem)[0]
    actions = {name: action for name, action in options.given.items() if name != "define"}
    filled = argparse.Namespace(**{**vars(options), "define": [], "given": actions})
    with templates.given(options.define, read_text(file, CompileError), str(file)):
        return execute_run(filled)


def _execute_each(options: argparse.Namespace, problems: Sequence[str]) -> int:
    """The functions of a file, one after the other, those that the accelerator cannot execute by the CPU.

    The exit code is that of one that failed.
    """
    why = f"a file of one run, and {options.problem} has {len(problems)} functions: name one, {problems[0]}"
    reject(options, [Refusal("json report perfetto trace keep", lambda _: True, why)])
    first, unfit = 0, dict[str, UnfitError]()
    for number, problem in enumerate(problems, 1):
        print(f"{'' if number == 1 else chr(10)}{problem} ({number} of {len(problems)})", flush=True)
        try:
            code = _execute_one(argparse.Namespace(**{**vars(options), "problem": problem}))
        except UnfitError as error:
            unfit[problem] = error
            print("not for the accelerator: see below")
            continue
        first = first or code
    if len(unfit) == len(problems):
        raise next(iter(unfit.values()))
    for problem, cause in unfit.items():
        print(f"\n{problem}, by the CPU alone ({cause})", flush=True)
        first = host_function.execute(options, problem) or first
    return first


def _execute_one(options: argparse.Namespace) -> int:
    if serial.is_serial(options):
        return serial.execute_run(options)
    _check_os(options)
    one_op = [Refusal("try_remedies calls", lambda _: True, "for problems of one op")]
    if shared_network.is_shared(options):
        reject(options, one_op)
        return shared_network.execute(options, _execute)
    if program_run.is_program(options.problem) or select.is_for_texts(options):
        reject(options, one_op)
        return program_run.execute(options, _finish)
    reject(
        options,
        [Refusal(program_run.OPTIONS, lambda _: True, "for commands of an instruction set: FILE.program")],
    )
    if nest_run.is_loops(options):
        reject(options, one_op)
        return nest_run.execute(options, _finish)
    reject(options, [Refusal(f"{nest_run.OPTIONS} auto", lambda _: True, f"for loops: {nest_run.ACCEPTED}")])
    model = models.load(options.problem) if models.is_model(options.problem) else None
    if model is not None and is_network(model.mlir, options.problem):
        reject(options, one_op)
        network = network_run(options, model)
        return _execute(options, network)
    reject(
        options,
        [
            Refusal(
                "select", lambda o: o.select == select.EGRAPH, "of one op there is no choice: leave it out"
            )
        ],
    )
    reject(options, [Refusal(NETWORK, lambda _: True, "for networks: functions on tensors with many ops")])
    _check_against(options)
    problem = _problem_run(options)
    if options.against == "neon":
        problem.check_kernel("the kernel in NEON")  # before minutes of simulation
    return _execute(options, problem)


def network_run(options: argparse.Namespace, model: Model, inputs: Arrays | None = None) -> NetworkRun:
    """A network as the options say; `inputs`: its inputs, in place of a file's."""
    if options.os == "linux":
        raise UsageError(f"{options.problem}: --os linux is for functions with one op, not for networks")
    data_type = network_data_type(model.mlir, model.weights, options.problem)
    taken = chosen.of_network(shared.task(options, model.mlir, data_type, weights=model.weights))
    how = select.of_network(options, taken.specs)
    if options.flow == BEST and not any(ranks(spec) for spec in taken.specs):
        first = taken.spec
        raise UsageError(
            f"--flow best: in a network the cost model chooses for matmuls, and {first.name} does none; "
            f"give one of {', '.join(first.flows)}, or leave --flow out"
        )
    _check_against(options)
    return NetworkRun(
        Network(
            options.problem, model.mlir, model.weights, inputs or options.input, options.seed, model.referee
        ),
        shared.system(options, taken.specs, options.seed),
        taken.schedule,
        keep_weights=options.weights,
        stop_after=options.stop_after,
        least=options.offload_from,
        auto=options.offload == "auto",
        selecting=how.egraph,
        or_matching=not how.asked,
        because=how.because,
        choice=taken.choice,
        simulated=_layers(options),
    )


def _layers(options: argparse.Namespace) -> str:
    """What a whole run alone gives (its timeline, its results, a waveform) has no parts."""
    whole = options.output or options.trace or shared.wants_timeline(options)
    return ALL if whole and options.layers == CHANGED else str(options.layers)


def _problem_run(options: argparse.Namespace) -> ProblemRun:
    mlir, data_type = shared.problem(options.problem, options.flow)
    taken = chosen.of_problem(shared.task(options, mlir, data_type))
    return ProblemRun(
        Workload(options.problem, mlir, options.seed),
        shared.system(options, taken.specs, options.seed),
        taken.schedule,
        choice=taken.choice,
        calls=options.calls,
    )


def _check_against(options: argparse.Namespace) -> None:
    """Raises UsageError where the board's CPU has no such kernels."""
    if options.against:
        boards.load(options.board).host.check_kernel(AGAINST[options.against])


def _execute(options: argparse.Namespace, run: Run[CpuPart]) -> int:
    watch = Watch(told(), sys.stderr.isatty(), options.keep, shared.wants_timeline(options))
    cpu = None
    if isinstance(run, NetworkRun):
        watch.progress("comparing with the model itself")
        run.outside  # noqa: B018 (a reading that is wrong ends here, before minutes of simulation)
    try:
        if options.against:
            result, cpu = simulate_both(run, AGAINST[options.against], watch)
        else:
            result = simulate(run, watch)
    except HungError as error:
        if isinstance(run, ProblemRun | NetworkRun) and error.result is not None:
            raise _reported(error, run.checked(error.result), options, run.driver.c) from None
        raise
    if isinstance(run, NetworkRun):
        watch.progress("")
        say_selection(run, options)
    built = run.checked(result, cpu)
    if isinstance(run, NetworkRun) and options.output:
        write_arrays(options.output, run.results(result))
    if isinstance(run, ProblemRun) and built["result"]["matches"]:
        gains.add(built, run)
        device_bound.add(built, run)
        neon_advice.add(built, run)
        if options.try_remedies:
            alone = replace(watch, keep=None, timeline=False)
            built["tried"] = remedies.measured(built, options, _problem_run, alone)
    code = _print(built, options, watch.progress, result, run.driver.c)
    if options.os == "linux":
        _say_process(result, run.driver.function)
    judge(result)
    return code


def say_selection(run: NetworkRun, options: argparse.Namespace) -> None:
    """How products were given to accelerators: all of it where it was asked for."""
    if reason := run.why_matching:
        print(f"Selection: {select.MATCHING}, because {reason}", end="\n\n")
    elif run.selecting and options.select == select.EGRAPH:
        print(*run.chooser.lines(), sep="\n", end="\n\n")
    elif run.selecting and not options.quiet:
        print(*run.chooser.summary(), sep="\n", end="\n\n")


def _reported(hung: HungError, built: Report, options: argparse.Namespace, driver: str | None) -> HungError:
    """Write what was asked for of a run that hung; the error, which says where the page is."""
    result = hung.result
    assert result is not None
    _write(built, options, result.profile.timeline, driver)
    page_said = f"; the page is {options.report / page.FILE}" if options.report else ""
    tries = built["result"].get("hang", {}).get("remedies", [])
    advice = f"; {tries[0][0].lower()}{tries[0][1:]}" if tries else ""
    return type(hung)(f"{hung}{advice}{page_said}", result)


def _say_process(result: Result, function: str = "") -> None:
    """What a Linux process did beside the accelerator's work."""
    if function:
        print(f"Linux process: the call of {function} took {result.section_cycles:,} fabric cycles")
    print(f"Linux process: {result.events['syscalls']:,} system calls")
    if result.console:
        print(result.console, end="" if result.console.endswith("\n") else "\n")


def execute_simulate(options: argparse.Namespace) -> int:
    inputs = {symbol: read_array(path) for symbol, path in map(_assignment, options.load)}
    expected = {symbol: read_array(path) for symbol, path in map(_assignment, options.expect)}
    if serial.is_serial(options):
        return serial.execute_simulate(options, inputs, expected)
    _check_os(options)
    progress = told()
    specs = shared.asked(options).specs()
    system = shared.system(options, specs)
    outputs = {symbol: (array.shape, str(array.dtype)) for symbol, array in expected.items()}
    soc = Soc(system, timeline=shared.wants_timeline(options))
    with folder_or_temporary(options.keep) as folder:
        settings = CompileOptions(tuple(options.define), tuple(options.include))
        elf = _elf(options, system, folder, settings, {*inputs, *expected}, progress)
        soc.build(progress=progress)
        progress("")
        driver_hash = content_hash(elf)
        hung: HungError | None = None
        about = content_hash(dumps(*specs), options.define)
        terminal = board_program.terminal(elf, options, inputs)
        job = Job(elf, inputs, outputs, words=last_run.words(options.driver, about), terminal=terminal)
        result = soc.run_many([job], check=False, progress=sys.stderr.isatty())[0]
        board_program.say(result)
        try:
            raise_failure(result)
            last_run.keep(options.driver, about, result.fabric["words_in"] + result.fabric["words_out"])
        except HungError as error:
            hung = error
    config: Setup = {
        "problem": " ".join(path.name for path in options.driver),
        "accelerator": " and ".join(spec.name for spec in specs),
        "spec_hash": content_hash(dumps(*specs)),
        "data_type": system.spec.data_type.value,
        "driver_hash": driver_hash,
    }
    outcome = compare(result, {} if hung else expected)
    if result.stopped is not None:
        outcome["hang"] = hang.of(
            result.hang or "", result.stopped, hang.Setting(None, bool(system.user_rtl))
        )
    built = report.build(system, result, config=config, seed=0, result=outcome, multiply_adds=None)
    sources = [
        file.read_text(encoding="utf-8", errors="replace")
        for file in options.driver
        if file.suffix in (".c", *CXX)
    ]
    if hung is not None:
        raise _reported(hung, built, options, "\n".join(sources) or None)
    code = _print(built, options, progress, result, "\n".join(sources) or None)
    if options.os == "linux":
        _say_process(result)
    judge(result)
    return code


def _assignment(text: str) -> tuple[str, Path]:
    symbol, equals, file = text.partition("=")
    if not equals or not Path(file).is_file():
        raise UsageError(f"{text!r}: expected SYMBOL=FILE.npy with a file that exists")
    return symbol, Path(file)


def _elf(
    options: argparse.Namespace,
    system: System,
    folder: Path,
    settings: CompileOptions,
    arrays: Collection[str],
    progress: Any,
) -> Path:
    named = [mlir_file.split(str(driver)) for driver in options.driver]
    for file, _ in named:
        if not file.is_file():
            raise UsageError(f"{file}: {'is a folder, not a file' if file.is_dir() else 'no such file'}")
    if len(named) == 1 and named[0][0].suffix == ".elf":
        return named[0][0]
    progress("compiling the driver")
    folder.mkdir(parents=True, exist_ok=True)
    sources = []
    for file, function in named:
        if file.suffix == ".mlir":
            file = by_others.in_c(
                file, function, folder, system.spec, settings.defines, options.os == "linux"
            )
        if not file.suffix.startswith(".h"):
            sources.append(file)
    elf, warnings = system.compile_user(sources, folder / "driver.elf", settings, arrays)
    progress("")
    for warning in warnings:
        print(warning, file=sys.stderr)
    return elf


def _finish(
    built: Report, options: argparse.Namespace, progress: Any, result: Result, driver: str | None
) -> int:
    """:func:`_print`; raises what is wrong with a run that came to its end."""
    code = _print(built, options, progress, result, driver)
    judge(result)
    return code


def _print(
    built: Report, options: argparse.Namespace, progress: Any, result: Result, driver: str | None
) -> int:
    progress("")
    _write(built, options, result.profile.timeline, driver)
    shown = "\n".join(report.summary(built)) if options.quiet else report.table(built)
    print(terminal.painted(shown, terminal.has_colour()))
    return MismatchError.exit_code if built["result"]["matches"] is False else 0


def _write(built: Report, options: argparse.Namespace, timeline: Timeline | None, driver: str | None) -> None:
    """The files that were asked for."""
    if timeline is not None:
        if options.perfetto:
            title = f"{built['config']['problem']} on {built['config']['accelerator']}"
            perfetto.write(timeline, title, options.perfetto)
        if options.report:
            page.write(
                built, page.Source(timeline, driver, f"axiloom {shlex.join(options.words)}"), options.report
            )
    if options.json:
        report.write_json(built, options.json)
