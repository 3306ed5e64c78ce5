"""The scripts of ``docs/python.md`` run as they read there, from the checkout's root."""

from __future__ import annotations

import linecache
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = [
    text
    for text in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    if text.startswith("import axiloom as ax")
]


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=[pytest.mark.slow] if ".isa" in text or "on=[" in text else [])
        for number, text in enumerate(SCRIPTS)
    ],
)
def test_a_script_of_the_page(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    name, text = f"script{number}.py", SCRIPTS[number]
    monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(keepends=True), name))
    exec(compile(text, name, "exec"), {})
    assert "WRONG" not in capsys.readouterr().out


def test_each_function_of_the_library_has_a_script() -> None:
    together = "".join(SCRIPTS)
    missing = [
        name
        for name in ("device", "plan", "run", "compare", "explore", "prove", "nest", "soc")
        if f"ax.{name}(" not in together
    ]
    assert missing == []
