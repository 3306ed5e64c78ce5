"""What an accelerator with its DMA takes of a device, and how fast it is there: Yosys and nextpnr."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from typing import Any

from axiloom.cosim.cache import cached_build
from axiloom.errors import UsageError
from axiloom.hw import ecp5, nextpnr, resources, verilog
from axiloom.hw.enclosure import TOP, enclose
from axiloom.isa import AcceleratorSpec

Progress = Callable[[str], None]

DEVICES: dict[str, ecp5.Ecp5Resources | resources.Resources] = {
    "xc7z020": resources.XC7Z020,
    "ecp5-85k": ecp5.LFE5U_85F,
}
"""Limits by name. Those of the second kind are routed as well."""
TARGET_HZ = 100e6
"""Of the router, which tries no harder once it is met."""


@dataclass(frozen=True)
class Estimate:
    """Of `spec` on `device`. `routed` is None where no open tool can route the device."""

    spec: AcceleratorSpec
    device: str
    used: ecp5.Ecp5Resources | resources.Resources
    routed: nextpnr.Routed | None = None

    @property
    def fits(self) -> bool:
        return all(a <= b for a, b in zip(astuple(self.used), astuple(DEVICES[self.device]), strict=True))

    def as_json(self) -> dict[str, Any]:
        limits = DEVICES[self.device]
        names = [field.name for field in fields(self.used)]
        found: dict[str, Any] = {
            "accelerator": self.spec.name,
            "device": self.device,
            "fits": self.fits,
            "resources": {
                name: {"used": getattr(self.used, name), "available": getattr(limits, name)} for name in names
            },
            "fmax_hz": None,
        }
        if self.routed is not None:
            critical = self.routed.critical
            found |= {
                "fmax_hz": round(self.routed.fmax_hz),
                "critical_path": {field.name: getattr(critical, field.name) for field in fields(critical)},
            }
        return found


def estimate(
    spec: AcceleratorSpec, device: str, *, route: bool = True, progress: Progress = lambda _line: None
) -> Estimate:
    """The estimate of `spec` with its DMA on `device`, a key of :data:`DEVICES`; cached by content.

    Without `route` there is no clock. Raises :exc:`UsageError` for another device and :exc:`BuildError` if a
    tool is missing.
    """
    if device not in DEVICES:
        raise UsageError(f"device {device!r} is unknown: use one of {', '.join(DEVICES)}")
    if isinstance(DEVICES[device], resources.Resources):
        progress(f"synthesising {spec.name} for {device} (Yosys; minutes, unless it was done before)")
        text = verilog.emit(spec)
        return Estimate(spec, device, resources.synthesise(text, verilog.TOPS["soc"], cached_build))
    progress(f"synthesising {spec.name} for {device} (Yosys; minutes, unless it was done before)")
    netlist = ecp5.synthesise(enclose(spec), TOP, cached_build)
    if not route or not netlist.resources.fits(ecp5.LFE5U_85F):
        return Estimate(spec, device, netlist.resources)
    progress(f"placing and routing {spec.name} (nextpnr; minutes, unless it was done before)")
    routed = nextpnr.route(netlist, cached_build, frequency_hz=TARGET_HZ)
    return Estimate(spec, device, netlist.resources, routed)
