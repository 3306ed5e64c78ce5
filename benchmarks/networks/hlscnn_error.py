"""The error of HLSCNN's text against float64, beside the published 1.78 % +- .16 (D2A, Table 2).

Activations and weights uniform in -1 to 1, 100 draws a row; error = norm of the difference by the norm of the
reference. Published are neither the size nor the data. The first draw of a row runs on the text itself.
"""

from __future__ import annotations

import numpy as np
from tests.accelerators.hlscnn.hlscnn_plain import Conv, plain, quantised, relative_error
from tests.accelerators.hlscnn.test_hlscnn import convolved

from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.simulator.simulate import Simulator

CONVS = [
    *(Conv(channels, 8, 8, 8, (3, 3)) for channels in (8, 16, 32, 64)),
    *(Conv(channels, 6, 6, 16, (1, 1)) for channels in (16, 128)),
]
DRAWS = 100


def main() -> None:
    text = targets()["hlscnn"].read_text()
    print(f"{'channels':>8} {'kernel':>6} {'weights':>8} {'rounded %':>14} {'cut %':>14}")
    for conv in CONVS:
        for width in (1, 2):
            isa = parse(text, "hlscnn.isa", "hlscnn", {"WEIGHT_BYTES": width})
            rng = np.random.default_rng(0)
            x = quantised(rng.uniform(-1, 1, (conv.channels, conv.rows, conv.cols)), 7)
            w = quantised(rng.uniform(-1, 1, (conv.filters, conv.channels, *conv.kernel)), 14) & -(
                1 << 16 - 8 * width
            )
            assert np.array_equal(convolved(Simulator(isa), conv, x, w, None, width), plain(conv, x, w))
            said = []
            for halves_up in (True, False):
                rng = np.random.default_rng(1)
                errors = [
                    100 * relative_error(rng, conv, width=width, halves_up=halves_up) for _ in range(DRAWS)
                ]
                said.append(f"{np.mean(errors):.2f} +- {np.std(errors):.2f}")
            kernel = f"{conv.kernel[0]}x{conv.kernel[1]}"
            bits = f"{8 * width} bits"
            print(f"{conv.channels:>8} {kernel:>6} {bits:>8} {said[0]:>14} {said[1]:>14}", flush=True)
