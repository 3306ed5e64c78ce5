"""Instructions on streams wider than a word: what begins on a beat, and the zero words that fill one up.

The host's single words (opcode word, literals, dims, indices) that follow each other are filled up with
zero words to a whole beat; a tile begins on a beat and is whole beats (checked). So every instruction is
whole beats, and on a stream of 32 bits there is nothing to fill up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import HostAction, Opcode, Recv, Send, SendLiteral

PAD = SendLiteral(0)
"""The word that fills up a beat; no device looks at it."""


def padded(actions: Iterable[HostAction], beat_words: int) -> Iterator[HostAction]:
    """The actions with a `PAD` for each word that fills up a beat of `beat_words` words."""
    single = 0
    for action in actions:
        if isinstance(action, Send):
            yield from [PAD] * (-single % beat_words)
            single = 0
        elif not isinstance(action, Recv):  # it goes the other way: the words around it are neighbours
            single += 1
        yield action
    yield from [PAD] * (-single % beat_words)


def head_words(spec: AcceleratorSpec, opcode: Opcode) -> int:
    """Words of an instruction before its first tile (or at all, where it has none), filled up to a beat."""
    single = 0
    for action in opcode.host:
        if isinstance(action, Send):
            break
        single += not isinstance(action, Recv)
    return single + -single % spec.link.beat_words


def sent_words(
    spec: AcceleratorSpec,
    opcode: Opcode,
    tile: tuple[int, ...] | None = None,
    settings: Mapping[str, int] | None = None,
) -> int:
    """Words of a whole instruction with tiles of `tile`, by default the default ones, under `settings`."""
    tiles = sum(spec.operand_words(operand, tile, settings) for operand in opcode.sends)
    return tiles + sum(
        not isinstance(action, Send | Recv) for action in padded(opcode.host, spec.link.beat_words)
    )
