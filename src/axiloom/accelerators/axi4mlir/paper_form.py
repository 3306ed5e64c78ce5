"""The paper's configuration files: ours, without `device`.

What the device does at an opcode word is then known for the words that the published accelerators have, and
for no others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from axiloom.accelerators.axi4mlir import flat_form
from axiloom.accelerators.axi4mlir.waits import joined
from axiloom.base.errors import SpecError
from axiloom.isa.check import check
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import DeviceAction, HostAction, Opcode, Recv, Send
from axiloom.isa.files import grammar, json_form
from axiloom.isa.files.library import builtin, builtins
from axiloom.isa.files.other_forms import Form


def lacks_device(document: object) -> bool:
    bodies = document.get("accelerators") if isinstance(document, dict) else None
    return isinstance(bodies, list) and any(
        isinstance(body, dict) and "device" not in body for body in bodies
    )


def read(document: Mapping[str, Any]) -> tuple[list[AcceleratorSpec], list[str]]:
    """The accelerators of a file, and what should be known of them. Raises SpecError with its faults."""
    remarks: list[str] = []
    bodies = [_completed(number, body, remarks) for number, body in enumerate(document["accelerators"])]
    drafts, faults = json_form.read(json.dumps({**document, "accelerators": bodies}))
    for draft in drafts:
        faults = [
            *faults,
            *draft.faults,
            *(f"{draft.place}.{fault}" for fault in check.check_device(draft.spec, draft.broken)),
        ]
    if faults:
        raise SpecError(faults)
    return [part for draft in drafts for part in draft.spec.parts[:1]], remarks


def _completed(number: int, body: Any, remarks: list[str]) -> Any:
    """With `device`, and opcodes that only receive joined with those before them."""
    if not isinstance(body, dict) or "device" in body:
        return body
    place = f"accelerators[{number}]"
    first = str(body.get("init_opcodes", "()"))
    try:
        opcodes = grammar.parse_opcode_map(str(body.get("opcode_map", "")))
        texts = body.get("opcode_flow_map", {})
        flows = {name: grammar.parse_opcode_flow(str(text)) for name, text in texts.items()}
        inits = grammar.parse_opcode_flow(first)
    except (grammar.GrammarError, AttributeError) as error:
        raise SpecError([f"{place}: {error}"]) from None
    operands = list(body.get("data", {}))
    hosts: dict[str, tuple[HostAction, ...]] = {}
    for name, flow in flows.items():
        used, flows[name] = joined(opcodes, flow)
        hosts |= used
    hosts |= {name: opcodes[name] for name, _ in inits.opcodes() if name in opcodes}
    left = [name for name in opcodes if not any(name in other.split("_") or name == other for other in hosts)]
    if left:
        remarks.append(f"{place}: no flow uses {', '.join(left)}: left out")
    device = {name: _device(place, name, host, operands) for name, host in hosts.items()}
    return {
        **body,
        "opcode_map": grammar.print_opcode_map(hosts),
        "opcode_flow_map": {name: grammar.print_opcode_flow(flow) for name, flow in flows.items()},
        "device": {name: [str(action) for action in actions] for name, actions in device.items()},
    }


def _device(
    place: str, name: str, host: tuple[HostAction, ...], operands: list[str]
) -> tuple[DeviceAction, ...]:
    named = tuple(_named(action, operands) for action in host)
    for own in _known():
        literal = Opcode(name, host, ()).literal
        decoded = own.decode(literal) if literal is not None else None
        for opcode in (*own.opcodes.values(), *([decoded] if decoded else [])):
            if opcode.host == named:
                return opcode.device
    what = f"no published accelerator has {Opcode(name, named, ())}"
    raise SpecError([f"{place}.opcode_map.{name}: {what}; say what the device does: `device`"])


@cache
def _known() -> tuple[AcceleratorSpec, ...]:
    return tuple(
        builtin(name, encoding=encoding) for encoding in ("combined", "literals") for name in builtins()
    )


def _named(action: HostAction, operands: list[str]) -> HostAction:
    if isinstance(action, Send | Recv) and action.operand.isdigit() and int(action.operand) < len(operands):
        return replace(action, operand=operands[int(action.operand)])
    return action


FORMS = (
    Form("an older configuration file of AXI4MLIR", flat_form.is_flat, flat_form.read),
    Form("the paper's form of ours, without `device`", lacks_device, read, extends_ours=True),
)
