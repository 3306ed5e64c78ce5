"""`reference`: what a circuit must compute. Of C it is the file itself, compiled by the host (`referee.py`).

What was read is interpreted and compared with the file, too, in two calls in a row. So a misreading shows
before anything is simulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from axiloom.errors import MismatchError
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nest.compare import compare
from axiloom.nest.referee import Arrays, Host, Judgement, Referee
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.schedule import Schedule

INTERPRETER = "the interpreter, which shares no code with lowering and RTL"
AS_READ = f"the program as read, by {INTERPRETER}"
CLOSE = 1e-4
"""Of floats whose sums may be in another order: of the largest value, or of 1 below it."""
_FLOATS = "; subnormal floats are zero, and any NaN equals any other"
_NOT_LOOKED = "the compiler has no sanitizers that see what C leaves undefined"
ROUNDED = f"the sums in the order of `reassociate`, by {INTERPRETER}"


@dataclass(frozen=True)
class Reference:
    """`results`: by the names of arrays. `text`: what they are of, for people. `warnings`: for people."""

    results: Mapping[str, Host]
    text: str
    warnings: tuple[str, ...] = ()


def is_rounded(schedule: Schedule) -> bool:
    """Whether the schedule adds floats in another order, as told: other bits than as written."""
    return any(line.startswith("reassociate") and "changes" in line for line in schedule.log)


def reference(loaded: Loaded, schedule: Schedule, arrays: Arrays) -> Reference:
    """The results of one call of `loaded` on `arrays`, with floats added in the order of `schedule`.

    Raises MismatchError if the file of C is not what was read, or does with these arrays what C leaves
    undefined, CompileError if it does not compile, HangError if it does not end.
    """
    rounded, referee = is_rounded(schedule), Referee.of(loaded)
    whole = schedule.program.with_copies(arrays)
    floats = (
        _FLOATS if any(format_of(array.number).kind is Kind.FLOAT for array in loaded.program.arrays) else ""
    )
    if referee is None:
        text = ROUNDED if rounded else AS_READ
        if loaded.function is not None:
            file = loaded.function.path.name
            text += f"; there is no C compiler (cc, gcc, clang, $CC) to compare with {file} itself"
        if loaded.original is not None:
            text += f"; as read, it is {_original(loaded, arrays)}"
        return Reference(interpret(schedule if rounded else loaded.program, whole), text + floats)
    judged = referee.judge(arrays)
    first = as_read(referee, judged, arrays)
    if beyond := [line for line in judged.lines if line not in judged.wraps]:
        raise MismatchError(f"{'; '.join(beyond)}; give inputs for which C says what is right (--input)")
    remarks = floats if judged.undefined is not None else f"; {_NOT_LOOKED}{floats}"
    if rounded:
        text = f"{ROUNDED}; in the order as written the program equals {referee}{remarks}"
        return Reference(interpret(schedule, whole), text, judged.wraps)
    return Reference(first, f"{referee}; as read, two calls give the same{remarks}", judged.wraps)


def _original(loaded: Loaded, arrays: Arrays) -> str:
    """How far what was read is from the model, for people. Raises MismatchError if it is another function."""
    assert loaded.original is not None
    name, right = loaded.original.name, loaded.original.call(arrays)
    if any(not np.array_equal(arrays[each], values) for each, values in loaded.contents.items()):
        return f"not compared with {name}, as --input has other weights"
    found, largest = interpret(loaded.program, loaded.program.with_copies(arrays)), 0.0
    for array, values in right.items():
        ours, theirs = (
            found[array].astype(np.float64),
            np.asarray(values, np.float64).reshape(found[array].shape),
        )
        with np.errstate(invalid="ignore"):
            off = np.where((ours == theirs) | ((ours != ours) & (theirs != theirs)), 0, np.abs(ours - theirs))
            most = CLOSE * max(1.0, float(np.max(np.abs(theirs), initial=0, where=np.isfinite(theirs))))
        if (bad := np.argwhere(~(off <= (most if found[array].dtype.kind == "f" else 0)))).size:
            at = tuple(map(int, bad[0]))
            place = "".join(f"[{each}]" for each in at)
            raise MismatchError(f"as read, {array}{place} is {ours[at]:g}, expected {theirs[at]:g} by {name}")
        largest = max(largest, float(np.max(off, initial=0)))
    return f"within {largest:.1e} of {name} itself" if largest else f"equal to {name} itself"


def as_read(referee: Referee, judged: Judgement, arrays: Arrays) -> dict[str, Host]:
    """The results of the first call. Raises MismatchError if the interpreter has others, in any call that was
    `judged`."""
    program, state, calls = referee.program, dict(arrays), list[dict[str, Host]]()
    kept = [each.name for each in program.arrays if each.role.is_given and not each.role.is_result]
    for number, after in enumerate(judged.calls, 1):
        results = interpret(program, program.with_copies(state))
        found = {**results, **{name: np.asarray(state[name]) for name in kept if name in after}}
        compared = compare(found, {name: each for name, each in after.items() if name in found})
        if not compared.matches:
            call = f"after call {number}, on the same inputs" if number > 1 else "as read"
            why = "".join(f"; {line}" for line in judged.lines)
            raise MismatchError(f"{call}, {compared.first} by {referee}{why}")
        calls.append({name: after.get(name, value) for name, value in results.items()})
        state.update(results)
    return calls[0]
