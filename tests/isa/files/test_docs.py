"""What docs/specification.md shows is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from axiloom import isa
from axiloom.isa.kernels.forms import IMAGE

_DOC = Path(__file__).parents[3] / "docs" / "specification.md"


def test_the_file_in_the_docs_is_the_builtin(tmp_path: Path) -> None:
    (text,) = re.findall(r"```json\n(.*?)```", _DOC.read_text(), re.DOTALL)
    path = tmp_path / "docs.json"
    path.write_text(text)
    assert isa.check_file(path) == []
    assert isa.load(path) == isa.builtin("v3_4")


def test_every_key_of_the_schema_is_in_the_docs() -> None:
    text = _DOC.read_text()
    keys = isa.schema()["$defs"]["accelerator"]["properties"]
    assert [key for key in keys if f"`{key}`" not in text] == []


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
