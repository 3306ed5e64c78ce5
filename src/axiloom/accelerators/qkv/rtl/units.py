"""What each unit can do, in the language of texts: ``meanings.py`` compares a text's instructions with it.

The names of instructions are those of units."""

from __future__ import annotations

_HEAD = """
N = 64
B = 128  # bytes of a row
word = input(64)
host = memory(1 << 31, type=uint8, host=True)
x = memory(1 << 20, N, type=uint16)
y = memory(1 << 20, N, type=uint16)
z = memory(1 << 20, N, type=uint16)
sums = memory(N, type=uint32)
total = register(uint32)

@external("float32.add")
def add_wide(a: uint32, b: uint32) -> uint32: ...
@external("float32.mul")
def mul_wide(a: uint32, b: uint32) -> uint32: ...
@external("bfloat16.add")
def plus(a: uint16, b: uint16) -> uint16: ...
@external("bfloat16.sub")
def minus(a: uint16, b: uint16) -> uint16: ...
@external("bfloat16.mul")
def times(a: uint16, b: uint16) -> uint16: ...
@external("bfloat16.max")
def larger(a: uint16, b: uint16) -> uint16: ...
@external("bfloat16.exp")
def exp(a: uint16) -> uint16: ...
@external("bfloat16.div")
def div(a: uint16, b: uint16) -> uint16: ...
@external("bfloat16.to_float32")
def wide(a: uint16) -> uint32: ...
@external("float32.to_bfloat16")
def narrow(a: uint32) -> uint16: ...
"""

_LOAD = "cat(host[base + B * r + 2 * c], host[base + B * r + 2 * c + 1])"
_PRODUCT = """
    for i in range(N):
        for j in lanes(N):
            sums[j] = 0
        for k in range(N):
            for j in lanes(N):
                sums[j] = add_wide(sums[j], mul_wide(wide(x[a + i, k]), wide(y[b + k, j])))
        for j in lanes(N):
            z[out + i, j] = """
_SOFTMAX = """
    for r in range(n):
        for c in lanes(N):
            x[row + r, c] = exp(x[row + r, c])
        total = 0
        for c in range(N):
            total = add_wide(total, wide(x[row + r, c]))
        for c in lanes(N):
            x[row + r, c] = div(x[row + r, c], narrow(total))
"""


def _rows(*statements: str) -> str:
    """Of n rows, all columns."""
    loops = "\n    for r in range(n):\n        for c in lanes(N):\n"
    return loops + "".join(f"            {statement}\n" for statement in statements)


_UNITS: dict[str, tuple[str, str]] = {
    "load": ("n out base", _rows(f"x[out + r, c] = {_LOAD}")),
    "load_columns": ("n out base", _rows(f"x[out + c, r] = {_LOAD}")),
    "store": (
        "n row base",
        _rows(
            "host[base + B * r + 2 * c] = x[row + r, c][0:8]",
            "host[base + B * r + 2 * c + 1] = x[row + r, c][8:16]",
        ),
    ),
    "store_columns": (
        "n row base",
        _rows(
            "host[base + B * r + 2 * c] = x[row + c, r][0:8]",
            "host[base + B * r + 2 * c + 1] = x[row + c, r][8:16]",
        ),
    ),
    "move": ("n row out", _rows("y[out + r, c] = x[row + r, c]")),
    "transpose": ("n row out", _rows("y[out + c, r] = x[row + r, c]")),
    "product": ("a b out", f"{_PRODUCT}narrow(sums[j])\n"),
    "product_added": ("a b out", f"{_PRODUCT}plus(z[out + i, j], narrow(sums[j]))\n"),
    "softmax": ("n row", _SOFTMAX),
    **{
        name: ("n row other", _rows(f"x[row + r, c] = {function}(x[row + r, c], y[other + r, c])"))
        for name, function in (
            ("add", "plus"), ("subtract", "minus"), ("multiply", "times"), ("maximum", "larger"),
        )
    },
    "relu": ("n row", _rows("x[row + r, c] = larger(x[row + r, c], 0)")),
}  # fmt: skip
"""Name to its fields and its statements."""


def text(columns: int) -> str:
    """All units, for rows of `columns` elements."""
    head = _HEAD.replace("N = 64", f"N = {columns}").replace("B = 128", f"B = {2 * columns}")
    units = [
        f"\n@instruction(word[0:8] == {code})\ndef {name}():\n"
        + "".join(f"    {field} = word[0:8]\n" for field in fields.split())
        + body.lstrip("\n")
        for code, (name, (fields, body)) in enumerate(_UNITS.items())
    ]
    return head + "".join(units)
