"""The report's types and its schema name the same keys, with values of the same kinds."""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from axiloom.report.build import schema
from axiloom.report.types import LayerRow, Report

SCALARS = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}
Schema = dict[str, Any]


def resolved(part: Schema, whole: Schema) -> Schema:
    """What a reference stands for, with what is said beside it."""
    if "$ref" not in part:
        return part
    return resolved(whole["$defs"][part["$ref"].rpartition("/")[2]], whole) | part


def alternatives(part: Schema, whole: Schema) -> list[Schema]:
    """Each of one kind: what ``oneOf`` and lists of types are short for."""
    part = resolved(part, whole)
    if "oneOf" in part:
        return [found for one in part["oneOf"] for found in alternatives(one, whole)]
    if isinstance(part.get("type"), list):
        return [{**part, "type": kind} for kind in part["type"]]
    return [part]


def members(kind: Any) -> list[Any]:
    """The types that a union consists of."""
    if get_origin(kind) in (Union, UnionType):
        return [found for one in get_args(kind) for found in members(one)]
    return [kind]


def name_of(kind: Any) -> str:
    """How JSON calls the values of a type."""
    if is_typeddict(kind) or get_origin(kind) is dict:
        return "object"
    if get_origin(kind) is list:
        return "array"
    return "choice" if get_origin(kind) is Literal else SCALARS[kind]


def name_in(part: Schema) -> str:
    """How the schema calls them."""
    if "type" in part:
        return str(part["type"])
    return SCALARS[type(part["const"])] if "const" in part else "choice"


def differences(kind: Any, part: Schema, whole: Schema, place: str) -> Iterator[str]:
    """One line for each place where they do not say the same."""
    ours = {name_of(one): one for one in members(kind)}
    theirs = {name_in(one): one for one in alternatives(part, whole)}
    if set(ours) != set(theirs):
        yield f"{place}: the type has {sorted(ours)}, the schema {sorted(theirs)}"
        return
    for name, one in ours.items():
        yield from within(one, resolved(theirs[name], whole), whole, place)


def within(kind: Any, part: Schema, whole: Schema, place: str) -> Iterator[str]:
    """The same inside objects, arrays and choices."""
    if is_typeddict(kind):
        yield from keys(kind, part, whole, place)
    elif get_origin(kind) is dict:
        if part.get("additionalProperties") is False:
            yield f"{place}: the type leaves the keys open, the schema does not"
        else:
            yield from differences(get_args(kind)[1], part["additionalProperties"], whole, f"{place}.*")
    elif get_origin(kind) is list:
        yield from differences(get_args(kind)[0], part["items"], whole, f"{place}[]")
    elif get_origin(kind) is Literal and set(get_args(kind)) != set(part["enum"]):
        yield f"{place}: the type has {get_args(kind)}, the schema {part['enum']}"


def keys(kind: Any, part: Schema, whole: Schema, place: str) -> Iterator[str]:
    hints = get_type_hints(kind)
    if set(hints) != set(part["properties"]):
        yield f"{place}: {sorted(set(hints) ^ set(part['properties']))} in one of type and schema only"
        return
    marked = get_type_hints(kind, include_extras=True)
    needed = {name for name, one in marked.items() if get_origin(one) is not NotRequired}
    if needed != set(part["required"]):
        yield f"{place}: {sorted(needed ^ set(part['required']))} required by one of type and schema only"
    if part.get("additionalProperties", True) is not False:
        yield f"{place}: the schema leaves the keys open, the type does not"
    for name, one in hints.items():
        yield from differences(one, part["properties"][name], whole, f"{place}.{name}")


def test_types_and_schema_agree() -> None:
    whole = schema()
    assert list(differences(Report, whole, whole, "report")) == []


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        ("losses", {"remedies": {"type": "string"}}, "losses[].remedies: the type has ['array']"),
        ("losses", {"why": {"type": "string"}}, "losses[]: ['why'] in one of type and schema only"),
        ("transfers", {"channel": {"enum": ["mm2s"]}}, "transfers[].channel: the type has ('mm2s', 's2mm')"),
    ],
)
def test_a_difference_is_found(place: str, change: Schema, message: str) -> None:
    whole = schema()
    whole["properties"][place]["items"]["properties"] |= change
    (found,) = differences(Report, whole, whole, "")
    assert found.startswith(f".{message}")


def test_a_key_that_only_one_requires_is_found() -> None:
    whole = schema()
    whole["$defs"]["layers"]["items"]["required"].remove("use")
    (found,) = keys(LayerRow, whole["$defs"]["layers"]["items"], whole, "layer")
    assert found == "layer: ['use'] required by one of type and schema only"
