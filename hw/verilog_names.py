"""Plain identifiers in the Verilog that Yosys prints."""

from __future__ import annotations

import re
from collections.abc import Collection

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/)
    |(?P<escaped>\\\S+)\s                  # \name.with$anything, ended by one blank
    |(?<![\w$'\\])(?P<plain>[A-Za-z_]\w*)  # not the digits of 4'hf
    """,
    re.VERBOSE | re.DOTALL,
)

_KEYWORDS_TEXT = """
    always and assign automatic begin buf case casex casez cell config deassign default defparam design
    disable edge else end endcase endconfig endfunction endgenerate endmodule endprimitive endspecify
    endtable endtask event for force forever fork function generate genvar if ifnone include initial inout
    input instance integer join large library localparam macromodule medium module nand negedge nor not or
    output parameter posedge primitive pull0 pull1 real reg release repeat scalared signed small specify
    specparam strong0 strong1 supply0 supply1 table task time tran tri tri0 tri1 triand trior trireg
    unsigned use vectored wait wand weak0 weak1 while wire wor xnor xor
    assert assume bit break byte checker class clocking const continue cover do enum export expect extends
    final global import int interface local logic new package priority program property protected pure ref
    return sequence static string struct super this type typedef union unique var virtual void
"""
KEYWORDS = frozenset(_KEYWORDS_TEXT.split())
"""Of Verilog and of SystemVerilog, which some tools read ``.v`` files as."""


def plain_names(verilog: str, keep: Collection[str] = ()) -> str:
    """Give a plain name to every identifier that is escaped, is a keyword or has doubled underscores.

    An identifier gets the same name in all modules, so that ports and connections fit. Nameless wires
    (``\\$12``) become ``_12``; what follows a ``$`` in a name tells apart namesakes and becomes a number
    behind it. Comments go. Names in `keep` are left alone: those of modules that are defined elsewhere.
    """
    plain = {match["plain"] for match in _TOKEN.finditer(verilog) if match["plain"]}
    taken = set(keep) | {name for name in plain if "__" not in name}
    names: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        if match["comment"]:
            return ";" if match["comment"] == "/* empty */" else ""
        name = match["escaped"] or match["plain"]
        original = name.removeprefix("\\")
        if original in keep or (not match["escaped"] and "__" not in name):
            return match[0]
        if original not in names:
            clean = base = _plain(original)
            number = 2
            while clean in taken:
                clean, number = f"{base}_{number}", number + 1
            taken.add(clean)
            names[original] = clean
        return names[original] + (match[0][-1] if match[0][-1] == "\n" else "")

    return re.sub(r"^ *;;", lambda m: m[0][:-1], _TOKEN.sub(rename, verilog), flags=re.MULTILINE)


def _plain(name: str) -> str:
    if re.fullmatch(r"\$\d+", name):
        return f"_{name[1:]}"
    if name.startswith("$auto$verilog_backend"):  # makes always @* run at time 0
        return "_start"
    clean = re.sub(r"_{2,}", "_", re.sub(r"\W", "_", name)).strip("_")
    if not clean or clean in KEYWORDS:
        return f"{clean}_"
    return f"n{clean}" if clean[0].isdigit() else clean
