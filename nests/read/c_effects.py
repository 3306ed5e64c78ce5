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

    def constants(self, function: Node) -> dict[int, tuple[str, int]]:
        """Parameters that are not written, and that all calls in the file give the same constant."""
        parameters = [each for each in function.children if each.kind == "PARM_DECL"]
        own, found = self(function), dict[int, set[int | None]]()
        for caller in self.unit.functions.values():
            for each in caller.walk():
                if each.kind == "CALL_EXPR" and each.name == function.name:
                    for parameter, argument in zip(parameters, arguments(each), strict=False):
                        found.setdefault(parameter.key, set()).add(self._constant(argument, caller))
        return {
            each.key: (each.name, value)
            for each in parameters
            if each.key not in own
            and each.number is not None
            and len(values := found.get(each.key, {None})) == 1
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
