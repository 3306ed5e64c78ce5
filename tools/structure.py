"""Which room imports which: ``python -m tools.structure`` prints it, and exits with 1 on what must not be.

With ``--brief`` it prints only the latter, or one line if there is nothing: so does ``make lint``.

A room is a folder with modules; those that lie loose in a package are that package's room. What must not be:
a circle between rooms or between modules, and an arrow upwards, to a room that the importer may not know.
Imports in functions and under ``if TYPE_CHECKING:`` count too; the latter are marked. Imports by name at run
time (``importlib``) and includes in C are not seen.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE, HOME = "axiloom", "src/axiloom"
"""The package and its folder, whose folders are its rooms; the large ones have an order of their own."""
PLUGINS = "accelerators"
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "base": (),
    "isa": ("base",),
    "hw": ("base", "isa"),
    "graph": ("base", "isa"),
    "plan": ("base", "isa"),
    "drivergen": ("base", "isa", "plan"),
    "sw": ("base", "isa"),
    "nests": ("base", "isa", "hw"),
    "boards": ("base", "isa", "hw", "drivergen", "sw"),
    "read": ("base", "isa", "graph", "drivergen"),
    "selection": ("base", "isa", "graph", "plan", "read", "drivergen"),
    "cosim": ("base", "isa", "hw", "plan", "drivergen", "sw", "boards"),
    PLUGINS: (
        "base",
        "isa",
        "hw",
        "drivergen",
        "graph",
        "selection",
        "src/axiloom/device",
        "src/axiloom/application",
    ),
    HOME: (
        "base",
        "isa",
        "hw",
        "plan",
        "drivergen",
        "sw",
        "nests",
        "graph",
        "read",
        "selection",
        "boards",
        "cosim",
    ),
}
"""Room of the package to the others that it may know, or to rooms in HOME, which is what lies beside them.
Nobody may know an accelerator, not even another one: each comes by the registry, as other people's do."""
ALONE = dict.fromkeys(("torch", "torch_mlir", "onnx", "onnxruntime"), "read")
"""Libraries of others that one room of the package alone may import."""
TOP = ("axiloom.__main__", "axiloom.pytest_plugin")
"""Modules of `HOME` that may import everybody, and that nobody imports: a room above all others."""
BRIEF = "--brief"
INSIDE: tuple[tuple[str, ...], ...] = (
    (
        "isa/numerics",
        "isa/kernels/language",
        "isa/kernels/named",
        "isa/kernels",
        "isa/contract",
        "isa/check",
        "isa/files",
        "isa/instructions",
        "isa/instructions/simulator",
        "isa/opcode_map",
        "isa/formal",
        "isa",
    ),
    (
        "hw/axi",
        "hw/axi/rules",
        "hw/rtl_files",
        "hw/dma",
        "hw/engine",
        "hw/array",
        "hw/copy",
        "hw/nest/operators",
        "hw/nest",
        "hw/numbers",
        "hw/command",
        "hw/matmul",
        "hw/window",
        "hw/conv",
        "hw/soc",
        "hw/verilog",
        "hw/serial",
        "hw",
    ),
    (
        "drivergen/dialects",
        "drivergen/match",
        "drivergen/nest",
        "drivergen/c",
        "drivergen/problems",
        "drivergen/cost",
        "drivergen/passes/lowering",
        "drivergen/passes/frontend",
        "drivergen/pipeline",
        "drivergen/evaluate",
        "drivergen/network/passes",
        "drivergen/network",
        "drivergen",
    ),
    (
        "nests/program",
        "nests/poly",
        "nests/read",
        "nests/schedule",
        "nests/schedule/primitives",
        "nests/affine",
        "nests/hls",
        "nests/lower/iteration",
        "nests/lower/banks",
        "nests/lower/slots",
        "nests/lower",
        "nests/timing",
        "nests/dataflow",
        "nests/ports",
        "nests/resources",
        "nests/search",
        "nests",
    ),
    ("graph", "graph/ops", "graph/evaluate", "graph/write"),
    (
        "read/context",
        "read/aten",
        "read/hlo",
        "read/mlir",
        "read/linalg",
        "read/pytorch",
        "read/onnx",
        "read",
    ),
    (
        "selection/rules",
        "selection/rules/prove",
        "selection/egraph",
        "selection/accelerators",
        "selection/allocate",
        "selection/program",
        "selection/machine",
        "selection/drive",
        "selection/validate",
        "selection",
    ),
    ("boards/hosts", "boards/synthesis", "boards/ecp5", "boards"),
    ("cosim/blocks", "cosim/build", "cosim/native", "cosim", "cosim/replay"),
    (
        "src/axiloom/nest",
        "src/axiloom/quantise/lower",
        "src/axiloom/quantise/ops",
        "src/axiloom/quantise",
        "src/axiloom/report",
        "src/axiloom/report/page",
        "src/axiloom/application/units",
        "src/axiloom/application",
        "src/axiloom/run",
        "src/axiloom/bringup",
        "src/axiloom/remote",
        "src/axiloom/calibration",
        "src/axiloom/board_folder/design",
        "src/axiloom/board_folder/vivado",
        "src/axiloom/board_folder",
        "src/axiloom/board_folder/check",
        "src/axiloom/sweep",
        "src/axiloom/explore",
        "src/axiloom/prove",
        "src/axiloom/prove/axi",
        "src/axiloom/prove/axi/ours",
        "src/axiloom/library",
        "src/axiloom/virtual_board",
        "src/axiloom/cli",
        "src/axiloom/cli/nest",
        "src/axiloom/cli/run",
        "src/axiloom/cli/compile",
        "src/axiloom/cli/explore",
        "src/axiloom/cli/board",
        "src/axiloom/cli/prove",
        "src/axiloom/cli/spec",
        "src/axiloom/cli/serve",
    ),
)
"""Rooms of one top-level folder in order, as ``("hw/bus", "hw/dma")``: each may import those to its left, not
those to its right. Rooms that no order names may import each other, but not in circles."""


@dataclass(frozen=True)
class Import:
    """An import of one of our modules by another; `target` may be a package, which is its ``__init__``."""

    place: str
    source: str
    target: str
    typing: bool

    def __str__(self) -> str:
        return f"{self.place} imports {self.target}{' (types only)' * self.typing}"


class Tree:
    """The modules under `root`, their rooms and their imports."""

    def __init__(self, root: Path, inside: tuple[tuple[str, ...], ...]) -> None:
        self.root, self.inside = root, inside
        self.folders = [*_folders(root / HOME)]
        self.files = {
            self._module(file): file for folder in self.folders for file in sorted(folder.glob("*.py"))
        }
        self.missing: list[Import] = []
        self.strangers: list[Import] = []
        self.imports = [import_ for name in self.files for import_ in self._imports(name)]
        self.rooms = list(dict.fromkeys(self.room(name) for name in self.files))
        self.arrows = [*self._between_rooms()]

    def _module(self, file: Path) -> str:
        text = file.relative_to(self.root / HOME).with_suffix("").as_posix()
        return f"{PACKAGE}/{text}".removesuffix("/__init__").replace("/", ".")

    def room(self, module: str) -> str:
        if module in TOP:
            return "top"
        if module == PACKAGE:  # it has the version, and imports nobody
            return "base"
        return self.shown(self.files[module].parent)

    def shown(self, folder: Path) -> str:
        """A folder's name: the large rooms are known without HOME."""
        inside = folder.relative_to(self.root / HOME)
        return (inside if inside.parts[:1] in ((top,) for top in MAY_IMPORT) else HOME / inside).as_posix()

    def _imports(self, source: str) -> Iterator[Import]:
        file, where = self.files[source], self.files[source].relative_to(self.root).as_posix()
        package = source if file.name == "__init__.py" else source.rpartition(".")[0]
        for node, typing in _statements(ast.parse(file.read_text(encoding="utf-8"), where)):
            for name in _names(node, package):
                target = name if name in self.files else name.rpartition(".")[0]
                room = ALONE.get(name.partition(".")[0], "")
                if room and _top(self.room(source)).split("/")[0] != room:
                    self.strangers.append(Import(f"{where}:{node.lineno}", source, name, typing))
                import_ = Import(f"{where}:{node.lineno}", source, target, typing)
                if target in self.files and target != source:
                    yield import_
                elif name.startswith(f"{PACKAGE}.") and target != source:
                    self.missing.append(import_)

    def _between_rooms(self) -> Iterator[tuple[str, str, Import]]:
        """All arrows but those of a top-level ``__init__``, a facade, to the rooms below it."""
        for import_ in self.imports:
            source, target = self.room(import_.source), self.room(import_.target)
            facade = self.files[import_.source].name == "__init__.py" and source in MAY_IMPORT
            if source != target and not (facade and target.startswith(f"{source}/")):
                yield source, target, import_

    def refused(self, source: str, target: str) -> str:
        """Why this arrow goes upwards; empty if it does not."""
        if "top" in (source, target):
            return "nobody imports top" if target == "top" else ""
        mine, other = _top(source), _top(target)
        allowed = MAY_IMPORT[HOME if mine == HOME else mine.split("/")[0]]
        if mine != other and not any(f"{target}/".startswith(f"{room}/") for room in allowed):
            return f"{mine} may import {', '.join(allowed) or 'nothing but itself'}"
        for order in (modules for modules in self.inside if source in modules and target in modules):
            if order.index(source) < order.index(target):
                return f"the order is {', '.join(order)}"
        return ""


def _top(room: str) -> str:
    """Its top-level folder; each accelerator is one of its own."""
    parts = room.split("/")
    return HOME if room.startswith(HOME) else "/".join(parts[: 2 if parts[0] == PLUGINS else 1])


def _entries(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith((".", "__pycache__")))


def _folders(folder: Path) -> Iterator[Path]:
    """`folder` and all below it."""
    if folder.is_dir():
        yield folder
        for inner in _entries(folder):
            yield from _folders(inner)


def _statements(node: ast.AST, typing: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """All imports, each with whether only type checkers execute it."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node, typing
    checked = isinstance(node, ast.If) and ast.unparse(node.test).split(".")[-1] == "TYPE_CHECKING"
    for child in ast.iter_child_nodes(node):
        yield from _statements(child, typing or (checked and child in getattr(node, "body", ())))


def _names(node: ast.Import | ast.ImportFrom, package: str) -> list[str]:
    """Dotted names of what is imported; of ``from a import b`` it is a.b, which need not be a module."""
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    outer = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
    return [".".join(filter(None, (*outer, node.module, name.name))) for name in node.names]


def _ways(graph: dict[str, set[str]], start: str) -> dict[str, list[str]]:
    """Shortest ways from `start` to each node that it reaches, without that node."""
    ways: dict[str, list[str]] = {}
    queue = [[start]]
    for way in queue:  # grows while it is read
        for after in sorted(graph.get(way[-1], set()) - ways.keys()):
            ways[after] = way
            queue.append([*way, after])
    return ways


def circles(graph: dict[str, set[str]]) -> Iterator[tuple[list[str], set[str]]]:
    """A shortest circle of each set of nodes that all reach each other, and that set."""
    ways, done = {node: _ways(graph, node) for node in graph}, set[str]()
    for node in sorted(graph):
        if node in ways[node] and node not in done:
            knot = {other for other in ways[node] if node in ways.get(other, ())}
            done |= knot
            yield min((ways[member][member] for member in sorted(knot)), key=len), knot


def _circle_lines(kind: str, arrows: list[tuple[str, str, Import]]) -> Iterator[str]:
    graph, places = defaultdict[str, set[str]](set), dict[tuple[str, str], Import]()
    for source, target, import_ in arrows:
        graph[source].add(target)
        places.setdefault((source, target), import_)
    for circle, knot in circles(graph):
        others = f"; in circles too: {', '.join(sorted(knot - {*circle}))}" if len(knot) > len(circle) else ""
        yield f"circle of {kind}: {' -> '.join((*circle, circle[0]))}{others}"
        yield from (f"    {places[pair]}" for pair in zip(circle, (*circle[1:], circle[0]), strict=True))


def faults(tree: Tree) -> Iterator[str]:
    """A line for each arrow upwards and each circle, with their places."""
    judged = ((import_, tree.refused(source, target)) for source, target, import_ in tree.arrows)
    yield from (f"upwards: {import_}: {why}" for import_, why in judged if why)
    yield from _circle_lines("rooms", tree.arrows)
    yield from _circle_lines(
        "modules", [(import_.source, import_.target, import_) for import_ in tree.imports]
    )
    yield from (f"no such module: {import_}" for import_ in tree.missing)
    for import_ in tree.strangers:
        yield f"{import_}: only {ALONE[import_.target.partition('.')[0]]}/ may"
    gone = sorted({room for order in tree.inside for room in order} - {*tree.rooms})
    yield from (f"an order names a room that is not there: {room}" for room in gone)


def table(tree: Tree) -> Iterator[str]:
    """For each room how many imports of which others, and how many entries each folder has."""
    yield "imports of each room from others"
    counts = Counter((source, target, import_.typing) for source, target, import_ in tree.arrows)
    for room in tree.rooms:
        counted = [(to, counts[room, to, False], counts[room, to, True]) for to in tree.rooms]
        shown = [f"{to} ({a + b}{f', {b} for types only' * (b > 0)})" for to, a, b in counted if a + b]
        yield f"  {room:<37} {'; '.join(shown) or '-'}"
    yield "entries of each folder"
    for folder in tree.folders:
        yield f"  {tree.shown(folder):<37} {len(_entries(folder)):>3}"


def main(
    root: Path = Path(__file__).parents[1],
    inside: tuple[tuple[str, ...], ...] = INSIDE,
    brief: bool = False,
) -> int:
    """Print table and faults, with `brief` the faults alone; 1 if there is a fault."""
    lines = [*faults(tree := Tree(root, inside))]
    shown = [] if brief else [*table(tree)]
    print("\n".join([*shown, *(lines or ["no circles, no arrows upwards"])]))
    return 1 if lines else 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], [BRIEF]):
        sys.exit(f"usage: python -m tools.structure [{BRIEF}]")
    sys.exit(main(brief=sys.argv[1:] == [BRIEF]))
