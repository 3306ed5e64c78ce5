"""Kernels of the registry that the command line names, with a size for each iterator: ``relu:n=1000:int8``.

Any name of `axiloom spec kernels` will do, without its ``linalg.``, and so does any other name that people
have for it: ``max_pooling:c=8,oh=6,ow=6,fh=3,fw=3,sh=2``. What has a shorter form (``matmul:MxNxK``) keeps
that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from axiloom.base.errors import UsageError
from axiloom.base.wording.names import hint, number, shortened
from axiloom.drivergen.problems.words import split_type
from axiloom.isa import numerics
from axiloom.isa.kernels.language.body import Body, Name, Number, numbers
from axiloom.isa.kernels.language.kernel import PARALLEL, WINDOW, Index, Kernel
from axiloom.isa.kernels.named import KERNELS
from axiloom.isa.numerics import FLOAT32, SIGNED, Numerics

LIMIT = 1 << 24
"""Largest size of an iterator, and most elements of an operand: more does not fit the memory of any board
here."""
TAPS = "Taps"
"""The operand that only says how large a window is, as `linalg.pooling_nchw_max` has one."""

_INTEGER = {"add": "addi", "sub": "subi", "mul": "muli", "max": "maxsi", "min": "minsi"}
_FLOAT = {"add": "addf", "sub": "subf", "mul": "mulf", "max": "maximumf", "min": "minimumf", "neg": "negf"}
_ABSOLUTE = {"i": "math.absi", "f": "math.absf"}


def _short(kernel: Kernel) -> tuple[str, ...]:
    """What the command line calls it, the first one in messages."""
    return (kernel.name.removeprefix("linalg."), *(title.replace(" ", "_") for title in kernel.titles))


NAMES: Mapping[str, Kernel] = {
    **{kernel.name: kernel for kernel in KERNELS.values()},
    **{name: kernel for kernel in KERNELS.values() for name in _short(kernel)},
}
"""Everything that may stand in front of the colon."""
FORM = "KERNEL:ITERATOR=N,...[:TYPE] with a kernel of `axiloom spec kernels`, such as relu:n=1000"


@dataclass(frozen=True)
class KernelProblem:
    """One kernel with a size for each iterator and a value for each setting.

    Inputs are of `dtype`. Sums and products are of its accumulator, and are added to what the output holds;
    other results are of `dtype`, and maxima and minima begin with the lowest and the highest one.
    """

    kernel: Kernel
    sizes: Mapping[str, int]
    """Of iterators and settings."""
    dtype: str = numerics.INT32.name

    @property
    def multiply_adds(self) -> int:
        return prod(self.sizes[name] for name in self.kernel.iterators)

    def shape(self, operand: str) -> tuple[int, ...]:
        """Of an operand, in elements, in the order of the kernel."""
        return tuple(index.extent(self.sizes) for index in self.kernel.maps[operand].values())

    @property
    def mlir(self) -> str:
        """A function with one linalg.generic, whose arguments are the kernel's operands in their order.

        Where a window slides over an operand and no operand has its size, one more argument has it.
        """
        kernel, kind = self.kernel, numerics.of(self.dtype)
        sums = kernel.combine in ("add", "mul")
        result = kind.accumulator if sums else kind
        arguments = [
            *((name, self.shape(name), kind.mlir, self._map(name)) for name in kernel.inputs),
            *self._taps(kind),
            (kernel.output, self.shape(kernel.output), result.mlir, self._map(kernel.output)),
        ]
        typed = [
            f"memref<{''.join(f'{size}x' for size in shape)}{element}>" for _, shape, element, _ in arguments
        ]
        names = [f"%{name}" for name, *_ in arguments]
        ends = [PARALLEL if kind == PARALLEL else "reduction" for kind in kernel.iterators.values()]
        heads = ", ".join(f"{name}: {kind}" for name, kind in zip(names, typed, strict=True))
        block = ", ".join(f"%{name.lower()}: {element}" for name, _, element, _ in arguments)
        lines = _Lines(kind, result, kernel.output)
        value = lines.write(kernel.body)
        indent = "\n    "
        return f"""\
func.func @{_short(kernel)[0]}_kernel({heads}) {{
{self._start(result, typed[-1])}  linalg.generic {{
    indexing_maps = [{", ".join(argument[-1] for argument in arguments)}],
    iterator_types = [{", ".join(f'"{end}"' for end in ends)}]
  }} ins({", ".join(names[:-1])} : {", ".join(typed[:-1])}) outs({names[-1]} : {typed[-1]}) {{
  ^bb0({block}):
    {indent.join([*lines.lines, f"linalg.yield {value} : {result.mlir}"])}
  }}
  func.return
}}
"""

    def _taps(self, kind: Numerics) -> list[tuple[str, tuple[int, ...], str, str]]:
        plain = {index.plain for dims in self.kernel.maps.values() for index in dims.values()}
        windows = [name for name, what in self.kernel.iterators.items() if what == WINDOW]
        if all(name in plain for name in windows):
            return []
        shape = tuple(self.sizes[name] for name in windows)
        return [(TAPS, shape, kind.mlir, self._written([Index({name: 1}) for name in windows]))]

    def _map(self, operand: str) -> str:
        return self._written([*self.kernel.maps[operand].values()])

    def _written(self, indices: list[Index]) -> str:
        def term(index: Index, name: str) -> str:
            factor = index.factor(name, self.sizes)
            return name if factor == 1 else f"{name} * {factor}"

        sums = (" + ".join(term(index, name) for name in index.terms) for index in indices)
        return f"affine_map<({', '.join(self.kernel.iterators)}) -> ({', '.join(sums)})>"

    def _start(self, kind: Numerics, memref: str) -> str:
        """The fill of a result that only the device can join."""
        combine = self.kernel.combine
        if combine is None or combine == "add":
            return ""
        floating = kind == FLOAT32
        lowest, highest = ("0xFF800000", "0x7F800000") if floating else (f"{kind.lowest}", f"{kind.highest}")
        start = {"max": lowest, "min": highest, "mul": "1.0" if floating else "1"}[combine]
        fill = f"linalg.fill ins(%start : {kind.mlir}) outs(%{self.kernel.output} : {memref})"
        return f"  %start = arith.constant {start} : {kind.mlir}\n  {fill}\n"


class _Lines:
    """A body as lines of MLIR, one an operation."""

    def __init__(self, kind: Numerics, result: Numerics, output: str) -> None:
        self._kind = kind
        self._result = result
        self._output = output
        self._wide: dict[str, str] = {}
        self.lines: list[str] = []

    def write(self, body: Body) -> str:
        """The name of the value of `body`."""
        if isinstance(body, Name):
            return self._element(body.operand)
        if isinstance(body, Number):
            value = f"{float(body.value)!r}" if self._result == FLOAT32 else f"{body.value}"
            return self._line(f"arith.constant {value} : {self._result.mlir}")
        arguments = ", ".join([self.write(argument) for argument in body.arguments])
        floating = self._result == FLOAT32
        if body.operation == "abs":
            op = _ABSOLUTE["f" if floating else "i"]
        else:
            op = f"arith.{(_FLOAT if floating else _INTEGER)[body.operation]}"
        return self._line(f"{op} {arguments} : {self._result.mlir}")

    def _element(self, operand: str) -> str:
        name = f"%{operand.lower()}"
        if operand == self._output or self._kind.mlir == self._result.mlir:
            return name
        if operand not in self._wide:
            widened = f"{self._kind.extend} {name} : {self._kind.mlir} to {self._result.mlir}"
            self._wide[operand] = self._line(widened)
        return self._wide[operand]

    def _line(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name


def form(kernel: Kernel) -> str:
    """What is accepted for `kernel`, after its name: ``n=N[:TYPE]``."""
    sizes = ",".join(f"{name}=N" for name in kernel.iterators)
    return f"{_short(kernel)[0]}:{sizes}{''.join(f'[,{name}=N]' for name in kernel.settings)}[:TYPE]"


def smallest(kernel: Kernel) -> str:
    """The smallest problem of `kernel`, as the command line has it."""
    return f"{_short(kernel)[0]}:{','.join(f'{name}=1' for name in kernel.iterators)}"


def parse_kernel(text: str) -> KernelProblem:
    """The problem that `text` names; UsageError says which iterators there are."""
    kernel = NAMES[text.partition(":")[0]]
    accepted = f"accepted is {form(kernel)}, the smallest is {smallest(kernel)}"
    place = f"problem `{shortened(text)}`"
    body, dtype = split_type(text, form(kernel))
    known = (*kernel.iterators, *kernel.settings)
    sizes: dict[str, int] = {}
    for word in body.split(","):
        name, equals, value = word.partition("=")
        if not equals or not (value.isascii() and value.isdecimal()):
            raise UsageError(f"{place}: `{shortened(word)}` is no ITERATOR=N; {accepted}")
        if name not in known:
            raise UsageError(f"{place}: no iterator `{shortened(name)}`{hint(name, known)}; {accepted}")
        if name in sizes:
            raise UsageError(f"{place}: {name} stands twice; {accepted}")
        sizes[name] = number(value)
        if not 0 < sizes[name] <= LIMIT:
            raise UsageError(f"{place}: {name} must be from 1 to {LIMIT}")
    missing = [name for name in kernel.iterators if name not in sizes]
    if missing:
        raise UsageError(f"{place}: {', '.join(missing)} missing; {accepted}")
    problem = KernelProblem(kernel, {name: sizes.get(name, 1) for name in known}, dtype)
    _check(problem, place)
    return problem


def _check(problem: KernelProblem, place: str) -> None:
    kernel, kind = problem.kernel, numerics.of(problem.dtype)
    accepted = [
        numeric
        for numeric in (*SIGNED, FLOAT32)
        if numeric == FLOAT32 or "neg" not in _operations(kernel.body)
    ]
    if kind not in accepted:
        known = ", ".join(map(str, accepted))
        raise UsageError(f"{place}: no {_short(kernel)[0]} of {kind} in MLIR; its type may be {known}")
    if kind != FLOAT32 and not all(isinstance(number, int) for number in numbers(kernel.body)):
        raise UsageError(f"{place}: its body, {kernel.body}, has a fraction; its type may be {FLOAT32}")
    for operand in kernel.operands:
        elements = prod(problem.shape(operand))
        if elements > LIMIT:
            raise UsageError(f"{place}: {operand} has {elements:,} elements; at most {LIMIT:,} are possible")


def _operations(body: Body) -> set[str]:
    if isinstance(body, Name | Number):
        return set()
    return {body.operation}.union(*map(_operations, body.arguments))
