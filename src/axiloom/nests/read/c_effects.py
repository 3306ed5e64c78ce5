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
        return frozenset().union(*(self._of(node) for node in nodes if node is not None))

    def constants(self, function: Node) -> dict[int, tuple[str, int]]:
        """Parameters that are not written, and that all calls in the file give the same constant."""
        own, passed = self(function), dict[int, set[int | None]]()
        for caller in self.unit.functions.values():
            for call in caller.walk():
                if call.kind == "CALL_EXPR" and call.name == function.name:
                    for parameter, argument in zip(parameters(function), arguments(call), strict=False):
                        passed.setdefault(parameter.key, set()).add(self._constant(argument, caller))
        return {
            parameter.key: (parameter.name, value)
            for parameter in parameters(function)
            if parameter.key not in own
            and parameter.number is not None
            and len(values := passed.get(parameter.key, {None})) == 1
            and (value := next(iter(values))) is not None
        }

    def _constant(self, node: Node, caller: Node) -> int | None:
        """An argument's value: of a constant, or of a local that is only initialised."""
        inner = node.bare
        declared = inner.declared if inner.kind == "DECL_REF_EXPR" else None
        if declared is not None and declared.kind == "VAR_DECL":
            if inner.key in self(caller) or not declared.children:
                return None
            node = declared.children[-1]
        return node.value if isinstance(node.value, int) else None

    def _of(self, node: Node) -> frozenset[int]:
        if id(node) not in self._known:
            written = set[int]().union(*map(self._of, node.children))
            if assigns(node) and (key := base_key(node.children[0])) is not None:
                written.add(key)
            if node.kind == "CALL_EXPR":
                written |= self._call(node)
            self._known[id(node)] = frozenset(written)
        return self._known[id(node)]

    def _call(self, node: Node) -> set[int]:
        callee = self.unit.functions.get(node.name)
        if callee is None or node.name in self._open:
            return set()
        self._open.add(node.name)
        inner = self._of(callee)
        self._open.discard(node.name)
        written = set(inner) - {parameter.key for parameter in parameters(callee)}
        for argument, parameter in zip(arguments(node), parameters(callee), strict=False):
            if parameter.key in inner and parameter.number is None:
                written.add(base_key(argument) or 0)
        return written


def assigns(node: Node) -> bool:
    return (
        node.kind == "COMPOUND_ASSIGNMENT_OPERATOR"
        or (node.kind == "BINARY_OPERATOR" and node.op == "=")
        or (node.kind == "UNARY_OPERATOR" and node.op in STEPS)
    )


def parameters(function: Node) -> list[Node]:
    return [part for part in function.children if part.kind == "PARM_DECL"]


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
    return any(part.kind == "RETURN_STMT" for part in node.walk())
