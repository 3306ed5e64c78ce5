"""Terms as graphs: each node once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from axiloom.isa.formal.ila import Term


def postorder(terms: Sequence[Term]) -> Iterator[Term]:
    """Every node of the terms once, children first."""
    seen: set[int] = set()
    stack: list[tuple[Term, bool]] = [(term, False) for term in reversed(terms)]
    while stack:
        term, ready = stack.pop()
        if ready:
            yield term
            continue
        number = term.get_id()
        if number in seen:
            continue
        seen.add(number)
        stack.append((term, True))
        stack.extend((child, False) for child in term.children())
