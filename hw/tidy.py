"""Plain names in the Verilog that Yosys prints: no escaped identifiers, no doubled underscores."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""(?P<escaped>\\\S+)\s          # \name.with$anything followed by one blank
    |(?P<plain>(?<![\w$'\\.])[A-Za-z_]\w*)  # a plain name; not the digits of 4'hf
    |(?P<member>(?<=\.)[A-Za-z_]\w*)  # .port(
    |(?P<comment>/\*.*?\*/)
    """,
    re.VERBOSE | re.DOTALL,
)

_KEYWORDS = frozenset(
    """always and assign automatic begin buf case casex casez cell config deassign default defparam design
    disable edge else end endcase endconfig endfunction endgenerate endmodule endprimitive endspecify
    endtable endtask event for force forever fork function generate genvar if ifnone include initial inout
    input instance integer join large library localparam macromodule medium module nand negedge nor not or
    output parameter posedge primitive pull0 pull1 real reg release repeat scalared signed small specify
    specparam strong0 strong1 supply0 supply1 table task time tran tri tri0 tri1 triand trior trireg
    unsigned use vectored wait wand weak0 weak1 while wire wor xnor xor
    bit byte logic int do final unique priority package import export program interface class new this super
    static const extends local protected virtual type struct union enum return break continue void string
    ref global checker clocking property sequence cover assert assume expect""".split()
)


def tidy(verilog: str) -> str:
    """Rename every identifier that is escaped or has doubled underscores, the same way in all modules."""
    taken = {m["plain"] for m in _TOKEN.finditer(verilog) if m["plain"] and "__" not in m["plain"]}
    names: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        if match["comment"]:
            return ""
        name = match["escaped"] or match["plain"] or match["member"]
        original = name.removeprefix("\\")
        if not match["escaped"] and "__" not in name:
            return name
        if original not in names:
            base = re.sub(r"_{2,}", "_", re.sub(r"\W", "_", original)).strip("_")
            if base in _KEYWORDS or not base or base[0].isdigit():
                base = f"n{base}" if base[:1].isdigit() else f"{base}_"
            clean, number = base, 2
            while clean in taken:
                clean, number = f"{base}_{number}", number + 1
            taken.add(clean)
            names[original] = clean
        return names[original]

    return _TOKEN.sub(rename, verilog).lstrip()
