"""Every module of hw/ and accelerators/ with logic has a test of its own name, in the same room of tests/."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]

ELSEWHERE = {
    "command/device.py": "tests/accelerators/vta/rtl/test_device.py",  # which is one
    "axi/rules/language.py": "tests/prove/axi/test_ports.py",
    "nest/access.py": "tests/hw/nest/test_memory.py",
    "nest/accelerator.py": "tests/run/test_nest.py",
    "nest/operators/": "tests/hw/nest/operators/test_operators.py",  # each one that is registered
    "soc/user.py": "tests/board_folder/test_user_rtl.py",  # in the system that a board gets
    "numbers/": "tests/hw/numbers/test_functions.py",  # each one that is registered
}
"""Modules, or folders of them, that are tested under another name: by what."""

_BEHIND = {
    "qkv/rtl": ("row_memory", "softmax", "task", "transfers"),
    "flexasr/rtl": ("activate", "moves", "pool", "product"),
}
"""Units that execute instructions alone: behind the streams of a device."""
OF_ACCELERATORS = {
    f"{room}/{name}.py": f"tests/accelerators/{room}/test_device.py"
    for room, names in _BEHIND.items()
    for name in names
} | {"qkv/rtl/product.py": "tests/accelerators/qkv/rtl/test_product_rows.py"}


def elaborates(path: Path) -> bool:
    """It adds to an Amaranth module: by `elaborate`, or by functions that take one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            if node.name == "elaborate":
                return True
            arguments = {argument.arg: argument.annotation for argument in node.args.args}
            kind = arguments.get("m")
            if isinstance(kind, ast.Name) and kind.id == "Module":
                return True
    return False


def _is(name: str, module: str) -> bool:
    return name == module or (module.endswith("/") and name.startswith(module))


def missing(hw: Path, tests: Path, elsewhere: Mapping[str, str] = ELSEWHERE) -> list[str]:
    return [
        name
        for path in sorted(hw.rglob("*.py"))
        if elaborates(path)
        and not any(_is(path.relative_to(hw).as_posix(), each) for each in elsewhere)
        and not (tests / (name := path.relative_to(hw).as_posix())).with_name(f"test_{path.name}").is_file()
    ]


def test_every_module_with_logic_has_a_test() -> None:
    for folder, elsewhere in (("hw", ELSEWHERE), ("accelerators", OF_ACCELERATORS)):
        rooms = ROOT / "src/axiloom" / folder
        assert missing(rooms, ROOT / "tests" / folder, elsewhere) == []
        for module, test in elsewhere.items():
            assert (rooms / module).exists(), module
            assert (ROOT / test).is_file(), test


def test_a_module_without_one_is_named(tmp_path: Path) -> None:
    hw, tests = tmp_path / "hw", tmp_path / "tests"
    for folder in (hw / "room", tests / "room"):
        folder.mkdir(parents=True)
    (hw / "room/part.py").write_text("class Part:\n    def elaborate(self, platform): ...\n")
    (hw / "room/helper.py").write_text("def add(m: Module) -> None: ...\n")
    (hw / "room/numbers.py").write_text("def double(n: int) -> int: ...\n")
    assert missing(hw, tests) == ["room/helper.py", "room/part.py"]
    (tests / "room/test_part.py").write_text("")
    assert missing(hw, tests) == ["room/helper.py"]
