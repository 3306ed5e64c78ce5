"""Drivers of loop-back and identity: on this machine against the functional model, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.drivergen import host

from axiloom import isa
from axiloom.base.errors import CompileError, UsageError
from axiloom.drivergen import compile_mlir, matmul_mlir, parse_workload


@pytest.mark.every(4)
@pytest.mark.parametrize("stream_width", [32, 128])
@pytest.mark.parametrize("name", ["loopback", "identity"])
@pytest.mark.parametrize("count", [1, 64, 200])
def test_right(name: str, count: int, stream_width: int) -> None:
    spec = isa.revise(isa.builtin(name), stream_width=stream_width)
    driver, _ = host.check(parse_workload(f"copy:{count}").mlir, spec)
    assert driver.calls[0].sizes == {"n": count}


def test_opcodes_share_no_beat_with_words() -> None:
    spec = isa.revise(isa.builtin("identity"), stream_width=64)
    c = compile_mlir(parse_workload("copy:64").mlir, spec).c
    for line in (
        "dma_put_word(0x1u, 0)",
        "dma_put_word(0x0u, 1)",
        "dma_put_tile_i32(&A[n], 1, 64, 1, 1, 1, 64, 2)",
        "dma_put_word(0x4u, 66)",
        "dma_put_word(0x8u, 68)",
        "dma_start_send(70, 0)",
    ):
        assert line in c


def test_packets_of_a_device_that_starts_on_tlast_are_not_joined() -> None:
    spec = isa.builtin("identity")
    _, device = host.check(
        parse_workload("copy:64").mlir, spec.replace(rtl=replace(spec.link.rtl, starts_on_tlast=True))
    )
    assert device.sent == [65, 1, 1] * 2


def test_words_that_the_device_skips(tmp_path: Path) -> None:
    """A tile's size where its field is, and where the tile begins."""
    text = isa.dumps(isa.builtin("identity")).replace('"load A"', '"skip", "skip", "load A"')
    file = tmp_path / "identity.json"
    file.write_text(text.replace("send(A)", "send_dim(n << 4), send_idx(n), send(A)"))
    driver, _ = host.check(parse_workload("copy:200").mlir, isa.load(file))
    for line in ("dma_put_word(0x1u, 0)", "dma_put_word(0x400u, 1)", "dma_put_word(n, 2)"):
        assert line in driver.c


def test_any_function_that_copies() -> None:
    """From the second argument to the first, and row by row."""
    copied = parse_workload("copy:8").mlir
    turned = copied.replace("copy(%A", "copy(%B").replace(", %C :", ", %A :").replace("%B", "%C")
    matrix = copied.replace("8x", "4x70x").replace("(n) -> (n)", "(m, n) -> (m, n)")
    for text in (turned, matrix.replace('["parallel"]', '["parallel", "parallel"]')):
        host.check(text, isa.builtin("identity"))


def test_what_is_refused() -> None:
    identity, copied = isa.builtin("identity"), parse_workload("copy:8").mlir
    wanted = "identity cannot execute it: it reads 2 operands, linalg.copy reads 1"
    with pytest.raises(CompileError, match=f"a.mlir:2:3: linalg.matmul: {wanted}"):
        compile_mlir(matmul_mlir(4, 4, 4), identity, name="a.mlir")
    with pytest.raises(CompileError, match="operand A has elements of int16; identity takes int32"):
        compile_mlir(copied.replace("i32", "i16"), identity)
    with pytest.raises(CompileError, match="it reads 0 operands"):
        compile_mlir(copied.replace("yield %a", "yield %c"), identity)
    with pytest.raises(UsageError, match="unknown flow `As`; identity has Ns"):
        compile_mlir(copied, identity, flow="As")
    with pytest.raises(CompileError, match="v3_4 cannot execute it: it has 2 operands, a matmul has 3"):
        compile_mlir(copied, isa.builtin("v3_4"))
    for text in ("copy:0", "copy:4x4", "copy:8:int8"):
        with pytest.raises(UsageError, match=f"problem `{text}` is not understood; a copy is copy:N"):
            parse_workload(text)
