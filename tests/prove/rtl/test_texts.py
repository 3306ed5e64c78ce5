"""The RTL of a text, a command after the other, for all data: what holds, and what a fault in it says."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from axiloom.cli import main
from axiloom.device.rtl import DeviceRtl, device
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import parse, read
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.prove.rtl.texts.prove import Prover
from axiloom.prove.verdict import Answer

SIZES = {"X": 2, "W": 2, "MACS": 1, "DRAM": 64}


@cache
def units() -> tuple[InstructionSet, DeviceRtl]:
    """Memories of a few vectors, and what moves and pools."""
    isa = read(targets()["flexasr_units"], SIZES)
    return isa, device(isa)


@cache
def qkv() -> tuple[InstructionSet, DeviceRtl]:
    """Rows of eight: an addition takes longer than four, so that there is none smaller."""
    isa = read(targets()["qkv"], {"N": 8, "D0": 256})
    return isa, device(isa, 8)


@cache
def vta() -> tuple[InstructionSet, DeviceRtl]:
    """Blocks of four, and a few of them, in the newer edition of the encoding."""
    sizes = {"M": 3, "A": 3, "BLOCK": 4, "UOPS": 4, "INPS": 8, "WGTS": 4, "ACCS": 8, "DRAM": 1 << 16}
    isa = read(targets()["vta"], sizes)
    return isa, device(isa, stream_width=32)


def proved(
    verilog: str = "",
    wanted: tuple[str, ...] = ("store", "pool"),
    of: Callable[[], tuple[InstructionSet, DeviceRtl]] = units,
    commands: int = 3,
) -> dict[str, tuple[Answer, str]]:
    isa, made = of()
    prover = Prover(isa, replace(made, verilog=verilog or made.verilog), 20, commands)
    prover.isa = replace(isa, instructions={name: isa.instructions[name] for name in wanted})
    return {one.name: (one.answer, one.text) for one in prover.run(lambda _verdict, _total: None)}


@pytest.mark.slow
def test_units_of_flexasr() -> None:
    found = proved()
    assert {name: answer for name, (answer, _) in found.items()} == dict.fromkeys(
        ("rest", "store", "pool"), Answer.HOLDS
    )
    assert re.match(r"3 of \d+ commands, \d{3} values compared, for all data", found["pool"][1])


@pytest.mark.slow
def test_a_fault() -> None:
    """A vector that goes to the row behind its own."""
    place = "pool_target <= { 1'h0, command_payload[41:32] };"
    verilog = units()[1].verilog
    count, verilog = verilog.count(place), verilog.replace(place, place.replace("command", "~command"))
    assert count == 1
    answer, text = proved(verilog, ("pool",))["pool"]
    assert answer is Answer.VIOLATED
    assert re.search(r"pool n \d, row \d, out \d: x\[\d\] lane 0 is another", text)


@pytest.mark.slow
def test_qkv() -> None:
    """Floats by the names of their functions: which operands come to them, in which order, and whereto."""
    found = proved(wanted=("load_rm", "store_rm", "mov", "gemm"), of=qkv, commands=2)
    assert {answer for answer, _ in found.values()} == {Answer.HOLDS}, found


QKV_FAULTS = {
    "a product's factor of the next lane": (
        r"\.b\(product_word\[15:0\]\)",
        ".b(product_word[31:16])",
        "gemm",
        r"gemm a \d, b \d, out 0: d2\[0\] lane 0 is another",
    ),
    "a sum by its exponential": (
        r"(softmax_quotient_unit \(\s*)\.a(.*?)\.b(.*?\);)",
        r"\1.b\2.a\3",
        "softmax",
        r"softmax n \d, row \d: d2\[\d\] lane 0 is another",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", QKV_FAULTS)
def test_a_fault_of_qkv(fault: str) -> None:
    right, wrong, name, message = QKV_FAULTS[fault]
    verilog, count = re.subn(right, wrong, qkv()[1].verilog, flags=re.DOTALL)
    assert count == 1
    answer, text = proved(verilog, (name,), qkv, 2)[name]
    assert answer is Answer.VIOLATED
    assert re.search(message, text), text


@pytest.mark.slow
def test_vta() -> None:
    found = proved(wanted=("load_uop", "load_inp", "store", "gemm", "alu", "finish"), of=vta, commands=1)
    assert {answer for answer, _ in found.values()} == {Answer.HOLDS}, found


VTA_FAULTS = {
    "an input of the next lane": (
        r"(multiplier_0_0 \(.*?\.shared\()input_0_held",
        r"\1input_1_held",
        "gemm",
        r"gemm reset \d, .*: (acc|out)\[\d\] lane 0 is another",
    ),
    "ones around": (
        r"(load_inp_chunk = load_inside \? \w+ : 32'd)0",
        r"\g<1>1",
        "load_inp",
        r"load_inp sram \d, .*: inp\[\d\] lane 0 is another",
    ),
    "a smaller one without signs": (
        r"(module device_vta_operation_0 .*?is_less = )\$signed\(a\) < \$signed\(b\)",
        r"\1a < b",
        "alu",
        r"alu first \d, .*: acc\[\d\] lane 0 is another",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", VTA_FAULTS)
def test_a_fault_of_vta(fault: str) -> None:
    right, wrong, name, message = VTA_FAULTS[fault]
    verilog, count = re.subn(right, wrong, vta()[1].verilog, flags=re.DOTALL)
    assert count == 1
    answer, text = proved(verilog, (name,), vta, 1)[name]
    assert answer is Answer.VIOLATED
    assert re.search(message, text), text


@cache
def products() -> tuple[InstructionSet, DeviceRtl]:
    """FlexASR's units with weights for one vector."""
    isa = read(targets()["flexasr_units"], {**SIZES, "W": 16})
    return isa, device(isa)


FLEXASR_FAULTS = {
    "a weight of the next lane": (
        r"\$signed\(product_x_3\) \* \$signed\(product_w_3\)",
        "$signed(product_x_3) * $signed(product_w_4)",
        r"w@3 = \w+, x@3 = \w+, zeros elsewhere, the RTL has 0x0, the text 0x[1-9a-f]",
    ),
    "a sum with four bits too few": (
        r"(sum_15 <= )_(\d+)_?\[31:0\]",
        r"\1{{4{_\2[27]}}, _\2[27:0]}",
        r"w@\d+ = 0x[ef]\w, .* \d+ more, zeros elsewhere, the RTL has 0x\w+, the text 0x",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FLEXASR_FAULTS)
def test_a_fault_of_flexasr(fault: str) -> None:
    """It is seen again when both are run on the numbers that are said."""
    right, wrong, message = FLEXASR_FAULTS[fault]
    verilog, count = re.subn(right, wrong, products()[1].verilog)
    assert count == 1
    answer, text = proved(verilog, ("product",), products, 1)["product"]
    assert answer is Answer.VIOLATED
    assert re.search(r"product n 1, .*: mac\[0\] lane 0 is another: run on " + message, text), text


@pytest.mark.slow
def test_a_fault_in_the_text() -> None:
    """Of the RTL, what is added comes in other units."""
    right = "fixed(x[added, k], added_bias)"
    source = targets()["flexasr_units"].read_text(encoding="utf-8")
    assert source.count(right) == 1
    isa, made = products()
    source = source.replace(right, "fixed(x[added, k], input_bias)")
    other = parse(source, "flexasr_units.isa", isa.name, {**SIZES, "W": 16})
    answer, text = proved("", ("product",), lambda: (other, made), 1)["product"]
    assert answer is Answer.VIOLATED
    assert re.search(r"run on x@\d+ = \w+, zeros elsewhere, the RTL has \w+, the text \w+", text), text


def test_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "rtl", "--isa", "flexasr_units", "--accel", "v3"]) == 2
    assert (
        "axiloom prove device has no option `--accel`, which is of `axiloom prove rtl`"
        in capsys.readouterr().err
    )
    assert main(["prove", "rtl", "--accel", "v3", "-D", "X=4"]) == 2
    assert (
        "axiloom prove rtl has no option `-D`, which is of `axiloom prove device`" in capsys.readouterr().err
    )
    assert main(["prove", "rtl", "--accel", "v3", "--lanes", "4"]) == 2
    assert (
        "axiloom prove rtl has no option `--lanes`, which is of `axiloom prove device`"
        in capsys.readouterr().err
    )
    assert main(["prove", "rtl", "--isa", "qkv", "-D", "N=8", "-D", "D0=256"]) == 2
    assert "lanes must be at most the 8 columns of a row, not 16" in capsys.readouterr().err
    assert main(["prove", "rtl", "--isa", "rows64", "--small"]) == 2
    assert "--small: rows64.isa says no small form, such as small(ROWS=4)" in capsys.readouterr().err


def test_the_small_form_is_what_the_text_says_less_what_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    """Lanes that the small rows do not have stop it before anything is proved."""
    assert main(["prove", "rtl", "--isa", "qkv", "--small", "-D", "D0=512", "--lanes", "16"]) == 2
    said = capsys.readouterr()
    assert said.out == "small form: N = 8, D0 = 512, lanes = 16\n"
    assert "lanes must be at most the 8 columns of a row, not 16" in said.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "claims"), [("vta", 10), ("qkv", 8), ("qkv_double", 10), ("flexasr_units", 7)]
)
def test_small_forms_are_proved(text: str, claims: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "rtl", "--isa", text, "--small", "--commands", "1"]) == 0
    assert f"device_{text}: {claims} properties: " in capsys.readouterr().out
