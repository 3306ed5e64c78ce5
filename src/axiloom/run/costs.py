"""What a product of a network costs on each accelerator and on the CPU, for the choice between them.

Accelerators: the cost model's cycles (:mod:`axiloom.drivergen.cost`) of the schedule that options ask for,
behind a start that was measured. The CPU: cycles an operation, measured too. The constants are of layers of
``tests/fixtures/quantised`` on the PYNQ-Z2's profile; ``python -m benchmarks select_networks`` compares what
is foretold with what is simulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

from axiloom.base.errors import AxiloomError
from axiloom.boards import Board
from axiloom.drivergen.c.driver import Call
from axiloom.drivergen.cost.model import constants_of
from axiloom.drivergen.cost.replay_costs import costs_of, kind_of
from axiloom.drivergen.cost.selection import Candidate, reads_in_place
from axiloom.drivergen.cost.selection import sizes as sizes_of
from axiloom.drivergen.network.offers import Offer, Step
from axiloom.drivergen.pipeline import conv_choice
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS
from axiloom.isa.files.post import without_post
from axiloom.run.choice import OVERLAPPING, ranked, ranks
from axiloom.run.modelled import product

START = 2_300
"""Fabric cycles of a layer on an accelerator beside words and sums: first tiles, caches, the last wait."""
STARTED = 1_200
"""... of a program that uses an accelerator at all."""
MARGIN = 0.05
"""By how much the costs may be wrong: another way than matching's has to save more."""
DOUBT = START + STARTED
"""By how many cycles a small layer on an accelerator may be dearer in the costs than it is: 10,300 were
foretold, with what is around it, where the first product of `examples/networks/lstm.py` took 5,000."""
COPIED = 3.0
"""... a word of which the CPU packs or takes one, where there is no model of it."""

FITTED = ("published", "coalesced", "copying")
"""Pipelines without reading in place whose code's cost is known."""

PRODUCT, VECTOR = 4.4, 7.0
"""CPU cycles of a multiply-add in our loops; of a vector's product, which reads each weight once."""
OPERATION, WIDE = 1.2, 2.6
"""... of an operation of an element-wise body; where it computes in 64 bits, which no vector unit does."""
MOVED = 20.0
"""... of an element that is padded or copied."""
WINDOW = 9.0
"""... of an element of a window that is put together for a convolution as a product."""
CALLED = 400.0
"""... of a layer that does nothing."""


def on_cpu(step: Step, board: Board) -> int:
    """Fabric cycles of an op in loops on the CPU."""
    if step.product:
        cycles = VECTOR if step.rows == 1 else PRODUCT
    elif step.title.startswith("tensor."):
        cycles = MOVED
    else:
        cycles = step.operations * (WIDE if step.wide else OPERATION)
    return round((CALLED + cycles * step.iterations) * board.fabric_hz / board.cpu_hz)


@dataclass
class Costs:
    """Of offers, each layer once."""

    specs: Sequence[AcceleratorSpec]
    board: Board
    known: dict[tuple[int, str], int] = field(default_factory=dict)
    matmuls: dict[tuple[object, ...], float] = field(default_factory=dict)

    def of(self, offer: Offer) -> int:
        """Fabric cycles."""
        key = offer.device, offer.text
        if key not in self.known:
            spec = self.specs[offer.device]
            self.known[key] = round(START + sum(self._call(call, spec, offer) for call in offer.calls))
        return self.known[key]

    def _call(self, call: Call, spec: AcceleratorSpec, offer: Offer) -> float:
        least = max(call.array_cycles(spec), max(call.words) * WORD_BITS / spec.link.stream_width)
        try:
            if ranks(spec):
                seen = self._windows(call, spec, offer)
                return max(least, self._matmul(call, spec, offer)) + seen
            return max(least, self._convolution(call, spec, offer))
        except AxiloomError:  # there is no model of it
            return least + (0 if "zero-copy" in offer.passes else COPIED * sum(call.words))

    def _windows(self, call: Call, spec: AcceleratorSpec, offer: Offer) -> float:
        """What the CPU puts together for a convolution as a product: an element of each window."""
        if not offer.title.startswith("conv"):
            return 0.0
        cpu = WINDOW * prod(call.sizes.values()) / call.M
        return cpu * self.board.fabric_hz / self.board.cpu_hz

    def _matmul(self, call: Call, spec: AcceleratorSpec, offer: Offer) -> float:
        problem = product(call, offer.text, spec, offer.title)
        plain = without_post(spec)
        if "zero-copy" in offer.passes and not reads_in_place(plain, problem, call.tile):
            # The driver reads what is there of such tiles in place; the model would have the CPU copy them.
            sizes = zip(plain.dims, sizes_of(plain, problem), call.tile, strict=True)
            whole = {dim: -(-size // part) * part for dim, size, part in sizes}
            problem = replace(problem, M=whole["m"], N=whole["n"], K=whole["k"])
        flow = call.flow if call.flow in plain.flows else plain.selected_flow
        asked = offer.schedule.pipeline
        pipeline = "all" if "zero-copy" in offer.passes else asked if asked in FITTED else "copying"
        order = tuple(dim for dim in call.order if dim in spec.dims)
        key = problem, spec.name, flow, order, call.tile, pipeline
        if key not in self.matmuls:
            among = [Candidate(flow, order, call.tile)]
            best, *_ = ranked(
                problem, plain, board=self.board, pipelines=(pipeline,), among=among, tables=False
            )
            queued = best.pipeline == "all"
            # The program has started when a layer begins.
            start = self._start(best.pipeline, plain, queued) / self.board.cpu_hz
            self.matmuls[key] = max(best.seconds - start, 0.0) * self.board.fabric_hz
        return self._batches(call, spec) * self.matmuls[key]

    def _start(self, pipeline: str, spec: AcceleratorSpec, queued: bool) -> float:
        """CPU cycles of the start that is in the time of a product."""
        if pipeline not in OVERLAPPING:
            return constants_of(pipeline).start
        return costs_of(kind_of(spec, queued), spec.link.dma.coherent)["start"]

    def _convolution(self, call: Call, spec: AcceleratorSpec, offer: Offer) -> float:
        # The compiler took the tile by this model; the choice of it is not made again.
        flows = conv_choice.flows(offer.text, spec, tile=call.tile, name=offer.title)
        flow = next((flow for flow in flows if flow.name == call.flow), flows[0])
        return flow.choice.cycles  # of all groups and images

    def _batches(self, call: Call, spec: AcceleratorSpec) -> int:
        own = set(spec.parts[call.kernel].dims)
        return prod(size for dim, size in call.sizes.items() if dim not in own)
