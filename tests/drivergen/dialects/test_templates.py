"""Templates of MLIR have their values while a command runs; a place without one is named with all others."""

from __future__ import annotations

import pytest

from axiloom.base.errors import CompileError, UsageError
from axiloom.drivergen.dialects import templates

TEXT = "// ${OCxIC}\nfunc @${NAME}(%A: memref<${OC}x${IC}xi32>,\n  %B: memref<${OC}xi32>)\n"


def test_places_of_comments_do_not_count() -> None:
    assert templates.places(TEXT) == ["NAME", "OC", "IC"]


def test_values_are_there_for_the_time_of_the_command() -> None:
    with templates.given(["NAME=conv", "OC=8", "IC=4"], TEXT, "a.mlir"):
        filled = templates.filled(TEXT, "a.mlir")
    assert filled == "// ${OCxIC}\nfunc @conv(%A: memref<8x4xi32>,\n  %B: memref<8xi32>)\n"
    with pytest.raises(CompileError, match=r"^a.mlir:2:7: \$\{NAME\} is a place of a template; give -D NAME"):
        templates.filled(TEXT, "a.mlir")


def test_all_places_without_a_value_are_named() -> None:
    with (
        templates.given(["OC=8"], TEXT, "a.mlir"),
        pytest.raises(CompileError, match=r"give -D NAME=\.\.\. -D IC=\.\.\.$"),
    ):
        templates.filled(TEXT, "a.mlir")


def test_other_texts_stay_as_they_are() -> None:
    assert templates.filled("func @f() // ${X}\n", "a.mlir") == "func @f() // ${X}\n"


def test_what_is_no_value_or_no_place_is_refused() -> None:
    with (
        pytest.raises(UsageError) as caught,
        templates.given(["NAME", "OC=8; x", "OCC=8"], TEXT, "a.mlir"),
    ):
        pass
    assert str(caught.value) == (
        "-D NAME: expected NAME=VALUE, a name or a number; "
        "-D OC=8; x: expected NAME=VALUE, a name or a number; "
        "-D OCC: a.mlir has no ${OCC}; did you mean `OC`?"
    )
