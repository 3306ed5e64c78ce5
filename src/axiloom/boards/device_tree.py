"""A device-tree overlay for Linux: what the runtime in ``sw/linux`` finds the hardware by.

Each DMA is a ``generic-uio`` device, and the memory that DMAs and CPU share is one reserved region, shown to
programs by u-dma-buf (https://github.com/ikwzm/udmabuf). Bindings: the kernel's
Documentation/devicetree/bindings/reserved-memory and drivers/uio/uio_pdrv_genirq.c, u-dma-buf's README.
"""

from __future__ import annotations

from collections.abc import Sequence

from axiloom import sw
from axiloom.base.errors import UsageError
from axiloom.isa import AcceleratorSpec
from axiloom.isa.files.together import PAGE_BYTES

_CELLS = {"zynq": 1, "zynqmp": 2}
_CONTROLLERS = {"zynq": "intc", "zynqmp": "gic"}
"""Labels of the interrupt controller in the kernel's own trees."""
"""Cells of an address, and of a size, at the root of the board's own tree."""


def overlay(
    specs: Sequence[AcceleratorSpec],
    *,
    soc: str = "zynq",
    region_bytes: int = sw.LINUX_REGION_BYTES,
    coherent: bool = False,
    with_udmabuf: bool = True,
    interrupts: Sequence[tuple[int, int]] = (),
) -> str:
    """Source of the overlay for accelerators on a `soc` ("zynq" or "zynqmp"), to be applied at boot.

    `coherent`: the DMA's port looks into the caches. Without u-dma-buf the region is only kept free, for
    programs that use /dev/mem. `interrupts`: the numbers (SPI) of MM2S and S2MM of each DMA; a UIO device has
    one, so that of MM2S has a device of its own, behind those of the DMAs.
    UsageError where a window of `specs` is not in the region.
    """
    if soc not in _CELLS:
        raise UsageError(f"a device tree is written for {' or '.join(_CELLS)}, not for {soc!r}")
    cells, first, end = _CELLS[soc], sw.LINUX_REGION_ADDRESS, sw.LINUX_REGION_ADDRESS + region_bytes
    if region_bytes <= 0 or region_bytes % (4 << 20):
        raise UsageError(
            f"the region must be a multiple of 4 MiB, as the kernel reserves it, not {region_bytes:,} bytes"
        )
    for spec in specs:
        dma = spec.link.dma
        windows = {
            "input": (dma.input_address, dma.input_buffer_size),
            "output": (dma.output_address, dma.output_buffer_size),
        }
        for what, (address, size) in windows.items():
            if not first <= address <= address + size <= end:
                raise UsageError(
                    f"{spec.name}: the {what} window at 0x{address:08x} ({size:,} bytes) is not in Linux's "
                    f"region 0x{first:08x} to 0x{end:08x}"
                )
    pool = ['compatible = "shared-dma-pool";', "reusable;"] if with_udmabuf else []
    lines = [
        *_comment(specs, with_udmabuf),
        "/dts-v1/;",
        "/plugin/;",
        "",
        "&{/} {",
        f"    #address-cells = <{cells}>; /* as the board's own tree has them */",
        f"    #size-cells = <{cells}>;",
        "",
        "    reserved-memory {",
        f"        #address-cells = <{cells}>;",
        f"        #size-cells = <{cells}>;",
        "        ranges;",
        "",
        "        /* Rings of descriptors, the windows, arrays for transfers in place. */",
        f"        axiloom_memory: axiloom@{first:x} {{",
        *(f"            {line}" for line in pool),
        f"            reg = <{_numbers(cells, first, region_bytes)}>;",
        "        };",
        "    };",
        "",
    ]
    for number, spec in enumerate(specs):
        address = spec.link.dma.address
        lines += [
            f"    /* Registers of the DMA of {spec.name}. The runtime polls; the interrupt is S2MM's. */",
            f"    axiloom_dma{number}: dma@{address:x} {{",
            '        compatible = "generic-uio";',
            f'        linux,uio-name = "axiloom-dma{number}";',
            f"        reg = <{_numbers(cells, address, PAGE_BYTES)}>;",
            *(_interrupt(soc, interrupts[number][1]) if interrupts else ()),
            "    };",
            "",
        ]
    for number, (mm2s, _) in enumerate(interrupts):
        lines += [
            f"    axiloom_dma{number}_mm2s: dma{number}-mm2s {{",
            '        compatible = "generic-uio";',
            f'        linux,uio-name = "axiloom-dma{number}-mm2s";',
            *_interrupt(soc, mm2s),
            "    };",
            "",
        ]
    if with_udmabuf:
        lines += [
            "    axiloom_udmabuf: axiloom-udmabuf0 {",
            '        compatible = "ikwzm,u-dma-buf";',
            '        device-name = "udmabuf0";',
            f"        size = <0x{region_bytes:08x}>;",
            "        memory-region = <&axiloom_memory>;",
            "        /* With O_SYNC: normal memory, not cached. Mode 1 would make it a device's, where",
            "           accesses that are not aligned fault. */",
            "        sync-mode = <2>;",
            *(["        dma-coherent;"] if coherent else []),
            "    };",
        ]
    return "\n".join([*lines, "};", ""])


def _comment(specs: Sequence[AcceleratorSpec], with_udmabuf: bool) -> list[str]:
    names = ", ".join(spec.name for spec in specs)
    module = " and the module u-dma-buf" if with_udmabuf else ""
    return [
        f"/* Linux's view of {names}, generated by axiloom.",
        " *",
        " *     dtc -@ -I dts -O dtb -o overlay.dtbo overlay.dts",
        " *",
        " * Memory can only be reserved at boot: let the boot loader apply it (U-Boot: fdt apply). Linux",
        f" * needs uio_pdrv_genirq.of_id=generic-uio among its boot arguments{module}. */",
    ]


def _interrupt(soc: str, number: int) -> list[str]:
    """A shared peripheral interrupt, high as long as the DMA wants it."""
    return [f"        interrupt-parent = <&{_CONTROLLERS[soc]}>;", f"        interrupts = <0 {number} 4>;"]


def _numbers(cells: int, *values: int) -> str:
    return " ".join(" ".join(["0x0"] * (cells - 1) + [f"0x{value:08x}"]) for value in values)
