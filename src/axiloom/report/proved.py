"""What is proved of an accelerator, from the cache of verdicts: nothing but what was proved of this content.

The content is what a formal model is made of (a specification without its DMA, CPU and description), and the
sources that make model and claims.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from axiloom import isa
from axiloom.base.cache import NotCachedError, content_hash, value
from axiloom.base.files import code_hash, versions
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import DmaConfig

KIND = "proved"


class Proved(TypedDict):
    """Of one specification: claims by their kinds, and the words of the simulation beside them."""

    unbounded: dict[str, int]
    words: int
    wrong: int


def key(spec: AcceleratorSpec) -> str:
    """Of the verdicts on `spec`, in the cache of `KIND`."""
    alone = spec.replace(dma=DmaConfig(), cpu={}, version="", description="")
    return content_hash(KIND, isa.dumps(alone), sources())


def sources() -> str:
    """Of the text of all that makes models and claims, and of the solvers that decide them."""
    return content_hash(code_hash("base", "isa", "prove"), versions("z3-solver", "bitwuzla", "cvc5"))


def summary(verdicts: Iterable[dict[str, Any]]) -> Proved:
    """Of the verdicts that `axiloom prove spec` keeps."""
    proved: Proved = {"unbounded": {}, "words": 0, "wrong": 0}
    for verdict in verdicts:
        if not verdict["good"]:
            proved["wrong"] += 1
        elif verdict["answer"] != "holds":  # a cover
            continue
        elif verdict["bound"] is None:
            proved["unbounded"][verdict["source"]] = proved["unbounded"].get(verdict["source"], 0) + 1
        else:
            proved["words"] += verdict["bound"]
    return proved


def of(spec: AcceleratorSpec) -> Proved | None:
    """What is known; None: nobody has proved anything of this content."""
    try:
        return summary(value(KIND, key(spec)))
    except NotCachedError:
        return None


_NEST = "nothing by a run; `axiloom prove nest` proves loops and their circuit at small sizes"
_COMMANDS = "nothing of its RTL; `axiloom prove spec --isa` proves its text"


def line(device: AcceleratorSpec) -> str:
    """The same for people."""
    if not device.parts:
        return f"{device.name}: {_COMMANDS if device.link.packets is None else _NEST}"
    spec, *_ = device.parts
    known = of(spec)
    if known is None:
        return f"{spec.name}: nothing yet; `axiloom prove spec` with its --accel proves what it can"
    if known["wrong"]:
        return f"{spec.name}: {known['wrong']} claims do not hold; `axiloom prove spec` names them"
    count = sum(known["unbounded"].values())
    kinds = ", ".join(known["unbounded"])
    return (
        f"{spec.name}: {kinds} ({count} claims, unbounded); "
        f"its model beside the functional model on {known['words']:,} words (`axiloom prove spec`)"
    )
