"""What each operator takes of a 7-series part, by Yosys: fills ``hw/nest/operators/costs.json``.

Needs the extra [synth]; minutes, but for what the cache has. Operators with a register at the end alone are
measured without it: `costs.py` adds it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from amaranth.back import rtlil
from amaranth.hdl import Module, Signal

from axiloom.base.cache import cached_build
from axiloom.boards.synthesis.resources import synthesise
from axiloom.hw.nest.operators import Operator, costs, latencies, operator
from axiloom.hw.nest.operators.formats import BOOL, FLOAT32, bits_of
from axiloom.hw.rtl_files.yosys import to_verilog

INTEGERS = ("int8", "int16", "int32", "int64")
FIXED = ("fixed<8,4>", "fixed<16,8>", "fixed<32,16>")
COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")


def operators() -> Iterator[Operator]:
    """All that the table has."""
    for name in ("add", "sub", "mul", "max", "min", "neg", "abs", "div", "sqrt", "exp"):
        yield from _all(name, FLOAT32, FLOAT32)
    for name in COMPARISONS:
        yield from _all(name, FLOAT32, BOOL)
    for number in (*INTEGERS, *FIXED, BOOL):
        yield from _all("convert", number, FLOAT32)
        yield from _all("convert", FLOAT32, number)
    for number in (*INTEGERS, *FIXED):
        for name in ("add", "sub", "neg", "abs", "max", "min", "mul"):
            yield from _all(name, number, number)
        for name in COMPARISONS:
            yield from _all(name, number, BOOL)
    yield from _all("mul", "fixed<8,4>", "fixed<32,8>")
    yield from _all("mul", "fixed<16,8>", "fixed<32,16>")
    for number, result in (("int8", "int16"), ("int8", "int32"), ("int16", "int32"), ("int32", "int64")):
        yield from _all("mul", number, result)
    for number in (*INTEGERS, *FIXED, FLOAT32, BOOL):
        yield from _all("select", number, number)
    for number in (*INTEGERS, BOOL):
        for name in ("and", "or", "xor", "not"):
            yield from _all(name, number, number)
    for number in INTEGERS:
        for name in ("shl", "shr"):
            yield from _all(name, number, number)
    for number in INTEGERS[:3]:
        for name in ("div", "rem"):
            yield from _all(name, number, number)
    for number in (*INTEGERS, *FIXED):
        for result in (*INTEGERS, *FIXED, BOOL):
            if number != result:
                yield from _all("convert", number, result)


def _all(name: str, number: str, result: str) -> Iterator[Operator]:
    for latency in latencies(name, number, result):
        unit = operator(name, number, result, latency)
        if not unit.is_registered and not unit.is_wired:
            yield unit


def alone(unit: Operator) -> str:
    """Verilog of a module that is this operator."""
    m = Module()
    inputs = [Signal(bits, name=f"operand{place}") for place, bits in enumerate(unit.operand_bits)]
    output = Signal(bits_of(unit.result), name="result")
    m.d.comb += output.eq(unit.build(m, "operator", *inputs))
    return to_verilog(rtlil.convert(m, name="alone", ports=[*inputs, output], emit_src=False))


def main() -> None:
    """Writes the table after each row: who stops it loses nothing, as rows that are there are kept."""
    table = json.loads(costs.TABLE.read_text(encoding="utf-8"))
    wanted = {costs.key(unit.name, unit.number, unit.result, unit.latency): unit for unit in operators()}
    # Rows that are not there come first.
    for key, unit in sorted(wanted.items(), key=lambda row: row[0] in table):
        used = synthesise(alone(unit), "alone", cached_build)
        table[key] = {"dsp": used.dsp, "lut": used.lut, "ff": used.ff}
        print(f"{key:40} {used.dsp:4} DSP {used.lut:5} LUT {used.ff:5} FF", flush=True)
        _write({name: table[name] for name in (*wanted, *sorted({*table} - {*wanted})) if name in table})
    _write({name: table[name] for name in wanted})
    print(f"{costs.TABLE.name}: {len(wanted)} operators")


def _write(table: dict[str, dict[str, int]]) -> None:
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(figures)}" for name, figures in table.items())
    costs.TABLE.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
