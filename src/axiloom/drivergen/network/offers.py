"""What a choice of accelerators is made from: each product of a network, and who would execute it with what.

A product may take the padding in front of it and the element-wise op behind it along. Each such group is
offered to each accelerator. What comes of that are `Offer`; a :data:`Choose` takes one for each product, or
leaves the product on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation

from axiloom.drivergen.c.driver import Call
from axiloom.drivergen.dialects.mlir import where
from axiloom.drivergen.network.layers import candidates, multiply_adds, operands_of, title
from axiloom.drivergen.network.passes import generics
from axiloom.drivergen.network.passes.own_inits import is_init
from axiloom.drivergen.pipeline.schedule import Schedule


@dataclass(frozen=True)
class Offer:
    """A group of ops that an accelerator would execute as one layer."""

    product: int
    """Number of the product's op in the network before the cut, as `ops` are."""
    ops: tuple[int, ...]
    """The group, in order: padding, product, what is behind it."""
    device: int
    text: str
    """The layer's function as MLIR."""
    title: str
    calls: tuple[Call, ...]
    """What the accelerator would be used for."""
    schedule: Schedule
    """How, as the options of the run ask for it."""
    passes: tuple[str, ...]
    """On transfers, those that would really run."""


@dataclass(frozen=True, eq=False)
class Product:
    """One product with its offers, the largest groups first. `refused`: why an accelerator takes no group of
    it."""

    number: int
    op: linalg.GenericOp
    title: str
    location: str
    multiply_adds: int
    offers: tuple[Offer, ...]
    refused: Mapping[int, str]
    matched: Offer | None = None
    """What it gets without a choice: the largest group, on the first accelerator that takes it."""


@dataclass(frozen=True)
class Step:
    """An op of the network as a choice sees it: `needs` are the numbers of ops whose results it reads."""

    number: int
    title: str
    needs: tuple[int, ...]
    operations: int
    """In its body, each of them once an iteration."""
    wide: bool
    """It computes in 64 bits."""
    iterations: int
    rows: int
    """Of a product: the largest of the loops that its result has, 1 for a vector's."""
    product: bool


@dataclass(frozen=True)
class Network:
    """All ops of the function, by number, and its products."""

    steps: Mapping[int, Step]
    products: tuple[Product, ...]
    results: tuple[int, ...]
    """Ops that make what is returned."""


@dataclass(frozen=True)
class Chosen:
    """What became of a product: `offer`, or ``None`` for the CPU, and the ops that go with it."""

    ops: tuple[int, ...]
    offer: Offer | None = None
    reason: str | None = None
    """Why it is on the CPU."""

    @property
    def device(self) -> int | None:
        return None if self.offer is None else self.offer.device


Plan = Mapping[int, Chosen]
"""By number of the product."""
Choose = Callable[[Network], Plan]


@dataclass(frozen=True)
class Answer:
    """Of an accelerator that takes a layer: fields of `Offer`."""

    text: str
    calls: tuple[Call, ...]
    schedule: Schedule
    passes: tuple[str, ...]


Ask = Callable[[func.FuncOp, str, int], "Answer | str"]
"""A layer's function, its title and an accelerator's number: an answer, or why it refuses."""
Cut = Callable[[Sequence[Operation]], func.FuncOp]
"""A group of ops as a function of its own."""
Match = Callable[[func.FuncOp, str], "int | str"]
"""A layer's function and its title: the accelerator that gets it without a choice, or why none does."""


def network(function: func.FuncOp, devices: int, ask: Ask, cut: Cut, match: Match, *, post: bool) -> Network:
    """The function behind all passes, with the offers of `devices` accelerators for its products.

    `post`: accelerators may take the element-wise op behind a product.
    """
    ops = list(function.body.block.ops)
    numbers = {op: number for number, op in enumerate(ops)}
    products = []
    for op in ops:
        if isinstance(op, linalg.GenericOp) and generics.is_contraction(op):
            product = _product(op, numbers, devices, ask, cut, post)
            products.append(replace(product, matched=_matched(product, op, numbers, cut, match, post)))
    steps = {number: _step(op, numbers) for op, number in numbers.items() if not is_init(op)}
    last = ops[-1]
    return Network(steps, tuple(products), tuple(_needs(last.operands, numbers)))


def _product(
    op: linalg.GenericOp, numbers: Mapping[Operation, int], devices: int, ask: Ask, cut: Cut, post: bool
) -> Product:
    offers: list[Offer] = []
    refused: dict[int, str] = {}
    name = title(op)
    for group in candidates(op, post=post):
        layer = cut(group)
        for device in range(devices):
            answer = ask(layer, name, device)
            if isinstance(answer, str):
                refused[device] = answer
                continue
            own = tuple(numbers[member] for member in group)
            taken = answer.calls, answer.schedule, answer.passes
            offers.append(Offer(numbers[op], own, device, answer.text, name, *taken))
    taking = {offer.device for offer in offers}
    why = {device: reason for device, reason in refused.items() if device not in taking}
    return Product(numbers[op], op, name, where(op), multiply_adds(op), tuple(offers), why)


def _matched(
    product: Product,
    op: linalg.GenericOp,
    numbers: Mapping[Operation, int],
    cut: Cut,
    match: Match,
    post: bool,
) -> Offer | None:
    for group in candidates(op, post=post):
        device = match(cut(group), product.title)
        if isinstance(device, int):
            own = tuple(numbers[member] for member in group)
            return next(
                (offer for offer in product.offers if (offer.device, offer.ops) == (device, own)), None
            )
    return None


def steps(function: func.FuncOp) -> tuple[Step, ...]:
    """The ops of a layer, as those of a whole network."""
    numbers = {op: number for number, op in enumerate(function.body.block.ops)}
    return tuple(_step(op, numbers) for op in numbers if op.results and not is_init(op))


def _step(op: Operation, numbers: Mapping[Operation, int]) -> Step:
    needs, shape = tuple(_needs(operands_of(op), numbers)), _shape(op)
    if not isinstance(op, linalg.GenericOp):
        return Step(numbers[op], op.name, needs, 1, False, _count(shape), 1, False)
    body = list(op.body.block.ops)[:-1]
    wide = any(generics.width(result.type) == 64 for inner in body for result in inner.results)
    product = generics.is_contraction(op)
    rows = min(shape[-2:]) if product and len(shape) > 1 else 1
    work = sum(inner.name != "arith.constant" for inner in body)
    return Step(numbers[op], title(op), needs, work, wide, _count(op.get_static_loop_ranges()), rows, product)


def _shape(op: Operation) -> tuple[int, ...]:
    kind = op.results[0].type if op.results else None
    return tuple(kind.get_shape()) if isinstance(kind, TensorType) else ()


def _count(sizes: Iterable[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


def _needs(values: Iterable[object], numbers: Mapping[Operation, int]) -> list[int]:
    owners = [getattr(value, "owner", None) for value in values]
    needed = [
        numbers[owner]
        for owner in owners
        if isinstance(owner, Operation) and owner in numbers and not is_init(owner)
    ]
    return list(dict.fromkeys(needed))
