"""State maps of our engines: which word of which memory holds which element, for each form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import z3

from axiloom.errors import BuildError, SpecError
from axiloom.hw.array.operand_layout import OperandLayout
from axiloom.hw.matmul.geometry import Geometry
from axiloom.hw.verilog.emit import TOPS, emit
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import Load
from axiloom.isa.formal.streams import model_of
from axiloom.isa.formal.streams.places import Places
from axiloom.isa.kernels.forms import MATMUL
from axiloom.prove.rtl import machine as machines
from axiloom.prove.rtl.device import Device, Link
from axiloom.prove.rtl.machine import Machine

Terms = Mapping[str, Any]
Sizes = tuple[int, int]


def device_of(spec: AcceleratorSpec, verilog: str | None = None) -> Device:
    """Our engine of `spec`, from the Verilog that users get, or from `verilog` in its place.

    Raises SpecError for what has no formal model, BuildError for Verilog that is not understood.
    """
    check(spec)
    model = model_of(spec, products="uninterpreted")
    top = TOPS["accelerator"]
    sources = ((f"{top}.v", verilog or emit(spec, "accelerator")),)
    read = machines.read(sources, top)
    geometry, links = FORMS[spec.form.name](spec)
    return Device(
        spec.name,
        spec,
        model,
        read,
        sources,
        links,
        _multiplier(read, geometry.a.bits),
        error="debug_error",
        sizes=spec.dims if geometry.flexible else (),
        bits=geometry.a.bits,
    )


def _multiplier(machine: Machine, bits: int) -> Callable[[Any, Any], Any]:
    """What the array adds up as the product of two elements, read off its first row: a first product, three
    cycles after its factors."""
    row = "array.row_0"
    state: dict[str, Any] = {name: z3.BitVecVal(0, term.size()) for name, term in machine.registers.items()}
    a, b = z3.BitVec("factor_a", bits), z3.BitVec("factor_b", bits)
    valid_and_first = z3.BitVecVal(3, 2)
    for end, value in (("a", a), ("b_held", b), ("control_next", valid_and_first)):
        name, low = _register(machine, f"{row}.{end}", value.size())
        rest = state[name].size() - value.size() - low
        state[name] = z3.ZeroExt(rest, value) if rest else value
    totals, low = _register(machine, f"{row}.totals", 32)
    step = machine.stepper()
    given = {
        name: z3.BitVecVal(int(name == "aresetn"), _width(term)) for name, term in machine.inputs.items()
    }
    for _ in range(3):
        state, _ = step(state, given)
    product = z3.simplify(z3.Extract(low + 31, low, state[totals]))
    return lambda x, y: z3.substitute(product, (a, x), (b, y))


def _register(machine: Machine, name: str, size: int) -> tuple[str, int]:
    if (found := machine.place(name, 0, size)) is None:
        raise BuildError(f"{machine.top}: no register {name}")
    return found


def _width(term: Any) -> int:
    return 1 if z3.is_bool(term) else term.size()


# --- MatMul -----------------------------------------------------------------------------------------------


def _matmul(spec: AcceleratorSpec) -> tuple[Geometry, Callable[..., Iterator[Link]]]:
    geometry = Geometry.of(spec)
    loads = _loads(spec)

    def links(control: Mapping[str, int], model: Terms, registers: Terms) -> Iterator[Link]:
        loading = loads.get(control["place"]) if control["error"] == 0 else None
        if control["error"]:
            return
        now = {dim: control.get(dim, size) for dim, size in zip(spec.dims, spec.tile.size, strict=True)}
        m, n, k = spec.dims
        for operand, layout, lines in (("A", geometry.a, m), ("B", geometry.b, n)):
            half = registers[f"buffer_{operand.lower()}.load_half"]
            dims = spec.data[operand]
            if loading == operand:
                within = control["at"] * spec.data_type.per_word
                yield from _laid(operand, layout, (now[lines], now[k]), dims[-1] == k, ~half, model, within)
                continue
            for sizes in _all_sizes(spec, dims) if geometry.flexible else [tuple(now[dim] for dim in dims)]:
                of = dict(zip(dims, sizes, strict=True))
                there = [model[f"{operand}_loaded"] == 1]
                if geometry.flexible:
                    there += [model[f"{operand}_{dim}"] == of[dim] for dim in dims]
                for link in _laid(operand, layout, (of[lines], of[k]), dims[-1] == k, half, model):
                    yield Link(link.register, link.low, link.term, z3.And(link.when, *there))
        for sizes in _all_sizes(spec, spec.data["C"]) if geometry.flexible else [(now[m], now[n])]:
            of = dict(zip(spec.data["C"], sizes, strict=True)) if geometry.flexible else now
            there = [model["C_begun"] == 1]
            if geometry.flexible:
                there += [model[f"C_{dim}"] == of[dim] for dim in spec.data["C"]]
            half = registers["sequencer.half"]
            for row in range(of[m]):
                for col in range(of[n]):
                    block = row // geometry.rows * (of[n] // geometry.cols) + col // geometry.cols
                    address = block * geometry.rows + row % geometry.rows
                    element = row * of[n] + col if geometry.c_rows_first else col * of[m] + row
                    term = z3.Select(model["C"], z3.BitVecVal(element, 16))
                    for side in range(2):
                        when = z3.And(half == side, *there)
                        yield Link(f"result.half_{side}[{address}]", 32 * (col % geometry.cols), term, when)

    return geometry, links


def places(spec: AcceleratorSpec) -> dict[str, int]:
    """Each action of each opcode (``name.index``) to the number that the model's `place` has in it."""
    return {f"{place.opcode.name}.{place.index}": place.number for place in Places(spec).every}


def _loads(spec: AcceleratorSpec) -> dict[int, str]:
    """Where the model waits for words of an operand, to the operand."""
    return {
        place.number: place.action.operand for place in Places(spec).every if isinstance(place.action, Load)
    }


def check(spec: AcceleratorSpec) -> None:
    """Raises SpecError for an accelerator that cannot be looked at yet."""
    faults = []
    if spec.form.name not in FORMS:
        faults.append(f"of the form {spec.form.name}; known are {', '.join(FORMS)}")
    if spec.stream_width != 32 or spec.post or spec.bits:
        faults.append("with wider streams than 32 bits, post-processing, or opcodes that combine bits")
    if faults:
        raise SpecError(
            [f"{spec.name}: prove rtl does not take accelerators {fault} yet" for fault in faults]
        )


def _all_sizes(spec: AcceleratorSpec, dims: tuple[str, ...]) -> list[tuple[int, ...]]:
    """All that two dims of a tile may be together."""
    return sorted(
        {tuple(dict(zip(spec.dims, tile, strict=True))[dim] for dim in dims) for tile in tiles(spec)}
    )


def tiles(spec: AcceleratorSpec) -> Iterator[tuple[int, int, int]]:
    """Every tile that fits the buffers."""
    geometry = Geometry.of(spec)
    ranges = [
        range(step, most + 1, step) for step, most in zip(geometry.granule, geometry.largest, strict=True)
    ]
    for m in ranges[0]:
        for n in ranges[1]:
            for k in ranges[2]:
                tile = (m, n, k)
                if all(tile[i] * tile[j] <= most for i, j, most in geometry.limits):
                    yield tile


def _laid(
    operand: str,
    layout: OperandLayout,
    sizes: Sizes,
    k_inner: bool,
    half: Any,
    model: Terms,
    count: int | None = None,
) -> Iterator[Link]:
    """The first `count` elements of an operand in the half that `half` says (default: all)."""
    lines, depth_k = sizes
    total = lines * depth_k if count is None else count
    for element in range(total):
        line, k = divmod(element, depth_k) if k_inner else reversed(divmod(element, lines))
        if layout.along_k:
            bank, block = line % layout.banks, line // layout.banks
            word, lane = k // layout.per_word, k % layout.per_word
            offset = block * (depth_k // layout.per_word) + word
        else:
            word, lane = divmod(line, layout.per_word)
            bank, block = word % layout.banks, word // layout.banks
            offset = block * depth_k + k
        term = z3.Select(model[operand], z3.BitVecVal(element, 16))
        for side in range(2):
            address = side * layout.depth + offset
            register = f"buffer_{operand.lower()}.bank_{bank}[{address}]"
            yield Link(register, lane * layout.bits, term, half == side)


FORMS: dict[str, Callable[[AcceleratorSpec], tuple[Any, Callable[..., Iterator[Link]]]]] = {
    MATMUL.name: _matmul,
}
"""Form to its sizes and its links."""
