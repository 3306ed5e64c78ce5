"""Running HLS C++ on the host: compiled against the stand-ins of ``include``, called with NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.affine import compiled
from axiloom.nests.affine.build import build
from axiloom.nests.affine.interpret import Host, held_in
from axiloom.nests.affine.walk import Memory, function
from axiloom.nests.hls import types
from axiloom.nests.hls.emit import Names, hls
from axiloom.nests.program import Program, Role
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.plan import Plan

INCLUDE = Path(__file__).with_name("include")
ENTRY = "run_on_the_host"
_FLUSH = """\
#if defined(__SSE2__)
static inline unsigned host_flush()
{
    unsigned old = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(old | 0x8040);
    return old;
}
static inline void host_restore(unsigned old) { __builtin_ia32_ldmxcsr(old); }
#else
static inline unsigned host_flush() { return 0; }
static inline void host_restore(unsigned) {}
#endif
"""
"""FPGAs flush subnormals (AMD PG060); x86 does so in this mode."""


def run(
    source: Program | Schedule | ModuleOp, arrays: Mapping[str, Host], plan: Plan | None = None
) -> dict[str, Host]:
    """As :func:`axiloom.nests.affine.interpret.interpret`, by the HLS C++. Raises BuildError if it does not
    compile, or there is no compiler."""
    module = source if isinstance(source, ModuleOp) else build(source, plan)
    code = hls(module)
    top = function(module)
    outside = [memory for memory in top.memories.values() if memory.role is not Role.LOCAL]
    held = held_in(outside, top.name, arrays)
    names = Names()
    for memory in top.memories.values():
        names.of(memory.name)
    text = f"{code}\n{_FLUSH}\n{_wrapper(names.of(top.name), outside)}"
    headers = sha256(b"".join(path.read_bytes() for path in sorted(INCLUDE.iterdir()))).hexdigest()[:16]
    flags = ("-fwrapv", f"-I{INCLUDE}", f"-DHEADERS_{headers}")
    compiled.call(compiled.library(text, compiled.CPP, flags), ENTRY, list(held.values()))
    return {memory.name: held[memory.name] for memory in outside if memory.role.is_result}


def _wrapper(name: str, memories: list[Memory]) -> str:
    """Copies arrays of the host's types into those of HLS, and back."""
    before, arguments, after = [], [], []
    for place, memory in enumerate(memories):
        format = format_of(memory.number)
        element = types.type_name(format)
        plain = format.kind in (Kind.FLOAT, Kind.BOOL) or types.is_native(format)
        host = element if plain else f"{'' if format.signed else 'u'}int{format.container}_t"
        shape = "".join(f"[{extent}]" for extent in memory.shape)
        count = int(np.prod(memory.shape, dtype=np.int64))
        raw = "" if plain else ".raw"
        before += [
            f"    static {element} a{place}{shape};",
            f"    {host} *h{place} = ({host} *)arrays[{place}];",
            f"    {element} *f{place} = ({element} *)&a{place};",
            f"    for (long i = 0; i < {count}; i++) f{place}[i]{raw} = h{place}[i];",
        ]
        arguments.append(f"a{place}")
        if memory.role.is_result:
            after.append(f"    for (long i = 0; i < {count}; i++) h{place}[i] = f{place}[i]{raw};")
    return "\n".join(
        [
            f'extern "C" void {ENTRY}(void **arrays)',
            "{",
            *before,
            "    unsigned mode = host_flush();",
            f"    {name}({', '.join(arguments)});",
            "    host_restore(mode);",
            *after,
            "}",
            "",
        ]
    )
