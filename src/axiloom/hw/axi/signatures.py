"""AXI signatures whose ports carry the standard names, so that vendor tools infer the interfaces.

A member ``s_axis: In(AXI4Stream())`` becomes the ports ``s_axis_tdata``, ``s_axis_tvalid``, ... of
the Verilog module (:func:`flat_ports`). Signal names and widths are those of Arm IHI 0022 (AXI4,
AXI4-Lite) and IHI 0051 (AXI4-Stream); signals that none of our modules uses (IDs, QoS, user) are left out.
"""

from __future__ import annotations

from amaranth.hdl import Value, ValueCastable
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


def _check_width(interface: str, what: str, width: object, accepted: tuple[int, ...]) -> int:
    if width not in accepted:
        choices = ", ".join(map(str, accepted))
        raise ValueError(f"{interface} {what} must be one of {choices}, not {width!r}")
    assert isinstance(width, int)
    return width


def _check_address_width(interface: str, width: object) -> int:
    if not isinstance(width, int) or not 1 <= width <= 64:
        raise ValueError(f"{interface} address width must be an integer from 1 to 64, not {width!r}")
    return width


class AXI4Stream(wiring.Signature):
    """AXI4-Stream, seen from the transmitter: ``tdata(data_width) tvalid tready tlast``.

    Raises :exc:`ValueError` for a `data_width` other than 8 to 1024 in powers of two.
    """

    def __init__(self, data_width: int = 32) -> None:
        accepted = (8, 16, 32, 64, 128, 256, 512, 1024)
        self._data_width = _check_width("AXI4-Stream", "data width", data_width, accepted)
        super().__init__({"tdata": Out(data_width), "tvalid": Out(1), "tready": In(1), "tlast": Out(1)})

    @property
    def data_width(self) -> int:
        return self._data_width

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AXI4Stream) and self.data_width == other.data_width

    def __repr__(self) -> str:
        return f"AXI4Stream({self.data_width})"


class AXI4Lite(wiring.Signature):
    """AXI4-Lite, seen from the master; all five channels.

    Raises :exc:`ValueError` for a `data_width` other than 32 or 64.
    """

    def __init__(self, addr_width: int, data_width: int = 32) -> None:
        self._addr_width = _check_address_width("AXI4-Lite", addr_width)
        self._data_width = _check_width("AXI4-Lite", "data width", data_width, (32, 64))
        super().__init__(
            {
                "awaddr": Out(addr_width),
                "awprot": Out(3),
                "awvalid": Out(1),
                "awready": In(1),
                "wdata": Out(data_width),
                "wstrb": Out(data_width // 8),
                "wvalid": Out(1),
                "wready": In(1),
                "bresp": In(2),
                "bvalid": In(1),
                "bready": Out(1),
                "araddr": Out(addr_width),
                "arprot": Out(3),
                "arvalid": Out(1),
                "arready": In(1),
                "rdata": In(data_width),
                "rresp": In(2),
                "rvalid": In(1),
                "rready": Out(1),
            }
        )

    @property
    def addr_width(self) -> int:
        return self._addr_width

    @property
    def data_width(self) -> int:
        return self._data_width

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AXI4Lite):
            return False
        return (self.addr_width, self.data_width) == (other.addr_width, other.data_width)

    def __repr__(self) -> str:
        return f"AXI4Lite({self.addr_width}, {self.data_width})"


class AXI4(wiring.Signature):
    """AXI4 without IDs, seen from the master. `access` is ``"read"`` (AR and R channels only),
    ``"write"`` (AW, W and B only) or ``"read-write"``.

    Raises :exc:`ValueError` for another `access`, or a `data_width` other than 32 to 1024 in powers of two.
    """

    def __init__(self, addr_width: int = 32, data_width: int = 32, access: str = "read-write") -> None:
        self._addr_width = _check_address_width("AXI4", addr_width)
        self._data_width = _check_width("AXI4", "data width", data_width, (32, 64, 128, 256, 512, 1024))
        if access not in ("read", "write", "read-write"):
            raise ValueError(f'AXI4 access must be "read", "write" or "read-write", not {access!r}')
        self._access = access
        members: dict[str, wiring.Member] = {}
        if access != "read":
            members |= {
                "awaddr": Out(addr_width),
                "awlen": Out(8),
                "awsize": Out(3),
                "awburst": Out(2),
                "awprot": Out(3),
                "awcache": Out(4),
                "awvalid": Out(1),
                "awready": In(1),
                "wdata": Out(data_width),
                "wstrb": Out(data_width // 8),
                "wlast": Out(1),
                "wvalid": Out(1),
                "wready": In(1),
                "bresp": In(2),
                "bvalid": In(1),
                "bready": Out(1),
            }
        if access != "write":
            members |= {
                "araddr": Out(addr_width),
                "arlen": Out(8),
                "arsize": Out(3),
                "arburst": Out(2),
                "arprot": Out(3),
                "arcache": Out(4),
                "arvalid": Out(1),
                "arready": In(1),
                "rdata": In(data_width),
                "rresp": In(2),
                "rlast": In(1),
                "rvalid": In(1),
                "rready": Out(1),
            }
        super().__init__(members)

    @property
    def addr_width(self) -> int:
        return self._addr_width

    @property
    def data_width(self) -> int:
        return self._data_width

    @property
    def access(self) -> str:
        return self._access

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AXI4):
            return False
        return (self.addr_width, self.data_width, self.access) == (
            other.addr_width,
            other.data_width,
            other.access,
        )

    def __repr__(self) -> str:
        return f"AXI4({self.addr_width}, {self.data_width}, {self.access!r})"


def flat_ports(component: wiring.Component) -> dict[str, tuple[Value, PortDirection]]:
    """Every member of a component as a port, its path joined with single underscores.

    The result is the ``ports`` argument of :func:`amaranth.back.verilog.convert`, whose own names
    (``s_axis__tdata``) are not what vendor tools look for.
    """
    ports = {}
    for path, member, value in component.signature.flatten(component):
        if isinstance(value, ValueCastable):
            value = value.as_value()
        direction = PortDirection.Input if member.flow == In else PortDirection.Output
        ports["_".join(map(str, path))] = (value, direction)
    return ports
