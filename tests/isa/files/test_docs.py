"""What docs/specification.md shows is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from tests.drivergen import host
from tools.keys import written

from axiloom import isa
from axiloom.isa.kernels.forms import IMAGE
from axiloom.isa.kernels.language.kernel import KINDS

_DOC = Path(__file__).parents[3] / "docs" / "specification.md"
_DIFFERENCES = """
#a = affine_map<(x, f) -> (x * 2 + f)>
#b = affine_map<(x, f) -> (f)>
#c = affine_map<(x, f) -> (x)>
func.func @f(%A : memref<301xi8>, %B : memref<5xi8>, %C : memref<149xi32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction"]}
    ins(%A, %B : memref<301xi8>, memref<5xi8>) outs(%C : memref<149xi32>) {
  ^bb0(%x : i8, %y : i8, %z : i32):
    %u = arith.extsi %x : i8 to i32
    %v = arith.extsi %y : i8 to i32
    %d = arith.subi %u, %v : i32
    %e = math.absi %d : i32
    %r = arith.addi %z, %e : i32
    linalg.yield %r : i32
  }
  func.return
}
"""


def _files() -> list[str]:
    return re.findall(r"```json\n(.*?)```", _DOC.read_text(), re.DOTALL)


def test_the_file_in_the_docs_is_the_builtin(tmp_path: Path) -> None:
    text, _ = _files()
    path = tmp_path / "docs.json"
    path.write_text(text)
    assert isa.check_file(path) == []
    assert isa.load(path) == isa.builtin("v3_4")


def test_the_kernel_in_the_docs_runs(tmp_path: Path) -> None:
    path = tmp_path / "differences.json"
    path.write_text(_files()[1])
    assert isa.check_file(path) == []
    spec = isa.load(path)
    assert spec.own_kernel is not None
    host.check(_DIFFERENCES, spec, pipeline="copying")  # driver and model against NumPy, 149 = 2 * 64 + 21


def test_every_name_of_a_kernel_kind_is_in_the_docs() -> None:
    text = _DOC.read_text()
    assert [kind for kind in KINDS if f"`{kind}`" not in text] == []


def test_the_table_of_keys_is_that_of_the_schema() -> None:
    page = _DOC.read_text(encoding="utf-8")
    assert page == written(page), "run python -m tools.keys"
    assert "| `mac` |" not in written(page.replace("| `macs` |", "| `mac` |"))


def test_settings_of_convolutions() -> None:
    """Reset values and limits in the docs are those of the form."""
    text = _DOC.read_text()
    resets = {setting.name: setting.reset for setting in IMAGE.settings}
    for names, reset, most in re.findall(
        r"^\| (`\w\w`, `\w\w`) \| .* \| (\d+) \| (\d+) \|$", text, re.MULTILINE
    ):
        for name in re.findall(r"\w\w", names):
            assert (resets.pop(name), IMAGE.highest[name]) == (int(reset), int(most))
    assert list(resets) == ["ih", "iw"]  # as large as accel_size needs


def test_every_built_in_accelerator_is_in_the_docs() -> None:
    text = _DOC.read_text()
    names = [name for kernel in isa.KERNELS for name in isa.builtins(kernel)]
    assert [name for name in names if name not in text] == []
