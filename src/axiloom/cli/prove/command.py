"""``axiloom prove``: what holds of hardware in every cycle."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.cli.kinds import Kind, Short
from axiloom.cli.prove import axi, instructions, mapping, nest, rtl, rules, spec

APPLETS = (
    *(axi.APPLET, axi.USERS.applet, spec.APPLET, instructions.KIND.applet, rtl.APPLET, rtl.TEXT.applet),
    *(mapping.APPLET, rules.APPLET, nest.APPLET),
)


SHORTER = {
    # Nothing means `prove rtl` there; it has the options that are of RTL.
    "spec": Short(spec.APPLET, (instructions.KIND, Kind(rtl.APPLET, lambda _: "")), 2),
    "rtl": Short(rtl.APPLET, (rtl.TEXT,), 2),
    "axi": Short(axi.APPLET, (axi.USERS,), 2),
}


def short(words: Sequence[str]) -> int | None:
    """``axiloom prove spec --isa NAME`` and ``prove rtl --isa NAME`` are about a text, ``prove axi --rtl
    FILE`` about the user's own modules. None: it is none of these."""
    shorter = SHORTER.get(words[1]) if len(words) > 1 else None
    return None if shorter is None else shorter(words)


SHORT = {"prove": short}
