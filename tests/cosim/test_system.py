"""What goes together in a system, and what a system says of itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from axiloom import boards, isa
from axiloom.base.errors import UsageError
from axiloom.cosim.model_device import MODEL_RTL
from axiloom.cosim.system import System

SPEC = isa.builtin("v3_4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sim": "questa"}, "simulator must be 'verilator' or 'icarus', not 'questa'"),
        ({"trace": "x.txt"}, "a trace on verilator must end in .fst or .vcd, not 'x.txt'"),
        ({"trace": "x.fst", "sim": "icarus"}, "a trace on icarus must end in .vcd, not 'x.fst'"),
        ({"trace_window": (20, 10)}, "trace window must be START:END with 0 <= START < END, not 20:10"),
        ({"wait": "sleep"}, "wait must be 'poll' or 'irq', not 'sleep'"),
        ({"os": "windows"}, "os must be 'none' or 'linux', not 'windows'"),
        ({"os": "linux", "wait": "irq"}, "Linux programs poll the DMA: leave wait='irq' out"),
        ({"watchdog_cycles": 0}, "watchdog_cycles must be positive, not 0"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as error:
        System(SPEC, **options)  # type: ignore[arg-type]
    assert str(error.value) == message


def test_one_accelerator_or_several() -> None:
    assert System(SPEC).specs == (SPEC,)
    both = System(isa.place([SPEC, isa.builtin("v4_16")]))
    assert [spec.name for spec in both.specs] == ["v3_4", "v4_16"]
    assert both.spec == both.specs[0]
    assert both.macs == both.specs[0].macs + both.specs[1].macs


def test_a_board_by_name_or_as_a_profile() -> None:
    own = replace(boards.load("pynq-z2"), name="mine", fabric_hz=50_000_000)
    assert System(SPEC, own).profile == own
    assert System(SPEC, own).board_name == "mine"
    named = System(SPEC, "pynq-z2@50")
    assert (named.profile.fabric_hz, named.board_name) == (50_000_000, "pynq-z2@50")
    with pytest.raises(UsageError, match="board 'pynq-z9' is unknown"):
        System(SPEC, "pynq-z9")


def test_what_stands_in_the_accelerators_place() -> None:
    assert System(SPEC).rtl == "generated"
    assert System(SPEC, model=True).rtl == MODEL_RTL
