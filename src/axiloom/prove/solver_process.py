"""``python -m axiloom.prove.solver_process SOLVER SECONDS``: a solver that can be killed.

In: a JSON list of SMT-LIB texts. Out: a line of JSON for each, ``[answer, seconds, values]``, whose answer is
``sat``, ``unsat`` or ``unknown``.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

from axiloom import processes


def of_integers(text: str) -> bool:
    """Whether it speaks of integers: with a logic of bit vectors z3 takes `Int` for a sort like any other."""
    return re.search(r"^\(declare-(fun|const) .*\bInt\)$", text, re.MULTILINE) is not None


def z3_says(text: str, limit_s: int) -> tuple[str, dict[str, str]]:
    import z3

    solver = z3.SolverFor("QF_NIA" if of_integers(text) else "QF_AUFBV")
    solver.set("timeout", limit_s * 1000)
    solver.from_string(text)
    answer = solver.check()
    values = {}
    if answer == z3.sat:
        model = solver.model()
        values = {name.name(): str(model[name]) for name in model if name.arity() == 0}
    return str(answer), values


def bitwuzla_says(text: str, limit_s: int) -> tuple[str, dict[str, str]]:
    import bitwuzla

    if of_integers(text):
        return "unknown", {}  # it has bit vectors alone
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, limit_s * 1000)
    lines = [line for line in text.splitlines() if not line.startswith(("(set-info", "(check-sat"))]
    with processes.scratch() as folder:
        file = Path(folder) / "formula.smt2"
        file.write_text("(set-logic QF_AUFBV)\n" + "\n".join(lines) + "\n", encoding="utf-8")
        terms = bitwuzla.TermManager()
        parser = bitwuzla.Parser(terms, options)
        parser.parse(str(file), True, True)
        solver = parser.bitwuzla()
        answer = str(solver.check_sat()).lower()
        values = {}
        if answer == "sat":
            for term in parser.get_declared_funs():
                if term.sort().is_bv():
                    values[str(term.symbol())] = str(int(solver.get_value(term).value(10)))
    return answer, values


SAYS = {"z3": z3_says, "bitwuzla": bitwuzla_says}


def main(solver: str, limit_s: int) -> None:
    for text in json.load(sys.stdin):
        begun = time.perf_counter()
        try:
            answer, values = SAYS[solver](text, limit_s)
        except Exception as error:  # of a library in C++: anything
            print(f"{solver} cannot take a formula: {str(error)[:200]}", file=sys.stderr)
            answer, values = "unknown", {}
        print(json.dumps([answer, time.perf_counter() - begun, values]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
