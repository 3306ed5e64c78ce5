"""Slots keep all edges and ports, with the least interval there is."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from axiloom.nests.lower.slots.modulo import Edge, Resource, schedule


def fits(slots: tuple[int, ...], edges: list[Edge], ports: list[Resource], interval: int) -> bool:
    if any(slots[e.after] + interval * e.distance < slots[e.before] + e.delay for e in edges):
        return False
    for port in ports:
        for phase in range(interval):
            users = [each for each in port.users if slots[each] % interval == phase]
            # Users of one slot may be together; those of different slots are different iterations.
            groups: list[list[int]] = []
            for user in users:
                for group in groups:
                    if slots[group[0]] == slots[user] and all(port.together(user, x) for x in group):
                        group.append(user)
                        break
                else:
                    groups.append([user])
            if len(groups) > port.count:
                return False
    return True


@st.composite
def problems(draw: st.DrawFn) -> tuple[int, list[Edge], list[Resource]]:
    nodes = draw(st.integers(2, 5))
    edges = []
    for after in range(1, nodes):
        for before in range(after):
            if draw(st.booleans()):
                edges.append(Edge(before, after, draw(st.integers(0, 3))))
    for _ in range(draw(st.integers(0, 2))):
        a, b = draw(st.integers(0, nodes - 1)), draw(st.integers(0, nodes - 1))
        edges.append(Edge(a, b, draw(st.integers(0, 2)), draw(st.integers(1, 3))))
    ports: list[Resource] = []
    for name in range(draw(st.integers(0, 2))):
        free = [each for each in range(nodes) if not any(each in port.users for port in ports)]
        if len(free) < 2:
            break
        users = tuple(sorted(draw(st.sets(st.sampled_from(free), min_size=2))))
        pairs = draw(st.sets(st.tuples(st.sampled_from(users), st.sampled_from(users))))
        ports.append(
            Resource(str(name), users, 1, lambda a, b, pairs=pairs: (a, b) in pairs or (b, a) in pairs)
        )
    return nodes, edges, ports


@given(problems())
@settings(max_examples=150, deadline=None)
def test_slots_keep_all_constraints(problem: tuple[int, list[Edge], list[Resource]]) -> None:
    nodes, edges, ports = problem
    found = schedule(nodes, edges, ports, [], 1)
    assert fits(found.slots, edges, ports, found.interval)
    assert min(found.slots) >= 0


@given(problems())
@settings(max_examples=30, deadline=None)
def test_no_interval_is_less_without_ports(problem: tuple[int, list[Edge], list[Resource]]) -> None:
    nodes, edges, _ = problem
    found = schedule(nodes, edges, [], [], 1)
    for interval in range(1, found.interval):
        longest = 4 * nodes
        if nodes <= 3:
            assert not any(
                fits(slots, edges, [], interval) for slots in product(range(longest), repeat=nodes)
            )
    if found.interval > 1:
        assert found.why.startswith("recurrence")


def test_a_recurrence_is_named() -> None:
    edges = [Edge(0, 1, 1, 0, "read C"), Edge(1, 2, 4, 0, "add"), Edge(2, 0, 1, 2, "write C")]
    found = schedule(3, edges, [], [], 1)
    assert (found.interval, found.why) == (
        3,
        "recurrence of 6 cycles over 2 iterations: read C -> add -> write C",
    )


def test_what_excludes_each_other_shares_a_port_in_one_slot() -> None:
    port = Resource("reads of A", (0, 1), 1, lambda a, b: True)
    assert schedule(2, [Edge(0, 1, 0)], [port], [], 1).interval == 1
    apart = Resource("reads of A", (0, 1), 1, lambda a, b: False)
    found = schedule(2, [], [apart], [], 1)
    assert (found.interval, found.why) == (2, "reads of A: 2 accesses, 1 a cycle")


def test_two_tight_recurrences_take_turns_on_ports() -> None:
    """Two sums of which an iteration does one: each read and each write has one slot, the same for both."""
    edges = [e for k in (0, 2) for e in (Edge(k, 4, 1), Edge(4, k + 1, 4), Edge(k + 1, k, 1, 1))]
    reads = Resource("reads of A", (0, 2), 1, lambda a, b: True)
    writes = Resource("writes to A", (1, 3), 1, lambda a, b: True)
    found = schedule(5, edges, [reads, writes], [], 1)
    assert found.interval == 6
    assert fits(found.slots, edges, [reads, writes], 6)
    apart = Resource("reads of A", (0, 2), 1, lambda a, b: False)
    assert schedule(5, edges, [apart, writes], [], 1).interval > 6


def test_the_same_operator_is_counted() -> None:
    edges = [Edge(0, 1, 1, 0, "read C"), Edge(1, 2, 4, 0, "add"), Edge(2, 3, 4, 0, "add"), Edge(3, 0, 1, 1)]
    assert schedule(4, edges, [], [], 1).why == "recurrence of 10 cycles over 1 iteration: read C -> 2 x add"
