"""What `python -m tools.structure` says of small trees; a tree is {file: text}."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import structure

CLEAN = {
    "isa/__init__.py": "from axiloom.isa.files.read import read\nfrom axiloom.isa.spec import Spec\n",
    "isa/spec.py": "from axiloom.base.errors import Fault\n",
    "isa/files/__init__.py": "",
    "isa/files/read.py": "from axiloom.isa.spec import Spec\n",
    "hw/__init__.py": "",
    "hw/bus.py": "from axiloom.isa import Spec\nimport amaranth\n",
    "hw/dma/__init__.py": "",
    "hw/dma/engine.py": "from axiloom.hw import bus\nfrom ..bus import Port\n",
    "cosim/__init__.py": "from axiloom.hw.dma import engine\n",
    "__init__.py": "",
    "base/__init__.py": "",
    "base/errors.py": "",
    "cli/__init__.py": "import axiloom.cosim\n",
}


def tree(root: Path, **changes: str) -> Path:
    """The clean tree with other texts; `__` in a name stands for `/`."""
    files = CLEAN | {f"{name.replace('__', '/')}.py": text for name, text in changes.items()}
    for name, text in files.items():
        path = root / structure.HOME / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def faults(root: Path, *inside: tuple[str, ...]) -> list[str]:
    return [*structure.faults(structure.Tree(root, inside))]


def test_a_clean_tree_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert structure.main(tree(tmp_path), ()) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "isa base (1)" in lines
    assert "isa/files isa (1)" in lines
    assert "hw isa (1)" in lines
    assert "hw/dma hw (2)" in lines
    assert "src/axiloom/cli cosim (1)" in lines
    assert "isa 3" in lines  # entries
    assert lines.count("hw/dma 2") == 1
    assert lines[-1] == "no circles, no arrows upwards"


def test_a_library_of_one_room(tmp_path: Path) -> None:
    assert faults(tree(tmp_path, read__model="import torch\n", hw__bus="from torch.fx import Node\n")) == [
        "src/axiloom/hw/bus.py:1 imports torch.fx.Node: only read/ may"
    ]


def test_brief_prints_faults_or_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert structure.main(tree(tmp_path), (), brief=True) == 0
    assert capsys.readouterr().out == "no circles, no arrows upwards\n"
    (tmp_path / "src/axiloom/isa/spec.py").write_text("import axiloom.hw.bus\n")
    assert structure.main(tmp_path, (), brief=True) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("upwards: src/axiloom/isa/spec.py:1 imports axiloom.hw.bus")


def test_loose_modules_are_below_all_or_above_all(tmp_path: Path) -> None:
    """Files and errors are for everybody; the entry point may know everybody, and nobody knows it."""
    root = tree(
        tmp_path,
        base__files="from axiloom.base.errors import Fault\n",
        isa__spec="import axiloom.base.files\n",
    )
    (root / "src/axiloom/__main__.py").write_text("import axiloom.cosim\n")
    assert faults(root) == []
    (root / "src/axiloom/cosim/run.py").write_text("import axiloom.__main__\n")
    assert faults(root)[:1] == [
        "upwards: src/axiloom/cosim/run.py:1 imports axiloom.__main__: nobody imports top"
    ]


def test_a_circle_between_rooms_is_named_with_both_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tree(tmp_path, hw__bus="def late():\n    from axiloom.hw.dma.engine import Engine\n")
    tree_faults = faults(root)
    assert tree_faults[:3] == [
        "circle of rooms: hw -> hw/dma -> hw",
        "    src/axiloom/hw/bus.py:2 imports axiloom.hw.dma.engine",
        "    src/axiloom/hw/dma/engine.py:1 imports axiloom.hw.bus",
    ]
    assert structure.main(root, ()) == 1
    assert "circle of rooms: hw -> hw/dma -> hw" in capsys.readouterr().out


def test_a_circle_between_modules_of_one_room(tmp_path: Path) -> None:
    text = "import typing\nif typing.TYPE_CHECKING:\n    from axiloom.hw.bus import Port\n"
    root = tree(tmp_path, hw__bus="from axiloom.hw.port import x\n", hw__port=text)
    assert faults(root) == [
        "circle of modules: axiloom.hw.bus -> axiloom.hw.port -> axiloom.hw.bus",
        "    src/axiloom/hw/bus.py:1 imports axiloom.hw.port",
        "    src/axiloom/hw/port.py:3 imports axiloom.hw.bus (types only)",
    ]


def test_a_circle_names_all_that_are_in_circles_with_it(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        hw__a__x="import axiloom.hw.b.x, axiloom.hw.c.x",
        hw__b__x="import axiloom.hw.a.x",
        hw__c__x="import axiloom.hw.a.x",
    )
    assert faults(root)[0] == "circle of rooms: hw/a -> hw/b -> hw/a; in circles too: hw/c"


@pytest.mark.parametrize(
    ("where", "text", "told"),
    [
        (
            "isa__spec",
            "import axiloom.hw.bus",
            "src/axiloom/isa/spec.py:1 imports axiloom.hw.bus: isa may import base",
        ),
        (
            "hw__bus",
            "from axiloom import cosim",
            "src/axiloom/hw/bus.py:1 imports axiloom.cosim: hw may import base, isa",
        ),
        (
            "drivergen__x",
            "import axiloom.hw.bus",
            "src/axiloom/drivergen/x.py:1 imports axiloom.hw.bus: drivergen may import base",
        ),
        (
            "hw__bus",
            "import axiloom.drivergen.x",
            "src/axiloom/hw/bus.py:1 imports axiloom.drivergen.x: hw may import base, isa",
        ),
        (
            "sw__x",
            "import axiloom.drivergen.x",
            "src/axiloom/sw/x.py:1 imports axiloom.drivergen.x: sw may import base, isa",
        ),
        (
            "cosim__x",
            "import axiloom.cli",
            "src/axiloom/cosim/x.py:1 imports axiloom.cli: cosim may import base, isa, hw, plan",
        ),
        (
            "base__errors",
            "import axiloom.isa.spec",
            "src/axiloom/base/errors.py:1 imports axiloom.isa.spec",
        ),
    ],
)
def test_an_arrow_upwards(tmp_path: Path, where: str, text: str, told: str) -> None:
    root = tree(tmp_path, **{"drivergen__x": ""} | {where: text})
    (upwards,) = (line for line in faults(root) if line.startswith("upwards: "))
    assert upwards.startswith(f"upwards: {told}")


def test_an_order_within_a_folder(tmp_path: Path) -> None:
    root = tree(tmp_path, hw__soc__top="from axiloom.hw.dma.engine import Engine\n")
    assert faults(root, ("hw", "hw/dma", "hw/soc")) == []
    assert faults(root, ("hw", "hw/soc", "hw/dma")) == [
        "upwards: src/axiloom/hw/soc/top.py:1 imports axiloom.hw.dma.engine: the order is hw, hw/soc, hw/dma"
    ]
    assert faults(root, ("hw", "hw/gone")) == ["an order names a room that is not there: hw/gone"]


def test_a_room_that_imports_its_own_facade(tmp_path: Path) -> None:
    root = tree(tmp_path, isa__files__read="from axiloom.isa import Spec\n")
    # Its own one it imports in a circle that Python sees too, though the facade may show its rooms.
    assert [line for line in faults(root) if line.startswith("circle")] == [
        "circle of modules: axiloom.isa -> axiloom.isa.files.read -> axiloom.isa"
    ]


def test_a_module_that_is_not_there(tmp_path: Path) -> None:
    root = tree(tmp_path, hw__bus="from axiloom.isa.gone import x\n")
    assert faults(root) == ["no such module: src/axiloom/hw/bus.py:1 imports axiloom.isa.gone"]
