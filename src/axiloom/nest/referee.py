"""`Referee`: the original text of a program, compiled by the host's C compiler and called.

It knows of the reader only which function it read, and of which types and shapes it took its arguments to be;
where the compiler sees others it refuses. The function runs in a process of its own, with a time limit.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.base import processes
from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import AxiloomError, CompileError, HangError, MismatchError
from axiloom.base.files import check_written
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nest.compare import compare
from axiloom.nests.affine.c_exp import c_exp
from axiloom.nests.affine.c_numbers import HEADER
from axiloom.nests.affine.compiled import C
from axiloom.nests.program import Array, Expression, Op, Program
from axiloom.nests.program.c_function import CFunction, CVariable
from axiloom.nests.program.loaded import Loaded

Host = npt.NDArray[Any]
Arrays = Mapping[str, Host]
MAIN = Path(__file__).with_name("referee.c")
SECONDS = 60
"""Of the function's calls together."""
_STATED = ("-O0", "-fwrapv", "-ffp-contract=off")
_SILENT = (f"-std={C.standard}", "-ffunction-sections", "-Dmain=axiloom_users_main", "-fno-builtin-expf")
_PATTERN, _ZERO = "-ftrivial-auto-var-init=pattern", "-ftrivial-auto-var-init=zero"
"""What a local holds that was never written: always the same."""
_SANITIZER = (
    "-O0",
    "-ffp-contract=off",
    "-fsanitize=undefined,float-cast-overflow",
    "-fno-sanitize=alignment",
)
_LINKED = "-Wl,-dead_strip" if sys.platform == "darwin" else "-Wl,--gc-sections,--allow-shlib-undefined"
"""What the file's other functions call need not be there, and what the sanitizers' library does is not
looked up, which takes longer than all the rest."""
WRAPS = ("signed integer overflow", "left shift of", "negation of")
"""Of the sanitizers' words: what C leaves undefined, and ``-fwrapv`` and the circuit define alike."""


@dataclass(frozen=True)
class Judgement:
    """`calls`: after each call the arrays that the function may change, by the names of the program.
    `undefined`: what C leaves undefined in these calls, a line each, as far as the sanitizers see it; None if
    the compiler has none."""

    calls: tuple[dict[str, Host], ...]
    undefined: tuple[str, ...] | None

    @property
    def lines(self) -> tuple[str, ...]:
        return self.undefined or ()

    @property
    def wraps(self) -> tuple[str, ...]:
        """Those of `lines` that only say that integers wrap."""
        return tuple(line for line in self.lines if any(word in line for word in WRAPS))


@dataclass(frozen=True)
class Referee:
    """`function` of `program`, by `command`, the host's compiler."""

    program: Program
    function: CFunction
    command: tuple[str, ...]

    @classmethod
    def of(cls, loaded: Loaded) -> Referee | None:
        """None for what is not from C, or without a C compiler."""
        command = C.compiler()
        if loaded.function is None or command is None:
            return None
        return cls(loaded.program, loaded.function, command)

    @property
    def compiler(self) -> str:
        return identity(self.command)

    def __str__(self) -> str:
        exp = ", expf as in the circuit" if self.has_exp else ""
        return f"{self.function.path.name} compiled by {self.compiler} {' '.join(_STATED)}{exp}"

    def judge(self, arrays: Arrays, calls: int = 2) -> Judgement:
        """`calls` in a row on `arrays`, which hold what the caller gives, by the names of the program.

        Raises CompileError if the compiler refuses the file, MismatchError if the file is not what was read,
        HangError if the calls do not end.
        """
        (judgement,) = judge_all([self], [arrays], calls)
        if isinstance(judgement, AxiloomError):
            raise judgement
        return judgement

    # --- what the compiler is told of the function ----------------------------------------------------

    @property
    def held(self) -> tuple[CVariable, ...]:
        """What the process holds, in order: parameters that have an array, variables, the result."""
        parameters = [parameter for parameter in self.function.parameters if parameter.array]
        result = self.function.result
        extra = [CVariable(result, self.function.returns, (), result)] if result else []
        return (*parameters, *self.function.variables, *extra)

    @property
    def has_exp(self) -> bool:
        return any(_names(statement.value, "exp") for statement in self.program.statements)

    def bytes_of(self, variable: CVariable) -> int:
        array = self.program.array(variable.array)
        return int(np.prod(array.shape, dtype=np.int64)) * format_of(array.number).numpy.itemsize

    def call(self, number: int) -> list[str]:
        """The lines of C that call it as it was read: a function with this number, and what it takes."""
        held = self.held
        place = {id(variable): f"arrays[{at}]" for at, variable in enumerate(held)}
        before, arguments, after = list[str](), list[str](), list[str]()
        for parameter in self.function.parameters:
            if not parameter.array:
                arguments.append(str(parameter.value))
            elif not parameter.shape:
                arguments.append(f"*({parameter.type} *){place[id(parameter)]}")
            else:
                inner = "".join(f"[{size}]" for size in parameter.shape[1:])
                arguments.append(f"axiloom_{len(before)}")
                before.append(f"{parameter.type} (*{arguments[-1]}){inner} = {place[id(parameter)]};")
        for variable in self.function.variables:
            memory, name = place[id(variable)], variable.name
            before.append(f"__builtin_memcpy(&{name}, {memory}, sizeof {name});")
            after.append(f"__builtin_memcpy({memory}, &{name}, sizeof {name});")
        call = f"{self.function.name}({', '.join(arguments)});"
        if self.function.result:
            call = f"*({self.function.returns} *)arrays[{len(held) - 1}] = {call}"
        return [
            *map(self._is_of_its_type, held),
            *map(_is_declared_so, self.function.variables),
            f"static const unsigned long axiloom_bytes_{number}[] = "
            f"{{{', '.join(str(self.bytes_of(variable)) for variable in held)}}};",
            f"static const char *const axiloom_names_{number}[] = "
            f"{{{', '.join(_quoted(variable.name) for variable in held)}}};",
            f"static void axiloom_call_{number}(void **arrays)",
            "{",
            *(f"    {line}" for line in (*before, call, *after)),
            "}",
        ]

    def _is_of_its_type(self, variable: CVariable) -> str:
        """That C's type is what the program's number says."""
        format = format_of(self.program.array(variable.array).number)
        kind = variable.type
        fits = f"sizeof({kind}) == {format.numpy.itemsize}"
        if format.kind is Kind.FLOAT:
            fits += f" && ({kind})0.5 != 0 && ({kind})0.5 != 1"
        elif format.bits == 1:
            fits += f" && ({kind})2 == 1"
        elif format.kind is Kind.INTEGER:
            fits += f" && ({kind})0.5 == 0 && (({kind})-1 < ({kind})1) == {int(format.signed)}"
        text = f"{variable.name}: {kind} was read as {format.name}"
        return f"_Static_assert({fits}, {_quoted(text)});"


def judge_all(
    referees: Sequence[Referee], arrays: Sequence[Arrays], calls: int = 2
) -> list[Judgement | AxiloomError]:
    """Of several functions of one file, which is compiled once: see :meth:`Referee.judge`. What is wrong with
    a function is in its place; what the compiler says is raised."""
    with processes.scratch() as folder:
        bench = _Bench(tuple(referees), folder)
        bench.compile_stated()
        return [bench.judgement(number, inputs, calls) for number, inputs in enumerate(arrays)]


@dataclass(frozen=True)
class _Bench:
    """`referees` are of one file."""

    referees: tuple[Referee, ...]
    folder: Path

    @property
    def _path(self) -> Path:
        return self.referees[0].function.path.resolve()

    def harness(self) -> str:
        """A text to be compiled behind the original one."""
        kinds = ("incompatible-pointer-types", "pointer-sign", "int-conversion")
        rows = (
            f"    {{{len(referee.held)}, axiloom_bytes_{n}, axiloom_names_{n}, axiloom_call_{n}}},"
            for n, referee in enumerate(self.referees)
        )
        lines = [
            "",
            "/* The text above, called as it was read. Generated by axiloom. */",
            *(f'#pragma GCC diagnostic error "-W{kind}"' for kind in kinds),
            *(line for number, referee in enumerate(self.referees) for line in referee.call(number)),
            "const struct axiloom_function {",
            "    unsigned long count;",
            "    const unsigned long *bytes;",
            "    const char *const *names;",
            "    void (*call)(void **arrays);",
            "} axiloom_functions[] = {",
            *rows,
            "};",
            "",
        ]
        return "\n".join(lines)

    def compile_stated(self) -> None:
        for flag in ((_PATTERN,), ()):  # old compilers do not know it
            try:
                self._compile("stated", (*_STATED, *flag))
                return
            except CompileError as fault:
                if not flag or "trivial-auto-var-init" not in str(fault):
                    raise

    @cached_property
    def _looks(self) -> bool:
        """Whether the compiler has sanitizers; then the file is compiled with them."""
        try:
            self._compile("sanitized", (*_SANITIZER, _ZERO))
        except AxiloomError:
            return False
        return True

    def _compile(self, program: str, flags: Sequence[str]) -> None:
        (self.folder / "harness.c").write_text(self.harness())
        first = self.referees[0]
        command = [*first.command, *_SILENT, *flags]
        source = ["-include", str(self._path), *first.function.flags, "harness.c"]
        self._tool([*command, *source, "-c", "-o", "harness.o"])
        parts = ["harness.o", str(self._main())]
        if any(referee.has_exp for referee in self.referees):
            (self.folder / "exp.c").write_text(_EXP.format(HEADER=HEADER, exp=c_exp()))
            parts.append("exp.c")
        self._tool([*command, "-w", *parts, _LINKED, "-o", program, "-lm"])

    def _main(self) -> Path:
        """What calls the harness, compiled once."""
        first = self.referees[0]

        def build(folder: Path) -> None:
            self._tool([*first.command, "-O0", "-w", "-c", str(MAIN), "-o", str(folder / MAIN.stem)])

        key = content_hash(first.command, first.compiler, platform.machine(), MAIN)
        return cached_build("referee", key, build) / MAIN.stem

    def _tool(self, command: Sequence[str]) -> None:
        done = processes.run(command, cwd=self.folder)
        if not done.returncode:
            return
        lines = done.stderr.splitlines()
        wrong = next(
            (line for line in lines if re.search(r"error|undefined", line)), lines[-1] if lines else ""
        )
        name, compiler = self._path.name, self.referees[0].compiler
        if wrong.startswith("harness.c:"):
            raise MismatchError(f"{name}: {compiler} sees other types than were read: {wrong}")
        shown = wrong.replace(str(self._path), name)
        raise CompileError(f"{name}: {compiler} does not compile it: {shown}")

    # --- runs -----------------------------------------------------------------------------------------

    def judgement(self, number: int, arrays: Arrays, calls: int) -> Judgement | AxiloomError:
        self._write(number, arrays)
        try:
            after = self._run(number, calls)
        except AxiloomError as fault:
            return type(fault)("; ".join([str(fault), *(self._undefined(number, calls) or ())]))
        return Judgement(after, self._undefined(number, calls, after))

    def _formats(self, number: int) -> list[tuple[CVariable, Array, np.dtype[Any]]]:
        referee = self.referees[number]
        arrays = [(variable, referee.program.array(variable.array)) for variable in referee.held]
        return [(variable, array, format_of(array.number).numpy) for variable, array in arrays]

    def _write(self, number: int, arrays: Arrays) -> None:
        with (self.folder / "input").open("wb") as file:
            for variable, _, kind in self._formats(number):
                values = arrays.get(variable.array)
                garbage = bytes([0xA5]) * self.referees[number].bytes_of(variable)
                file.write(garbage if values is None else np.asarray(values, kind).tobytes())

    def _run(self, number: int, calls: int) -> tuple[dict[str, Host], ...]:
        referee, done = self.referees[number], self._execute("stated", number, calls)
        if done is None:
            raise HangError(f"{referee}: {calls} calls do not end within {SECONDS} s")
        if done.returncode:
            said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise MismatchError(f"{referee} does not run to its end: {said}")
        return self._after(number, calls)

    def _after(self, number: int, calls: int) -> tuple[dict[str, Host], ...]:
        """What the folder's ``output`` has."""
        output, at, after = np.fromfile(self.folder / "output", np.uint8), 0, list[dict[str, Host]]()
        for _ in range(calls):
            after.append({})
            for variable, array, kind in self._formats(number):
                size = self.referees[number].bytes_of(variable)
                after[-1][variable.array] = output[at : at + size].view(kind).reshape(array.shape)
                at += size
        return tuple(after)

    def _undefined(
        self, number: int, calls: int, after: Sequence[Arrays] | None = None
    ) -> tuple[str, ...] | None:
        """By the sanitizers, and by results that are not `after` when locals hold something else. None if
        that cannot be said."""
        done = self._execute("sanitized", number, calls) if self._looks else None
        if done is None:
            return None
        lines = [
            f"{seen[1]}: C leaves it undefined: {seen[2]}"
            for line in done.stderr.splitlines()
            if (seen := re.match(r"(?:.*/)?([^/:]+:\d+):\d+: runtime error: (.*)", line))
        ]
        if after is not None and not lines and not done.returncode:
            pairs = zip(self._after(number, calls), after, strict=True)
            if not all(compare(*pair).matches for pair in pairs):
                what = "results depend on a local that was never written"
                lines.append(f"{self._path.name}: C leaves it undefined: {what}")
        return tuple(dict.fromkeys(lines))

    def _execute(self, program: str, number: int, calls: int) -> subprocess.CompletedProcess[str] | None:
        """On the folder's ``input``; None if it does not end in time."""
        (self.folder / "output").unlink(missing_ok=True)
        words = [str(self.folder / program), str(number), "input", "output", str(calls)]
        try:
            done = processes.run(
                words,
                cwd=self.folder,
                timeout=SECONDS,
                env={**os.environ, "UBSAN_OPTIONS": "print_stacktrace=0"},
            )
        except subprocess.TimeoutExpired:
            return None
        check_written(self.folder / "output", done)
        return done


def _is_declared_so(variable: CVariable) -> str:
    kind = variable.type + "".join(f"[{size}]" for size in variable.shape)
    same = f"__builtin_types_compatible_p(__typeof__({variable.name}), {kind})"
    return f'_Static_assert({same}, "{variable.name}: another type was read");'


def _names(tree: Expression, operator: str) -> bool:
    return isinstance(tree, Op) and (
        tree.name == operator or any(_names(operand, operator) for operand in tree.operands)
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@cache
def identity(command: tuple[str, ...]) -> str:
    """``gcc 12.2.0``."""
    done = processes.run([*command, "--version"])
    first = (done.stdout.splitlines() or [""])[0]
    if version := re.search(r"clang version (\S+)", first):
        return f"clang {version[1]}"
    version = re.search(r"\d+\.\d[\d.]*", first.split(")")[-1]) or re.search(r"\d+\.\d[\d.]*", first)
    kind = "gcc" if "Free Software Foundation" in done.stdout else Path(command[0]).name
    return f"{kind} {version[0]}" if version else kind


_EXP = """\
/* exp of float32 as the circuit has it, checked against the library's. */
{HEADER}
double exp(double);
void abort(void);
{exp}
float expf(float x)
{{
    float y = rounded(circuit_exp(flushed(x)));
    double right = exp((double)x), off = (double)y - right;
    int tiny = right < 0x1p-126, large = right > 0x1.fffffep127;
    if (x == x && !tiny && !large && !(off <= right * 0x1p-23 && -off <= right * 0x1p-23)) abort();
    return y;
}}
"""
