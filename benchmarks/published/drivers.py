"""Drivers by hand in the forms of the published experiments, against the published DMA class, in C++.

22 of them: nine of the first experiment (square matrices: B is walked by columns with K as its stride),
twelve of the second one (any sizes), and the convolution of the third one. The texts are ours; what they
have in common with the published files is the loops, the opcode words, the class, its header's path and the
macros.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

LOAD_A, LOAD_B, COMPUTE, STORE = 1, 2, 4, 8
ORDERS = {
    "Ns": ("k", "n", "m"),
    "As": ("k", "m", "n"),
    "Bs": ("k", "n", "m"),
    "Cs": ("m", "n", "k"),
    "As v4": ("m", "k", "n"),
    "Bs v4": ("n", "k", "m"),
}
"""Loops, outermost first, of each flow."""

CONFIG = "".join(
    f"#ifndef {name}\n#define {name} {value}\n#endif\n"
    for name, value in {**dict.fromkeys("MNK", 16), **{f"tile_{dim}": 4 for dim in "MNK"}}.items()
)
"""The file of sizes that all drivers of matmuls include; `-D` changes one."""

WINDOWS = "0x40400000, 0x16000000, 65536, 0x16400000, 65536"


@dataclass(frozen=True)
class Driver:
    """A driver as a header of C++, its place, and how it is compiled and run."""

    file: str
    function: str
    text: str
    accelerator: tuple[str, ...]
    macros: dict[str, int] = field(default_factory=dict)
    fields: int = 0
    """Bits of each size in the word behind an opcode of v4; 0: it has none."""


def step(of: str, version: int) -> str:
    return f"{'block' if version == 4 else 'tile'}_{of.upper()}"


def loop(of: str, version: int) -> str:
    return f"for (int {of} = 0; {of} < {of.upper()}; {of} += {step(of, version)}) {{"


def words(opcode: int, version: int, bits: int) -> Iterator[str]:
    """The opcode, and of v4 the sizes."""
    if version > 1:
        yield f"dma_inbuffer[data_len++] = {opcode if version > 2 else opcode & 7};"
    if version == 4:
        yield f"dma_inbuffer[data_len++] = block_M + (block_N << {bits}) + (block_K << {2 * bits});"


def packed(operand: str, version: int, square: bool) -> Iterator[str]:
    """A tile into the window; `square`: B by its columns, right only where K equals N."""
    rows, columns = ("m", "k") if operand == "A" else ("k", "n")
    r, c = (f"t{dim}" for dim in (rows, columns))
    high, wide = (step(dim, version) for dim in (rows, columns))
    yield f"for (int {r} = 0; {r} < {high}; {r}++)"
    yield f"  for (int {c} = 0; {c} < {wide}; {c}++)"
    if operand == "B" and square:
        yield f"    dma_inbuffer[data_len + {step('k', version)} * tn + tk] = B[(K * tn) + (k * N) + n + tk];"
    else:
        matrix = f"{operand}[({rows} + {r}) * {columns.upper()} + ({columns} + {c})]"
        yield f"    dma_inbuffer[data_len + {wide} * {r} + {c}] = {matrix};"
    yield f"data_len += {high} * {wide};"


SENT = ("dma1.dma_start_send(data_len, 0);", "dma1.dma_wait_send();")


def received(version: int) -> Iterator[str]:
    """A tile of C, added to what is there."""
    high, wide = step("m", version), step("n", version)
    yield f"dma1.dma_start_recv({high} * {wide}, 0);"
    yield "dma1.dma_wait_recv();"
    yield "unsigned int *dma_outbuffer = dma1.dma_get_outbuffer();"
    yield f"for (int tm = 0; tm < {high}; tm++)"
    yield f"  for (int tn = 0; tn < {wide}; tn++)"
    yield f"    C[(m + tm) * N + n + tn] += dma_outbuffer[{wide} * tm + tn];"


BUFFER = ("unsigned int *dma_inbuffer = dma1.dma_get_inbuffer();", "int data_len = 0;")


def body(version: int, flow: str, square: bool, bits: int) -> Iterator[str]:
    """The loops of a flow."""
    first, second, third = ORDERS.get(f"{flow} v{version}", ORDERS[flow])
    yield from (loop(first, version), loop(second, version))
    if kept := {"As": "A", "Bs": "B"}.get(flow):
        yield from BUFFER
        yield from words(LOAD_A if kept == "A" else LOAD_B, version, bits)
        yield from packed(kept, version, square)
        yield from SENT
        other = "B" if kept == "A" else "A"
        yield from (loop(third, version), "data_len = 0;")
        yield from words((LOAD_B if kept == "A" else LOAD_A) + COMPUTE + STORE, version, bits)
        yield from (*packed(other, version, square), *SENT, *received(version), "}")
    else:
        yield from (loop(third, version), *BUFFER)
        yield from words(LOAD_A + LOAD_B + COMPUTE + (STORE if flow == "Ns" else 0), version, bits)
        yield from (*packed("A", version, square), *packed("B", version, square), *SENT)
        if flow == "Cs":
            yield from ("}", *BUFFER, *words(STORE, version, bits), *SENT, *received(version))
        else:
            yield from (*received(version), "}")
    yield from ("}", "}", "dma1.dma_free();")


def blocks(flow: str, by_macros: bool) -> Iterator[str]:
    """Sizes of v4's blocks by its buffers of 4,096 words, unless macros say them (`by_macros`)."""
    order = {"As": "mnk", "Cs": "mnk", "Bs": "nmk", "Ns": "knm"}[flow]
    seen: list[str] = []
    for dim in order.upper():
        others = [other for other in "MNK" if other != dim]
        room = [f"4096 / {'block' if other in seen else 'tile'}_{other}" for other in others]
        size = f"  int block_{dim} = std::min({room[0]}, std::min({room[1]}, {dim}));"
        yield from (f"#ifndef block_{dim}", size, "#endif") if by_macros else (size,)
        seen.append(dim)


def matmul(file: str, version: int, flow: str, *, square: bool, bits: int = 10) -> Driver:
    """A driver of v1 to v4, as a header beside or below the file of sizes."""
    function = f"v{version}_{flow}"
    volatile = "volatile " if version in (1, 4) or flow == "Ns" else ""
    simulated = [
        "  int i = 0;",
        "  for (int k = 0; k < K; k++)",
        "    for (int n = 0; n < N; n++) B[i++] += 0;",
        "  struct dma dma1;",
        "  dma1.dma_init(0, 0, 1000, 0, 1000);",
    ]
    lines = [
        f"#ifndef MM_{function}",
        f"#define MM_{function}",
        '#include "mlir/ExecutionEngine/axi/api_v1.h"',
        f'#include "{"" if square else "../"}bench_config.h"',
        f"void {function}(int *A, {volatile}int *B, int *C) {{",
        *("#if DBG", '  printf("driver: %s\\n", __FILE__);', "#endif"),
        *(
            "#ifdef SYSC_T",
            *simulated,
            "#else",
            "  struct dma dma1;",
            f"  dma1.dma_init({WINDOWS});",
            "#endif",
        ),
        *(blocks(flow, not square) if version == 4 else ()),
        *(f"  {line}" for line in body(version, flow, square, bits)),
        *("}", "#endif"),
    ]
    accelerator = ("--accel", f"v{version}", *(() if version == 4 else ("--size", "4")))
    combined = ("--encoding", "combined") if version > 1 else ()
    sizes = dict.fromkeys("MNK", 64 if square else 32) if version == 4 else {}
    chosen = {f"block_{dim}": 16 for dim in "MNK"} if version == 4 and not square else {}
    macros = {**sizes, **chosen, **({f"tile_{dim}": 16 for dim in "MNK"} if version == 4 else {})}
    return Driver(
        file,
        function,
        "\n".join(lines) + "\n",
        (*accelerator, *combined),
        macros,
        bits if version == 4 else 0,
    )


FLOWS = {1: ("Ns",), 2: ("Ns", "As", "Bs"), 3: ("Ns", "As", "Bs", "Cs"), 4: ("Ns", "As", "Bs", "Cs")}
FIRST = [
    matmul(f"mm_man_v{version}_{flow}.h", version, flow, square=True, bits=8)
    for version, flows in FLOWS.items()
    for flow in (flows if version < 4 else ("Ns",))
]
SECOND = [
    matmul(f"tiling/mm_man_v{version}_{flow}.h", version, flow, square=False)
    for version, flows in FLOWS.items()
    for flow in flows
]

CONV_CONFIG = "".join(
    f"#ifndef {name}\n#define {name} {value}\n#endif\n"
    for name, value in {"B": 1, "IHW": 9, "IC": 4, "FHW": 3, "OC": 4, "ST": 2}.items()
)
CONV_HELPER = """#include <assert.h>
#include <iostream>
struct conv2d_params {
  int b, ih, iw, ic, fh, fw, oc, oh, ow, stride, padding, dil;
  conv2d_params(int b, int ih, int iw, int ic, int fh, int fw, int oc, int oh, int ow,
                int stride, int padding)
      : b(b), ih(ih), iw(iw), ic(ic), fh(fh), fw(fw), oc(oc), oh(oh), ow(ow), stride(stride),
        padding(padding) {
    assert(oh > 0);
    assert(padding >= 0);
  };
};
"""
SENT_FILTER = "      // dma1.dma_start_send(data_len, 0);\n      // dma1.dma_wait_send();\n"
CONV = f"""#include "conv_config.h"
#include "conv_helper.h"
#include "mlir/ExecutionEngine/axi/api_v1.h"
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <vector>
using namespace std;

void v3_Fs(int *input, int *filter, int *output) {{
  struct dma dma1;
  dma1.dma_init({WINDOWS});
  int side = (IHW - FHW) / ST + 1;
  struct conv2d_params p(B, IHW, IHW, IC, FHW, FHW, OC, side, side, ST, 0);
  unsigned int *dma_inbuffer = dma1.dma_get_inbuffer();
  uint32_t opcode = 32;
  dma_inbuffer[0] = opcode;
  dma_inbuffer[1] = p.fh;
  dma1.dma_start_send(2, 0);
  dma1.dma_wait_send();
  opcode = 16;
  dma_inbuffer[0] = opcode;
  dma_inbuffer[1] = p.ic;
  dma1.dma_start_send(2, 0);
  dma1.dma_wait_send();
  for (int b = 0; b < p.b; b++) {{
    for (int oc = 0; oc < p.oc; oc++) {{
      int data_len = 0;
      dma_inbuffer[data_len++] = 1;
      for (int tap = 0; tap < p.ic * p.fh * p.fw; tap++)
        dma_inbuffer[data_len++] = filter[oc * p.ic * p.fh * p.fw + tap];
{SENT_FILTER}\
      for (int oh = 0; oh < p.oh; oh++) {{
        for (int ow = 0; ow < p.ow; ow++) {{
          data_len = 0;
          dma_inbuffer[data_len++] = 6 + 64;
          for (int ic = 0; ic < p.ic; ic++)
            for (int fh = 0; fh < p.fh; fh++)
              for (int fw = 0; fw < p.fw; fw++)
                dma_inbuffer[data_len++] =
                    input[((b * p.ic + ic) * p.ih + oh * p.stride + fh) * p.iw + ow * p.stride + fw];
          dma1.dma_start_send(data_len, 0);
          dma1.dma_wait_send();
        }}
      }}
      opcode = 8;
      dma_inbuffer[0] = opcode;
      dma1.dma_start_send(1, 0);
      dma1.dma_wait_send();
      dma1.dma_start_recv(p.oh * p.ow, 0);
      dma1.dma_wait_recv();
      unsigned int *dma_outbuffer = dma1.dma_get_outbuffer();
      for (int at = 0; at < p.oh * p.ow; at++)
        output[(b * p.oc + oc) * p.oh * p.ow + at] += dma_outbuffer[at];
    }}
  }}
  dma1.dma_free();
}}
"""
THIRD = Driver("conv_v3_t1.h", "v3_Fs", CONV, ("--accel", "conv_v3"))
"""As published: the two lines that send a filter are comments, so the device multiplies by zeros."""

DRIVERS = {f"experiment 1, {driver.function}": driver for driver in FIRST}
DRIVERS |= {f"experiment 2, {driver.function}": driver for driver in SECOND}
DRIVERS["experiment 3, v3_Fs"] = THIRD
