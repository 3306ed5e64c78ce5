"""Drivers of accelerators that give back what they get (``linalg.copy``): loop-back and identity.

There is nothing to choose: a tile after the other goes out as one packet, all opcodes of the flow in it, and
comes back. Recognised is a function of two memrefs or tensors of int32 whose one op copies the first to the
second; ``copy:N`` is its short form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import BlockArgument
from xdsl.ir.affine import AffineMap

from axiloom.base.errors import UsageError
from axiloom.base.wording.names import number, shortened
from axiloom.drivergen.c.driver import Call, Driver, arguments, entry_name, harness, init_name
from axiloom.drivergen.c.names import comment
from axiloom.drivergen.c.status import TRY
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.match.matmul import sizes
from axiloom.isa import AcceleratorSpec, loop_orders
from axiloom.isa.contract.framing import padded
from axiloom.isa.contract.types import Recv, Send, SendDim, SendIdx, SendLiteral

COPY_FORM = "copy:N"
_LIMIT = 1 << 24


@dataclass(frozen=True)
class CopyProblem:
    """C[n] = A[n], int32."""

    N: int
    dtype: str = "int32"

    @property
    def mlir(self) -> str:
        kind = f"memref<{self.N}xi32>"
        return f"""\
func.func @copy(%A : {kind}, %C : {kind}) {{
  linalg.generic {{indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>],
                  iterator_types = ["parallel"]}}
      ins(%A : {kind}) outs(%C : {kind}) {{
  ^bb0(%a : i32, %c : i32):
    linalg.yield %a : i32
  }}
  func.return
}}
"""


def parse_copy(text: str) -> CopyProblem:
    """The problem that ``copy:N`` names; UsageError says what is accepted."""
    match = re.fullmatch(r"copy:(\d+)(?::int32)?", text, re.ASCII)
    if match is None or not 0 < number(match[1]) <= _LIMIT:
        raise UsageError(
            f"problem `{shortened(text)}` is not understood; "
            f"a copy is {COPY_FORM}, N from 1 to {_LIMIT} words"
        )
    return CopyProblem(int(match[1]))


def compile_copy(
    module: ModuleOp, function: FuncOp, spec: AcceleratorSpec, flow: str | None, banner: str
) -> Driver:
    """The driver of a `function` that is bufferised; CompileError for one that copies nothing, UsageError
    for a flow that does not exist."""
    op = _only_copy(function)
    name = flow or spec.selected_flow
    loop_orders(spec, name)  # says which flows there are
    (count,), (tile,) = sizes(op), spec.tile.size
    driver = Driver(entry_name(function), arguments(function), {"linalg": str(module) + "\n"})
    driver.calls = [Call({"n": count}, spec.tile.size, name, ("n",))]
    text = comment(f"{banner}\n{count} words, tiles of {tile}, flow {name}.")
    driver.c = driver.stages["c"] = "\n".join(
        [text, *_lines(driver, spec, name, count, init_name(function)), ""]
    )
    driver.header = "\n".join(
        [
            text,
            "#ifndef AXILOOM_DRIVER_H",
            "#define AXILOOM_DRIVER_H",
            "",
            '#include "axiloom.h"',
            "",
            f"dma_status {init_name(function)}(void);",
            f"dma_status {driver.function}(const int32_t *A, int32_t *C);",
            "",
            "#endif",
            "",
        ]
    )
    driver.harness = harness(driver, banner, init=init_name(function))
    return driver


def _only_copy(function: FuncOp) -> linalg.GenericOp:
    """The op that copies the function's first argument to its second."""
    ops = [op for op in function.walk() if isinstance(op, linalg.GenericOp)]
    if len(ops) != 1:
        fail(function, f"it has {len(ops)} linalg ops; for an accelerator that copies it must have one")
    (op,) = ops
    plain = AffineMap.identity(1)
    result = op.body.block.last_op
    if (
        len(op.operands) != 2
        or tuple(op.operands) != tuple(function.body.block.args)
        or any(
            inner is not op and inner is not function.body.block.last_op for inner in function.body.block.ops
        )
        or any(attribute.data != plain for attribute in op.indexing_maps)
        or result is None
        or not isinstance(result.operands[0], BlockArgument)
        or result.operands[0].index != 0
        or any("xi32" not in str(operand.type) for operand in op.operands)
    ):
        fail(op, "the accelerator copies words; the op must be C[n] = A[n] on int32")
    return op


def _lines(driver: Driver, spec: AcceleratorSpec, flow: str, count: int, init: str) -> Iterator[str]:
    (tile,), dma = spec.tile.size, spec.dma
    yield from (
        f'#include "{driver.header_name}"',
        "",
        TRY,
        f"dma_status {init}(void)",
        "{",
        f"    return dma_init({dma.address:#x}u, {dma.input_address:#x}u, {dma.input_buffer_size}u, "
        f"{dma.output_address:#x}u, {dma.output_buffer_size}u);",
        "}",
        "",
        f"dma_status {driver.function}(const int32_t *A, int32_t *C)",
        "{",
        f"    for (uint32_t n = 0; n < {count}u; n += {tile}u) {{",
        f"        const uint32_t here = {count}u - n < {tile}u ? {count}u - n : {tile}u;",
    )
    at = 0
    for action in _actions(spec, flow):
        if isinstance(action, Send):
            yield f"        TRY(dma_put_tile_i32(A + n, 1, here, {tile}, 1, 1, {tile}, {at}));"
            at += spec.operand_words("A")
            continue
        if isinstance(action, SendIdx):
            yield f"        TRY(dma_put_word(n, {at}));"
        else:
            yield f"        TRY(dma_put_word({_word(spec, action):#x}u, {at}));"
        at += 1
    yield from (
        f"        TRY(dma_start_recv({spec.operand_words('C')}, 0));",
        f"        TRY(dma_start_send({at}, 0));",
        "        TRY(dma_wait_send());",
        "        TRY(dma_wait_recv());",
        f"        TRY(dma_get_tile_i32(C + n, 1, here, {tile}, 1, 1, {tile}, 0, 0));",
        "    }",
        "    return DMA_OK;",
        "}",
    )


def _word(spec: AcceleratorSpec, action: object) -> int:
    """The word of an action that sends the same one for each tile: all are of one size."""
    if isinstance(action, SendLiteral):
        return action.value
    assert isinstance(action, SendDim)
    sizes = spec.sizes()
    return sum(sizes[field.dim] << field.shift for field in action.fields)


def _actions(spec: AcceleratorSpec, flow: str) -> Iterator[object]:
    """What the host sends for a tile, with the words that fill up beats."""
    for name, _ in spec.flows[flow].opcodes():
        for action in padded(spec.opcodes[name].host, spec.beat_words):
            if not isinstance(action, Recv):
                yield action
