"""Random programs of two and three nests, and a machine that executes them under a plan in any order it
allows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from hypothesis import strategies as st

from axiloom.base.affine import Affine
from axiloom.nests.dataflow import Edge, Plan
from axiloom.nests.program import Array, Expression, Index, Literal, Load, Op, Program, Role, Statement
from axiloom.nests.schedule import Nest, Placed, Schedule

NUMBER = "int32"
SIZE = 8
Memory = dict[tuple[str, tuple[int, ...]], int]


def box(**sizes: int) -> tuple[Affine, ...]:
    found: list[Affine] = []
    for name, size in sizes.items():
        found += [Affine.name(name), size - 1 - Affine.name(name)]
    return tuple(found)


def load(array: str, *subscripts: Affine | str | int) -> Load:
    return Load(array, tuple(Affine.of(each) for each in subscripts), NUMBER)


def add(one: Expression, two: Expression) -> Op:
    return Op("add", (one, two), NUMBER)


def mul(one: Expression, two: Expression) -> Op:
    return Op("mul", (one, two), NUMBER)


def array(name: str, *shape: int, role: Role = Role.LOCAL) -> Array:
    return Array(name, shape, NUMBER, role)


def evaluate(value: Expression, at: Mapping[str, int], read: Callable[[Load, tuple[int, ...]], int]) -> int:
    match value:
        case Literal():
            return int(value.value)
        case Index():
            return value.value.value(at)
        case Load():
            return read(value, tuple(each.value(at) for each in value.subscripts))
        case Op():
            one, two = (evaluate(each, at, read) for each in value.operands)
            return (one + two if value.name == "add" else one * two) % 2**32


# --- random programs ----------------------------------------------------------------------------------------


@st.composite
def subscripts(draw: st.DrawFn, loops: tuple[str, ...], count: int) -> tuple[Affine, ...]:
    """Loops, forward, backward, shifted or the same for all, within 0 to SIZE - 1 for loops of up to 4."""
    found = []
    for _ in range(count):
        name = draw(st.sampled_from(loops))
        kind = draw(st.sampled_from(["same", "same", "same", "shifted", "backward", "sum", "constant"]))
        other = draw(st.sampled_from(loops))
        found.append(
            {
                "same": Affine.name(name),
                "shifted": Affine.name(name) + draw(st.integers(1, 3)),
                "backward": 3 - Affine.name(name),
                "sum": Affine.name(name) + Affine.name(other),
                "constant": Affine.of(draw(st.integers(0, 2))),
            }[kind]
        )
    return tuple(found)


@st.composite
def statements(draw: st.DrawFn, nest: int, number: int, loops: tuple[str, ...]) -> Statement:
    ranks = {"X": 2, "Y": 2, "Z": 1}
    sizes = draw(st.lists(st.integers(1, 4), min_size=len(loops), max_size=len(loops)))
    domain = box(**dict(zip(loops, sizes, strict=True)))
    if len(loops) > 1 and draw(st.booleans()):
        domain += (Affine.name(loops[0]) - Affine.name(loops[1]) + draw(st.integers(0, 1)),)
    target = draw(st.sampled_from(sorted(ranks)))
    place = draw(subscripts(loops, ranks[target]))
    value: Expression = Index(Affine.sum([(each, 3**n) for n, each in enumerate(loops)], nest + 1), NUMBER)
    for _ in range(draw(st.integers(0, 2))):
        source = draw(st.sampled_from(sorted(ranks)))
        term = load(source, *draw(subscripts(loops, ranks[source])))
        value = add(value, mul(term, Literal(draw(st.integers(1, 3)), NUMBER)))
    if draw(st.booleans()):
        value = add(load(target, *place), value)
    static = (nest, *(0 for _ in loops[1:]), number)
    return Statement(f"S{nest}{number}", loops, domain, load(target, *place), value, static)


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    """Two or three nests of one or two statements each; the innermost loop of some is unrolled."""
    found, unrolled = [], set()
    for nest in range(draw(st.integers(2, 3))):
        loops = tuple(f"{name}{nest}" for name in "ijk"[: draw(st.integers(1, 3))])
        for number in range(draw(st.integers(1, 2))):
            found.append(draw(statements(nest, number, loops)))
        if len(loops) > 1 and draw(st.booleans()):
            unrolled.add(loops[-1])
    arrays = (array("X", SIZE, SIZE), array("Y", SIZE, SIZE), array("Z", SIZE))
    return Schedule(
        Program("random", arrays, tuple(found)),
        Schedule.of(Program("random", arrays, tuple(found))).statements,
        frozenset(unrolled),
    )


# --- execution ----------------------------------------------------------------------------------------------


def points(placed: Placed) -> list[dict[str, int]]:
    """Instances, by loops, in lexicographic order."""
    ranges = [range(SIZE) for _ in placed.loops]
    found = [dict(zip(placed.loops, each, strict=True)) for each in product(*ranges)]
    return [at for at in found if all(form.value(at) >= 0 for form in placed.domain)]


@dataclass
class Pipe:
    """A nest under way: its iterations in order, each a list of instances."""

    nest: Nest
    iterations: list[list[tuple[Placed, dict[str, int]]]]
    done: int = 0
    counts: dict[int, int] = field(default_factory=dict)
    held: dict[tuple[int, ...], int] = field(default_factory=dict)


def pipe(nest: Nest, unrolled: frozenset[str]) -> Pipe:
    instances = []
    for placed in nest.statements:
        for at in points(placed):
            time = [at[each] if isinstance(each, str) else each for each in placed.order]
            lanes = [isinstance(each, str) and each in unrolled for each in placed.order]
            depth = lanes.index(True) if True in lanes else len(time)
            instances.append((tuple(time), tuple(time[:depth]), placed, at))
    instances.sort(key=lambda each: each[0])
    found: dict[tuple[int, ...], list[tuple[Placed, dict[str, int]]]] = {}
    for _, iteration, placed, at in instances:
        found.setdefault(iteration, []).append((placed, at))
    return Pipe(nest, list(found.values()))


def sequential(schedule: Schedule) -> Memory:
    return run(schedule, None, lambda ready: ready[0])


def initial(array: str, element: tuple[int, ...]) -> int:
    """What an array holds before the run."""
    return 1 + len(array) + sum((3 + 7 * n) * each for n, each in enumerate(element))


def is_at(edge: Edge, iteration: list[tuple[Placed, dict[str, int]]]) -> bool:
    return any(
        placed.statement.name == edge.statement and all(form.value(at) >= 0 for form in edge.when)
        for placed, at in iteration
    )


def run(schedule: Schedule, plan: Plan | None, choose: Callable[[list[int]], int]) -> Memory:
    """All iterations, each in one step; of the nests that can go on, `choose` says which. Without a plan, one
    nest after the other. What passes through a FIFO is found nowhere else by the reader."""
    pipes = [pipe(each, schedule.unrolled) for each in schedule.nests]
    memory: Memory = {}
    orders, streams = (plan.orders, plan.streams) if plan else ((), ())
    tokens = [each.initial for each in orders]
    queues: list[deque[Memory]] = [deque() for _ in streams]
    held: list[Memory] = [{} for _ in streams]

    def can_go(pipe: Pipe) -> bool:
        if pipe.done == len(pipe.iterations):
            return False
        here = pipe.iterations[pipe.done]
        return all(tokens[n] or not is_at(each.before, here) for n, each in enumerate(orders)) and all(
            queues[n] or not (each.pop and is_at(each.pop, here)) for n, each in enumerate(streams)
        )

    while any(each.done < len(each.iterations) for each in pipes):
        ready = [n for n, each in enumerate(pipes) if can_go(each)]
        assert ready, "deadlock"
        mine = pipes[choose(ready)]
        here = mine.iterations[mine.done]
        mine.done += 1
        for n, order in enumerate(orders):
            tokens[n] += is_at(order.after, here) - is_at(order.before, here)
        for n, stream in enumerate(streams):
            if stream.pop and is_at(stream.pop, here):
                held[n] = queues[n].popleft()
        written: Memory = {}
        for placed, at in here:
            instance = dict(
                zip(placed.statement.iterators, [f.value(at) for f in placed.instance], strict=True)
            )

            def read(load: Load, element: tuple[int, ...], mine: Pipe = mine) -> int:
                for n, stream in enumerate(streams):
                    if (stream.array, stream.consumer) == (load.array, mine.nest.number):
                        return held[n][load.array, element]
                return memory.get((load.array, element), initial(load.array, element))

            value = evaluate(placed.statement.value, instance, read)
            target = placed.statement.target
            element = target.array, tuple(each.value(instance) for each in target.subscripts)
            memory[element] = written[element] = value
        for n, stream in enumerate(streams):
            if stream.push and is_at(stream.push, here):
                queues[n].append({each: value for each, value in written.items() if each[0] == stream.array})
    assert not any(queues), "an entry is left"
    return memory


# --- random chains ------------------------------------------------------------------------------------------


@st.composite
def chains(draw: st.DrawFn) -> Schedule:
    """Two or three nests, each of which makes an array of the one before: most arrays pass through FIFOs."""
    sizes = {"i": draw(st.integers(1, 4)), "j": draw(st.integers(1, 4)), "k": draw(st.integers(1, 3))}
    count = draw(st.integers(2, 3))
    arrays = tuple(array(f"X{n}", SIZE, SIZE) for n in range(count))
    found, unrolled = [], set()
    triangle = draw(st.booleans())
    for nest in range(count):
        loops = draw(st.permutations(["i", "j", "k"][: draw(st.integers(2, 3))]))
        names = {each: f"{each}{nest}" for each in loops}
        domain = box(**{names[each]: sizes[each] for each in loops})
        if triangle:
            domain += (Affine.name(names["i"]) - Affine.name(names["j"]),)
        target = load(f"X{nest}", names["i"], names["j"])
        value: Expression = Index(Affine.sum([(names["i"], 5), (names["j"], 1)], nest), NUMBER)
        if nest:
            value = add(
                value, load(f"X{nest - 1}", names["i"], names[draw(st.sampled_from(["j", "j", *loops]))])
            )
        if draw(st.booleans()):
            value = add(target, mul(value, Literal(3, NUMBER)))
        order = tuple(names[each] for each in loops)
        found.append(Statement(f"S{nest}", order, domain, target, value, (nest, *(0 for _ in loops))))
        if draw(st.booleans()):
            unrolled.add(order[-1])
    program = Program("chain", arrays, tuple(found))
    return replace(Schedule.of(program), unrolled=frozenset(unrolled))
