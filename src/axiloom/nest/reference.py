"""`reference`: what a circuit must compute. Of C it is the file itself, compiled by the host (`referee.py`).

What was read is interpreted and compared with the file, too, in two calls in a row. So a misreading shows
before anything is simulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from axiloom.base.errors import MismatchError
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nest.compare import compare
from axiloom.nest.referee import Arrays, Host, Judgement, Referee
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.schedule import Schedule

INTERPRETER = "the interpreter, which shares no code with lowering and RTL"
AS_READ = f"the program as read, by {INTERPRETER}"
CLOSE, SMALL = 1e-4, 0.01
"""Of floats whose sums may be in another order: of the largest value, or of `SMALL` where that is smaller."""
_NOT_LOOKED = "what C leaves undefined was not looked for, as the compiler's sanitizers do not work"
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
    remarks: list[str] = []
    warnings: tuple[str, ...] = ()
    if referee is None:
        text = ROUNDED if rounded else AS_READ
        if loaded.function is not None:
            file = loaded.function.path.name
            remarks.append(f"there is no C compiler (cc, gcc, clang, $CC) to compare with {file} itself")
        if loaded.original is not None:
            remarks.append(f"as read, it is {_original(loaded, arrays)}")
    else:
        judged = referee.judge(arrays)
        first, warnings = as_read(referee, judged, arrays), judged.wraps
        if beyond := [line for line in judged.lines if line not in warnings]:
            raise MismatchError(f"{'; '.join(beyond)}; no result is right for these inputs")
        text = f"{ROUNDED}, and in the order as written {referee}" if rounded else str(referee)
        remarks.append("as read, two calls give the same")
        remarks += [_NOT_LOOKED] if judged.undefined is None else []
    if any(format_of(array.number).kind is Kind.FLOAT for array in loaded.program.arrays):
        remarks.append("of floats a subnormal counts as zero, and one NaN is as good as another")
    if rounded or referee is None:
        first = interpret(schedule if rounded else loaded.program, whole)
    return Reference(first, text + (f" ({'; '.join(remarks)})" if remarks else ""), warnings)


def _original(loaded: Loaded, arrays: Arrays) -> str:
    """How far what was read is from the model, for people. Raises MismatchError if it is another function."""
    assert loaded.original is not None
    name, right = loaded.original.name, loaded.original.call(arrays)
    if any(not np.array_equal(arrays[array], values) for array, values in loaded.contents.items()):
        return f"not compared with {name}, as --input has other weights"
    results, largest = interpret(loaded.program, loaded.program.with_copies(arrays)), 0.0
    for array, values in right.items():
        ours = results[array].astype(np.float64)
        theirs = np.asarray(values, np.float64).reshape(ours.shape)
        top = float(np.max(np.abs(theirs), initial=SMALL, where=np.isfinite(theirs)))
        most = CLOSE * top if results[array].dtype.kind == "f" else 0
        with np.errstate(invalid="ignore"):
            off = np.where((ours == theirs) | ((ours != ours) & (theirs != theirs)), 0, np.abs(ours - theirs))
        if (bad := np.argwhere(~(off <= most))).size:
            at = tuple(map(int, bad[0]))
            place = "".join(f"[{n}]" for n in at)
            raise MismatchError(f"as read, {array}{place} is {ours[at]:g}, expected {theirs[at]:g} by {name}")
        largest = max(largest, float(np.max(off, initial=0)))
    return f"within {largest:.1e} of {name} itself" if largest else f"equal to {name} itself"


def as_read(referee: Referee, judged: Judgement, arrays: Arrays) -> dict[str, Host]:
    """The results of the first call. Raises MismatchError if the interpreter has others, in any call that was
    `judged`."""
    program, state, calls = referee.program, dict(arrays), list[dict[str, Host]]()
    inputs = [array.name for array in program.arrays if array.role.is_given and not array.role.is_result]
    for number, after in enumerate(judged.calls, 1):
        results = interpret(program, program.with_copies(state))
        ours = {**results, **{name: np.asarray(state[name]) for name in inputs if name in after}}
        compared = compare(ours, {name: values for name, values in after.items() if name in ours})
        if not compared.matches:
            call = f"after call {number}, on the same inputs" if number > 1 else "as read"
            why = "".join(f"; {line}" for line in judged.lines)
            raise MismatchError(f"{call}, {compared.first} by {referee}{why}")
        calls.append({name: after.get(name, value) for name, value in results.items()})
        state.update(results)
    return calls[0]
