"""The notebooks of examples/notebooks, run from the first cell to the last in a kernel of their own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"


def printed(name: str, folder: Path) -> str:
    """What the notebook's cells say, the pages of its values left out. A cell that raises is an error."""
    shutil.copytree(NOTEBOOKS, folder, dirs_exist_ok=True)
    notebook: Any = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    values = [output.data for output in outputs if "data" in output]
    return "".join(
        [output.text for output in outputs if output.get("name") == "stdout"]
        + [data["text/html"] for data in values if "text/html" in data]
    )


def test_loops(tmp_path: Path) -> None:
    text = printed("loops", tmp_path)
    assert text.count("0 differ") == 2
    assert "would read a[1][1] before" in text


@pytest.mark.slow
def test_accelerator(tmp_path: Path) -> None:
    text = printed("accelerator", tmp_path)
    assert "did you mean `rows`?" in text
    assert "/* rows */" in text
    assert "s_axis_tdata" in text
    assert "<iframe" in text  # the page of the run
    assert text.count("heron") > 2  # and the table of both


@pytest.mark.slow
def test_network(tmp_path: Path) -> None:
    text = printed("network", tmp_path)
    assert "this is a 7" in text
    assert text.count(" accelerator ") == 3
