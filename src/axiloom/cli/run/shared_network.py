"""``axiloom run NETWORK --select egraph --accel NAME,cpu``: an instruction set and the CPU share a network.

Each layer that the text's instructions can compute is a program of its own, found by equality saturation and
validated; the CPU does the rest.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from axiloom.base import processes
from axiloom.base.errors import UsageError
from axiloom.base.files import make_folder
from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, reject
from axiloom.cli.run import select
from axiloom.drivergen.network import is_network
from axiloom.library.progress import told
from axiloom.read import models
from axiloom.run.network import Network, NetworkRun

if TYPE_CHECKING:
    from axiloom.isa.instructions.tree import InstructionSet

CPU = "cpu"
OTHERS = (
    "size spec encoding post rtl top macs memory_port flow order tile pipeline offload_from port data_type "
    "rebase schedule plain auto lanes product_rows"
)
"""Options that nothing here honours."""


def is_shared(options: argparse.Namespace) -> bool:
    """Whether ``--accel`` names an instruction set and the CPU."""
    return select.is_for_texts(options) and CPU in (options.accel or "").split(",")


def execute(options: argparse.Namespace, run: Callable[[argparse.Namespace, NetworkRun], int]) -> int:
    """`run` simulates, and prints the report."""
    select.check_extra()
    from axiloom.device.rtl import device
    from axiloom.run.text_layers import TextLayers

    reject(options, [Refusal(OTHERS, lambda _: True, "not for layers whose text says what executes them")])
    if options.dma == "simple":
        raise UsageError("--dma simple: a program's driver queues descriptors: leave --dma out")
    if options.os == "linux":
        raise UsageError("--os linux is for functions with one op, not for networks")
    names = [name for name in options.accel.split(",") if name != CPU]
    if len(names) != 1:
        raise UsageError(f"--accel {options.accel}: one instruction set shares a network with the CPU")
    model = models.load(options.problem) if models.is_model(options.problem) else None
    if model is None or not is_network(model.mlir, options.problem):
        raise UsageError(
            f"{options.problem}: --accel {options.accel} is for networks: MLIR, model.py:build or .onnx"
        )
    values = select.constants(options.define)

    def read(more: Mapping[str, int]) -> InstructionSet:
        return select.instruction_set(names[0], Path(), {**more, **values}, "--accel")

    progress = told()
    progress("from the text to RTL")
    rtl = device(read({}), stream_width=options.stream_width or 64)
    layers = TextLayers(read, rtl, progress)
    with processes.scratch("axiloom-") as temporary:
        folder = options.keep or Path(temporary)
        make_folder(folder)
        system = replace(shared.system(options, [rtl.link], options.seed), user_rtl=rtl.rtl(Path(temporary)))
        network = NetworkRun(
            Network(options.problem, model.mlir, model.weights, options.input, options.seed, model.referee),
            system,
            keep_weights=options.weights,
            stop_after=options.stop_after,
            auto=options.offload == "auto",
            layers=layers,
        )
        code = run(options, network)
    print("", *layers.lines(), sep="\n")
    return code
