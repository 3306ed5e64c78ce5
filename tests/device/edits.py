"""Edits after warm caches: what comes from a cache must be what is found without one.

``python -m tests.device.edits 300`` makes so many edits of what verdicts and meanings hang on: of texts (what
their instructions mean, and what is proved of them), of rules, of mappings, and of constants in C
and in our own sources. It prints how many changed the answer, and how many answers were stale.
"""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from axiloom.base.errors import AxiloomError
from axiloom.cli.nest.source import load
from axiloom.device.known import derive, known
from axiloom.isa.formal.mapped import RefutedError, play
from axiloom.isa.instructions import library
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.nest.reference import reference
from axiloom.nest.values import random_values
from axiloom.nests.schedule import Schedule
from axiloom.prove import instructions
from axiloom.selection.machine.derive import Meanings
from axiloom.selection.rules.library import RuleText
from axiloom.selection.rules.prove import proved
from axiloom.selection.rules.prove.verdicts import Answer as Verdict
from axiloom.selection.rules.prove.verdicts import Proof, judge
from axiloom.selection.rules.rule import Rule
from axiloom.selection.rules.text import parse as parse_rules

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "examples/selection/rows32.isa").read_text(encoding="utf-8")
DENSE = (ROOT / "examples/instructions/dense.isa").read_text(encoding="utf-8")
MAPPING = (ROOT / "examples/instructions/product.mapping").read_text(encoding="utf-8")
RULES = (ROOT / "src/axiloom/selection/rules/arithmetic.rules").read_text(encoding="utf-8")
SMALL = """
word = input(32)
y = memory(64, type=int8)

@instruction(word[0:4] == 1)
def put():
    require(word[8:14] <= 62)
    y[word[8:14] + 1] = int8(word[16:24])
"""
N = 4
SIZES = (1, 2, N)
LIMIT_S = 5
"""Of a proof."""
Answer = list[str]
Read = TypeVar("Read")


@dataclass
class Measured:
    """Of edits that can be read: how many have another answer than the first text, and where a cache was
    stale."""

    edits: int = 0
    changed: int = 0
    stale: tuple[str, ...] = ()

    def add(self, name: str, before: Answer, wanted: Answer, answers: Sequence[Answer]) -> None:
        self.edits += 1
        self.changed += wanted != before
        self.stale += (name,) * sum(answer != wanted for answer in answers)


_OPERATORS = (ast.Add, ast.Sub, ast.Mult)
_COMPARED = (ast.LtE, ast.Lt, ast.GtE, ast.Eq)


def edited(text: str, dice: random.Random) -> str:
    """The text with one change of a body, a guard or a constant."""
    module = ast.parse(text)
    bodies = [part for part in module.body if isinstance(part, ast.FunctionDef)]
    nodes = [node for body in bodies for node in ast.walk(body)]
    kinds = (ast.BinOp, ast.Compare, ast.Name)
    node = dice.choice([
        node for node in nodes
        if isinstance(node, kinds) or (isinstance(node, ast.Constant) and isinstance(node.value, int))
    ])  # fmt: skip
    match node:
        case ast.Constant(value=value):
            node.value = max(0, value + dice.choice([-1, 1]))  # type: ignore[operator]
        case ast.BinOp():
            node.op = dice.choice(_OPERATORS)()
        case ast.Compare():
            node.ops = [dice.choice(_COMPARED)()]
        case ast.Name():
            node.id = dice.choice([name.id for name in nodes if isinstance(name, ast.Name)])
    return ast.unparse(module)


def _edits(text: str, dice: random.Random, read: Callable[[str], Read]) -> Iterator[Read]:
    """Those that can be read."""
    while True:
        try:
            yield read(edited(text, dice))
        except AxiloomError:
            continue


# --- what instructions mean --------------------------------------------------------------------------------


def _constants(dice: random.Random | None = None) -> dict[str, int]:
    values = {"N": N, "ROWS": 3 * N}
    if dice is not None and dice.random() < 0.1:
        values[dice.choice(["ROWS", "N"])] += dice.choice([-1, 1, 2])
    return values


def _said(meanings: Meanings) -> Answer:
    return sorted(str(meaning) for meaning in meanings.found.values())


def _derived(isa: InstructionSet) -> Answer:
    meanings = Meanings(isa)
    meanings.at(SIZES)
    return _said(meanings)


def _known(isa: InstructionSet) -> Answer:
    meanings = known(isa)
    derive(meanings, SIZES)
    return _said(meanings)


def texts(count: int, seed: int, measured: Measured) -> None:
    dice = random.Random(seed)

    def read(text: str) -> InstructionSet:
        values = _constants(dice)
        return parse(text if values == _constants() else TEXT, "rows.isa", "rows", values)

    before = _known(parse(TEXT, "rows.isa", "rows", _constants()))
    for isa, number in zip(_edits(TEXT, dice, read), range(count), strict=False):
        measured.add(f"text {number}", before, _derived(isa), [_known(isa), _known(isa)])


# --- what is proved ----------------------------------------------------------------------------------------


def _proof(proof: Proof) -> Answer:
    why = "" if proof.answer is Verdict.OPEN else proof.why  # which says how far it came in its time
    return [proof.rule, proof.answer, why]


def rules(count: int, seed: int, measured: Measured) -> None:
    """One rule each: what selection would use, beside its proof anew."""
    dice = random.Random(seed)
    before = {proved.key_of(rule): rule for rule in parse_rules(RULES, "a.rules")}
    first = {(rule.name, rule.sense): judge(rule, LIMIT_S) for rule in before.values()}

    def read(text: str) -> tuple[RuleText, Rule]:
        rules = parse_rules(text, "a.rules")
        rule = dice.choice([rule for rule in rules if proved.key_of(rule) not in before] or rules)
        return RuleText("a.rules", text, frozenset({rule.name})), rule

    def warm(text: RuleText, sense: str) -> Proof:
        return next(proof for proof in proved.proofs([text], LIMIT_S) if proof.sense == sense)

    proved.proofs([RuleText("a.rules", RULES)], LIMIT_S)
    for (text, rule), number in zip(_edits(RULES, dice, read), range(count), strict=False):
        # What was not decided in its time is asked again: it is never stale, and may be decided here.
        answers = [
            _proof(proof)
            for proof in (warm(text, rule.sense), warm(text, rule.sense))
            if proof.answer is not Verdict.OPEN
        ]
        wanted = judge(rule, LIMIT_S)
        if answers and wanted.answer is Verdict.OPEN:
            wanted = judge(rule, 6 * LIMIT_S)
        old = first.get((rule.name, rule.sense))
        measured.add(f"rule {number}", _proof(old) if old else [], _proof(wanted), answers)


def _verdicts(isa: InstructionSet) -> Answer:
    return [f"{verdict.name}: {verdict.answer}" for verdict in instructions.prove(isa, LIMIT_S)]


def verdicts(count: int, seed: int, measured: Measured) -> None:
    """Of a text, as ``prove spec --isa`` has them."""

    def read(text: str) -> InstructionSet:
        return parse(text, "small.isa", "small")

    before = _verdicts(read(SMALL))
    for isa, number in zip(_edits(SMALL, random.Random(seed), read), range(count), strict=False):
        warm = _verdicts(isa)
        with _no_cache():
            wanted = _verdicts(isa)
        measured.add(f"verdict {number}", before, wanted, [warm, _verdicts(isa)])


class _no_cache:  # noqa: N801 - it stands behind `with`
    def __enter__(self) -> None:
        self._before = os.environ["AXILOOM_CACHE"]
        self._folder = tempfile.TemporaryDirectory()
        os.environ["AXILOOM_CACHE"] = self._folder.name

    def __exit__(self, *_: object) -> None:
        os.environ["AXILOOM_CACHE"] = self._before
        self._folder.cleanup()


def mappings(count: int, seed: int, measured: Measured) -> None:
    """A file at one place that is written over, beside one at a place of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "dense.isa").write_text(DENSE, encoding="utf-8")

        def read(text: str, file: str = "same") -> Answer:
            path = folder / f"{file}.mapping"
            path.write_text(text, encoding="utf-8")
            try:
                played = play(library.mapping(path, {"M": 1}))
            except (AxiloomError, RefutedError) as error:
                return [str(error).replace(path.name, "")]
            return [f"{played.same} of {played.elements}", *(str(left.claim) for left in played.remaining)]

        before, dice = read(MAPPING), random.Random(seed)
        for number in range(count):
            text = edited(MAPPING, dice)
            measured.add(f"mapping {number}", before, read(text, f"own{number}"), [read(text), read(text)])


# --- C -----------------------------------------------------------------------------------------------------

LOOPS = """
#define N 6
enum { STEP = 2 };
static const int weights[4] = {3, -1, 4, 2};

void filter(const int x[32], int y[N])
{
    for (int i = 0; i < N; i++) {
        int sum = 5;
        for (int k = 0; k < 4; k++)
            sum += weights[k] * x[STEP * i + k + 1];
        y[i] = (sum > 40 ? sum - 7 : sum * 3) >> 1;
    }
}
"""


def _results(path: Path) -> Answer:
    try:
        loaded = load(str(path), {})
        values = random_values(loaded.program, 1)
        found = reference(loaded, Schedule.of(loaded.program), values).results
    except AxiloomError as error:
        return [str(error)]
    return [f"{name}: {result.tolist()}" for name, result in found.items()]


def loops(count: int, seed: int, measured: Measured) -> None:
    """A constant of a file of C at one place: its results by the host's compiler and by what was read."""
    dice, numbers = random.Random(seed), list(re.finditer(r"\b\d+\b", LOOPS))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "filter.c"
        path.write_text(LOOPS, encoding="utf-8")
        before = _results(path)
        for number in range(count):
            place = dice.choice(numbers)
            new = max(0, int(place[0]) + dice.choice([-1, 1]))
            path.write_text(f"{LOOPS[: place.start()]}{new}{LOOPS[place.end() :]}", encoding="utf-8")
            warm = [_results(path), _results(path)]
            with _no_cache():
                measured.add(f"C {number}, {place[0]} is {new}", before, _results(path), warm)


# --- our own sources ---------------------------------------------------------------------------------------

SOURCES = ("isa/numerics", "graph", "selection/machine", "selection/rules/prove")
FEW = "selection/rules/prove/search.py"
"""The first edit is of this file, and changes how many cases are tried."""
_ASKS = """
from tests.device import edits
print(edits._known(edits.parse(edits.TEXT, "rows.isa", "rows", edits._constants())))
proof, = edits.proved.proofs([edits.RuleText("a.rules", edits.RULES, frozenset({"shift_is_multiply"}))], 5)
print(proof.answer, proof.cases, proof.tried)
"""


def sources(count: int, seed: int, measured: Measured) -> None:
    """A number in a module of ours is another one; what is asked then is asked by a process of its own."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for room in ("src/axiloom", "tests/device", "examples"):
            shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
        before = _asked(copy)
        assert before[0], before[1]
        files = [file for room in SOURCES for file in sorted((copy / "src/axiloom" / room).rglob("*.py"))]
        number = 0
        while number < count:
            file = dice.choice(files) if number else copy / "src/axiloom" / FEW
            text = file.read_text(encoding="utf-8")
            other = _other_number(text, dice) if number else text.replace("\nFEW = ", "\nFEW = 1 + ")
            if other is None:
                continue
            number += 1
            assert other != text
            file.write_text(other, encoding="utf-8")
            answers = [_asked(copy), _asked(copy)]
            with _no_cache():
                wanted = _asked(copy)
            measured.add(f"source {number}, {file.name}", before, wanted, answers)
            file.write_text(text, encoding="utf-8")


def _other_number(text: str, dice: random.Random) -> str | None:
    lines = text.splitlines(keepends=True)
    nodes = [
        node for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and type(node.value) is int and node.lineno == node.end_lineno
    ]  # fmt: skip
    if not nodes:
        return None
    node = dice.choice(nodes)
    line = lines[node.lineno - 1].encode()
    assert node.end_col_offset is not None
    new = str(int(str(node.value)) + 1).encode()
    lines[node.lineno - 1] = (line[: node.col_offset] + new + line[node.end_col_offset :]).decode()
    return "".join(lines)


def _asked(copy: Path) -> Answer:
    path = os.pathsep.join([str(copy / "src"), str(copy)])
    done = subprocess.run(
        [sys.executable, "-B", "-c", _ASKS],
        cwd=copy, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return [done.stdout, done.stderr.splitlines()[-1] if done.returncode else ""]


# --- all ---------------------------------------------------------------------------------------------------

KINDS: Mapping[str, tuple[Callable[[int, int, Measured], None], float]] = {
    "texts": (texts, 0.5),
    "rules": (rules, 0.15),
    "mappings": (mappings, 0.15),
    "loops": (loops, 0.1),
    "verdicts": (verdicts, 0.07),
    "sources": (sources, 0.03),
}
"""What is edited, and its share."""


def measure(kind: str, count: int, seed: int = 1) -> Measured:
    """With one cache for all edits, each asked twice; it holds the answers to the first text."""
    measured = Measured()
    KINDS[kind][0](count, seed, measured)
    return measured


def main(count: int, chosen: Sequence[str]) -> int:
    stale = 0
    for kind, (_, share) in KINDS.items():
        if chosen and kind not in chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.environ["AXILOOM_CACHE"] = folder
            done = measure(kind, count if chosen else round(count * share))
        stale += len(done.stale)
        print(
            f"{kind}: {done.edits} edits, {done.changed} with another answer, {len(done.stale)} stale",
            flush=True,
        )
        print("".join(f"  {name}\n" for name in done.stale), end="")
    return stale


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), sys.argv[2:])))
