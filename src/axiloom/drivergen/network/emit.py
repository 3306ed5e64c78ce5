"""The C of a network: the function that calls the layers, its header, and a main around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from axiloom.drivergen.c.driver import Arg
from axiloom.drivergen.c.names import c_of_numpy, comment
from axiloom.drivergen.nest.tile import CACHE_LINE
from axiloom.drivergen.network.layers import Layer
from axiloom.drivergen.network.lives import Lives, Tensor
from axiloom.drivergen.passes.lowering.preload import LINE

HEADER = "network.h"

_MARKS = """\
/* The timer when each layer begins, and at the end; the layer that runs; with which one to begin; after which
 * one to stop, or -1. */
extern uint64_t axl_marks[{count}];
extern volatile int32_t axl_layer, axl_first_layer, axl_stop_after;

static inline void axl_mark(int32_t layer)
{{
    axl_layer = layer;
    axl_marks[layer] = axl_timer();
}}

/* Let lines of the cache come that a loop is going to need; beyond the end of an array it does no harm. */
static inline void axl_preload(const void *from, uint32_t lines)
{{
    for (uint32_t line = 0; line < lines; line++)
        __builtin_prefetch((const uint8_t *)from + {line} * line);
}}
"""

_MACROS = """\
/* Begin a layer, unless another is the first; leave if it fails, or if it is the one after which to stop. */
#define ON_ACCELERATOR(layer, call)           \\
    do {                                      \\
        if ((layer) < axl_first_layer)        \\
            break;                            \\
        axl_mark(layer);                      \\
        const dma_status status = (call);     \\
        if (status != DMA_OK)                 \\
            return status;                    \\
        if (axl_stop_after == (layer))        \\
            return axl_mark((layer) + 1), DMA_OK; \\
    } while (0)
#define ON_CPU(layer, call)                   \\
    do {                                      \\
        if ((layer) < axl_first_layer)        \\
            break;                            \\
        axl_mark(layer);                      \\
        call;                                 \\
        if (axl_stop_after == (layer))        \\
            return axl_mark((layer) + 1), DMA_OK; \\
    } while (0)
"""


def _parameter(arg: Arg, name: str, *, restrict: bool = False) -> str:
    const = "const " if arg.kind == "in" else ""
    return f"{const}{c_of_numpy(arg.dtype)} *{'restrict ' if restrict else ''}{name}"


def _shape(arg: Arg) -> str:
    return " x ".join(map(str, arg.shape)) or "1"


def prototype(function: str, passed: Sequence[Arg]) -> str:
    """Of the network: inputs and results; weights are arrays of their own."""
    parameters = ", ".join(_parameter(arg, arg.symbol) for arg in passed)
    return f"dma_status {function}({parameters or 'void'})"


def layer_prototype(function: str, arguments: Sequence[Arg], *, accelerator: bool) -> str:
    """Of a layer's function."""
    names = [arg.name for arg in arguments]
    parameters = [
        _parameter(arg, name if name and names.count(name) == 1 else f"p{number}", restrict=not accelerator)
        for number, (arg, name) in enumerate(zip(arguments, names, strict=True))
    ]
    return f"{'dma_status' if accelerator else 'void'} {function}({', '.join(parameters)});"


def header(
    banner: str,
    function: str,
    passed: Sequence[Arg],
    weights: Sequence[Arg],
    prototypes: Sequence[str],
    layers: int,
) -> str:
    """``network.h``: weights, layers, marks and the network."""
    lines = [comment(banner), "#ifndef AXILOOM_NETWORK_H", "#define AXILOOM_NETWORK_H", ""]
    lines += ['#include "axiloom.h"', ""]
    for arg in weights:
        array = f"extern {c_of_numpy(arg.dtype)} {arg.symbol}[{arg.size}];"
        lines.append(f"{array} /* {arg.name}: {_shape(arg)} */")
    lines += ["", *prototypes, "", _MARKS.format(count=layers + 1, line=LINE)]
    lines += [f"{prototype(function, passed)};", "", "#endif"]
    return "\n".join(lines) + "\n"


def network(
    banner: str,
    function: str,
    passed: Sequence[Arg],
    layers: Sequence[Layer],
    lives: Lives,
    *,
    several: bool = False,
) -> str:
    """``network.c``: the calls in their order, on the arena; with `several` accelerators each is selected."""
    lines = [comment(banner), f'#include "{HEADER}"', "", "#include <string.h>", "", _MACROS]
    if lives.plan.peak:
        lines += [
            "/* Tensors between layers; those that are not needed at the same time share memory. */",
            f"uint8_t axl_arena[{lives.plan.peak}] __attribute__((aligned({CACHE_LINE})));",
            "",
        ]
    lines += [prototype(function, passed), "{"]
    for layer, step in zip(layers, lives.steps, strict=True):
        arguments = ", ".join(_argument(lives, argument) for argument in step.arguments)
        macro, call = "ON_CPU", f"{step.function}({arguments})"
        if layer.place == "accelerator":
            macro = "ON_ACCELERATOR"
            call = f"(dma_select({layer.device}), {call})" if several else call
        lines.append(f"    {macro}({layer.number}, {call});")
    lines.append(f"    axl_mark({len(layers)});")
    for arg, place in lives.copies:
        size = f"{arg.size} * sizeof({c_of_numpy(arg.dtype)})"
        lines.append(f"    memcpy({arg.symbol}, {_argument(lives, place)}, {size});")
    used = {argument.base for step in lives.steps for argument in step.arguments} | {
        p.base for _, p in lives.copies
    }
    used |= {arg.symbol for arg, _ in lives.copies}
    lines += [f"    (void){arg.symbol};" for arg in passed if arg.symbol not in used]
    return "\n".join([*lines, "    return DMA_OK;", "}"]) + "\n"


def _argument(lives: Lives, tensor: Tensor) -> str:
    base, offset = lives.address(tensor)
    if base == "axl_arena":
        return f"({c_of_numpy(tensor.dtype)} *)(axl_arena + {offset})"
    if not offset:
        return base
    return f"({c_of_numpy(tensor.dtype)} *)((uint8_t *){base} + {offset})"


def harness(
    banner: str,
    function: str,
    passed: Sequence[Arg],
    weights: Sequence[Arg],
    layers: int,
    inits: Mapping[int, str],
    *,
    select: bool = False,
) -> str:
    """``main.c``: arrays for arguments and weights, marks, and a main that runs the network.

    The simulator fills inputs and weights (`weights` is empty where they are in the program) and reads
    results through the symbols of the arrays; none is const, so that they all lie in RAM.
    """
    lines = [comment(banner), f'#include "{HEADER}"', ""]
    for arg in passed:
        lines.append(f"/* {arg.name or 'argument'}: {_shape(arg)}, {arg.kind} */")
        lines.append(f"{_array(arg)};")
    lines += [f"{_array(arg)};" for arg in weights]
    lines += ["", f"uint64_t axl_marks[{layers + 1}];"]
    lines += [
        "volatile int32_t axl_layer = -1, axl_first_layer = 0, axl_stop_after = -1;",
        "",
        "int main(void)",
        "{",
    ]
    call = f"{function}({', '.join(arg.symbol for arg in passed)})"
    if not inits:
        lines.append(f"    return (int){call};")
    else:
        steps: list[str] = []
        for device, init in inits.items():
            steps += [f"dma_select({device})"] if select else []
            steps.append(f"{init}()")
        steps.append(call)
        for device in inits:
            steps += [f"dma_select({device})"] if select else []
            steps.append("dma_free()")
        lines.append(f"    dma_status status = {steps[0]};")
        for step in steps[1:]:
            lines += ["    if (status == DMA_OK)", f"        status = {step};"]
        lines += ["    return (int)status;"]
    return "\n".join([*lines, "}"]) + "\n"


def _array(arg: Arg) -> str:
    return f"{c_of_numpy(arg.dtype)} {arg.symbol}[{arg.array_size}] __attribute__((aligned({CACHE_LINE})))"


def embedded(banner: str, weights: Sequence[Arg], hashes: Sequence[str]) -> str:
    """``weights.S``: the weights as a part of the program, from files beside it (``weights/SYMBOL.bin``).

    The hashes of the files are in it, so that it changes when they do.
    """
    lines = [f"/* {banner.splitlines()[0]} */", '    .section .rodata.weights, "a"']
    for arg, digest in zip(weights, hashes, strict=True):
        lines += [
            f"/* {arg.name}: {_shape(arg)} {arg.dtype}, {digest} */",
            f"    .balign {CACHE_LINE}",
            f"    .global {arg.symbol}",
            f"    .type {arg.symbol}, %object",
            f"{arg.symbol}:",
            f'    .incbin "weights/{arg.symbol}.bin"',
            f"    .size {arg.symbol}, . - {arg.symbol}",
        ]
    return "\n".join(lines) + "\n"
