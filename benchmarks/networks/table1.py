"""Table 1 of D2A: exact and flexible matches of six applications on three accelerators.

An exact match is an operation (or two: a bias behind a product) that is a kernel as torch.export gives it; a
flexible one is found in all that the proved rules make of the application. Kernels are
selection/accelerators/*.kernels, of which each accelerator has those that the paper gave it. Times are of
saturation with warm rules, of matching and of extraction, without torch.
"""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

from axiloom.graph import Graph
from axiloom.selection.accelerators.kernels import Patterns, accelerators
from axiloom.selection.egraph import Limits
from axiloom.selection.egraph.saturation import warm
from axiloom.selection.rules import library
from axiloom.selection.rules.library import RuleText
from axiloom.selection.rules.prove.proved import usable
from benchmarks.networks.matches import matches

FOLDER = Path(__file__).parents[2] / "examples" / "applications"
FAMILIES = ("products", "convolutions", "moves", "networks", "recurrent")
"""Files of rules: tiles and orders of operands say nothing about what matches."""
LEFT_OUT = (
    *("slices", "dense_of_one_channel", "dense_is_dot_of_transpose"),
    *("rows_padded", "columns_padded", "terms_padded", "terms_padded_reals"),
    *("scaled_convolution", "scaled_dense"),
)
"""All pairs of a sequence's beginnings are slices of each other; transposed and padded products bring no
match where there was none; with a norm in its weights, a product that is used twice is computed twice."""
LIMITS = Limits(iterations=80)
"""An LSTM comes apart one step an iteration."""
PAPER = {
    "efficientnet": ((0, 35), (35, 35), (0, 35)),
    "lstm_wlm": ((1, 1), (0, 0), (36, 36)),
    "mobilenet_v2": ((0, 41), (40, 40), (1, 41)),
    "resmlp": ((0, 38), (0, 0), (38, 38)),
    "resnet20": ((1, 22), (21, 21), (2, 22)),
    "transformer": ((0, 66), (0, 0), (66, 66)),
}
"""Exact and flexible on FlexASR, HLSCNN and VTA (Huang et al. 2024, table 1; ResNet-20's exact matches on
FlexASR recounted: the script counts its one biased dense layer twice)."""
KERNELS = {"flexasr": ("linear", "lstm"), "hlscnn": ("conv",), "vta": ("gemm",)}
"""What is counted: layer norm and pools of FlexASR are not in the paper's table."""
BESIDE = {"flexasr": ("cell_state",)}
"""What is there too: the model gives its cell state back."""
MOST_S = 5.0


def application(name: str) -> Graph:
    """Read from torch.export, with weights from a seed."""
    import torch

    from axiloom.read.pytorch.exported import read_program

    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.manual_seed(0)
    network, examples = module.build()
    return read_program(torch.export.export(network.eval(), examples), name)


def rules() -> tuple[RuleText, ...]:
    """Those of `FAMILIES` that are proved, without `LEFT_OUT`."""
    texts = [rule for rule in library.ours() if rule.place.partition(".")[0] in FAMILIES]
    kept = (text.only(rule.name for rule in text.rules if rule.name not in LEFT_OUT) for text in texts)
    return usable(kept)


def counts(graph: Graph, target: Patterns, texts: tuple[RuleText, ...]) -> tuple[int, int, float, str]:
    """Exact, flexible, seconds of the latter, and what ended saturation."""
    exact = matches(graph, [target])
    begun = time.perf_counter()
    flexible = matches(graph, [target], texts, LIMITS)
    seconds = time.perf_counter() - begun
    counted = (covered.of(target.name, KERNELS[target.name]) for covered in (exact, flexible))
    return *counted, seconds, flexible.saturated.stopped


def main() -> None:
    texts = rules()
    warm(texts)
    ours = {
        name: accelerator.only((*KERNELS[name], *BESIDE.get(name, ())))
        for name, accelerator in accelerators().items()
    }
    print("exact/flexible, in brackets the paper's; s: seconds of the flexible matches")
    print(f"{'application':14} {'nodes':>5}  " + "  ".join(f"{name:>22}" for name in KERNELS) + "  ended")
    for name, paper in PAPER.items():
        graph = application(name)
        cells, ends = [], []
        for (target, accelerator), published in zip(ours.items(), paper, strict=True):
            exact, flexible, seconds, ended = counts(graph, accelerator, texts)
            assert flexible >= published[1], f"{name} on {target}: {flexible}, the paper has {published[1]}"
            assert seconds < MOST_S, f"{name} on {target}: {seconds:.1f} s"
            cells.append(f"{exact}/{flexible} ({published[0]}/{published[1]}) {seconds:.1f} s".rjust(22))
            ends.append(ended)
        nodes = sum(1 for _ in graph.nodes())
        print(f"{name:14} {nodes:5}  {'  '.join(cells)}  {', '.join(dict.fromkeys(ends))}", flush=True)


if __name__ == "__main__":
    main()
