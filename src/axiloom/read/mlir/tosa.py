"""TOSA, lowered to linalg by MLIR's own passes, which torch-mlir brings.

The form before zero points were operands is read too: there they are 0.
"""

from __future__ import annotations

import re
from functools import cache

from axiloom.base.errors import CompileError
from axiloom.base.extras import require
from axiloom.drivergen.dialects import others

PASSES = (
    "builtin.module(func.func(tosa-to-linalg-named{prefer-conv2d-kernel-layout-hwcf=true},tosa-to-linalg,"
    "tosa-to-arith{include-apply-rescale=true},tosa-to-tensor),canonicalize,cse)"
)
_OPERANDS = {"conv2d": 3, "depthwise_conv2d": 3, "matmul": 2}
"""Of the old form; today two zero points come behind, those of the first two operands."""
_OLD = re.compile(
    rf'(?P<result>%[\w$.-]+)\s*=\s*"tosa\.(?P<op>{"|".join(_OPERANDS)})"\((?P<values>[^()]*)\)\s*'
    r"(?:\{(?P<attributes>[^{}]*)\})?\s*:\s*\((?P<types>[^()]*)\)\s*->\s*(?P<kind>tensor<[^<>]*>)"
)
_SAID = re.compile(r'error: "-":(?P<place>\d+:\d+): (?P<why>[^:\n]*)')
"""MLIR's first message, without the op's text."""
_NUMBERS = re.compile(r"=\s*\[([^\[\]]*)\]")


@cache
def lowered(text: str, name: str) -> str:
    """`text` itself where it has no tosa, or what MLIR makes of it. Raises CompileError with MLIR's reason,
    and UsageError where torch-mlir is not there."""
    if not others.has_tosa(text):
        return text
    require("torch_mlir", name)
    from torch_mlir import ir
    from torch_mlir.passmanager import PassManager

    today = re.sub(r"(?<![\w.])func(?=\s+@)", "func.func", _OLD.sub(_today, text))
    with ir.Context():
        try:
            module = ir.Module.parse(today)
            PassManager.parse(PASSES).run(module.operation)
        except ir.MLIRError as error:
            match = _SAID.search(str(error))
            place, why = (f":{match['place']}", match["why"]) if match else ("", str(error).splitlines()[0])
            raise CompileError(f"{name}{place}: tosa: {why}") from None
        return str(module)


def _today(match: re.Match[str]) -> str:
    """The op with zero points, in MLIR's general form."""
    values, types = match["values"].split(","), re.findall(r"tensor<[^<>]*>", match["types"])
    if len(values) != _OPERANDS[match["op"]]:
        return match[0]
    zeros, kinds, lines = [], [], []
    for number, type_ in enumerate(types[:2]):
        element = _element(type_)
        zero = f"%axl_zero_{match['result'][1:]}_{number}"
        value = "0.0" if element.startswith(("f", "bf")) else "0"
        kind = f"tensor<1x{element}>"
        lines.append(f'{zero} = "tosa.const"() {{values = dense<{value}> : {kind}}} : () -> {kind}')
        zeros.append(zero)
        kinds.append(kind)
    attributes = _NUMBERS.sub(r"= array<i64: \1>", match["attributes"] or "")
    if match["op"] != "matmul":
        attributes += f"{', ' if attributes.strip() else ''}acc_type = {_element(match['kind'])}"
    lines.append(
        f'{match["result"]} = "tosa.{match["op"]}"({", ".join((*map(str.strip, values), *zeros))}) '
        f"{{{attributes}}} : ({', '.join((*types, *kinds))}) -> {match['kind']}"
    )
    return "\n  ".join(lines)


def _element(kind: str) -> str:
    return kind.rstrip(">").rpartition("x")[2].rpartition("<")[2]
