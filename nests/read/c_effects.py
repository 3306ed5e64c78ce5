"""What C's statements write, by the keys of declarations; calls with what they write by way of arguments."""

from __future__ import annotations

from dataclasses import dataclass, field

from axiloom.nests.read.clang import Node, Unit

STEPS = ("p++", "++", "p--", "--")


@dataclass
class Effects:
    unit: Unit
    _known: dict[int, frozenset[int]] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)

    def __call__(self, *nodes: Node | None) -> frozenset[int]:
        """Keys of everything that is written in these statements."""
        return frozenset().union(*(self._of(each) for each in nodes if each is not None))

    def _of(self, node: Node) -> frozenset[int]:
        if id(node) not in self._known:
            found: set[int] = set()
            for each in node.walk():
                if assigns(each) and (key := base_key(each.children[0])) is not None:
                    found.add(key)
                if each.kind == "CALL_EXPR":
                    found |= self._call(each)
            self._known[id(node)] = frozenset(found)
        return self._known[id(node)]

    def _call(self, node: Node) -> set[int]:
        callee = self.unit.functions.get(node.name)
        if callee is None or node.name in self._open:
            return set()
        self._open.add(node.name)
        inner = self._of(callee)
        self._open.discard(node.name)
        parameters = [each for each in callee.children if each.kind == "PARM_DECL"]
        found = set(inner) - {each.key for each in parameters}
        for argument, parameter in zip(arguments(node), parameters, strict=False):
            if parameter.key in inner and parameter.number is None:
                found.add(base_key(argument) or 0)
        return found


def assigns(node: Node) -> bool:
    return (
        node.kind == "COMPOUND_ASSIGNMENT_OPERATOR"
        or (node.kind == "BINARY_OPERATOR" and node.op == "=")
        or (node.kind == "UNARY_OPERATOR" and node.op in STEPS)
    )


def arguments(call: Node) -> list[Node]:
    return call.children[1:]


def base_key(node: Node) -> int | None:
    """The variable that an element, a row or its address belongs to."""
    node = node.bare
    while node.kind == "ARRAY_SUBSCRIPT_EXPR" or (
        node.kind == "UNARY_OPERATOR" and node.op in ("&", "deref")
    ):
        node = node.children[0].bare
    return node.key if node.kind == "DECL_REF_EXPR" else None


def returns(node: Node) -> bool:
    return any(each.kind == "RETURN_STMT" for each in node.walk())
