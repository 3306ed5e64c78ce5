"""Writing fitted numbers into a profile, whose comments and order stay as they are."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from axiloom.base.errors import UsageError
from axiloom.boards import Fidelity

_SECTION = re.compile(r"\[([\w.]+)\]")
_KEY = re.compile(r"(\s*)(\w+)(\s*=\s*)([^#]*?)(\s*(?:#.*)?)")


def updated(text: str, values: Mapping[str, float], fidelity: Fidelity | None) -> str:
    """The TOML `text` with `values` by place (``section.key``), and `fidelity` as its last section.

    UsageError for a place that the text does not have.
    """
    lines, section, left = [], "", dict(values)
    for line in _without_section(text, "fidelity").rstrip("\n").split("\n"):
        if match := _SECTION.match(line):
            section = match[1]
        key = _KEY.fullmatch(line)
        place = f"{section}.{key[2]}" if key and section else key[2] if key else ""
        if key and place in left:
            line = f"{key[1]}{key[2]}{key[3]}{_number(left.pop(place), key[4])}{key[5]}"
        lines.append(line)
    if left:
        raise UsageError(f"the profile has no {', '.join(sorted(left))}: add it with any value")
    if fidelity:
        lines += ["", *_section(fidelity)]
    result = "\n".join(lines) + "\n"
    tomllib.loads(result)  # what we write can be read
    return result


def _number(value: float, old: str) -> str:
    return f"{round(value):_}" if re.fullmatch(r"[\d_]+", old) else f"{value:.3g}"


def _without_section(text: str, name: str) -> str:
    start = text.find(f"\n[{name}]")
    if start < 0:
        return text
    following = re.search(r"^\[", text[start + 2 :], re.MULTILINE)
    end = start + 2 + following.start() if following else len(text)
    return text[:start] + "\n" + text[end:]


def _section(fidelity: Fidelity) -> list[str]:
    return [
        "[fidelity] # written by axiloom calibrate: every configuration predicted by a fit without it",
        f'source = "{fidelity.source}"',
        f"task_clock_mean = {fidelity.task_clock_mean:.5f}",
        f"task_clock_worst = {fidelity.task_clock_worst:.5f}",
        f"l1d_mean = {fidelity.l1d_mean:.5f}",
    ]
