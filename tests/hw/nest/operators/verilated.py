"""An operator's Verilog, simulated by Verilator: millions of operands, one a cycle."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.nest.nest_operators import alone

from axiloom.cosim.build import verilator
from axiloom.hw.nest.operators import Operator
from axiloom.hw.nest.operators.formats import bits_of, unsigned

_MAIN = """
#include "Valone.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <vector>
void vl_finish(const char *, int, const char *) {}
int main(int, char **argv) {
    std::vector<uint64_t> words;
    FILE *file = std::fopen(argv[1], "rb");
    for (uint64_t word; std::fread(&word, 8, 1, file) == 1;) words.push_back(word);
    std::fclose(file);
    Valone top;
    file = std::fopen(argv[2], "wb");
    const size_t count = words.size() / OPERANDS;
    for (size_t cycle = 0; cycle < count + LATENCY; ++cycle) {
        if (cycle < count) { const uint64_t *operand = &words[cycle * OPERANDS]; DRIVE }
        top.eval();
        if (cycle >= LATENCY) { const uint64_t result = top.result; std::fwrite(&result, 8, 1, file); }
        CLOCK
    }
    std::fclose(file);
}
"""


def simulated(operator: Operator, operands: list[Any], folder: Path) -> Any:
    """Raw results of raw operands."""
    archive = verilator.runtime()
    count = len(operator.operand_bits)
    text = alone(operator)
    drive = "".join(f"top.operand{place} = operand[{place}];" for place in range(count))
    clock = "top.clk = 1; top.eval(); top.clk = 0;" if operator.latency else ""
    main = _MAIN.replace("DRIVE", drive).replace("CLOCK", clock)
    main = main.replace("OPERANDS", str(count)).replace("LATENCY", str(operator.latency))
    (folder / "design.v").write_text(text, encoding="utf-8")
    (folder / "main.cpp").write_text(main, encoding="utf-8")
    arguments = ["--top-module", "alone", "--prefix", "Valone", "--Mdir", "generated", "design.v"]
    verilator.verilate(arguments, "Verilator cannot build an operator", folder)
    own, what = [folder / "main.cpp"], "compiling an operator"
    objects = verilator.compile_generated(folder / "generated", own, verilator.QUICK, what)
    verilator.compile_cxx([*objects, archive, "-pthread", "-o", "simulation"], what, folder)
    rows = np.stack([each.astype(np.uint64) for each in operands], axis=1)
    rows.tofile(folder / "operands")
    subprocess.run([folder / "simulation", folder / "operands", folder / "results"], check=True)
    return np.fromfile(folder / "results", np.uint64).astype(unsigned(bits_of(operator.result)))
