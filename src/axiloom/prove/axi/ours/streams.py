"""Streams: the register between two, and what the engines take words through."""

from __future__ import annotations

from axiloom.hw.axi.rules.language import Side
from axiloom.hw.axi.stream import StreamInput, StreamSkid
from axiloom.prove.axi.ours.target import Target, signals
from axiloom.prove.axi.watched import watch
from axiloom.prove.bench import Bench


def _skid(bench: Bench, width: int, _most: int) -> None:
    skid = bench.component("skid", StreamSkid(width))
    watch(bench, "i", signals(skid.i), Side.SUBORDINATE)
    watch(bench, "o", signals(skid.o), Side.MANAGER)


def _input(bench: Bench, width: int, _most: int) -> None:
    stream = bench.component("input", StreamInput(width))
    watch(bench, "s_axis", signals(stream.s_axis), Side.SUBORDINATE)
    words = {"tvalid": stream.words.valid, "tready": stream.words.ready, "tdata": stream.words.payload}
    watch(bench, "words", words, Side.MANAGER)


TARGETS = {
    "stream_skid": Target(
        "a register on a stream, whose TREADY is one too", _skid, streams=True, bursts=False
    ),
    "stream_input": Target("what the engines take words through", _input, streams=True, bursts=False),
}
