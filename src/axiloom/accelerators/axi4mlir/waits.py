"""Opcodes of the published code that only receive: the word before them has told the device to send.

For us that is one opcode, so it is joined with the one before it in its scope of the flow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from axiloom.isa.contract.types import HostAction, Opcode, Scope

Opcodes: TypeAlias = Mapping[str, tuple[HostAction, ...]]


def joined(opcodes: Opcodes, flow: Scope) -> tuple[dict[str, tuple[HostAction, ...]], Scope]:
    """The opcodes that the flow then names, and the flow. What has no opcode before it stays alone."""
    merged: dict[str, tuple[HostAction, ...]] = {}

    def walk(scope: Scope) -> Scope:
        items: list[str | Scope] = []
        for item in scope.items:
            before = items[-1] if items else None
            if isinstance(item, Scope):
                items.append(walk(item))
            elif (
                item in opcodes and isinstance(before, str) and before in merged and _wordless(opcodes[item])
            ):
                name = f"{before}_{item}"
                merged[name] = (*merged[before], *opcodes[item])
                items[-1] = name
            else:
                items.append(item)
                if item in opcodes:
                    merged[item] = opcodes[item]
        return Scope(tuple(items))

    whole = walk(flow)
    named = {name for name, _ in whole.opcodes()}
    return {name: actions for name, actions in merged.items() if name in named}, whole


def _wordless(actions: tuple[HostAction, ...]) -> bool:
    return Opcode("", actions, ()).literal is None
