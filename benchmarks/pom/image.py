"""POM's filters of images. Where POM's second pass reads what its first never writes, the first writes
more, or the second stops earlier."""

from __future__ import annotations

from axiloom.nests.program import Program
from axiloom.nests.program.builder import Builder
from axiloom.nests.program.values import Value

COLOURS = 3


def blur(n: int = 4096) -> Program:
    """Three pixels along a row, then three along a column. The first pass covers all `n` rows (POM: n - 2, so
    that the second reads two that nobody writes)."""
    p = Builder("blur")
    source, across = p.input("source", (n, n, COLOURS)), p.local("across", (n, n - 2, COLOURS))
    out = p.output("out", (n - 2, n - 2, COLOURS))
    with p.loop("i", 0, n) as i, p.loop("j", 0, n - 2) as j, p.loop("c", 0, COLOURS) as c:
        across[i, j, c] = (source[i, j, c] + source[i, j + 1, c] + source[i, j + 2, c]) / 3.0
    with p.loop("i", 0, n - 2) as i, p.loop("j", 0, n - 2) as j, p.loop("c", 0, COLOURS) as c:
        out[i, j, c] = (across[i, j, c] + across[i + 1, j, c] + across[i + 2, j, c]) / 3.0
    return p.program()


def edge_detect(n: int = 4096) -> Program:
    """The mean of the eight neighbours, then a difference of four of them. The second pass stops where the
    first has written (POM: 2 rows and columns further)."""
    p = Builder("edge_detect")
    source, temp = p.input("source", (n, n, COLOURS)), p.local("temp", (n - 2, n - 2, COLOURS))
    out = p.output("out", (n - 4, n - 4, COLOURS))
    around = [(y, x) for y in range(3) for x in range(3) if (y, x) != (1, 1)]
    with p.loop("i", 0, n - 2) as i, p.loop("j", 0, n - 2) as j, p.loop("c", 0, COLOURS) as c:
        total: Value = source[i, j, c]
        for y, x in around[1:]:
            total = total + source[i + y, j + x, c]
        temp[i, j, c] = total / 8.0
    with p.loop("i", 0, n - 4) as i, p.loop("j", 0, n - 4) as j, p.loop("c", 0, COLOURS) as c:
        out[i, j, c] = temp[i + 1, j + 1, c] - temp[i + 2, j, c] + temp[i + 2, j + 1, c] - temp[i + 1, j, c]
    return p.program()


def gaussian(n: int = 4096, taps: int = 7) -> Program:
    """A column of taps, then a row. The first pass covers the columns that the second reads (POM: `taps` - 1
    fewer). POM's 4089 of 4096 rows: n - taps."""
    p = Builder("gaussian")
    size = n - taps
    source = p.input("source", (n, n, COLOURS))
    kernel_x, kernel_y = p.input("kernel_x", (taps,)), p.input("kernel_y", (taps,))
    temp, out = p.local("temp", (size, n - 1, COLOURS)), p.output("out", (size, size, COLOURS))
    for array in (temp, out):
        rows, columns, _ = array.array.shape
        with p.loop("q", 0, rows) as q, p.loop("w", 0, columns) as w, p.loop("c", 0, COLOURS) as c:
            array[q, w, c] = 0.0
    with (
        p.loop("q", 0, size) as q,
        p.loop("w", 0, n - 1) as w,
        p.loop("c", 0, COLOURS) as c,
        p.loop("r", 0, taps) as r,
    ):
        temp[q, w, c] += source[q + r, w, c] * kernel_x[r]
    with (
        p.loop("q", 0, size) as q,
        p.loop("w", 0, size) as w,
        p.loop("c", 0, COLOURS) as c,
        p.loop("e", 0, taps) as e,
    ):
        out[q, w, c] += temp[q, w + e, c] * kernel_y[e]
    return p.program()
