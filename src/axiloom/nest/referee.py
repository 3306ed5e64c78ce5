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
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom import processes
from axiloom.cache import cached_build, content_hash
from axiloom.errors import AxiloomError, CompileError, HangError, MismatchError
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.affine.c_exp import c_exp
from axiloom.nests.affine.c_numbers import HEADER
from axiloom.nests.affine.compiled import C
from axiloom.nests.program import Expression, Op, Program
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
        exp = ", expf as in the circuit" if self._has_exp else ""
        return f"{self.function.path.name} compiled by {self.compiler} {' '.join(_STATED)}{exp}"

    def judge(self, arrays: Arrays, calls: int = 2) -> Judgement:
        """`calls` in a row on `arrays`, which hold what the caller gives, by the names of the program.

        Raises CompileError if the compiler refuses the file, MismatchError if the file is not what was read,
        HangError if the calls do not end.
        """
        with processes.scratch() as folder:
            for flag in ((_PATTERN,), ()):  # old compilers do not know it
                try:
                    program = self._compile(folder, (*_STATED, *flag))
                    break
                except CompileError as fault:
                    if not flag or "trivial-auto-var-init" not in str(fault):
                        raise
            try:
                found = self._run(program, folder, arrays, calls)
            except AxiloomError as fault:
                said = [str(fault), *(self._undefined(folder, calls) or ())]
                raise type(fault)("; ".join(said)) from None
            return Judgement(found, self._undefined(folder, calls))

    # --- the harness ----------------------------------------------------------------------------------

    @property
    def _held(self) -> tuple[CVariable, ...]:
        """What the process holds, in order: parameters that have an array, variables, the result."""
        given = [each for each in self.function.parameters if each.array]
        result = self.function.result
        extra = [CVariable(result, self.function.returns, (), result)] if result else []
        return (*given, *self.function.variables, *extra)

    @property
    def _has_exp(self) -> bool:
        return any(_names(each.value, "exp") for each in self.program.statements)

    def harness(self) -> str:
        """A text to be compiled behind the original one."""
        held = self._held
        place = {id(each): number for number, each in enumerate(held)}
        before, arguments, after = list[str](), list[str](), list[str]()
        for each in self.function.parameters:
            if not each.array:
                arguments.append(str(each.value))
            elif not each.shape:
                arguments.append(f"*({each.type} *)axiloom_arrays[{place[id(each)]}]")
            else:
                inner = "".join(f"[{size}]" for size in each.shape[1:])
                name = f"axiloom_{place[id(each)]}"
                before.append(f"{each.type} (*{name}){inner} = axiloom_arrays[{place[id(each)]}];")
                arguments.append(name)
        for each in self.function.variables:
            memory = f"axiloom_arrays[{place[id(each)]}]"
            before.append(f"__builtin_memcpy(&{each.name}, {memory}, sizeof {each.name});")
            after.append(f"__builtin_memcpy({memory}, &{each.name}, sizeof {each.name});")
        call = f"{self.function.name}({', '.join(arguments)});"
        if self.function.result:
            call = f"*({self.function.returns} *)axiloom_arrays[{len(held) - 1}] = {call}"
        kinds = ("incompatible-pointer-types", "pointer-sign", "int-conversion")
        sizes = [str(self._bytes(each)) for each in held]
        lines = [
            "",
            "/* The text above, called as it was read. Generated by axiloom. */",
            *(f'#pragma GCC diagnostic error "-W{kind}"' for kind in kinds),
            *map(self._is_of_its_type, held),
            *(
                f"_Static_assert(__builtin_types_compatible_p(__typeof__({each.name}), {each.type}"
                f'{"".join(f"[{size}]" for size in each.shape)}), "{each.name}: another type was read");'
                for each in self.function.variables
            ),
            f"const unsigned long axiloom_count = {len(held)};",
            f"const unsigned long axiloom_bytes[] = {{{', '.join(sizes)}}};",
            f"const char *const axiloom_names[] = {{{', '.join(_quoted(each.name) for each in held)}}};",
            "void axiloom_call(void **axiloom_arrays)",
            "{",
            *(f"    {line}" for line in (*before, call, *after)),
            "}",
            "",
        ]
        return "\n".join(lines)

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

    def _bytes(self, variable: CVariable) -> int:
        array = self.program.array(variable.array)
        return int(np.prod(array.shape, dtype=np.int64)) * format_of(array.number).numpy.itemsize

    def _compile(self, folder: Path, flags: Sequence[str]) -> Path:
        original = self.function.path.resolve()
        (folder / "harness.c").write_text(self.harness())
        (folder / "exp.c").write_text(_EXP.format(HEADER=HEADER, exp=c_exp()))
        program = folder / "referee"
        command = [*self.command, *_SILENT, *flags]
        found = ["-include", str(original), *self.function.flags, "harness.c", "-c", "-o", "harness.o"]
        self._tool([*command, *found], folder)
        parts = ["harness.o", str(self._main()), *(["exp.c"] if self._has_exp else [])]
        self._tool([*command, "-w", *parts, _LINKED, "-o", str(program), "-lm"], folder)
        return program

    def _main(self) -> Path:
        """What calls the harness, compiled once."""

        def build(folder: Path) -> None:
            self._tool([*self.command, "-O0", "-w", "-c", str(MAIN), "-o", MAIN.stem], folder)

        key = content_hash(self.command, self.compiler, platform.machine(), MAIN)
        return cached_build("referee", key, build) / MAIN.stem

    def _tool(self, command: Sequence[str], folder: Path) -> None:
        done = processes.run(command, cwd=folder)
        if not done.returncode:
            return
        lines = done.stderr.splitlines()
        wrong = next(
            (line for line in lines if re.search(r"error|undefined", line)), lines[-1] if lines else ""
        )
        name = self.function.path.name
        if wrong.startswith("harness.c:"):
            raise MismatchError(f"{name}: {self.compiler} sees other types than were read: {wrong}")
        shown = wrong.replace(str(self.function.path.resolve()), name)
        raise CompileError(f"{name}: {self.compiler} does not compile it: {shown}")

    # --- runs -----------------------------------------------------------------------------------------

    def _run(self, program: Path, folder: Path, arrays: Arrays, calls: int) -> tuple[dict[str, Host], ...]:
        held = self._held
        kinds = [format_of(self.program.array(each.array).number).numpy for each in held]
        with (folder / "input").open("wb") as file:
            for each, kind in zip(held, kinds, strict=True):
                garbage = bytes([0xA5]) * self._bytes(each)
                values = arrays.get(each.array)
                file.write(garbage if values is None else np.asarray(values, kind).tobytes())
        done = self._execute(program, folder, calls)
        if done is None:
            raise HangError(f"{self}: {calls} calls do not end within {SECONDS} s")
        if done.returncode:
            said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise MismatchError(f"{self} does not run to its end: {said}")
        found, at, after = np.fromfile(folder / "output", np.uint8), 0, list[dict[str, Host]]()
        for _ in range(calls):
            after.append({})
            for each, kind in zip(held, kinds, strict=True):
                size, array = self._bytes(each), self.program.array(each.array)
                after[-1][each.array] = found[at : at + size].view(kind).reshape(array.shape)
                at += size
        return tuple(after)

    def _undefined(self, folder: Path, calls: int) -> tuple[str, ...] | None:
        """By the sanitizers, and by other contents of locals. None where the compiler has none of them."""
        before = (folder / "output").read_bytes() if (folder / "output").exists() else None
        try:
            program = self._compile(folder, (*_SANITIZER, _ZERO))
        except AxiloomError:
            return None
        done = self._execute(program, folder, calls)
        if done is None:
            return None
        lines = [
            f"{seen[1]}: C leaves it undefined: {seen[2]}"
            for line in done.stderr.splitlines()
            if (seen := re.match(r"(?:.*/)?([^/:]+:\d+):\d+: runtime error: (.*)", line))
        ]
        if not lines and not done.returncode and before not in (None, (folder / "output").read_bytes()):
            name = self.function.path.name
            lines.append(f"{name}: C leaves it undefined: results depend on a local that was never written")
        return tuple(dict.fromkeys(lines))

    def _execute(self, program: Path, folder: Path, calls: int) -> subprocess.CompletedProcess[str] | None:
        """On the folder's ``input``; None if it does not end in time."""
        (folder / "output").unlink(missing_ok=True)
        command: list[str | Path] = [program, folder / "input", folder / "output", str(calls)]
        try:
            return processes.run(
                command,
                cwd=folder,
                timeout=SECONDS,
                env={**os.environ, "UBSAN_OPTIONS": "print_stacktrace=0"},
            )
        except subprocess.TimeoutExpired:
            return None


def _names(tree: Expression, operator: str) -> bool:
    return isinstance(tree, Op) and (
        tree.name == operator or any(_names(each, operator) for each in tree.operands)
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
