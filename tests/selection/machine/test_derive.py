"""What instructions compute, found from their text."""

from __future__ import annotations

import pytest
from tests.accelerators.qkv.rtl.device_bench import small, text_of
from tests.selection.compile.machines import N, machine

from axiloom.isa.instructions.read import parse
from axiloom.selection.machine.derive import Meanings

KERNELS = {
    "qkv": {
        "load_rm": "move", "load_cm": "transpose", "store_rm": "move", "store_cm": "transpose", "mov": "move",
        "gemm": "product", "softmax": "normalised exponential",
    },
    "qkv_double": {
        "load_1": "move", "load_3": "move", "store_1": "move", "store_3": "move", "transpose_13": "transpose",
        "mov_21": "move", "mov_23": "move", "gemm": "product", "softmax": "normalised exponential",
    },
    "rows64": {
        **dict.fromkeys(("load_1", "load_2", "store_1", "store_2", "mov_21", "mov_12"), "move"),
        "transpose_21": "transpose", "gemm": "product", "gemm_add": "product added to",
        "softmax": "normalised exponential", "add_rows": "add", "subtract_rows": "subtract",
        "multiply_rows": "multiply", "maximum_rows": "maximum", "relu": "relu",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_all_instructions(name: str) -> None:
    found = {one.instruction: one.kernel for one in machine(name).meanings.at([N])}
    assert found == KERNELS[name]


def test_softmax_is_in_place_and_products_begin_at_0() -> None:
    found = {one.instruction: one for one in machine("qkv").meanings.at([N])}
    assert found["softmax"].in_place == 0
    assert found["gemm"].in_place is None
    assert found["gemm"].result.field == ""
    assert [one.field for one in found["gemm"].operands] == ["a", "b"]


def test_what_is_added_to_is_in_place() -> None:
    found = {one.instruction: one for one in machine("rows64").meanings.at([N])}
    assert str(found["gemm_add"]) == (
        "gemm_add(): d2[out:] 8x8xbfloat16 = "
        "product added to(d2[out:] 8x8xbfloat16, d1[a:] 8x8xbfloat16, d1[b:] 8x8xbfloat16)"
    )
    assert [found[name].in_place for name in ("gemm_add", "subtract_rows", "relu", "mov_12")] == [
        0,
        0,
        0,
        None,
    ]


MUTANTS = {
    "a product with a row too few": ("for k in range(N)", "for k in range(N - 1)", "gemm"),
    "the wrong factor's row": ("wide(d1[b + k, j])", "wide(d1[b + j, k])", "gemm"),
    "a sum of all but the last": ("for c in range(N):\n    ", "for c in range(N - 1):\n    ", "softmax"),
    "a column moved": ("d1[out + r, c] = d2[row + r, c]", "d1[out + r, (c + 1) % N] = d2[row + r, c]", "mov"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_another_text_is_another_instruction(mutant: str) -> None:
    old, new, name = MUTANTS[mutant]
    text = small(text_of("qkv"), N)
    assert old in text, mutant
    meanings = Meanings(parse(text.replace(old, new), "mutant.isa", "mutant"))
    found = {one.instruction: str(one) for one in meanings.at([N])}
    right = {one.instruction: str(one) for one in machine("qkv").meanings.at([N])}
    assert found.get(name) != right[name]
    assert {n: one for n, one in found.items() if n != name} == {n: o for n, o in right.items() if n != name}


ADDRESSES = {
    "in a condition": ("= d2[row + r, c]", "= d2[row + r, c] if out < 9 else 0"),
    "in a value": ("= d2[row + r, c]", "= d2[row + r, c] if n == 9 else row"),
    "by another name": (
        "        for c in lanes(8):\n            d1[out + r, c] = d2[row + r, c]",
        "        there = out + r\n        for c in lanes(8):\n            d1[there, c] = d2[row + r, c]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("use", ADDRESSES)
def test_an_address_is_nothing_but_where_a_slice_begins(use: str) -> None:
    """Meanings are derived with addresses at 0: what is another number elsewhere has none."""
    old, new = ADDRESSES[use]
    text = small(text_of("qkv"), N)
    for value in (f"lanes({N})", "lanes(N)"):
        text = text.replace(value, "lanes(8)")
    assert old in text
    meanings = Meanings(parse(text.replace(old, new), "mutant.isa", "mutant"))
    assert "mov" not in {one.instruction for one in meanings.at([N])}
    assert any("depends on the address " in one for one in meanings.refused().values())


INTEGERS = """
word = input(128)
dram = memory(4096, type=uint8, host=True)
sp = memory(64, 4, type=int8)
acc = memory(64, 4, type=int32)

@instruction(word[0:4] == 1)
def load_8():
    n = word[4:12]
    row = word[16:24]
    base = word[32:64]
    require(row + n <= 64 and base + 4 * n <= 4096)
    for r in range(n):
        for c in lanes(4):
            sp[row + r, c] = int8(dram[base + 4 * r + c])

@instruction(word[0:4] == 2)
def store_32():
    n = word[4:12]
    row = word[16:24]
    base = word[32:64]
    require(row + n <= 64 and base + 16 * n <= 4096)
    for r in range(n):
        for c in lanes(4):
            dram[base + 16 * r + 4 * c] = uint32(acc[row + r, c])[0:8]
            dram[base + 16 * r + 4 * c + 1] = uint32(acc[row + r, c])[8:16]
            dram[base + 16 * r + 4 * c + 2] = uint32(acc[row + r, c])[16:24]
            dram[base + 16 * r + 4 * c + 3] = uint32(acc[row + r, c])[24:32]

@instruction(word[0:4] == 3)
def product():
    a = word[16:24]
    b = word[24:32]
    out = word[32:40]
    require(a + 4 <= 64 and b + 4 <= 64 and out + 4 <= 64)
    for r in range(4):
        for j in lanes(4):
            acc[out + r, j] = int32(sum(sp[a + r, k] * sp[b + k, j] for k in range(4)))

@instruction(word[0:4] == 4)
def step_by_step():
    a = word[16:24]
    b = word[24:32]
    out = word[32:40]
    require(a + 4 <= 64 and b + 4 <= 64 and out + 4 <= 64)
    for r in range(4):
        for k in range(4):
            for j in lanes(4):
                acc[out + r, j] = int32((acc[out + r, j] if k > 0 else 0) + sp[a + r, k] * sp[b + k, j])

@instruction(word[0:4] == 5)
def positive():
    n = word[4:12]
    row = word[16:24]
    require(row + n <= 64)
    for r in range(n):
        for c in lanes(4):
            acc[row + r, c] = acc[row + r, c] if acc[row + r, c] > 0 else 0
"""
OF_INTEGERS = {
    "load_8": "move", "store_32": "move", "product": "product", "step_by_step": "product", "positive": "relu",
}  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("", "", ""),
        ("int32(sum(", "int8(sum(", "product"),
        ("int32(sum(", "int32(3 + sum(", "product"),
        ("if k > 0 else 0)", "if k > 1 else 0)", "step_by_step"),
        ("acc[row + r, c] > 0 else 0", "acc[row + r, c] < 0 else 0", "positive"),
        ("acc[row + r, c] > 0 else 0", "acc[row + r, c] > 0 else 1", "positive"),
        ("int8(dram[base + 4 * r + c])", "int8(dram[base + 4 * r + c] << 1)", "load_8"),
        ("int8(dram[base + 4 * r + c])", "dram[base + 4 * r + c][0:7]", "load_8"),
        ("[24:32]", "[16:24]", "store_32"),
    ],
)
def test_integers(old: str, new: str, name: str) -> None:
    """Sums of products, moves of any width and relu; what differs in one bit is none of them."""
    assert old in INTEGERS
    meanings = Meanings(parse(INTEGERS.replace(old, new, 1) if old else INTEGERS, "integers.isa", "integers"))
    found = {one.instruction: one.kernel for one in meanings.at([4])}
    assert found == {key: one for key, one in OF_INTEGERS.items() if key != name}
    assert list(meanings.refused()) == ([name] if name else [])
