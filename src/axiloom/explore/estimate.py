"""What an accelerator with its DMA takes of a device, and how fast it is there: Yosys and nextpnr."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from typing import Any

from axiloom.base.cache import NotCachedError, cached_build, only_cached
from axiloom.base.errors import UsageError
from axiloom.boards.ecp5 import nextpnr
from axiloom.boards.ecp5 import synthesis as ecp5
from axiloom.boards.synthesis import resources
from axiloom.cosim.build import verilator
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec

Progress = Callable[[str], None]

Used = ecp5.Ecp5Resources | resources.Resources

DEVICES: dict[str, Used] = {
    "xc7z010": resources.XC7Z010,
    "xc7z020": resources.XC7Z020,
    "xczu7ev": resources.XCZU7EV,
    "xck26": resources.XCK26,
    "ecp5-85k": ecp5.LFE5U_85F,
}
"""Limits by name. An ECP5 is routed as well. A Zynq UltraScale+ is counted in cells of the 7 series: its LUTs
have as many inputs, its block RAMs as many bits, and its multipliers are wider."""
TARGET_HZ = 102e6
"""Of the router, which tries no harder once it is met: a little above what most designs are asked for."""


@dataclass(frozen=True)
class Estimate:
    """Of `spec` on `device`. `routed` is None where no open tool can route the device.

    `rtl` is the top module of a user's Verilog in place of the generated accelerator.
    """

    spec: AcceleratorSpec
    device: str
    used: Used
    routed: nextpnr.Routed | None = None
    rtl: str = "generated"

    @property
    def fits(self) -> bool:
        return within(self.used, DEVICES[self.device])

    def as_json(self) -> dict[str, Any]:
        limits = DEVICES[self.device]
        names = [field.name for field in fields(self.used)]
        estimate: dict[str, Any] = {
            "accelerator": self.spec.name,
            "rtl": self.rtl,
            "device": self.device,
            "fits": self.fits,
            "resources": {
                name: {"used": getattr(self.used, name), "available": getattr(limits, name)} for name in names
            },
            "fmax_hz": None,
        }
        if self.routed is not None:
            critical = self.routed.critical
            estimate |= {
                "fmax_hz": round(self.routed.fmax_hz),
                "critical_path": {field.name: getattr(critical, field.name) for field in fields(critical)},
            }
        return estimate


def within(used: Used, limits: Used) -> bool:
    """Both of one kind of device."""
    return all(a <= b for a, b in zip(astuple(used), astuple(limits), strict=True))


def is_routed(device: str) -> bool:
    """Whether open tools place and route the device, so that its clock is known."""
    return isinstance(DEVICES[device], ecp5.Ecp5Resources)


def estimate(
    spec: AcceleratorSpec,
    device: str,
    *,
    user_rtl: UserRtl | None = None,
    route: bool | None = True,
    target_hz: float = TARGET_HZ,
    progress: Progress = lambda _line: None,
) -> Estimate:
    """The estimate of `spec` with its DMA on `device`, a key of :data:`DEVICES`; cached by content.

    Without `route` there is no clock; with None there is one if it was routed before. The router tries no
    harder than for `target_hz`. `user_rtl` takes the place of the generated accelerator. Raises
    :exc:`UsageError` for another device and :exc:`BuildError` if a tool is missing.
    """
    from axiloom.boards.ecp5.enclosure import TOP, enclose
    from axiloom.hw.verilog import emit as verilog  # Amaranth: a command that estimates nothing starts sooner

    if device not in DEVICES:
        raise UsageError(f"device {device!r} is unknown: use one of {', '.join(DEVICES)}")
    theirs = verilator.read_sources(user_rtl.files) if user_rtl else ()
    rtl = user_rtl.top if user_rtl else "generated"
    progress(f"synthesising {spec.name} for {device} (Yosys; minutes, unless it was done before)")
    if not is_routed(device):
        text = verilog.emit(spec, user_rtl=user_rtl)
        used = resources.synthesise(text, verilog.TOPS["soc"], cached_build, theirs)
        return Estimate(spec, device, used, rtl=rtl)
    netlist = ecp5.synthesise(enclose(spec, user_rtl), TOP, cached_build, theirs=theirs)
    without = Estimate(spec, device, netlist.resources, rtl=rtl)
    if route is False or not without.fits:
        return without
    progress(f"placing and routing {spec.name} (nextpnr; minutes, unless it was done before)")
    try:
        routed = nextpnr.route(netlist, cached_build if route else only_cached, frequency_hz=target_hz)
    except NotCachedError:
        return without
    return Estimate(spec, device, netlist.resources, routed, rtl)
