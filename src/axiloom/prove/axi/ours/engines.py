"""The streams of the engines: what drives the output port of each, from its words or vectors on.

Words come in through `stream_input`, and go out through `stream_skid` in front of which is one of these. What
an engine asks of them is not assumed: their other inputs may be anything.
"""

from __future__ import annotations

from collections.abc import Callable

from amaranth.hdl import Cat

from axiloom import isa
from axiloom.hw.axi.packer import Packer
from axiloom.hw.axi.rules.language import Side
from axiloom.hw.copy.engine import CopyEngine
from axiloom.hw.matmul.geometry import Geometry
from axiloom.hw.matmul.sender import Sender
from axiloom.prove.axi.ours.target import Target, signals
from axiloom.prove.axi.watched import watch
from axiloom.prove.bench import AT_ONCE, Bench, Rank
from axiloom.prove.inside import Inside


def _packer(bench: Bench, width: int, _most: int) -> None:
    packer = bench.component("packer", Packer(8, width // 8, width))
    watch(bench, "m_axis", signals(packer.m_axis), Side.MANAGER)


def _sender(post: bool) -> Callable[[Bench, int, int], None]:
    def build(bench: Bench, width: int, _most: int) -> None:
        spec = isa.revise(isa.builtin("v3_8", data_type="int8", post=post), stream_width=width)
        sender = bench.component("sender", Sender(Geometry.of(spec)))
        watch(bench, "m_axis", signals(sender.m_axis), Side.MANAGER)

    return build


def _copy(bench: Bench, width: int, _most: int) -> None:
    copy_engine = CopyEngine(isa.revise(isa.builtin("identity"), stream_width=width))
    inside = Inside(copy_engine)
    engine = bench.component("engine", copy_engine)
    watch(bench, "s_axis", signals(engine.s_axis), Side.SUBORDINATE)
    watch(bench, "m_axis", signals(engine.m_axis), Side.MANAGER)
    # By its specification it takes no word in an error, until a reset: the host makes one.
    bench.fair(engine.debug_error, "error")
    # While a word waits, no opcode is fetched: what is left of the last one becomes less.
    alive = inside["receiver.alive"]
    value = Cat(~inside["fetched"], ~inside["place"], inside["receiver.program"], alive)
    falls = [("error", ~alive), ("m_axis.t_taken", engine.m_axis.tvalid), (AT_ONCE, alive)]
    bench.rank("s_axis", "t_taken_live", Rank(value, falls))


TARGETS = {
    "packer": Target("results of Conv and of windows to beats", _packer, streams=True, bursts=False),
    "matmul_sender": Target("a tile of a product to beats", _sender(False), streams=True, bursts=False),
    "matmul_sender_post": Target(
        "a tile of a product to beats, as words or requantised", _sender(True), streams=True, bursts=False
    ),
    "copy_engine": Target(
        "the engine that gives back what it gets, all of it", _copy, streams=True, bursts=False
    ),
}
