"""What progress says of a network: the layer that runs, and about how long the rest takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from axiloom.cosim.job import Job
from axiloom.cosim.session import layer_text

LAYERS = (("0:conv", 30.0), ("1:relu", 10.0), ("2:conv", 60.0))


class Memory:
    """Of a program whose ``axl_layer`` is this."""

    def __init__(self, layer: int) -> None:
        self.layer = layer

    def read(self, symbol: str, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        assert (symbol, shape, dtype) == ("axl_layer", (1,), "int32")
        return np.array([self.layer], np.int32)


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (-1, ""),
        (0, "0 %, layer 1 of 3 (0:conv); "),
        (1, "30 %, layer 2 of 3 (1:relu), about 28 s left; "),
        (2, "40 %, layer 3 of 3 (2:conv), about 18 s left; "),
        (3, ""),
    ],
)
def test_after_twelve_seconds(layer: int, text: str) -> None:
    job = Job(Path("network.elf"), layers=LAYERS)
    assert layer_text(Memory(layer), job, 12.0) == text  # type: ignore[arg-type]


def test_a_program_without_layers() -> None:
    job = Job(Path("driver.elf"))
    assert layer_text(Memory(0), job, 12.0) == ""  # type: ignore[arg-type]
