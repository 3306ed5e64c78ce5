"""A block design as the commands make it, and whether Vivado's validation would pass it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.board_folder.vivado_model.catalogue import INTERFACES
from tests.board_folder.vivado_model.shapes import Interface, Ip, Pin, Shape


class RefusedError(Exception):
    """A command that Vivado would refuse; the message says why."""


@dataclass
class Cell:
    """An instance of a core."""

    name: str
    vlnv: str
    ip: Ip
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def shape(self) -> Shape:
        return self.ip.shape(self.properties)


@dataclass(frozen=True)
class Assigned:
    """An assigned range of addresses."""

    space: str
    segment: str
    offset: int
    size: int


class Design:
    """Cells, wires and addresses. Objects are named as Vivado names them, ``cell/pin``; ports have no
    slash.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.cells: dict[str, Cell] = {}
        self.ports: dict[str, Pin] = {}
        self.interface_ports: dict[str, Interface] = {}
        self.driver: dict[str, str] = {}
        """Sink to what drives it."""
        self.partner: dict[str, str] = {}
        """Interface to the one it is connected with, both ways."""
        self.mappings: list[Assigned] = []
        self.validated = False

    def add_cell(self, name: str, vlnv: str, ip: Ip) -> None:
        if name in self.cells:
            raise RefusedError(f"there is a cell {name} already")
        self.cells[name] = Cell(name, vlnv, ip)
        self.validated = False

    def set_property(self, name: str, key: str, value: str) -> None:
        """A property of a cell, with ``CONFIG.`` in front."""
        cell = self.cells[name]
        if not key.startswith("CONFIG."):
            raise RefusedError(f"{name}: properties of a core begin with CONFIG., not {key}")
        check = cell.ip.properties.get(key.removeprefix("CONFIG."))
        if check is None:
            raise RefusedError(f"{name}: {cell.vlnv} has no property {key}")
        if not check(value):
            raise RefusedError(f"{name}: {key} cannot be {value!r}")
        cell.properties[key.removeprefix("CONFIG.")] = value

    def pin(self, path: str) -> Pin:
        """The pin or port `path`."""
        if not path:
            raise RefusedError("there is nothing to connect")
        if "/" not in path:
            return self.ports[path]
        cell, _, name = path.partition("/")
        return self.cells[cell].shape.pins[name]

    def interface(self, path: str) -> Interface:
        if not path:
            raise RefusedError("there is nothing to connect")
        if "/" not in path:
            return self.interface_ports[path]
        cell, _, name = path.partition("/")
        return self.cells[cell].shape.interfaces[name]

    def pins(self) -> Iterator[str]:
        return (f"{cell.name}/{name}" for cell in self.cells.values() for name in cell.shape.pins)

    def interfaces(self) -> Iterator[str]:
        return (f"{cell.name}/{name}" for cell in self.cells.values() for name in cell.shape.interfaces)

    def spaces(self) -> dict[str, tuple[str, ...]]:
        """Address space to the interfaces that reach it."""
        return {
            f"{cell.name}/{space}": tuple(f"{cell.name}/{name}" for name in names)
            for cell in self.cells.values()
            for space, names in cell.shape.spaces.items()
        }

    def segments(self) -> list[str]:
        return [f"{cell.name}/{name}" for cell in self.cells.values() for name in cell.shape.segments]

    def add_interface_port(self, name: str, vlnv: str, is_master: bool) -> None:
        if vlnv not in INTERFACES:
            raise RefusedError(f"interface {vlnv} is unknown; known are {', '.join(INTERFACES)}")
        self.interface_ports[name] = Interface(is_master, INTERFACES[vlnv])

    def connect(self, paths: list[str]) -> None:
        """A wire: exactly one of `paths` drives the others (or has been driving some of them already)."""
        drivers = [path for path in paths if self._drives(path)]
        if len(drivers) != 1:
            what = f"are driven by {' and '.join(drivers)}" if drivers else "are driven by none of them"
            raise RefusedError(f"{', '.join(paths)} {what}")
        source = self.pin(drivers[0])
        for path in paths:
            if path == drivers[0]:
                continue
            sink = self.pin(path)
            if self.driver.get(path, drivers[0]) != drivers[0]:
                raise RefusedError(f"{path} is driven by {self.driver[path]} already")
            if {source.kind, sink.kind} in (
                {"clk", "rst"},
                {"clk", "data"},
                {"clk", "intr"},
                {"rst", "intr"},
            ):
                raise RefusedError(f"{drivers[0]} is {source.kind}, {path} is {sink.kind}")
            if None not in (source.width, sink.width) and source.width != sink.width:
                raise RefusedError(f"{drivers[0]} has {source.width} bits, {path} has {sink.width}")
            self.driver[path] = drivers[0]
        self.validated = False

    def _drives(self, path: str) -> bool:
        """A pin drives if it is an output, a port if it is an input of the design."""
        return self.pin(path).is_input == ("/" not in path)

    def connect_interfaces(self, one: str, other: str) -> None:
        ends = {path: self.interface(path) for path in (one, other)}
        for path in ends:
            if path in self.partner:
                raise RefusedError(f"{path} is connected with {self.partner[path]} already")
        if ends[one].kind != ends[other].kind:
            raise RefusedError(f"{one} is {ends[one].kind}, {other} is {ends[other].kind}")
        outward = [path for path in ends if "/" not in path]
        if not outward and ends[one].is_master == ends[other].is_master:
            role = "masters" if ends[one].is_master else "slaves"
            raise RefusedError(f"{one} and {other} are both {role}")
        if outward and ends[one].is_master != ends[other].is_master:
            raise RefusedError(f"{one} and {other} are not of the same direction")
        self.partner[one], self.partner[other] = other, one
        self.validated = False

    def assign(self, space: str, segment: str, offset: int, size: int) -> None:
        if not (space and segment):
            raise RefusedError("there is nothing to map")
        if size < 1 or size & (size - 1):
            raise RefusedError(f"range {size:#x} is no power of two")
        if offset % size:
            raise RefusedError(f"offset {offset:#x} is not a multiple of the range {size:#x}")
        if segment not in self._reachable(space):
            raise RefusedError(f"{segment} cannot be reached from {space}: what is connected?")
        cell, _, rest = segment.partition("/")
        found = self.cells[cell].shape.segments[rest]
        if size < found.least:
            raise RefusedError(f"{segment} takes at least {found.least:#x}, not {size:#x}")
        if found.fixed and not (found.fixed[0] <= offset and offset + size - 1 <= found.fixed[1]):
            raise RefusedError(
                f"{segment} lies in {found.fixed[0]:#x} to {found.fixed[1]:#x}, not at {offset:#x}"
            )
        window = self.cells[space.partition("/")[0]].shape.window
        if window and not (window[0] <= offset and offset + size - 1 <= window[1]):
            raise RefusedError(
                f"{space} reaches {window[0]:#x} to {window[1]:#x}, not {size:#x} bytes at {offset:#x}"
            )
        for other in self.mappings:
            apart = offset + size <= other.offset or other.offset + other.size <= offset
            if other.space == space and not apart:
                raise RefusedError(f"{segment} at {offset:#x} overlaps {other.segment} at {other.offset:#x}")
        self.mappings.append(Assigned(space, segment, offset, size))

    def _reachable(self, space: str) -> set[str]:
        """Segments behind the interfaces of `space`, through interconnects."""
        found: set[str] = set()
        waiting = list(self.spaces()[space])
        seen: set[str] = set()
        while waiting:
            end = self.partner.get(waiting.pop())
            if end is None or end in seen:
                continue
            seen.add(end)
            name, _, port = end.partition("/")
            if name not in self.cells:
                continue
            cell = self.cells[name]
            if cell.vlnv.endswith(":smartconnect"):
                waiting += [f"{name}/{one}" for one, kind in cell.shape.interfaces.items() if kind.is_master]
            found |= {
                f"{name}/{one}" for one, segment in cell.shape.segments.items() if segment.interface == port
            }
        return found

    def faults(self) -> Iterator[str]:
        """What validation would find, and what it would only warn of and no board survives."""
        for path in self.pins():
            if self.pin(path).needed and path not in self.driver:
                yield f"{path} is not connected"
        for path in self.interfaces():
            if self.interface(path).needed and path not in self.partner:
                yield f"{path} is not connected"
        for path in (*self.ports, *self.interface_ports):
            used = path in self.driver or path in self.partner or path in self.driver.values()
            if not used:
                yield f"port {path} is not connected"
        for one, other in self.partner.items():
            if one < other:
                clocks = [self._clock(path) for path in (one, other)]
                if None not in clocks and clocks[0] != clocks[1]:
                    yield f"{one} and {other} have two clocks, {clocks[0]} and {clocks[1]}"
        mapped = {(one.space, one.segment) for one in self.mappings}
        for space in self.spaces():
            reachable = self._reachable(space)
            registers = {segment for segment in reachable if not segment.endswith("_OCM")}
            yield from (
                f"{segment} has no address in {space}"
                for segment in sorted(registers)
                if (space, segment) not in mapped
            )

    def _clock(self, path: str) -> str | None:
        """What drives the clock of an interface."""
        name, _, _ = path.partition("/")
        clock = self.interface(path).clock
        return self.driver.get(f"{name}/{clock}", "nothing") if clock else None

    def describe(self) -> Mapping[str, tuple[int, int]]:
        """Space and segment to offset and size, for a comparison with what was planned."""
        return {f"{one.space} {one.segment}": (one.offset, one.size) for one in self.mappings}
