"""The overlay for Linux: compiled with dtc, and read back."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import isa, sw
from axiloom.base.errors import UsageError
from axiloom.boards import device_tree
from axiloom.isa import AcceleratorSpec, place

DTC = shutil.which("dtc")


def compiled(source: str, folder: Path) -> str:
    """What dtc makes of it, back as source. Warnings count as errors."""
    if DTC is None:
        pytest.skip("dtc is not installed (Debian: apt-get install device-tree-compiler)")
    (folder / "overlay.dts").write_text(source)
    made = folder / "overlay.dtbo"
    command = [DTC, "-@", "-I", "dts", "-O", "dtb", "-o", str(made), str(folder / "overlay.dts")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    back = subprocess.run([DTC, "-I", "dtb", "-O", "dts", "-q", str(made)], capture_output=True, text=True)
    return back.stdout


@pytest.mark.parametrize(("soc", "cells"), [("zynq", ""), ("zynqmp", "0x00 ")])
@pytest.mark.parametrize("coherent", [False, True])
def test_compiles(tmp_path: Path, soc: str, cells: str, coherent: bool) -> None:
    spec = isa.builtin("v3", 16)
    text = compiled(device_tree.overlay([spec], soc=soc, coherent=coherent), tmp_path)
    assert f"reg = <{cells}0x40400000 {cells}0x10000>;" in text
    assert f"reg = <{cells}0x15c00000 {cells}0x4000000>;" in text
    assert 'compatible = "generic-uio";' in text
    assert 'linux,uio-name = "axiloom-dma0";' in text
    assert 'device-name = "udmabuf0";' in text
    assert ("dma-coherent;" in text) == coherent


def test_each_accelerator_has_a_device(tmp_path: Path) -> None:
    specs = place([isa.builtin("v3", 16), isa.builtin("conv_v3")])
    text = compiled(device_tree.overlay(specs), tmp_path)
    for number, spec in enumerate(specs):
        assert f'linux,uio-name = "axiloom-dma{number}";' in text
        assert f"reg = <0x{spec.link.dma.address:x} 0x10000>;" in text


def test_each_interrupt_has_a_device(tmp_path: Path) -> None:
    source = device_tree.overlay(
        place([isa.builtin("v3", 16), isa.builtin("conv_v3")]), interrupts=[(29, 31), (30, 32)]
    )
    text = compiled(source, tmp_path)
    devices = [part for part in text.split("{") if "generic-uio" in part]
    found = [re.findall(r'uio-name = "(.*)";|interrupts = <(.*)>;', device) for device in devices]
    assert [(name, int(number.split()[1], 16)) for (name, _), (_, number) in found] == [
        ("axiloom-dma0", 31),
        ("axiloom-dma1", 32),
        ("axiloom-dma0-mm2s", 29),
        ("axiloom-dma1-mm2s", 30),
    ]


def test_without_udmabuf(tmp_path: Path) -> None:
    text = compiled(device_tree.overlay([isa.builtin("v3", 16)], with_udmabuf=False), tmp_path)
    assert "u-dma-buf" not in text
    assert "shared-dma-pool" not in text  # what /dev/mem shows must stay ordinary memory
    assert "axiloom@15c00000" in text


def moved(**changes: int) -> AcceleratorSpec:
    spec = isa.builtin("v3", 16)
    return spec.replace(dma=replace(spec.link.dma, **changes))


def test_window_outside() -> None:
    spec = moved(output_address=0x1000_0000)
    with pytest.raises(UsageError, match=r"v3_16: the output window at 0x10000000 .* is not in Linux"):
        device_tree.overlay([spec])


def test_unknown_chip() -> None:
    with pytest.raises(UsageError, match="written for zynq or zynqmp, not for 'virtex'"):
        device_tree.overlay([isa.builtin("v3", 16)], soc="virtex")


def test_size_of_the_region() -> None:
    with pytest.raises(UsageError, match=r"multiple of 4 MiB.*5,000,000 bytes"):
        device_tree.overlay([isa.builtin("v3", 16)], region_bytes=5_000_000)


def test_linker_script_and_region_agree() -> None:
    """The addresses stand in the script as well, where C reads them."""
    script = sw.LINUX_SCRIPT.read_text()
    header = (sw.LINUX / "devices.h").read_text()
    assert f"#define AXL_REGION 0x{sw.LINUX_REGION_ADDRESS:X}u" in header
    places = [int(word, 16) for word in script.split() if word.startswith("0x") and word.endswith("000000")]
    places += [0x15F0_0000]
    end = sw.LINUX_REGION_ADDRESS + sw.LINUX_REGION_BYTES
    assert all(sw.LINUX_REGION_ADDRESS <= at < end for at in places if at > 0x1500_0000)
    assert "0x15F00000" in script
