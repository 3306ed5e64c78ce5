"""Inputs that say nothing or contradict themselves: none may pass.

``python -m tests.prove.vacuous [KIND ...]`` gives each to its command (texts, mappings, rules, nests, ports,
live) and says which ended with exit code 0.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from axiloom.cli import main as axiloom

EXAMPLES = Path(__file__).parents[2] / "examples/instructions"
DENSE = (EXAMPLES / "dense.isa").read_text(encoding="utf-8")
LAYER = (EXAMPLES / "layer.mapping").read_text(encoding="utf-8")
PRODUCT = (EXAMPLES / "product.mapping").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Vacuous:
    """`files` by name, the words of a command behind ``prove``, and what its output must say."""

    name: str
    files: dict[str, str]
    words: tuple[str, ...]
    said: str = ""

    @property
    def kind(self) -> str:
        return self.name.partition(": ")[0]


# --- texts ------------------------------------------------------------------------------------------------

TEXT = """
word = input(32)
y = memory(64, type=int8)
ptr = register(uint7)

@instruction(word[0:4] == 1)
def put():
    y[word[8:14]] = int8(word[16:24])

@instruction({when})
def extra():
    rows = word[8:15]
    {body}
"""


def _text(what: str, when: str, body: str, said: str) -> Vacuous:
    text = TEXT.format(when=when, body=body)
    return Vacuous(f"texts: {what}", {"a.isa": text}, ("spec", "--isa", "a.isa"), said)


TEXTS = (
    _text("a field is too small", "word[0:4] == 20", "y[0] = 0", "extra: it comes: never seen"),
    _text("two values of a field", "word[0:4] == 2 and word[0:2] == 1", "y[0] = 0", "never seen"),
    _text("a contradiction", "word[0:4] == 2", "require(rows > 100 and rows < 50)\n    y[0] = 0", "never"),
    _text("beyond a field's range", "word[0:4] == 2", "require(rows > 127)\n    y[0] = 0", "never seen"),
    _text("odd and even", "word[0:4] == 2", "require(rows == 2 * rows + 1)\n    y[0] = 0", "never seen"),
    _text("of a sum", "word[0:4] == 2", "n = rows + 200\n    require(n < 200)\n    y[0] = 0", "never"),
    _text("a register is always 0", "word[0:4] == 2", "require(ptr == 5)\n    y[0] = 0", "never seen"),
    _text("a register stays small", "word[0:4] == 2",
          "require(ptr > 9)\n    ptr = uint7(ptr + 1) if ptr < 4 else 0", "never seen"),
    _text("no turn of a loop", "word[0:4] == 2", "for i in range(0):\n        y[i] = 0", "it writes: never"),
    _text("hidden by another", "word[0:4] == 1", "y[0] = 0", "violated"),
    _text("decode that is false", "False", "y[0] = 0", ""),
    _text("never and always", "word[0:4] == 2", "require(False)\n    y[0] = 0", ""),
    Vacuous("texts: no instruction", {"a.isa": "word = input(32)\ny = memory(4, type=int8)\n"},
            ("spec", "--isa", "a.isa")),
)  # fmt: skip

# --- mappings ---------------------------------------------------------------------------------------------

KERNEL = "max(sum(a[i, k] * b[k, j] for k in range(16)), 0)"
READS = "c[i, j] = y[i, j]"
ROWS = "for i in range(M):\n        for j in range(16):\n            c"


def _mapping(what: str, old: str, new: str, said: str, text: str = LAYER, *words: str) -> Vacuous:
    assert old in text, old
    files = {"dense.isa": DENSE, "a.mapping": text.replace(old, new, 1)}
    return Vacuous(f"mappings: {what}", files, ("mapping", "a.mapping", *(words or ("--size", "M=4"))), said)


COMMANDS = LAYER[LAYER.index("    for i in range(M):\n        command") : LAYER.index("\n\ndef result")]
HELD = KERNEL.replace("a[", "x[").replace("b[", "w[")
MAPPINGS = (
    _mapping("result is the kernel", READS, f"c[i, j] = {KERNEL}", "result() reads the tensor"),
    _mapping("result computes", READS, f"c[i, j] = {HELD}", "computed by result(), on the host"),
    _mapping("result chooses", READS, "c[i, j] = max(y[i, j], y[0, j])", "computed by result(), on the host"),
    _mapping("result is a constant", READS, "c[i, j] = 0 * y[i, j]", "the same whatever the target holds"),
    _mapping("result of another memory", READS, "c[i, j] = y[63 - i, j]", "no command stored y["),
    _mapping("a kernel of nothing", ROWS, ROWS.replace("M", "0"), "kernel() writes no element of c"),
    _mapping(
        "no command", COMMANDS, "    for i in range(0):\n        command(word=0)\n", "no command stored"
    ),
    _mapping("program computes", "uint8(a[i, lane])", f"uint8({KERNEL.replace('j', 'lane')})", "on the host"),
    _mapping("no result", READS, "pass", ""),
    _mapping(
        "half of the result", "for j in lanes(16):\n            c", "for j in lanes(8):\n            c", ""
    ),
    _mapping("illegal commands", "word=3 | M << 16", "word=3 | 127 << 16", ""),
    _mapping("sizes that there are not", "least=1, most=64", "least=9, most=3", ""),
    _mapping("a size outside", "least=1, most=64", "least=5, most=64", ""),
    _mapping("any size, no rows", "least=1, most=64", "least=0, most=0", "", PRODUCT, "--any-size"),
    _mapping(
        "any size, another element", "c[i, j] = y[i, j]", "c[i, j] = y[0, j]", "", PRODUCT, "--any-size"
    ),
    _mapping("any size, no command", "    command(word=3 | M << 16)\n", "", "", PRODUCT, "--any-size"),
)

# --- rules ------------------------------------------------------------------------------------------------


def _rule(what: str, head: str, said: str = "not decided") -> Vacuous:
    return Vacuous(f"rules: {what}", {"a.rules": head}, ("rules", "a.rules", "--limit", "2"), said)


def _relu(what: str, parameters: str, *asserted: str, sense: str = "exact", old: str = "relu(x)") -> Vacuous:
    lines = "".join(f"    assert {text}\n" for text in asserted)
    return _rule(what, f"@{sense}\ndef rule({parameters}):\n{lines}    old = {old}\n    new = x\n")


RULES = (
    _relu("no size", "x: (n,)", "n < 1"),
    _relu("two sizes", "x: (n,)", "n == 3 and n == 4"),
    _relu("two numbers", "x: (n,)", 'number_of(x) == "int8" and number_of(x) == "int16"'),
    _relu("no root", "x: (m, n)", "m * m == 2 * n * n"),
    _relu("no value of an attribute", "x: (n,), a: tuple(i for i in range(0))"),
    _relu("no rank", "x: (m, n)", "rank(x) == 3"),
    _relu("odd and even", "x: (n,)", "2 * n == 5"),
    _relu("an operation of floats", "x: (*s,)", sense="integers", old="exponential(x)"),
    _relu("an operation of integers", "x: (*s,), y: (*s,)", sense="reals", old="and_(x, y)"),
    _relu("one far size", "x: (n,)", "n > 100000"),
)

# --- nests ------------------------------------------------------------------------------------------------


def _nest(what: str, body: str, parameters: str = "int a[4], int b[4]") -> Vacuous:
    return Vacuous(f"nests: {what}", {"a.c": f"void f({parameters})\n{{\n{body}\n}}\n"}, ("nest", "a.c"))


NESTS = (
    _nest("nothing is written", "  ;"),
    _nest("no turn", "  for (int i = 0; i < 0; i++) b[i] = a[i];"),
    _nest("backwards", "  for (int i = 4; i < 4; i++) b[i] = a[i];"),
    _nest("never true", "  for (int i = 0; i < 4; i++) if (i > 9) b[i] = a[i];"),
    _nest("an array of nothing", "  for (int i = 0; i < 0; i++) b[i] = a[i];", "int a[0], int b[0]"),
)

# --- ports ------------------------------------------------------------------------------------------------

SKID = (Path(__file__).parent / "axi/rtl/skid.v").read_text(encoding="utf-8")
LITE = (Path(__file__).parent / "axi/rtl/lite_regs.v").read_text(encoding="utf-8")


def _ports(what: str, edits: Sequence[str], *words: str, assume: str = "", of: str = SKID) -> Vacuous:
    text = of
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new)
    name = "skid" if of is SKID else "lite_regs"
    files = {f"{name}.v": text} | ({"assumed.v": assume} if assume else {})
    more = ("--assume", "assumed.v") if assume else ()
    kind = "live" if "--live" in words else "ports"
    return Vacuous(f"{kind}: {what}", files, ("axi", "--rtl", f"{name}.v", "--limit", "5", *more, *words))


NEVER = "module never (input clk, output ok); assign ok = 0; endmodule\n"
ONCE = "module once (input clk, output reg ok); initial ok = 1; always @(posedge clk) ok <= 0; endmodule\n"
UNFAIR = "m_tready == 0 || m_tvalid == 0\n"
PORTS = (
    _ports("a contradiction is assumed", (), assume="s_tvalid == 1\ns_tvalid == 0\n"),
    _ports("false is assumed", (), assume="0\n"),
    _ports("a module assumes false", (), assume=NEVER),
    _ports("a module assumes false later", (), assume=ONCE),
    _ports("always in reset is assumed", (), assume="rst == 1\n"),
    _ports("never READY is assumed", (), assume="m_tready == 0\n"),
    _ports("never VALID is assumed", (), assume="s_tvalid == 0\n"),
    _ports("a contradiction, one rule", (), "--rule", "t_held", assume="s_tvalid == 1\ns_tvalid == 0\n"),
    _ports("never VALID, one rule", ("m_tvalid <= full || s_tvalid", "m_tvalid <= 0"), "--rule", "t_held"),
    _ports("READY is tied", (), "--tie", "m_tready=0"),
    _ports("VALID is tied", (), "--tie", "s_tvalid=0"),
    _ports("never VALID", ("m_tvalid <= full || s_tvalid", "m_tvalid <= 0")),
    _ports("never READY", ("s_tready <= 1", "s_tready <= 0")),
    _ports("the reset is inverted", ("if (rst)", "if (!rst)")),
    _ports("nothing is driven", ("always @(posedge clk)", "always @(posedge clk) if (0)")),
    _ports("a design assumes false", ("    reg [7:0] kept;", "    reg [7:0] kept; always @* assume (0);"),
           "--tie", "m_tready=0"),
    _ports("registers assume false", (), of=LITE, assume="s_axi_awvalid && !s_axi_awvalid\n"),
    _ports("registers without reads", (), of=LITE, assume="s_axi_arvalid == 0\n"),
    _ports("registers without data", (), "--tie", "s_axi_wvalid=0", of=LITE),
    _ports("unfair: never taken", (), "--live", assume=UNFAIR),
    _ports("unfair: no word comes", (), "--live", "--tie", "s_tvalid=0"),
    _ports("unfair, one rule", (), "--live", "--rule", "t_taken_live", assume=UNFAIR),
    _ports("in reset for ever", (), "--live", "--rule", "t_taken_live", assume="rst == 1\n"),
    _ports("answers are never taken", (), "--live", of=LITE, assume="s_axi_rready == 0\n"),
)  # fmt: skip

ALL = (*TEXTS, *MAPPINGS, *RULES, *NESTS, *PORTS)


def run(vacuous: Vacuous) -> tuple[int, str]:
    """Exit code, and all that was printed."""
    before = Path.cwd()
    told = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, text in vacuous.files.items():
                Path(name).write_text(text, encoding="utf-8")
            with redirect_stdout(told), redirect_stderr(told):
                code = axiloom(["prove", *vacuous.words])
        finally:
            os.chdir(before)
    return code, told.getvalue()


def main(kinds: Sequence[str]) -> int:
    chosen = [vacuous for vacuous in ALL if not kinds or vacuous.kind in kinds or vacuous.name in kinds]
    passes = crashes = 0
    for vacuous in chosen:
        code, told = run(vacuous)
        passes += code == 0
        crashes += code == 70
        last = told.strip().splitlines()[-1:] or [""]
        print(f"{vacuous.name:<44} exit {code}  {last[0][:150]}", flush=True)
        if vacuous.said not in told:
            print(f"  does not say `{vacuous.said}`")
    print(f"{len(chosen)} inputs: {passes} pass, {crashes} crash")
    return passes + crashes


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
