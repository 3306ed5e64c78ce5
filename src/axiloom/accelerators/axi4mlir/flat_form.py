"""The older configuration files of AXI4MLIR: one accelerator a file, without the paper's opcode map.

Such a file has ``ISA`` with what the *device* does at each opcode word::

    "opcodes": {"1": [{"READ": {"data": "A", "length": 16}}], "4": [{"COMPUTE": {}}, {"SEND": {"data": "C"}}]}

From that follow what the host sends and the flows. Words that are made of others' bits become `bits`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from axiloom.base.errors import SpecError
from axiloom.isa.check import check
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.files import json_form

Steps: TypeAlias = tuple[tuple[str, str], ...]
"""What a word does: ``load``, ``compute`` or ``store``, and the operand."""

KEYS = {"ISA", "memory_layout", "tile_size", "kernels"}
BOARD_KEYS = {"CPU_cache_levels", "L1_cache_size", "L2_cache_size"}
_DIMS = ("m", "n", "k")
_DATA = {"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")}
_DMA = ("address", "inputAddress", "inputBufferSize", "outputAddress", "outputBufferSize")
_FLOWS = {
    "Ns": "({a} {b} {c} {r})",
    "As": "({a} ({b} {c} {r}))",
    "Bs": "({b} ({a} {c} {r}))",
    "Cs": "(({a} {b} {c}) {r})",
}


def is_flat(document: object) -> bool:
    """Whether it is such a file, or one about the board beside it."""
    return (
        isinstance(document, dict)
        and bool(document.keys() & (KEYS | BOARD_KEYS))
        and "accelerators" not in document
    )


def read(document: Mapping[str, Any]) -> tuple[list[AcceleratorSpec], list[str]]:
    """The accelerator in such a file, and what of it is not in the specification, with why.

    Raises SpecError with what stands in the way.
    """
    if not document.keys() & KEYS:
        raise SpecError(["it describes a board's caches, and no accelerator; here --board says the caches"])
    remarks = [f"{key.strip()} is not read" for key in document if key.strip() == "acc_regmap"]
    words = _words(document)
    opcodes, bits, left = _opcodes(words)
    size = _tile(document)
    body: dict[str, Any] = {
        "name": _name(document),
        "description": str(document.get("description", "")),
        "kernel": "linalg.matmul",
        "accel_size": [size] * 3,
        "data_type": str(document.get("data_type", "int32")),
        "dims": list(_DIMS),
        "data": {operand: list(dims) for operand, dims in _DATA.items()},
        "opcode_map": f"opcode_map<{', '.join(_entry(*opcode) for opcode in opcodes.items())}>",
        "device": {name: _device(steps) for name, (_, steps) in opcodes.items()},
    }
    if _turned(document):
        remarks.append("data has B as (m, k); the published accelerators take (k, n), and that is written")
    if bits:
        body["bits"] = bits
    if left:
        remarks.append(f"word 0 does nothing and is no opcode: {', '.join(left)}")
    flows = _flows(body, opcodes)
    if not flows:
        raise SpecError([f"no flow of {', '.join(opcodes)} computes a product"])
    body |= {"opcode_flow_map": flows, "selected_flow": [*flows][-1]}
    return [_checked(_with_dma(body, document, remarks))], remarks


def _name(document: Mapping[str, Any]) -> str:
    return str(document.get("name", "imported")).strip() or "imported"


def _tile(document: Mapping[str, Any]) -> int:
    size = document.get("tile_size")
    if size is None:
        kernels = document.get("kernels")
        first: Any = next(iter(kernels.values()), {}) if isinstance(kernels, dict) else {}
        sizes = set(first.get("tile_info", {}).get("tile_dims", {}).values())
        size = sizes.pop() if len(sizes) == 1 else None
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise SpecError(["tile_size: expected the size of a square tile"])
    return size


def _turned(document: Mapping[str, Any]) -> bool:
    data, dims = document.get("data"), document.get("dims")
    try:
        return list(data["B"]) == [dims[1], dims[2]]  # type: ignore[index]
    except (TypeError, KeyError, IndexError):
        return False


# --- opcodes -------------------------------------------------------------------------------------------


def _words(document: Mapping[str, Any]) -> dict[int | None, Steps]:
    """Opcode word to what it does; None: there is no word."""
    isa = document.get("ISA")
    opcodes = isa.get("opcodes") if isinstance(isa, dict) else None
    if not isinstance(opcodes, dict) or not opcodes:
        raise SpecError(["ISA.opcodes: expected opcode words with what they do"])
    words: dict[int | None, Steps] = {}
    for text, steps in opcodes.items():
        word = None if text.strip() in ("-", "-1") else _word(text)
        words[word] = tuple(_step(f"ISA.opcodes.{text}", step) for step in steps)
    return words


def _word(text: str) -> int:
    if not text.strip().isdecimal() or len(text) > 10:
        raise SpecError([f"ISA.opcodes: `{text}` is no opcode word"])
    return int(text)


_STEPS = {"READ": "load", "COMPUTE": "compute", "SEND": "store"}


def _step(place: str, step: object) -> tuple[str, str]:
    if not isinstance(step, dict) or len(step) != 1 or not step.keys() <= _STEPS.keys():
        raise SpecError([f"{place}: expected one of {', '.join(_STEPS)}, not {json.dumps(step)[:60]}"])
    ((kind, arguments),) = step.items()
    arguments = arguments if isinstance(arguments, dict) else {}
    operand = (
        str(arguments.get("data") or arguments.get("buffer", "C")).removeprefix("#").removesuffix("_Buffer")
    )
    if operand not in _DATA:
        raise SpecError([f"{place}: unknown operand `{operand}`; there are {', '.join(_DATA)}"])
    return _STEPS[kind], operand


def _opcodes(
    words: Mapping[int | None, Steps],
) -> tuple[dict[str, tuple[int | None, Steps]], list[str], list[str]]:
    """Opcodes by name, which of them are bits, and words that do nothing.

    A word of several bits that does what they do one after the other is not an opcode of its own.
    """
    left = [str(word) for word, steps in words.items() if not steps]
    doing = {word: steps for word, steps in words.items() if steps}
    single = {word: steps for word, steps in doing.items() if word and word.bit_count() == 1}
    combined = {
        word for word in doing if word and word.bit_count() > 1 and doing[word] == _together(word, single)
    }
    kept = {word: steps for word, steps in doing.items() if word not in combined}
    opcodes = {_called(steps): (word, steps) for word, steps in kept.items()}
    if len(opcodes) < len(kept):
        raise SpecError(["ISA.opcodes: two words do the same"])
    bits = [name for name, (word, _) in opcodes.items() if word in single] if combined else []
    return opcodes, bits, left


def _together(word: int, single: Mapping[int, Steps]) -> Steps:
    return tuple(step for bit in sorted(single) if word & bit for step in single[bit])


def _called(steps: Steps) -> str:
    """``sA``, ``cC``, ``rC``, ``cCrC`` ..."""
    letters = {"load": "s", "compute": "c", "store": "r"}
    return "".join(f"{letters[kind]}{operand}" for kind, operand in steps)


def _entry(name: str, opcode: tuple[int | None, Steps]) -> str:
    word, steps = opcode
    actions = [] if word is None else [f"send_literal({word})"]
    actions += [
        f"{'send' if kind == 'load' else 'recv'}({operand})" for kind, operand in steps if kind != "compute"
    ]
    return f"{name} = [{', '.join(actions)}]"


def _device(steps: Steps) -> list[str]:
    """What is sent is cleared: the device begins anew with what comes next."""
    actions = [kind if kind == "compute" else f"{kind} {operand}" for kind, operand in steps]
    return [*actions, *(f"clear {operand}" for kind, operand in steps if kind == "store")]


# --- flows and DMA -------------------------------------------------------------------------------------


def _flows(body: Mapping[str, Any], opcodes: Mapping[str, tuple[int | None, Steps]]) -> dict[str, str]:
    """The four flows, as far as the opcodes allow them and the result is right."""
    flows: dict[str, str] = {}
    places = {letter: _of(opcodes.items(), *step) for letter, step in _LETTERS.items()}
    if None in places.values():
        raise SpecError(
            [f"ISA.opcodes: no opcode for {', '.join(k for k, v in places.items() if v is None)}"]
        )
    for name, form in _FLOWS.items():
        text = form.format(**places)
        flow = _once(text)
        if flow in flows.values():
            continue
        candidate = {**body, "opcode_flow_map": {name: flow}, "selected_flow": name}
        drafts, faults = json_form.read(json.dumps({"accelerators": [candidate]}))
        if not faults and all(
            not check.check_device(draft.spec, draft.broken) and not draft.faults for draft in drafts
        ):
            flows[name] = flow
    return flows


_LETTERS = {"a": ("load", "A"), "b": ("load", "B"), "c": ("compute", "C"), "r": ("store", "C")}


def _of(opcodes: Iterable[tuple[str, tuple[int | None, Steps]]], kind: str, operand: str) -> str | None:
    return next((name for name, (_, steps) in opcodes if (kind, operand) in steps), None)


def _once(text: str) -> str:
    """A flow in which an opcode that does several things stands once, at the first of them that follow."""
    said: list[str] = []
    for token in text.replace("(", " ( ").replace(")", " ) ").split():
        if token in "()" or not said or said[-1] != token:
            said.append(token)
    return " ".join(said).replace("( ", "(").replace(" )", ")")


def _with_dma(body: Mapping[str, Any], document: Mapping[str, Any], remarks: list[str]) -> Mapping[str, Any]:
    """With the file's DMA, where it can be."""
    values = document.get("dma_config")
    if not isinstance(values, Sequence) or len(values) != len(_DMA):
        return body
    whole = {**body, "dma_config": dict(zip(_DMA, values, strict=True))}
    drafts, faults = json_form.read(json.dumps({"accelerators": [whole]}))
    if faults or any(draft.faults or check.check_device(draft.spec, draft.broken) for draft in drafts):
        remarks.append(
            f"dma_config {list(values)} cannot be; the addresses are those of the built-in accelerators"
        )
        return body
    return whole


def _checked(body: Mapping[str, Any]) -> AcceleratorSpec:
    drafts, faults = json_form.read(json.dumps({"accelerators": [body]}))
    faults = [
        *faults,
        *(
            fault
            for draft in drafts
            for fault in (*draft.faults, *check.check_device(draft.spec, draft.broken))
        ),
    ]
    if faults:
        raise SpecError(faults)
    return drafts[0].spec.parts[0]
