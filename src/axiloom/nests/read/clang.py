"""Clang's tree of a C file: names, types, constants, macros and implicit casts resolved by a compiler.

The target is fixed (`TARGET`: ``char`` has a sign, ``long`` 64 bits), and so are the system's headers: those
of ziglang. Clang itself bounds neither time nor memory: it first looks at the text in a process of its own,
which has limits of both.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import clang.cindex as ci

from axiloom.base import processes
from axiloom.base.errors import CompileError

TARGET = "x86_64-linux-musl"
SECONDS, MEGABYTES = 3, 1500
"""What clang may take for one file."""
STACK_KB = 2048
DEEPEST = 350
"""Nodes within each other: each takes a few of the thousand calls that Python bears."""
OWN_HEADERS = Path(__file__).parent / "include"
"""Looked at last: what loops need of ``polybench.h`` where there is none."""
_OPERATORS = "? .* ->* * / % + - << >> <=> < > <= >= == != & ^ | && || = *= /= %= += -= <<= >>= &= ^= |= ,"
_UNARY = ("?", "p++", "p--", "++", "--", "&", "deref", "+", "-", "~", "!", "real", "imag")
"""In the order of libclang's CXBinaryOperatorKind, CXUnaryOperatorKind."""
WRAPPERS = ("PAREN_EXPR", "UNEXPOSED_EXPR")
CASTS = (*WRAPPERS, "CSTYLE_CAST_EXPR")
_KEEP_GOING, _ERROR, _FATAL = 0x200, 3, 4
_INTEGER, _FLOATING = 1, 2

NUMBERS = {
    "BOOL": "bool",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "CHAR_S": "int8",
    "SCHAR": "int8",
    "CHAR_U": "uint8",
    "UCHAR": "uint8",
    "SHORT": "int16",
    "USHORT": "uint16",
    "INT": "int32",
    "UINT": "uint32",
    "LONG": "int64",
    "ULONG": "uint64",
    "LONGLONG": "int64",
    "ULONGLONG": "uint64",
}
ARRAYS = ("CONSTANTARRAY", "VARIABLEARRAY", "INCOMPLETEARRAY")


def number_of(kind: Any) -> str | None:
    """The number format of a type of clang; None if it is no number of programs."""
    name = kind.kind.name
    if name not in NUMBERS:
        kind = kind.get_canonical()
        name = kind.kind.name
    if name == "ENUM":
        return number_of(kind.get_declaration().enum_type)
    return NUMBERS.get(name)


def element_text(node: Node) -> str:
    """The type of a declaration's elements as C spells it, without qualifiers."""
    kind = node.cursor.type
    while kind.kind.name in ARRAYS:
        kind = kind.element_type
    return re.sub(r"\b(const|volatile|restrict)\b\s*", "", kind.spelling).strip()


class Node:
    """A cursor of clang, asked for each of its properties once."""

    def __init__(self, cursor: Any, file: str, depth: int = 0) -> None:
        self.cursor, self.file, self.depth = cursor, file, depth

    @cached_property
    def kind(self) -> str:
        return str(self.cursor.kind.name)

    @cached_property
    def children(self) -> list[Node]:
        """Without references to types, and attributes. Raises RecursionError."""
        if self.depth > DEEPEST:  # deeper, Python's limit would strike in the midst of libclang
            raise RecursionError
        return [
            Node(cursor, self.file, self.depth + 1)
            for cursor in self.cursor.get_children()
            if not (cursor.kind.is_reference() or cursor.kind.is_attribute())
        ]

    @cached_property
    def op(self) -> str:
        """C's operator; ``p++`` where it stands behind its operand."""
        if self.kind in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR"):
            return _OPERATORS.split()[int(ci.conf.lib.clang_getCursorBinaryOperatorKind(self.cursor))]
        if self.kind == "UNARY_OPERATOR":
            return _UNARY[int(ci.conf.lib.clang_getCursorUnaryOperatorKind(self.cursor))]
        return ""

    @cached_property
    def number(self) -> str | None:
        return number_of(self.cursor.type)

    @cached_property
    def name(self) -> str:
        return str(self.cursor.spelling)

    @cached_property
    def type_text(self) -> str:
        return str(self.cursor.type.spelling)

    @cached_property
    def declared(self) -> Node | None:
        """What a name refers to."""
        referenced = self.cursor.referenced
        return None if referenced is None else Node(referenced, self.file)

    @cached_property
    def key(self) -> int:
        """Of a declaration, or of what a name refers to: the same for both. It is clang's pointer, and 0 for
        what declares nothing."""
        target = self.cursor.referenced if self.kind == "DECL_REF_EXPR" else self.cursor
        return target.canonical.data[0] or 0

    @cached_property
    def is_expression(self) -> bool:
        return bool(self.cursor.kind.is_expression())

    @cached_property
    def bare(self) -> Node:
        """Without brackets, and without the casts that clang puts in."""
        node = self
        while node.kind in WRAPPERS and len(node.children) == 1:
            node = node.children[0]
        return node

    @cached_property
    def value(self) -> int | float | None:
        """What clang makes of a constant expression."""
        lib = _evaluation()
        if not (pointer := lib.clang_Cursor_Evaluate(self.cursor)):
            return None
        result = ctypes.c_void_p(pointer)
        try:
            kind = lib.clang_EvalResult_getKind(result)
            if kind == _INTEGER:
                unsigned = lib.clang_EvalResult_isUnsignedInt(result)
                name = "Unsigned" if unsigned else "LongLong"
                return int(getattr(lib, f"clang_EvalResult_getAs{name}")(result))
            return float(lib.clang_EvalResult_getAsDouble(result)) if kind == _FLOATING else None
        finally:
            lib.clang_EvalResult_dispose(result)

    @cached_property
    def line(self) -> int:
        return int(self.cursor.location.line)

    @property
    def where(self) -> str:
        """``gemm.c:12``: the user's line, also of what a macro wrote."""
        place = self.cursor.location.file
        file = self.file if place is None or Path(place.name).name == self.file else Path(place.name).name
        return f"{file}:{self.line}"

    @property
    def text(self) -> str:
        """As it is written, for messages."""
        words = " ".join(token.spelling for token in self.cursor.get_tokens())
        for tight in ("(", "[", "~"):
            words = words.replace(f"{tight} ", tight)
        for tight in (")", "]", "[", ",", ";"):
            words = words.replace(f" {tight}", tight)
        return words if len(words) <= 60 else f"{words[:57]}..."

    def fault(self, why: str) -> CompileError:
        return CompileError(f"{self.where}: {why}")

    def walk(self) -> Iterator[Node]:
        """In the order of the text."""
        nodes = [self]
        while nodes:
            node = nodes.pop()
            yield node
            nodes += reversed(node.children)

    def for_parts(self) -> tuple[Node | None, Node | None, Node | None, Node]:
        """Start, end, step and body of a ``for``. Clang's tree leaves out what is missing: where the
        semicolons stand tells which."""
        *head, body = self.children
        if len(head) == 3:
            return head[0], head[1], head[2], body
        stops: list[int] = []
        depth = 0
        for token in self.cursor.get_tokens():
            depth += (token.spelling == "(") - (token.spelling == ")")
            if token.spelling == ";" and depth == 1:
                stops.append(token.extent.start.offset)
            if len(stops) == 2 or (token.spelling == ")" and not depth):
                break
        if len(stops) != 2:
            raise self.fault("a loop has a start, an end and a step")
        parts: list[Node | None] = [None, None, None]
        for part in head:
            parts[sum(part.cursor.extent.start.offset > stop for stop in stops)] = part
        return parts[0], parts[1], parts[2], body


@dataclass(frozen=True)
class Unit:
    """A file's functions, by name, and what is wrong in it: place, line, text."""

    file: str
    tree: Any
    functions: Mapping[str, Node]
    errors: tuple[tuple[int, str], ...]

    def check(self, function: Node) -> None:
        """Raises CompileError for the first error that is not in the body of another function."""
        others = [other.cursor.extent for other in self.functions.values() if other is not function]
        for line, text in self.errors:
            if not any(extent.start.line <= line <= extent.end.line for extent in others):
                raise CompileError(text)


def parse(
    text: str, file: str, folder: Path, defines: Mapping[str, str], includes: Sequence[Path] = ()
) -> Unit:
    """The tree of `text`, which stands in ``folder/file``: headers beside it are its own. Raises
    CompileError, with a line where there is one."""
    options = _options(folder, defines, includes)
    _bounded(text, file, options)
    path = str(folder / file)
    try:
        tree = _index().parse(path, args=options, unsaved_files=[(path, text)], options=_KEEP_GOING)
    except ci.TranslationUnitLoadError:
        raise CompileError(f"{file}: clang cannot read it") from None
    errors = []
    for fault in tree.diagnostics:
        if fault.severity < _ERROR:
            continue
        place = fault.location.file
        own = place is None or place.name == path
        name = file if place is None else Path(place.name).name
        said = f"{name}:{fault.location.line}: {fault.spelling}"
        if fault.spelling.endswith("file not found"):
            said += "; headers stand beside the file that includes them, or in a folder of -I DIR"
            raise CompileError(said)
        if fault.severity == _FATAL:
            raise CompileError(said)
        if missing := re.search(r"undeclared identifier '(\w+)'", said):
            said += f" (a size? give it by #define or -D {missing[1]}=VALUE)"
        errors.append((fault.location.line if own else 0, said))
    functions = {
        cursor.spelling: Node(cursor, file)
        for cursor in tree.cursor.get_children()
        if cursor.kind == ci.CursorKind.FUNCTION_DECL
        and cursor.is_definition()
        and cursor.location.file is not None
        and not cursor.location.file.name.startswith(tuple(_system()))
    }
    return Unit(file, tree, functions, tuple(errors))


def _options(folder: Path, defines: Mapping[str, str], includes: Sequence[Path]) -> list[str]:
    return [
        *("-xc", "-std=gnu17", "-w", f"--target={TARGET}", "-fwrapv", "-nostdinc", "-iquote", str(folder)),
        *(f"-D{name}={value}" for name, value in defines.items()),
        *(f"-I{include}" for include in includes),
        *(word for system in _system() for word in ("-isystem", system)),
        *("-idirafter", str(OWN_HEADERS)),
    ]


@cache
def _system() -> tuple[str, ...]:
    """C's headers, as ziglang has them."""
    import ziglang

    root = Path(ziglang.__file__).parent / "lib"
    libc = root / "libc" / "include"
    return str(root / "include"), str(libc / TARGET), str(libc / "generic-musl"), str(libc / "any-linux-any")


def _bounded(text: str, file: str, options: list[str]) -> None:
    """Raises CompileError if clang needs more than `SECONDS` or `MEGABYTES` for it."""
    # With a stack smaller than that of libclang's thread: what it bears, that thread bears too.
    limits = f'ulimit -v {MEGABYTES << 10}; ulimit -t {SECONDS}; ulimit -s {STACK_KB}; exec "$@"'
    command = [sys.executable, "-m", "ziglang"] if _zig() is None else [str(_zig())]
    words = ["sh", "-c", limits, "sh", *command, "clang", "-fsyntax-only", "-H", *options, "-"]
    try:
        done = processes.run(words, input=text, stdout=subprocess.DEVNULL, timeout=60)
    except subprocess.TimeoutExpired:
        done = None
    if done is None or done.returncode < 0 or done.returncode > 128:
        raise CompileError(
            f"{file}: clang needs more than {SECONDS} s, {MEGABYTES} MB or {STACK_KB} KB of stack for it; "
            "it may nest too deep, its macros may expand without measure, or a header may never end"
        )
    # libclang is told to go on after those, and would, down to the end of its stack.
    if fatal := re.search(r"^(.+?):(\d+):\d+: fatal error: (?!.*file not found)(.*)", done.stderr, re.M):
        name = file if fatal[1] == "<stdin>" else Path(fatal[1]).name
        raise CompileError(f"{name}:{fatal[2]}: {fatal[3]}")
    # `-H` says each header that was opened. libclang would read a device without end.
    for header in re.findall(r"^\.+ (.+)$", done.stderr, re.M):
        if not header.startswith(_system()) and not Path(header).is_file():
            raise CompileError(f"{file}: `{header}` is included, and is no regular file")


@cache
def _zig() -> Path | None:
    import ziglang

    path = Path(ziglang.__file__).parent / "zig"
    return path if path.exists() else None


@cache
def _index() -> Any:
    return ci.Index.create()


@cache
def _evaluation() -> Any:
    """The functions of libclang that evaluate; the binding has none."""
    lib = ci.conf.lib
    for name, result in (
        ("clang_Cursor_Evaluate", ctypes.c_void_p),
        ("clang_EvalResult_getAsDouble", ctypes.c_double),
        ("clang_EvalResult_getAsLongLong", ctypes.c_longlong),
        ("clang_EvalResult_getAsUnsigned", ctypes.c_ulonglong),
    ):
        getattr(lib, name).restype = result
    lib.clang_Cursor_Evaluate.argtypes = [ci.Cursor]
    return lib
