"""What docs/specification.md shows is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from axiloom import isa

_DOC = Path(__file__).parents[2] / "docs" / "specification.md"


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
