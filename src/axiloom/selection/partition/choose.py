"""Which accelerator executes which product of a network, with what: an extraction over the shared graph.

A cell is the result of an op. The CPU makes each; an accelerator makes the last of a group that it takes, of
what the group reads. Each cell is paid for once, however often it is read, so padding and rounding that go
along with a product are weighed against what they cost on the CPU, for all products at once. That an
accelerator has been started is a cell as well: its first layer pays for it.

What products get without a choice (*matching*) is among the ways. Costs are a model's, so any other way
has to be cheaper by more than the model's error: it weighs `margin` more than it costs.

Products without a model of their cycles are matched. ``--rtl`` brings Verilog of which nothing is known
but its ports. Costs of our own array would be compared with those of the CPU as if they were its.

The doubt of a small layer. Costs of large layers are wrong by percents, those of small ones by what an
accelerator takes to start. So a product that matching gives to an accelerator goes to the CPU only where
that saves 3,500 cycles beside the 5 %, and to another accelerator for 2,300: the causal decoder of
``benchmarks network_kinds`` was 3.5 % slower, as the CPU rounded what v4 had rounded. The other way, from
the CPU to an accelerator, has no doubt: with scatter-gather, the costs of small layers that were measured
were too high.

A cell of a network is the result of an op, not a class. Padding and rounding are fused ops with bodies,
not operations of the IR. Extraction needs no more of them than what they read and what they cost. Only
products are saturated, each kind once: a network of fifty layers has a dozen of them, and saturation of
the whole would find the same forms fifty times.

Small layers have a start, not a speed. The estimate of matching takes 6,000 cycles for it. Measured on
layers of some thousand multiply-adds it is 2,300, and the rounding that goes along saves the CPU as much
again. That is what ``egraph`` wins on small networks; on TinyBERT both choose the same.

Another way than matching's has to save more than the model's error. A fall-back for the whole network
would give up a product that is twice as fast for one that is doubtful. So each way that matching does not
take weighs 5 % more, in the same extraction; where the model sees no clear gain the places are
matching's, and with them the drivers.

That an accelerator has been started is a value. Whoever uses it first pays for it: it is a cell that its
offers need, so a small network with one product for it stays on the CPU.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from axiloom.base.errors import CompileError
from axiloom.drivergen.network.offers import Chosen, Network, Offer, Plan, Product, Step
from axiloom.selection.egraph.exact import improve
from axiloom.selection.egraph.extract import greedy
from axiloom.selection.egraph.problem import problem_of_ways
from axiloom.selection.partition.forms import Form, forms
from axiloom.selection.partition.products import graph_of
from axiloom.selection.partition.replay import check, is_same

Way: TypeAlias = tuple[int, tuple[int, ...], "Offer | None"]
"""Cycles, ops whose results are read, who: None is the CPU."""
_Weighed: TypeAlias = tuple[int, tuple[int, ...], Way]


def _key(offer: Offer) -> tuple[int, int, tuple[int, ...]]:
    """Which offer that is."""
    return offer.product, offer.device, offer.ops


def _started(device: int) -> int:
    """The cell of an accelerator that has been started; those of ops are not negative."""
    return -1 - device


@dataclass(frozen=True)
class Candidate:
    """What the best group of one place would take: ``None`` is the CPU, with the ops of the largest group."""

    device: int | None
    cycles: int
    form: Form | None = None


@dataclass(frozen=True)
class Choice:
    """Of one product: what became of it, and what each candidate costs with the same ops around it."""

    product: Product
    chosen: Chosen
    cycles: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Selection:
    """All choices. `cycles` of the whole network by the costs, `matching` those without a choice, `alone`
    those with one accelerator and the CPU, by its number (None: the CPU may not have what it refuses).

    `weight`: the same with the margins of ways that matching does not take; no ways weigh less than `bound`.
    `compared`: elements of forms by rules that were replayed on symbols against their products.
    """

    choices: tuple[Choice, ...]
    cycles: int
    matching: int
    alone: Mapping[int, int | None]
    weight: int
    bound: int
    ways: int
    rules: tuple[str, ...]
    compared: int
    seconds: Mapping[str, float]

    @property
    def plan(self) -> Plan:
        return {choice.product.number: choice.chosen for choice in self.choices}


@dataclass
class Chooser:
    """`kernels`: of each accelerator. `offered` and `cpu` say cycles of an offer and of an op on the CPU."""

    kernels: Sequence[str]
    offered: Callable[[Offer], int]
    cpu: Callable[[Step], int]
    left: bool = True
    """Whether the CPU may have what an accelerator takes."""
    start: int = 0
    """Cycles that a program takes once to use an accelerator at all."""
    margin: float = 0.0
    """What a way other than matching's weighs more, as a part of its cycles."""
    doubt: int = 0
    """What a product weighs more on the CPU that matching has on an accelerator, in cycles."""
    moved: int = 0
    """... on another accelerator than matching has it on."""
    seconds: float = 20.0
    forms: dict[str, Mapping[str, Form]] = field(default_factory=dict)
    """By the text of a product's graph: what was saturated is not saturated again."""
    compared: dict[tuple[str, str], int] = field(default_factory=dict)

    def __call__(self, network: Network) -> Selection:
        """Raises CompileError, SaturationError; FormFaultError where a chosen form is another product."""
        begun = time.perf_counter()
        known = {product.number: self._forms(product) for product in network.products}
        saturated = time.perf_counter()
        ways = self._ways(network)
        costed = time.perf_counter()
        weighed = self._weighed(network, ways)
        cheapest = self._cheapest(network, weighed)
        if cheapest is None:
            raise CompileError("an op of the network is made by nothing: this is a fault of Axiloom")
        taken, weight, bound = cheapest
        alone = {device: self._alone(network, weighed, device) for device in range(len(self.kernels))}
        by_product = {offer.product: offer for _, _, offer in taken if offer is not None}
        choices = [
            self._choice(network, product, by_product.get(product.number), known[product.number])
            for product in network.products
        ]
        extracted = time.perf_counter()
        compared = self._checked(choices)
        done = time.perf_counter()
        used = {
            rule
            for choice in choices
            for candidate in choice.candidates
            if candidate.form and candidate.device == choice.chosen.device
            for rule in candidate.form.rules
        }
        times = {
            "forms": saturated - begun,
            "costs": costed - saturated,
            "choice": extracted - costed,
            "replay": done - extracted,
        }
        count = sum(map(len, ways.values()))
        return Selection(
            tuple(choices),
            sum(way[0] for way in taken),
            self._matching(network),
            alone,
            weight,
            bound,
            count,
            tuple(sorted(used)),
            compared,
            times,
        )

    def _forms(self, product: Product) -> Mapping[str, Form]:
        graph = graph_of(product.op, product.title)
        if graph is None:
            return {}
        types = [str(parameter.type) for parameter in graph.parameters]
        key = f"{[(node.op, sorted(node.attributes.items())) for node in graph.nodes()]} {types}"
        if key not in self.forms:
            self.forms[key] = forms(graph, self.kernels)
        return self.forms[key]

    def _ways(self, network: Network) -> dict[int, list[Way]]:
        steps = network.steps
        kept = {product.number for product in network.products if product.offers and not self.left}
        ways: dict[int, list[Way]] = {
            number: [] if number in kept else [(self.cpu(step), step.needs, None)]
            for number, step in steps.items()
        }
        for product in network.products:
            for offer in product.offers:
                started = _started(offer.device)
                ways[started] = [(self.start, (), None)]
                read = *self._read(network, offer), started
                ways[offer.ops[-1]].append((self.offered(offer), read, offer))
        return ways

    def _read(self, network: Network, offer: Offer) -> tuple[int, ...]:
        """Ops before a group whose results it reads."""
        needs = dict.fromkeys(need for op in offer.ops for need in network.steps[op].needs)
        return tuple(need for need in needs if need not in offer.ops)

    def _weighed(self, network: Network, ways: Mapping[int, Sequence[Way]]) -> dict[int, list[_Weighed]]:
        """What matching takes weighs what it costs, any other way `margin` more; an accelerator's small layer
        is taken off it where that is worth the `doubt`, or what it takes to be `moved`."""
        matched = {_key(product.matched) for product in network.products if product.matched}
        inside = {cell for _, _, ops in matched for cell in ops}
        products = {product: device for product, device, _ in matched}

        def weight(cell: int, way: Way) -> int:
            cycles, _, offer = way
            same = cell not in inside if offer is None else _key(offer) in matched
            doubt = self.doubt if offer is None and cell in products else 0
            if offer is not None and products.get(offer.product, offer.device) != offer.device:
                doubt = self.moved
            return cycles if same else round(cycles * (1 + self.margin)) + doubt

        return {cell: [(weight(cell, way), way[1], way) for way in of] for cell, of in ways.items()}

    def _cheapest(
        self, network: Network, weighed: Mapping[int, Sequence[_Weighed]]
    ) -> tuple[list[Way], int, int] | None:
        """The ways that weigh the least, their weight, and a bound of it."""
        problem = problem_of_ways({cell: list(of) for cell, of in weighed.items()}, network.results)
        if problem is None:
            return None
        picked, weight = greedy(problem)
        picked, weight, bound = improve(problem, picked, weight, self.seconds)
        return [problem.ways[cell][way][2] for cell, way in picked.items()], weight, bound

    def _alone(self, network: Network, weighed: Mapping[int, Sequence[_Weighed]], device: int) -> int | None:
        """Cycles of the choice with one accelerator and the CPU."""
        own = {
            cell: [way for way in of if way[2][2] is None or way[2][2].device == device]
            for cell, of in weighed.items()
        }
        cheapest = self._cheapest(network, own)
        return None if cheapest is None else sum(way[0] for way in cheapest[0])

    def _matching(self, network: Network) -> int:
        """Cycles of the network without a choice: of the ops whose results somebody reads."""
        offers = {product.matched.ops[-1]: product.matched for product in network.products if product.matched}
        cycles, seen, left = 0, set[int](), list(network.results)
        while left:
            cell = left.pop()
            if cell in seen:
                continue
            seen.add(cell)
            offer = offers.get(cell)
            cycles += self.cpu(network.steps[cell]) if offer is None else self.offered(offer)
            left += network.steps[cell].needs if offer is None else self._read(network, offer)
        return cycles + self.start * len({offers[cell].device for cell in seen if cell in offers})

    def _choice(
        self, network: Network, product: Product, offer: Offer | None, known: Mapping[str, Form]
    ) -> Choice:
        """Candidates are compared over the ops of the largest group that anybody offers."""
        every = [product.number, *(op for group in product.offers for op in group.ops)]
        around = set(every)
        cpu = {op: self.cpu(network.steps[op]) for op in around}

        def whole(offer: Offer) -> int:
            return self.offered(offer) + sum(cpu[op] for op in around - set(offer.ops))

        candidates = []
        for device, kernel in enumerate(self.kernels):
            own = [whole(group) for group in product.offers if group.device == device]
            if own:
                candidates.append(Candidate(device, min(own), known.get(kernel)))
        on_cpu = Candidate(None, sum(cpu.values()))
        candidates.append(on_cpu)
        if offer is not None:
            return Choice(product, Chosen(offer.ops, offer), whole(offer), tuple(candidates))
        reason = "; ".join(product.refused.values()) or None
        if len(candidates) > 1:
            best = min(candidates[:-1], key=lambda candidate: candidate.cycles)
            reason = f"{best.cycles:,} cycles on the fastest accelerator, {on_cpu.cycles:,} on the CPU"
        return Choice(product, Chosen((product.number,), None, reason), on_cpu.cycles, tuple(candidates))

    def _checked(self, choices: Sequence[Choice]) -> int:
        """Elements of chosen forms that were replayed against their products, each form once: of those that
        are not the product as it stands."""
        total = 0
        done: set[str] = set()
        for choice in choices:
            form = next((c.form for c in choice.candidates if c.device == choice.chosen.device), None)
            graph = graph_of(choice.product.op, choice.product.title)
            if form is None or graph is None or choice.product.title + form.kernel in done:
                continue
            if is_same(graph, form.graph):
                continue
            done.add(choice.product.title + form.kernel)
            key = choice.product.title, form.kernel
            if key not in self.compared:
                self.compared[key] = check(graph, form.graph)
            total += self.compared[key]
        return total
