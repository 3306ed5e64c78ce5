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

_VERILOG = """
    always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config deassign default
    defparam design disable edge else end endcase endconfig endfunction endgenerate endmodule endprimitive
    endspecify endtable endtask event for force forever fork function generate genvar highz0 highz1 if ifnone
    incdir include initial inout input instance integer join large liblist library localparam macromodule
    medium module nand negedge nmos nor noshowcancelled not notif0 notif1 or output parameter pmos posedge
    primitive pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent rcmos real realtime reg
    release repeat rnmos rpmos rtran rtranif0 rtranif1 scalared showcancelled signed small specify specparam
    strong0 strong1 supply0 supply1 table task time tran tranif0 tranif1 tri tri0 tri1 triand trior trireg
    unsigned use uwire vectored wait wand weak0 weak1 while wire wor xnor xor
"""
_SYSTEM_VERILOG = """
    accept_on alias always_comb always_ff always_latch assert assume before bind bins binsof bit break byte
    chandle checker class clocking const constraint context continue cover covergroup coverpoint cross dist do
    endchecker endclass endclocking endgroup endinterface endpackage endprogram endproperty endsequence enum
    eventually expect export extends extern final first_match foreach forkjoin global iff ignore_bins
    illegal_bins implements implies import inside int interconnect interface intersect join_any join_none let
    local logic longint matches modport nettype new nexttime null package packed priority program property
    protected pure rand randc randcase randsequence ref reject_on restrict return s_always s_eventually
    s_nexttime s_until s_until_with sequence shortint shortreal soft solve static string strong struct super
    sync_accept_on sync_reject_on tagged this throughout timeprecision timeunit type typedef union unique
    unique0 until until_with untyped var virtual void wait_order weak wildcard with within
"""
_ONLY_SYSTEM_VERILOG = frozenset(_SYSTEM_VERILOG.split())
KEYWORDS = frozenset(_VERILOG.split()) | _ONLY_SYSTEM_VERILOG
"""Of Verilog (IEEE 1364-2005, annex B) and of SystemVerilog (IEEE 1800-2017, annex B), which some tools read
``.v`` files as. Yosys escapes the former, and few of the latter."""


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
        odd = match["escaped"] or "__" in name or name in _ONLY_SYSTEM_VERILOG
        if original in keep or not odd:
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
