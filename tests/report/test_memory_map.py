"""The picture of the memory between layers names its tensors, as far as there is room."""

from __future__ import annotations

import re
from typing import Any

from axiloom.report.page import network

BUFFERS = [
    {"name": "conv1.out", "offset": 0, "size": 4096, "first": 0, "last": 3},
    {
        "name": "a name that is far too long for one of four layers",
        "offset": 4096,
        "size": 4096,
        "first": 1,
        "last": 1,
    },
    {"name": "thin", "offset": 8192, "size": 16, "first": 0, "last": 3},
    {"name": "<b>", "offset": 8208, "size": 2048, "first": 0, "last": 3},
]


def picture() -> str:
    report: Any = {
        "network": {
            "arena": {"peak": 10256, "unshared": 12000, "buffers": BUFFERS},
            "weights": {"bytes": 10, "arrays": 1},
        }
    }
    return network.memory(report)


def test_tensors_are_named_where_there_is_room() -> None:
    wide, narrow = picture().split('<div class="narrow">')
    labels = re.findall(r'<text class="name"[^>]*>([^<]*)<', wide)
    assert labels[0] == "conv1.out"
    assert labels[1].endswith("…")
    assert BUFFERS[1]["name"].startswith(labels[1][:-1])  # type: ignore[attr-defined]
    assert labels[2] == "&lt;b&gt;"
    assert len(labels) == 3  # the thin one has its name in its title
    assert wide.count("</title></rect>") == 4
    assert len(re.findall(r'<text class="name"[^>]*>([^<]*)<', narrow)[1]) < len(labels[1])
