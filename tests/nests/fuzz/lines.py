"""Random lines of schedules, legal or not."""

from __future__ import annotations

from random import Random

from axiloom.nests.program import loads
from axiloom.nests.schedule import Schedule


def order_line(rng: Random, schedule: Schedule) -> str:
    """A primitive that changes the order of instances, and nothing else."""
    placed = rng.choice(schedule.statements)
    name, loops = placed.statement.name, list(placed.loops)
    other = rng.choice(schedule.statements)
    loop, again = rng.choice(loops), rng.choice(loops)
    some = rng.sample(loops, min(len(loops), rng.randint(1, 3)))
    return rng.choice(
        (
            f"split {name} {loop} {rng.randint(1, 4)}",
            f"tile {name} {' '.join(some)} {' '.join(str(rng.randint(1, 3)) for _ in some)}",
            f"interchange {name} {loop} {again}",
            f"reorder {name} {' '.join(some)}",
            f"skew {name} {loop} {again} {rng.choice((1, 2, -1))}",
            f"shift {name} {loop} {rng.choice((1, 2, -1, -2))}",
            f"fuse {name} {other.statement.name} {rng.choice(other.loops)} {rng.choice(('after', 'before'))}",
            f"fuse {name} {other.statement.name} {rng.choice(other.loops)}",
            f"fuse {name} {other.statement.name}",
            f"sink {name} {other.statement.name} {other.loops[-1]} {rng.choice(('first', 'last', 1))}",
            f"fission {name} {loop}",
            f"unroll {name} {loop} {rng.choice((0, 2, 3))}",
        )
    )


def hardware_line(rng: Random, schedule: Schedule) -> str:
    """A primitive about lanes, banks, sharing, copies and windows."""
    placed = rng.choice(schedule.statements)
    name, loop = placed.statement.name, rng.choice(placed.loops)
    other = rng.choice(schedule.statements).statement.name
    arrays = [placed.statement.target.array, *(each.array for each in loads(placed.statement.value))]
    array = schedule.program.array(rng.choice(arrays))
    factors = " ".join(str(rng.randint(1, min(3, extent))) for extent in array.shape)
    kind = rng.choice(("block", "distributed", "registers"))
    plane = " ".join(str(rng.choice((1, 1, 1, 2))) for _ in array.shape)
    return rng.choice(
        (
            f"unroll {name} {placed.loops[-1]}",
            f"unroll {name} {placed.loops[-1]} 2",
            f"unroll {name} {loop} {rng.choice((2, 3))}",
            f"pipeline {name} {rng.randint(1, 3)}",
            f"share {name} {other}",
            f"partition {array.name} {rng.choice(('cyclic', 'block'))} {factors}",
            f"partition {array.name} complete",
            f"partition {array.name} hyperplane {rng.randint(2, 3)} {plane}",
            f"storage {array.name} {kind} {rng.choice((1, 1, 2))}",
            f"duplicate {array.name} {name}",
            f"buffer_at {array.name} {name} {loop}",
            f"reuse {array.name} {name} {loop}",
        )
    )
