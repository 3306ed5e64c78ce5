"""The 32 published MLIR inputs by their names, and the form in ``inputs.py`` that each one has.

They are the tests of the compiler (`runner/`, `cpu-runner/`: mlir/test/axi4mlir-runner and mlir-cpu-runner),
the example of its guide (`guide/`) and the inputs of the experiments (`ex1/` to `ex4/`). A form is what the
file's text demands of a reader; sizes and names differ.
"""

from __future__ import annotations

NAMED, FLOAT = "named product, func", "named product, float32"
FORMS: dict[str, str] = {
    **dict.fromkeys(
        (
            *(
                f"runner/accelerators/matmul-{name}"
                for name in ("v1", "v2-Bs", "v2-t1", "v2-t2", "v2-t3", "v4-Ns")
            ),
            *("guide/example0", "ex1/mlir_matmuls", "ex2/mlir_matmuls", "ex4/mlir_matmuls"),
        ),
        NAMED,
    ),
    **dict.fromkeys(("runner/matmul", "runner/codegen-for-matmul"), FLOAT),
    **dict.fromkeys(("runner/matmul-runner", "runner/run-matmul-v1accel"), "product, and a main that prints"),
    "runner/generic-to-accel": "product, transposes with two results, product after a fill",
    "runner/generic-to-accel-options": "annotations that the command line replaces",
    "runner/opcode-map-roundtrip": "map as an attribute, no flow",
    "runner/opcde-map-roundtrip": "map<s0 -> ...>, no valid MLIR",
    "guide/example0.NS.accel": "transfers in the accel dialect, C added",
    "guide/example0-CS.accel": "transfers in the accel dialect, C stays",
    "ex3/mlir_conv2ds": "transfers in the accel dialect, convolution",
    "guide/example0-NS.withcalls": "calls of the DMA library, C added",
    "guide/example0-CS.withcalls": "calls of the DMA library, C stays",
    "runner/accel-dialect": "ops of the accel dialect, sent and received",
    "runner/accel-to-runtime": "ops of the accel dialect, a view sent",
    "runner/axi_v1_data_copy": "arrays filled, copied, sent and printed",
    "runner/matmul_accelerator_v1_naive": "B stays, opcodes in words, a main that fills and prints",
    "cpu-runner/axi_v1": "a packet there and back, windows as memrefs",
    "cpu-runner/axi_v1_data_copy": "a packet there and back, windows as pointers",
    "cpu-runner/axi_sgemm_naive_codegen_v1": "tiles cut at the edge, nothing copied",
    "ex3/template_mlir_conv2ds": "template with ${...} in it, accel dialect",
    "ex3/template_mlir_conv2ds_cpu_only": "template with ${...} in it",
}
