"""Which functions a text of MLIR has, and the text with one of them alone.

Files are drivers of tests as often as not: the function with the product stands beside others that fill
arrays, print and call it. What is not compiled is not read either, so it may be written in any dialect. The
text that is left has the same lines and columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from axiloom.base.errors import UsageError
from axiloom.base.wording.names import hint

_TOKEN = re.compile(
    r"""//[^\n]*
    | "(?:[^"\\\n]|\\.)*"
    | \b(?:func\.)?func\b(?:\s+(?:private|public|nested))?\s+@(?P<name>[\w$.-]+|"[^"\n]+")
    | \b(?P<word>attributes|linalg\.(?!fill\b|yield\b)\w+|tosa\.\w+|stablehlo\.\w+|accel\.\w+)
    | (?P<mark>[(){}])""",
    re.VERBOSE,
)
_LOCATION = re.compile(r"\s*loc\((?:[^()\n]|\([^()\n]*\))*\)")


@dataclass(frozen=True)
class Function:
    """`begin` to `end`: its place in the text. `computes`: it has ops that may be for an accelerator."""

    name: str
    begin: int
    end: int
    computes: bool


def functions(text: str) -> list[Function]:
    """Those with a body, in order."""
    tokens = list(_TOKEN.finditer(text))
    defined = []
    for number, token in enumerate(tokens):
        if token["name"] is None or (body := _body(tokens[number + 1 :])) is None:
            continue
        end, computes = body
        place = _LOCATION.match(text, end)
        defined.append(
            Function(token["name"].strip('"'), token.start(), place.end() if place else end, computes)
        )
    return defined


def chosen(text: str, name: str, wanted: str | None) -> list[str]:
    """Names of the functions to compile: `wanted`, or all that compute something; none where the text has
    only one function, which needs no name. UsageError where there is no such function."""
    known = functions(text)
    names = [function.name for function in known]
    if wanted is not None:
        if wanted not in names:
            raise UsageError(
                f"{name}: no function `{wanted}`{hint(wanted, names)}; it has {', '.join(names)}"
            )
        return [wanted]
    if len(known) < 2:
        return []
    computing = [function.name for function in known if function.computes]
    if not computing:
        raise UsageError(f"{name}: none of its functions has an op for an accelerator: {', '.join(names)}")
    return computing


def alone(text: str, wanted: str) -> str:
    """The text with blanks in the place of all other functions that have a body."""
    for function in functions(text):
        if function.name != wanted:
            blank = re.sub(r"[^\n]", " ", text[function.begin : function.end])
            text = text[: function.begin] + blank + text[function.end :]
    return text


def _body(tokens: Sequence[re.Match[str]]) -> tuple[int, bool] | None:
    """Of the tokens behind a function's name: where its body ends, and whether it computes something.

    None: it has no body. What may stand before a body is balanced: arguments, types of results, and a
    dictionary behind ``attributes``.
    """
    depth, inside, dictionary, computes = 0, False, False, False
    for token in tokens:
        if token["name"] is not None and depth == 0:
            return None  # the next function
        if token["word"] == "attributes" and depth == 0:
            dictionary = True
        computes |= inside and token["word"] not in (None, "attributes")
        if token["mark"] is None:
            continue
        inside |= token["mark"] == "{" and depth == 0 and not dictionary
        depth += 1 if token["mark"] in "({" else -1
        if depth < 0:
            return None  # the module's own end
        if depth == 0 and inside:
            return token.end(), computes
        dictionary &= depth > 0 or token["mark"] != "}"
    return None
