"""Reads an instruction set: a text in Python's grammar, which is never executed.

docs/instructions.md is the language. All that a name can mean stands in the text: memories, registers,
inputs, tables and constants at its top; then functions and procedures; then instructions. The tree has no
procedures: each call becomes what the procedure does (:mod:`axiloom.isa.instructions.procedures`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from axiloom.base.errors import SpecError
from axiloom.base.files import decode, read_bytes
from axiloom.base.wording.names import hint
from axiloom.isa.instructions import externals
from axiloom.isa.instructions.expressions import Scope, type_of
from axiloom.isa.instructions.procedures import Procedure
from axiloom.isa.instructions.tree import (
    MOST_STORED,
    RTL_SIZES,
    Call,
    Const,
    For,
    Function,
    If,
    Input,
    Instruction,
    InstructionSet,
    Lanes,
    Let,
    Memory,
    Name,
    Range,
    Register,
    Requirement,
    SetRegister,
    Statement,
    Table,
    Write,
)  # fmt: skip
from axiloom.isa.instructions.walk import parts

MOST_ELEMENTS = 1 << 32
MOST_TEXT = 1 << 18
"""Bytes of a file."""
MOST_ENTRIES = 1 << 16
"""Of a table."""
MOST_DIMS = 8
MOST_LANES = 1 << 24
"""Of all iterators together."""
MOST_PARTS = 1 << 20
"""Operations of a function with all that it calls."""
MOST_INLINED = 1 << 11
"""Statements that calls of procedures make."""
MOST_DEEP = 200
"""Nested expressions and statements."""


def read(path: Path, constants: Mapping[str, int] | None = None) -> InstructionSet:
    """The instruction set of a file. Raises SpecError with the file and the line.

    `constants`: other values for constants at the top of the file, such as the version of a part.
    """
    return parse(text_of(path), path.name, path.stem, constants)


def parse(text: str, place: str, name: str, constants: Mapping[str, int] | None = None) -> InstructionSet:
    """The instruction set of a text; `place` is for messages. Raises SpecError."""
    return Reader(place, name, parsed(text, place), constants or {}).whole()


def text_of(path: Path) -> str:
    """Of a file that anybody may have written. Raises SpecError."""

    def fault(message: str) -> SpecError:
        return SpecError([message])

    return decode(read_bytes(path, MOST_TEXT, fault, lambda piece: 0 in piece), str(path), fault)


def parsed(text: str, place: str) -> ast.Module:
    """The syntax of a text, not nested too deep. Raises SpecError."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line, why = getattr(error, "lineno", None) or 1, getattr(error, "msg", None) or str(error)
        raise SpecError([f"{place}:{line}: {why}"]) from None
    if _depth(module) > MOST_DEEP:
        raise SpecError([f"{place}: nested deeper than {MOST_DEEP}"])
    return module


def docstring_of(module: ast.Module) -> str:
    return ast.get_docstring(module) or ""


def _depth(node: ast.AST) -> int:
    deepest, stack = 0, [(node, 1)]
    while stack:
        parent, depth = stack.pop()
        deepest = max(deepest, depth)
        stack.extend((child, depth + 1) for child in ast.iter_child_nodes(parent))
    return deepest


class Reader:
    """Reads a text, declaration by declaration; mappings add some of their own."""

    def __init__(self, place: str, name: str, module: ast.Module, values: Mapping[str, int]) -> None:
        self.module = module
        self.given = values
        text = ast.get_docstring(module) or ""
        self.known = InstructionSet(name, text, place, {}, {}, {}, {}, {}, {}, {})
        self.constants: dict[str, int] = {}
        self.procedures: dict[str, Procedure] = {}
        self.inlined = 0
        """Statements that calls of procedures have made."""
        self.weights: dict[str, int] = {}
        """Operations of each function, with all that it calls."""
        self.scope = Scope(place, self.known, self.constants)
        self.declarations: Mapping[str, Callable[[str, ast.Call], None]] = {
            "input": self._input, "register": self._register, "memory": self._memory, "table": self._table,
        }  # fmt: skip

    def fault(self, node: ast.AST, why: str) -> SpecError:
        return self.scope.fault(node, why)

    def whole(self) -> InstructionSet:
        for node in self.module.body:
            match node:
                case ast.Expr(value=ast.Constant(value=str())):
                    pass
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._declared(node, name, value)
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                    self._several(node, names, values)
                case ast.Expr(value=ast.Call(func=ast.Name(id="small")) as call):
                    self._small(call)
                case ast.FunctionDef():
                    self._definition(node)
                case _:
                    raise self.fault(
                        node, f"`{first_line(node)}`: a file has declarations, functions and instructions"
                    )
        if not self.known.instructions:
            raise self.fault(self.module, "there is no @instruction")
        if unknown := set(self.given) - set(self.constants):
            misspelt = min(unknown)
            there = f"{hint(misspelt, self.constants)}; there are {', '.join(self.constants) or 'none'}"
            raise SpecError([f"{self.scope.place}: no constant `{misspelt}` to give a value to{there}"])
        return self.known

    # --- declarations -------------------------------------------------------------------------------------

    def _new(self, node: ast.AST, name: str) -> None:
        if name in self._taken():
            raise self.fault(node, f"two things are called {name}")
        if type_of(name) or name.startswith("_"):
            raise self.fault(node, f"{name} cannot be a name here")

    def _taken(self) -> set[str]:
        known = self.known
        return {
            *(*known.inputs, *known.memories, *known.registers, *known.tables, *known.functions),
            *(*known.instructions, *self.constants, *self.procedures),
        }

    def _declared(self, node: ast.AST, name: str, value: ast.expr) -> None:
        self._new(node, name)
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and value.func.id in self.declarations
        ):
            self.declarations[value.func.id](name, value)
        else:
            default = self.scope.constant(value, f"{name} (or input, register, memory, table)")
            self.constants[name] = self.given.get(name, default)

    def _several(self, node: ast.AST, names: Sequence[ast.expr], values: Sequence[ast.expr]) -> None:
        if len(names) != len(values):
            raise self.fault(node, f"{len(names)} names and {len(values)} values")
        for name, value in zip(names, values, strict=True):
            if not isinstance(name, ast.Name):
                raise self.fault(node, f"`{ast.unparse(name)}` is no name")
            self._declared(node, name.id, value)

    def _input(self, name: str, call: ast.Call) -> None:
        if len(call.args) != 1 or call.keywords:
            raise self.fault(call, f"{name} = input(BITS)")
        bits = self.scope.constant(call.args[0], "an input's bits")
        if not 1 <= bits <= 4096:
            raise self.fault(call, f"an input has 1 to 4096 bits, not {Range(bits, bits)}")
        self.known.inputs[name] = Input(name, bits)  # type: ignore[index]

    def _type(self, node: ast.expr) -> Range:
        kind = type_of(node.id) if isinstance(node, ast.Name) else None
        if kind is None or kind.bits > MOST_STORED:
            raise self.fault(
                node, f"`{ast.unparse(node)}` is no type: int8, uint5 and the like, up to {MOST_STORED} bits"
            )
        return kind

    def _register(self, name: str, call: ast.Call) -> None:
        form = (
            f"{name} = register(TYPE), with a value after reset or None where it is any: register(uint8, 3)"
        )
        if not 1 <= len(call.args) <= 2 or call.keywords:
            raise self.fault(call, form)
        kind, init = self._type(call.args[0]), 0
        if len(call.args) == 2:
            if isinstance(call.args[1], ast.Constant) and call.args[1].value is None:
                self.known.registers[name] = Register(name, kind, None)  # type: ignore[index]
                return
            init = self.scope.constant(call.args[1], "the value after reset")
        if not kind.low <= init <= kind.high:
            raise self.fault(call, f"{Range(init, init)} is none of {kind}")
        self.known.registers[name] = Register(name, kind, init)  # type: ignore[index]

    def _memory(self, name: str, call: ast.Call) -> None:
        form = f"{name} = memory(ROWS, ..., type=int8), with host=True where it is the host's"
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        if not call.args or set(keywords) - {"type", "host"} or "type" not in keywords:
            raise self.fault(call, form)
        shape = tuple(self.scope.constant(arg, "a memory's size") for arg in call.args)
        elements = 1
        for size in shape:
            elements *= max(size, 0)
        if len(shape) > MOST_DIMS:
            raise self.fault(call, f"{name} has {len(shape)} dims: up to {MOST_DIMS} are accepted")
        if not 1 <= elements <= MOST_ELEMENTS:
            raise self.fault(call, f"{name} has {elements} elements: 1 to {MOST_ELEMENTS} are accepted")
        host = keywords.get("host", ast.Constant(value=False))
        if not isinstance(host, ast.Constant) or not isinstance(host.value, bool):
            raise self.fault(call, form)
        named = call.args[0].id if len(call.args) == 1 and isinstance(call.args[0], ast.Name) else ""
        memory = Memory(name, shape, self._type(keywords["type"]), host.value, named)
        self.known.memories[name] = memory  # type: ignore[index]

    def _table(self, name: str, call: ast.Call) -> None:
        if not call.args or call.keywords:
            raise self.fault(call, f"{name} = table(FIRST, SECOND, ...)")
        if len(call.args) > MOST_ENTRIES:
            raise self.fault(call, f"{name} has {len(call.args)} entries: up to {MOST_ENTRIES} are accepted")
        values = tuple(self.scope.constant(arg, "an entry of a table") for arg in call.args)
        if Range(min(values), max(values)).bits > MOST_STORED:
            raise self.fault(call, f"{name} has entries of more than {MOST_STORED} bits")
        self.known.tables[name] = Table(name, values)  # type: ignore[index]

    def _small(self, call: ast.Call) -> None:
        """``small(ROWS=4, stream_width=32)``: one for a text, behind the constants."""
        if call.args or not call.keywords or any(keyword.arg is None for keyword in call.keywords):
            raise self.fault(call, "small(CONSTANT=VALUE, ...), with lanes and stream_width of the RTL")
        if self.known.small:
            raise self.fault(call, "a text has one small form")
        for keyword in call.keywords:
            name = str(keyword.arg)
            if name not in self.constants and name not in RTL_SIZES:
                known = (*self.constants, *RTL_SIZES)
                raise self.fault(
                    call, f"no constant `{name}`{hint(name, known)}; there are {', '.join(known)}"
                )
            value = self.scope.constant(keyword.value, f"{name} of the small form")
            self.known.small[name] = value  # type: ignore[index]

    # --- functions and instructions -----------------------------------------------------------------------

    def _definition(self, node: ast.FunctionDef) -> None:
        self._new(node, node.name)
        spec = node.args
        if spec.vararg or spec.kwarg or spec.kwonlyargs or spec.posonlyargs or spec.defaults:
            raise self.fault(node, f"{node.name}: plain parameters alone, name: TYPE")
        if len(node.decorator_list) > 1:
            raise self.fault(node, f"{node.name}: one decorator, not {len(node.decorator_list)}")
        arguments = [arg.arg for arg in spec.args]
        for one_name in arguments:
            if one_name.startswith("_") or arguments.count(one_name) > 1:
                raise self.fault(node, f"{node.name}: {one_name} cannot be the name of a parameter here")
        kinds = {}
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            kinds[called.id if isinstance(called, ast.Name) else ast.unparse(decorator)] = decorator
        if unknown := set(kinds) - {"instruction", "external", "opaque", "procedure"}:
            raise self.fault(
                node,
                f"@{min(unknown)}: there are @instruction(WHEN), @external(NAME), @opaque and @procedure",
            )
        if "instruction" in kinds:
            self._instruction(node, kinds["instruction"])
        elif "procedure" in kinds:
            self._procedure(node)
        else:
            self._function(node, kinds)

    def _function(self, node: ast.FunctionDef, kinds: Mapping[str, ast.expr]) -> None:
        if node.returns is None or any(arg.annotation is None for arg in node.args.args):
            raise self.fault(
                node, f"{node.name}: a function says its types: def {node.name}(x: int8) -> int8"
            )
        parameters = {arg.arg: self._type(arg.annotation) for arg in node.args.args if arg.annotation}
        result, text = self._type(node.returns), ast.get_docstring(node) or ""
        body = without_text(node.body)
        if external := kinds.get("external"):
            name = self._external(node, external, body, len(parameters))
            function = Function(
                node.name, parameters, result, external=name, text=text, line=node.lineno, opaque=True
            )
        else:
            scope = Scope(self.scope.place, self.known, self.constants, dict(parameters), state=False)
            lets = tuple(self._lets(scope, body[:-1]))
            last = body[-1] if body else node
            if not isinstance(last, ast.Return) or last.value is None:
                raise self.fault(last, f"{node.name}: a function ends in `return`")
            value = scope.fitting(last.value, result, f"the result of {node.name}")
            function = Function(
                node.name, parameters, result, lets, value, "", "opaque" in kinds, text, node.lineno
            )
        self._weigh(node, function)
        self.known.functions[node.name] = function  # type: ignore[index]

    def _weigh(self, node: ast.FunctionDef, function: Function) -> None:
        """A call stands for all that it does: functions that call one another twice double each time."""
        bodies = [let.value for let in function.lets] + ([function.value] if function.value else [])
        weight = 1
        for body in bodies:
            for part in parts(body):
                weight += self.weights.get(part.function.name, 1) if isinstance(part, Call) else 1
        if weight > MOST_PARTS:
            raise self.fault(node, f"{function.name} does {weight} operations with all that it calls: "
                             f"up to {MOST_PARTS} are accepted")  # fmt: skip
        self.weights[function.name] = weight

    def _external(
        self, node: ast.FunctionDef, decorator: ast.expr, body: list[ast.stmt], arguments: int
    ) -> str:
        match decorator:
            case ast.Call(args=[ast.Constant(value=str(name))], keywords=[]):
                pass
            case _:
                raise self.fault(decorator, f'@external("NAME"); there are {", ".join(externals.FUNCTIONS)}')
        if name not in externals.FUNCTIONS:
            there = f"{hint(name, externals.FUNCTIONS)}; there are {', '.join(externals.FUNCTIONS)}"
            raise self.fault(decorator, f"no external function `{name}`{there}")
        if externals.FUNCTIONS[name].arguments != arguments:
            raise self.fault(node, f"{name} takes {externals.FUNCTIONS[name].arguments} arguments")
        if any(not isinstance(statement, ast.Expr | ast.Pass) for statement in body):
            raise self.fault(node, f"{node.name} is external: its body is `...`")
        return name

    def _lets(self, scope: Scope, body: Sequence[ast.stmt]) -> Iterator[Let]:
        for node in body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    expr = scope.expr(value)
                    self._local(node, scope, name)
                    scope.locals[name] = expr.range
                    yield Let(name, expr, node.lineno)
                case _:
                    raise self.fault(
                        node, f"`{first_line(node)}`: a function has `name = ...` and one `return` at its end"
                    )

    def _procedure(self, node: ast.FunctionDef) -> None:
        if node.returns is not None or any(arg.annotation is None for arg in node.args.args):
            raise self.fault(
                node, f"{node.name}: a procedure has typed parameters and no result: def {node.name}(x: int8)"
            )
        parameters = {arg.arg: self._type(arg.annotation) for arg in node.args.args if arg.annotation}
        scope = replace(self.scope, locals={})
        for name, kind in parameters.items():
            self._local(node, scope, name)
            scope.locals[name] = kind
        body = without_text(node.body)
        for _ in self._statements(scope, body):
            pass  # its faults are told here, once, and not at each of its calls
        self.procedures[node.name] = Procedure(node.name, parameters, tuple(body))

    def _called(
        self, scope: Scope, node: ast.stmt, name: str, arguments: Sequence[ast.expr]
    ) -> Iterator[Statement]:
        """The statements of a procedure, with names that nothing at this place has."""
        procedure = self.procedures[name]
        self.inlined += len(procedure.body)
        if self.inlined > MOST_INLINED:
            raise self.fault(node, f"{name}: calls of procedures make more than {MOST_INLINED} statements")
        if len(arguments) != len(procedure.parameters):
            raise self.fault(
                node, f"{name} takes {len(procedure.parameters)} arguments, not {len(arguments)}"
            )
        names, body = procedure.inlined({*scope.locals, *self._taken()}, self.known.registers)
        constants = dict(scope.constants)
        for (parameter, kind), argument in zip(procedure.parameters.items(), arguments, strict=True):
            expr = scope.fitting(argument, kind, f"{name}'s {parameter}")
            if isinstance(expr, Const):
                constants[names[parameter]] = expr.value
            else:
                scope.locals[names[parameter]] = expr.range
                yield Let(names[parameter], expr, node.lineno)
        yield from self._statements(replace(scope, constants=constants), body)

    def _local(self, node: ast.AST, scope: Scope, name: str) -> None:
        if name in scope.locals:
            raise self.fault(node, f"{name} is bound a second time: take another name, or a register")
        self._new(node, name)

    def _instruction(self, node: ast.FunctionDef, decorator: ast.expr) -> None:
        if not isinstance(decorator, ast.Call) or len(decorator.args) != 1 or decorator.keywords:
            raise self.fault(
                node, f"@instruction(WHEN): when {node.name} is what comes, such as word[0:3] == 2"
            )
        if node.args.args:
            raise self.fault(
                node, f"{node.name}: an instruction has no parameters; it reads inputs and registers"
            )
        when = self.scope.condition(decorator.args[0])
        scope = replace(self.scope, locals={})
        head, legal = [], []
        body = without_text(node.body)
        while body:
            match body[0]:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in self.known.registers:
                    expr = scope.expr(value)
                    self._local(body[0], scope, name)
                    scope.locals[name] = expr.range
                    head.append(Let(name, expr, body[0].lineno))
                case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition], keywords=[])):
                    expr = scope.condition(condition)
                    legal.append(Requirement(expr, ast.unparse(condition), body[0].lineno))
                case _:
                    break
            body = body[1:]
        text = ast.get_docstring(node) or ""
        statements = tuple(self._statements(scope, body))
        instruction = Instruction(node.name, when, tuple(head), tuple(legal), statements, text, node.lineno)
        self.known.instructions[node.name] = instruction  # type: ignore[index]

    # --- statements ---------------------------------------------------------------------------------------

    def _statements(self, scope: Scope, body: Sequence[ast.stmt]) -> Iterator[Statement]:
        for node in body:
            yield from self._statement(scope, node)

    def _statement(self, scope: Scope, node: ast.stmt) -> Iterator[Statement]:
        match node:
            case ast.Pass():
                return
            case ast.AugAssign(target=target, op=op, value=value):
                whole = ast.BinOp(left=_loaded(target), op=op, right=value)
                same = ast.Assign(targets=[target], value=whole)
                yield from self._statement(scope, ast.fix_missing_locations(ast.copy_location(same, node)))
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in self.known.registers:
                register = self.known.registers[name]
                yield SetRegister(
                    register, scope.fitting(value, register.type, f"register {name}"), node.lineno
                )
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                expr = scope.expr(value)
                self._local(node, scope, name)
                scope.locals[name] = expr.range
                yield Let(name, expr, node.lineno)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=index)], value=value):
                memory = self.known.memories.get(name)
                if memory is None:
                    raise self.fault(node, f"there is no memory `{name}`{hint(name, self.known.memories)}")
                at = scope.index(node, memory, index)
                yield Write(memory, at, scope.fitting(value, memory.type, f"memory {name}"), node.lineno)
            case ast.For(iter=ast.Call(func=ast.Name(id="lanes"))):
                yield self._lanes(scope, node)
            case ast.For():
                yield self._for(scope, node)
            case ast.If(test=test, body=then, orelse=other):
                condition = scope.condition(test)
                yes = tuple(self._statements(scope.within({}), then))
                no = tuple(self._statements(scope.within({}), other))
                yield If(condition, yes, no, node.lineno)
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=arguments, keywords=[])) if (
                name in self.procedures
            ):
                yield from self._called(scope, node, name, arguments)
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"))):
                raise self.fault(node, "require(...) stands before all that an instruction does")
            case _:
                raise self.fault(
                    node,
                    f"`{first_line(node)}`: an instruction has name = ..., register = ..., "
                    "memory[...] = ..., for i in range(a, b), for i in lanes(N), if and else, "
                    "calls of procedures",
                )

    def _for(self, scope: Scope, node: ast.For) -> For:
        match node:
            case ast.For(
                target=ast.Name(id=name),
                iter=ast.Call(func=ast.Name(id="range"), args=[_, *more] as ends, keywords=[]),
                orelse=[],
            ) if len(more) <= 1:
                pass
            case _:
                raise self.fault(node, "a loop is `for i in range(a, b):` or `for i in lanes(N):`")
        low = scope.expr(ends[0]) if more else scope.expr(ast.copy_location(ast.Constant(value=0), node))
        high = scope.expr(ends[-1])
        self._local(node, scope, name)
        iterator = Name(name, Range(low.range.low, max(low.range.low, high.range.high - 1)))
        inner = scope.within({name: iterator.range})
        return For(iterator, low, high, tuple(self._statements(inner, node.body)), node.lineno)

    def _lanes(self, scope: Scope, node: ast.For) -> Lanes:
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        assert isinstance(node.iter, ast.Call)
        if len(targets) != len(node.iter.args) or node.iter.keywords or node.orelse:
            raise self.fault(node, "lanes are `for i in lanes(N):` or `for i, j in lanes(N, M):`")
        iterators: dict[str, int] = {}
        lanes = 1
        for target, size in zip(targets, node.iter.args, strict=True):
            if not isinstance(target, ast.Name):
                raise self.fault(node, "an iterator is a name")
            count = scope.constant(size, "a number of lanes")
            if not 1 <= count <= 4096:
                raise self.fault(node, f"1 to 4096 lanes, not {count}")
            self._local(node, scope, target.id)
            if target.id in iterators:
                raise self.fault(node, f"two iterators are called {target.id}")
            iterators[target.id] = count
            lanes *= count
            if lanes > MOST_LANES:
                raise self.fault(node, f"{lanes} lanes: up to {MOST_LANES} are accepted")
        inner = scope.within({iterator: Range(0, count - 1) for iterator, count in iterators.items()})
        body = tuple(self._statements(inner, node.body))
        if any(not isinstance(statement, Let | Write) for statement in body):
            raise self.fault(
                node, "lanes have `name = ...` and `memory[...] = ...`; a choice is `a if c else b`"
            )
        return Lanes(iterators, body, node.lineno)


def without_text(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    has = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    return [*body[1:]] if has else [*body]


def _loaded(target: ast.expr) -> ast.expr:
    copy: ast.expr = ast.parse(ast.unparse(target), mode="eval").body
    return copy


def first_line(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0][:80]
