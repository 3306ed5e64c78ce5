"""The part of C's preprocessor that loops need: comments, ``#define`` with and without parameters,
``#undef``, ``#ifdef``, ``#ifndef``, ``#if`` of integers, ``#else``; ``#include`` of known headers is left
out.

Lines keep their numbers. A name that the command line defines (``-D``) keeps that definition.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from axiloom.errors import CompileError

HEADERS = ("math.h", "stdint.h", "stddef.h", "stdbool.h", "stdlib.h", "stdio.h", "string.h", "polybench.h")
"""Left out: what loops use of them is known. ``polybench.h``: `POLYBENCH`."""
_TOKEN = re.compile(
    r'[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|##|\s+|.', re.S
)
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Macro:
    body: str
    parameters: tuple[str, ...] | None = None


def _polybench() -> dict[str, Macro]:
    """PolyBench's macros for arrays, of any rank up to 5, as polybench.h defines them without its options."""
    found = {"POLYBENCH_LOOP_BOUND": Macro("x", ("x", "y"))}
    for rank in range(1, 6):
        sizes = [f"d{n}" for n in range(rank)]
        given = ("v", *sizes, *(f"g{n}" for n in range(rank)))
        found[f"POLYBENCH_{rank}D"] = Macro("v" + "".join(f"[{size}]" for size in sizes), given)
    return found


POLYBENCH = _polybench()


@dataclass
class Preprocessor:
    """One run over one file. Raises CompileError with file and line."""

    file: str
    given: Mapping[str, str] = field(default_factory=dict)
    macros: dict[str, Macro] = field(default_factory=dict)

    def run(self, text: str) -> str:
        self.macros = {**POLYBENCH, **{name: Macro(value) for name, value in self.given.items()}}
        text = _COMMENT.sub(_blank, text.replace("\r\n", "\n"))
        text = re.sub(r"((?:[^\n]*\\\n)+)([^\n]*)", _joined, text)
        taken: list[
            tuple[bool, bool]
        ] = []  # for each #if: whether its lines count, whether a branch was taken
        done: list[str] = []
        pending: list[str] = []  # expanded by the definitions that stand above it, at the next one below
        for number, line in enumerate(text.split("\n"), 1):
            found = re.match(r"\s*#\s*(\w+)\s*(.*)", line)
            active = all(now for now, _ in taken)
            if found is None:
                pending.append(line if active else "")
                continue
            self._conditional(found[1], found[2], taken, active, number)
            if active and found[1] in ("define", "undef"):
                done += self._expanded(pending, len(done) + 1)
                pending = []
            pending.append("")
            if active and found[1] != "pragma":
                self._directive(found[1], found[2].strip(), number)
        if taken:
            raise self._fault(len(done) + len(pending), "`#if` without `#endif`")
        return "\n".join(done + self._expanded(pending, len(done) + 1))

    def _fault(self, line: int, why: str) -> CompileError:
        return CompileError(f"{self.file}:{line}: {why}")

    def _directive(self, word: str, rest: str, line: int) -> None:
        if word == "define":
            found = re.match(r"([A-Za-z_]\w*)(\(([^)]*)\))?\s*(.*)", rest)
            if found is None:
                raise self._fault(line, f"`#define {rest}` names nothing")
            if found[1] not in self.given:
                parameters = None
                if found[2] is not None:
                    parameters = tuple(each.strip() for each in found[3].split(",") if each.strip())
                self.macros[found[1]] = Macro(found[4].strip(), parameters)
        elif word == "undef":
            if rest not in self.given:
                self.macros.pop(rest, None)
        elif word == "include":
            name = PurePosixPath(rest.strip('<>"')).name
            if name not in HEADERS:
                raise self._fault(
                    line,
                    f"`#include {rest}`: files are not included; write its definitions here, or give sizes "
                    f"by -D NAME=VALUE (known headers: {', '.join(HEADERS)})",
                )
        elif word == "error":
            raise self._fault(line, f"#error {rest}")
        elif word not in ("if", "ifdef", "ifndef", "elif", "else", "endif", "line"):
            raise self._fault(line, f"`#{word}` is not supported")

    def _conditional(
        self, word: str, rest: str, taken: list[tuple[bool, bool]], active: bool, line: int
    ) -> None:
        if word in ("if", "ifdef", "ifndef"):
            now = False
            if active:
                name = rest.strip()
                now = self._holds(rest, line) if word == "if" else (name in self.macros) == (word == "ifdef")
            taken.append((now, now or not active))
        elif word in ("elif", "else", "endif"):
            if not taken:
                raise self._fault(line, f"`#{word}` without `#if`")
            _, before = taken.pop()
            if word != "endif":
                outer = all(now for now, _ in taken)
                now = outer and not before and (word == "else" or self._holds(rest, line))
                taken.append((now, before or now))

    def _holds(self, text: str, line: int) -> bool:
        text = re.sub(
            r"defined\s*(?:\(\s*(\w+)\s*\)|(\w+))",
            lambda found: str(int((found[1] or found[2]) in self.macros)),
            text,
        )
        text = _NAME.sub("0", self.expand(text, line))
        text = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or "))
        try:
            tree = ast.parse(text.strip(), mode="eval")
            allowed = (ast.Expression, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Compare, ast.Constant)
            kinds = (ast.boolop, ast.unaryop, ast.operator, ast.cmpop)
            if not all(isinstance(node, (*allowed, *kinds)) for node in ast.walk(tree)):
                raise SyntaxError
            return bool(eval(compile(tree, self.file, "eval"), {"__builtins__": {}}))
        except (SyntaxError, ArithmeticError, TypeError, ValueError):
            raise self._fault(
                line, f"`#if {text.strip()}`: only integers and `defined` are supported"
            ) from None

    # --- expansion ------------------------------------------------------------------------------------

    def _expanded(self, lines: list[str], first: int) -> list[str]:
        """Lines, as many as before. Arguments of a macro may span lines: its text then stands on the first
        one, with empty lines behind it."""
        return self.expand("\n".join(lines), first).split("\n") if lines else []

    def expand(self, text: str, line: int, hidden: frozenset[str] = frozenset()) -> str:
        tokens = _TOKEN.findall(text)
        result: list[str] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            at += 1
            line += token.count("\n")
            macro = self.macros.get(token) if token not in hidden else None
            if macro is None:
                result.append(token)
                continue
            if macro.parameters is None:
                result.append(self.expand(_paste(macro.body), line, hidden | {token}))
                continue
            after = at
            while after < len(tokens) and tokens[after].isspace():
                after += 1
            if after == len(tokens) or tokens[after] != "(":
                result.append(token)
                continue
            arguments, at = self._arguments(tokens, after, token, line)
            if len(arguments) != len(macro.parameters):
                raise self._fault(
                    line, f"`{token}` takes {len(macro.parameters)} arguments, not {len(arguments)}"
                )
            newlines = sum(each.count("\n") for each in tokens[after:at])
            result.append(self._substituted(macro, arguments, line, hidden | {token}) + "\n" * newlines)
            line += newlines
        return "".join(result)

    def _arguments(self, tokens: list[str], at: int, name: str, line: int) -> tuple[list[str], int]:
        depth, arguments = 0, [""]
        for place in range(at, len(tokens)):
            token = tokens[place]
            depth += (token == "(") - (token == ")")
            if depth == 0:
                return [each.strip() for each in arguments] if arguments != [""] else [], place + 1
            if token == "," and depth == 1:
                arguments.append("")
            elif place > at:
                arguments[-1] += " " if "\n" in token else token
        raise self._fault(line, f"`{name}(` is never closed")

    def _substituted(self, macro: Macro, arguments: list[str], line: int, hidden: frozenset[str]) -> str:
        """Arguments beside ``##`` as they stand, others expanded first."""
        values = dict(zip(macro.parameters or (), arguments, strict=True))
        tokens = list(_TOKEN.findall(macro.body))
        solid = [each for each in range(len(tokens)) if not tokens[each].isspace()]
        pasted = set()
        for before, here in itertools.pairwise(solid):
            if tokens[here] == "##" or tokens[before] == "##":
                pasted |= {before, here}
        text = "".join(
            token
            if token not in values
            else values[token]
            if place in pasted
            else self.expand(values[token], line)
            for place, token in enumerate(tokens)
        )
        return self.expand(_paste(text), line, hidden)


def _paste(text: str) -> str:
    return re.sub(r"\s*##\s*", "", text)


def _blank(found: re.Match[str]) -> str:
    """A comment becomes a space and its line ends; a string stays."""
    return found[0] if found[0][0] in "\"'" else " " + "\n" * found[0].count("\n")


def _joined(found: re.Match[str]) -> str:
    """A line that goes on after ``\\`` becomes one, and empty ones behind it."""
    return found[0].replace("\\\n", " ") + "\n" * found[1].count("\\\n")
