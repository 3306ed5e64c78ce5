"""The machine on terms, whatever the other sides of its streams do: control is known, data are terms.

Each state has a successor for each choice of VALID before it and READY behind it. States whose registers hold
the same terms are one, so that a stream that waits for ever is a loop, and the search ends.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import z3

from axiloom.prove.rtl.maps.device import Device
from axiloom.prove.rtl.opcodes.claim import WORD
from axiloom.prove.rtl.opcodes.command import UnknownError, names_in
from axiloom.prove.rtl.terms.machine import walk
from axiloom.prove.rtl.terms.nodes import number

MOST = 6000
"""States of one search."""
_WIRES = {z3.Z3_OP_UNINTERPRETED, z3.Z3_OP_EXTRACT, z3.Z3_OP_CONCAT, z3.Z3_OP_BNOT, z3.Z3_OP_BNUM}
IDLE = z3.BitVec("word!any", 32)
"""What is on TDATA without VALID."""
WORD_NAME = WORD.decl().name()

Sent = tuple[Any, Any]
"""TDATA and TLAST."""


@dataclass(eq=False)
class Node:
    """A state: `registers`, how many words were `taken` and `sent`, whether one is `offered`; and how it was
    reached."""

    registers: dict[str, Any]
    taken: int
    sent: int
    offered: bool
    before: Node | None = None
    choice: tuple[int, int] = (0, 0)

    @cached_property
    def key(self) -> tuple[Any, ...]:
        return (*map(number, self.registers.values()), self.taken, self.sent, self.offered)

    @property
    def path(self) -> list[tuple[int, int]]:
        """VALID and READY of each cycle since the start."""
        node, found = self, []
        while node.before is not None:
            found.append(node.choice)
            node = node.before
        return found[::-1]


class WrongError(Exception):
    """What a machine does that its model does not: the `text`, where, and the `claim` that fails there."""

    def __init__(self, text: str, node: Node, claim: Any = None) -> None:
        super().__init__(text)
        self.text, self.node = text, node
        self.claim = z3.BoolVal(False) if claim is None else claim


class TooManyError(Exception):
    """A search that would not end in time."""


@dataclass
class Explored:
    """What a search has found: `ends`, states at rest; `owed`, what must hold besides, and where; how many
    `states` were looked at; whether it `is_closed`."""

    ends: list[Node] = field(default_factory=list)
    owed: list[tuple[str, Any, Node]] = field(default_factory=list)
    states: int = 0
    is_closed: bool = False


class Explorer:
    """Searches through the states of a device. `control`: the registers whose value must be known."""

    def __init__(
        self,
        device: Device,
        control: Collection[str],
        tick: Callable[[], None],
        simplify: Callable[[Any], Any] = z3.simplify,
    ) -> None:
        self.device, self.control, self.tick, self._simplify = device, [*control], tick, simplify
        self._step = device.machine.stepper()
        self._names: dict[int, frozenset[str]] = {}
        self._alive: list[Any] = []
        self._plain: dict[int, bool] = {}
        self._last = f"{device.output}tlast"
        self._has_last = self._last in device.machine.outputs
        places = (device.machine.place(one.register, one.low, 1) for one in device.program(0, {}))
        self._program = {place[0] for place in places if place}
        bits = next(iter(device.program(0, {})), None)
        self._action = bits and device.machine.place(bits.register, 0, device.action_bits)

    def names(self, term: Any) -> frozenset[str]:
        return names_in(term, self._names, self._alive)

    def step(
        self, registers: Mapping[str, Any], valid: int, word: Any, ready: int, assumed: Mapping[int, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """A cycle. Raises UnknownError where a control register, what a word asks for, TREADY or TVALID has
        no value."""
        after, out = self.advance(registers, valid, word, ready)
        for name in (f"{self.device.source}tready", f"{self.device.output}tvalid"):
            out[name] = self._known(out[name], assumed)
        for name in self.control:
            if after[name].get_id() != registers[name].get_id() and not self.is_plain(after[name]):
                after[name] = self._known(after[name], assumed)
        # What a word asks for: terms of a word that may be many would grow from cycle to cycle.
        for name in self._program:
            if WORD_NAME in self.names(after[name]):
                after[name] = self._known(after[name], assumed)
        if self._action:
            # After an error nothing else asks which action it is, and then terms would grow, too.
            name, low = self._action
            if after[name].get_id() != registers[name].get_id():
                high = low + self.device.action_bits - 1
                self._known(z3.simplify(z3.Extract(high, low, after[name])), assumed)
        return after, out

    def advance(
        self, registers: Mapping[str, Any], valid: Any, word: Any, ready: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """A cycle, whatever has a value. Inputs: integers or terms."""
        given = {
            name: z3.BitVecVal(value, 1 if z3.is_bool(term) else term.size())
            if isinstance(value := values[name], int)
            else value
            for values in [self.device.inputs(valid, word, ready)]
            for name, term in self.device.machine.inputs.items()
        }
        after, out = self._step(registers, given)
        self.tick()
        return after, out

    def _known(self, term: Any, assumed: Mapping[int, Any]) -> Any:
        if z3.is_bv_value(term):
            return term
        if term.get_id() in assumed:
            return assumed[term.get_id()]
        raise UnknownError(term)

    def is_plain(self, term: Any) -> bool:
        """A value, or wires from free bits: nothing was decided yet."""
        if z3.is_bv_value(term):
            return True
        own = number(term)
        if own not in self._plain:
            self._alive.append(term)
            self._plain[own] = all(node.decl().kind() in _WIRES for node in walk([term]))
        return self._plain[own]

    def run(
        self,
        start: dict[str, Any],
        words: Sequence[Any],
        expected: Sequence[Sent],
        assumed: Mapping[int, Any],
        is_end: Callable[[Node], bool],
        *,
        gaps: bool = False,
        stalls: bool = True,
        limit_s: float = float("inf"),
    ) -> Explored:
        """All that can happen while `words` are taken and `expected` are sent, until `is_end`.

        Words are offered at once; with `gaps`, whenever the other side likes. What is sent is taken
        whenever the other side likes; without `stalls`, at once. Raises WrongError, UnknownError,
        TooManyError.
        """
        found, until = Explored(), time.perf_counter() + limit_s
        first = Node(start, 0, 0, False)
        known = {first.key: first}
        ahead: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        edges: dict[tuple[tuple[Any, ...], int, int], tuple[Any, ...]] = {}
        left = deque([first])
        while left:
            node = left.popleft()
            found.states += 1
            if node.taken == len(words) and node.sent == len(expected) and is_end(node):
                found.ends.append(node)
                continue
            rests = True
            for valid, ready in self._choices(node, len(words), gaps, stalls):
                after = self._after(node, valid, ready, words, expected, assumed, found)
                if valid == (node.taken < len(words)) and ready:
                    ahead[node.key] = after.key
                edges[node.key, valid, ready] = after.key
                rests &= after.key == node.key
                if after.key not in known:
                    known[after.key] = after
                    left.append(after)
            if rests:
                self._stuck(node, len(words), len(expected))
            if time.perf_counter() > until:
                raise TooManyError(f"more than {limit_s:.0f} s")
            if len(known) > MOST:
                raise TooManyError(f"more than {MOST} states")
        ends = {end.key for end in found.ends}
        self._ends(known, ahead, ends)
        inside = [node for key, node in known.items() if key not in ends]
        found.is_closed = all(
            edges.get((node.key, *choice)) in known
            for node in inside
            for choice in _all(node, len(words), gaps, stalls)
        )
        return found

    def _choices(self, node: Node, words: int, gaps: bool, stalls: bool) -> list[tuple[int, int]]:
        if node.taken == words:
            valids = [0]
        else:
            valids = [1] if node.offered or not gaps else [1, 0]
        return [(valid, ready) for valid in valids for ready in ((1, 0) if stalls else (1,))]

    def _after(
        self,
        node: Node,
        valid: int,
        ready: int,
        words: Sequence[Any],
        expected: Sequence[Sent],
        assumed: Mapping[int, Any],
        explored: Explored,
    ) -> Node:
        device = self.device
        word = words[node.taken] if valid else IDLE
        after, out = self.step(node.registers, valid, word, ready, assumed)
        takes = valid and out[f"{device.source}tready"].as_long()
        sends = ready and out[f"{device.output}tvalid"].as_long()
        made = Node(
            after, node.taken + takes, node.sent + sends, bool(valid and not takes), node, (valid, ready)
        )
        if sends:
            if node.sent == len(expected):
                raise WrongError(f"sends a word more than {len(expected)}", made)
            data, last = expected[node.sent]
            same = [("TDATA", out[f"{device.output}tdata"], data)]
            if self._has_last:
                same.append(("TLAST", out[self._last], last))
            for name, is_now, should in same:
                claim = self._simplify(is_now == should)
                if z3.is_false(claim):
                    raise WrongError(f"word {node.sent} that it sends: wrong {name}", made)
                if not z3.is_true(claim):
                    explored.owed.append((f"word {node.sent} that it sends: wrong {name}", claim, made))
        return made

    def _stuck(self, node: Node, words: int, expected: int) -> None:
        if node.taken < words:
            raise WrongError(f"does not take word {node.taken}", node)
        if node.sent < expected:
            raise WrongError(f"sends {node.sent} words, not {expected}", node)
        raise WrongError("is at rest, but not as it should be", node)

    def _ends(
        self,
        known: Mapping[tuple[Any, ...], Node],
        ahead: Mapping[tuple[Any, ...], tuple[Any, ...]],
        ends: Collection[tuple[Any, ...]],
    ) -> None:
        """From every state an end is reached, if the other sides do not wait."""
        good = {*ends}
        for key in known:
            way = []
            while key not in good and key not in way:
                way.append(key)
                key = ahead[key]
            if key not in good:
                raise WrongError("never comes to rest", known[key])
            good.update(way)


def _all(node: Node, words: int, gaps: bool, stalls: bool) -> set[tuple[int, int]]:
    """VALID and READY that the other sides may choose in a state: what a search must have gone through."""
    may_wait = node.taken == words or (gaps and not node.offered)
    valids = [valid for valid in (0, 1) if (may_wait if valid == 0 else node.taken < words)]
    return {(valid, ready) for valid in valids for ready in (0, 1) if ready or stalls}
