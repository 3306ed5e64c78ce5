"""The `nest` dialect: one op, for operators that upstream's dialects have none for (``fixed`` products,
conversions that saturate or round, defined shifts)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure


@irdl_op_definition
class ApplyOp(IRDLOperation):
    """An operator of programs by name: ``nest.apply "mul"(%a, %b) : (i16, i16) -> i16``. What it means is
    said by the number formats of its operands and, as attribute ``nest.number``, of its result."""

    name = "nest.apply"

    operator = prop_def(StringAttr)
    inputs = var_operand_def()
    result = result_def()

    traits = traits_def(Pure())
    assembly_format = "$operator `(` $inputs `)` attr-dict `:` functional-type($inputs, $result)"

    def __init__(self, operator: str, inputs: Sequence[SSAValue], result: Attribute) -> None:
        super().__init__(
            operands=[inputs], properties={"operator": StringAttr(operator)}, result_types=[result]
        )


Nest = Dialect("nest", [ApplyOp], [])
