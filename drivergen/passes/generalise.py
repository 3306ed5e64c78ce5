"""Named linalg ops become `linalg.generic`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import NamedOperation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter


@dataclass(frozen=True)
class Generalise(ModulePass):
    """Rewrite every named op but `linalg.fill`, which later passes treat by name, as a `linalg.generic`.

    ::

        linalg.matmul ins(%A, %B : memref<4x8xi32>, memref<8x4xi32>) outs(%C : memref<4x4xi32>)

        linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, ...],
                        iterator_types = ["parallel", "parallel", "reduction"], doc = "linalg.matmul"}
            ins(%A, %B : memref<4x8xi32>, memref<8x4xi32>) outs(%C : memref<4x4xi32>) {
        ^bb0(%0 : i32, %1 : i32, %2 : i32):
          %3 = arith.muli %0, %1 : i32
          %4 = arith.addi %3, %2 : i32
          linalg.yield %4 : i32
        }

    Attributes of the op (a trait written by hand) and its location stay; `doc` keeps its name for messages.
    """

    name = "accel-generalise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        named = [o for o in op.walk() if isinstance(o, NamedOperation) and not isinstance(o, linalg.FillOp)]
        for old in named:
            generic = linalg.GenericOp(
                old.inputs,
                old.outputs,
                old.body.clone(),
                old.get_indexing_maps(),
                old.get_iterator_types(),
                old.results.types,
                doc=StringAttr(old.name),
            )
            generic.location = old.location
            generic.attributes |= {k: v for k, v in old.attributes.items() if not k.startswith("linalg.")}
            Rewriter.replace_op(old, generic)
