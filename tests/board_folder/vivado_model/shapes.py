"""What the model knows of a core: its shape (pins, interfaces, addresses) and checks of its properties."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Check = Callable[[str], bool]


@dataclass(frozen=True)
class Pin:
    """A pin: `kind` is clk, rst, intr or data. An input that is `needed` must be driven."""

    is_input: bool
    kind: str = "data"
    width: int | None = 1
    """None: takes the width of what drives it."""
    needed: bool = False


@dataclass(frozen=True)
class Interface:
    """An interface: `kind` aximm, axis, or the name of another; `clock` is the pin of its clock."""

    is_master: bool
    kind: str
    clock: str | None = None
    needed: bool = True


@dataclass(frozen=True)
class Segment:
    """A slave's range of addresses, behind `interface`; `fixed`: the only place where it can be, if there is
    one.
    """

    interface: str
    fixed: tuple[int, int] | None = None
    """First and last address."""
    least: int = 1
    """Bytes that a mapping must have at least."""


@dataclass(frozen=True)
class Shape:
    """What a core looks like with its properties as they are."""

    pins: Mapping[str, Pin] = field(default_factory=dict)
    interfaces: Mapping[str, Interface] = field(default_factory=dict)
    spaces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Address space to the interfaces that reach it."""
    segments: Mapping[str, Segment] = field(default_factory=dict)
    window: tuple[int, int] | None = None
    """Addresses that the core's only address space reaches through the enabled port."""


@dataclass(frozen=True)
class Ip:
    """A core: its properties with their checks, and its shape as a function of them."""

    properties: Mapping[str, Check]
    shape: Callable[[Mapping[str, str]], Shape]


def one_of(*values: object) -> Check:
    accepted = {str(value) for value in values}
    return lambda text: text in accepted


def whole(low: int, high: int) -> Check:
    return lambda text: text.isdecimal() and low <= int(text) <= high


def number(low: float, high: float) -> Check:
    def check(text: str) -> bool:
        try:
            return low <= float(text) <= high
        except ValueError:
            return False

    return check


def matches(pattern: str) -> Check:
    return lambda text: re.fullmatch(pattern, text) is not None
