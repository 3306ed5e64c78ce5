"""Where accelerators go on a board, and what is said of those that do not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from axiloom import board_folder, drivergen, isa
from axiloom.base.errors import SpecError, UsageError
from axiloom.board_folder.design.rtl import Core
from axiloom.board_folder.vivado.address_map import interrupts, segments
from axiloom.boards import hardware
from axiloom.isa import AcceleratorSpec

V3, V1 = isa.builtin("v3_4"), isa.builtin("v1_4")


def at(spec: AcceleratorSpec, **dma: int) -> AcceleratorSpec:
    return spec.replace(dma=replace(spec.link.dma, **dma))


@pytest.mark.parametrize("name", hardware.names())
def test_every_board_loads(name: str) -> None:
    board = hardware.load(name)
    assert board.name == name
    assert board.family in hardware.FAMILIES
    assert (board.registers is None) == (board.family == "ecp5")


def test_the_pynq_z1_is_a_pynq_z2_but_for_its_name() -> None:
    one, other = hardware.load("pynq-z1"), hardware.load("pynq-z2")
    assert replace(one, name=other.name, description=other.description) == other


def test_an_unknown_board_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"board 'pynq' is unknown: use one of kv260, pynq-z1, pynq-z2, "):
        hardware.load("pynq")


def test_registers_that_the_board_does_not_have_are_refused() -> None:
    message = (
        "v3_4: dma_config.address: 0x40400000 is not behind M_AXI_HPM0_FPD of the zcu104, which has "
        "0xa0000000 to 0xafffffff; change it, or let --rebase do so"
    )
    with pytest.raises(SpecError) as refused:
        board_folder.make(hardware.load("zcu104"), [V3])
    assert refused.value.faults == (message,)


def test_rebase_keeps_accelerators_as_far_apart_as_they_were() -> None:
    plan = board_folder.make(hardware.load("kv260"), isa.place([V3, V1]), rebase=True)
    assert [spec.link.dma.address for spec in plan.specs] == [0xA000_0000, 0xA001_0000]


def test_windows_on_the_chip_are_small() -> None:
    plan = board_folder.make(hardware.load("ulx3s"), [isa.builtin("conv_v4")], rebase=True)
    assert plan.specs[0].link.dma.input_buffer_size == plan.specs[0].link.dma.output_buffer_size == 65536


def test_every_fault_of_addresses_is_listed() -> None:
    spec = at(V3, address=0x4040_1000, input_address=0x3000_0000)
    with pytest.raises(SpecError) as refused:
        board_folder.make(hardware.load("pynq-z2"), [spec])
    assert [fault.split(":")[1].strip() for fault in refused.value.faults] == [
        "dma_config.address",
        "dma_config.inputAddress",
    ]


def test_more_dmas_than_an_interconnect_has_ports_for() -> None:
    specs = [at(V3, scatter_gather=True).replace(name=f"a{i}") for i in range(6)]
    with pytest.raises(SpecError, match="18 ports to memory, and a SmartConnect takes 16"):
        board_folder.make(hardware.load("pynq-z2"), isa.place(specs), dma=board_folder.XILINX)


def coherent(spec: AcceleratorSpec) -> AcceleratorSpec:
    return spec.replace(dma=replace(spec.link.dma, coherent=True))


@pytest.mark.parametrize(
    ("board", "dma", "message"),
    [
        ("zcu104", board_folder.OWN, "zcu104 has no port to memory that looks into the CPU's caches"),
        ("ulx3s", board_folder.OWN, "ulx3s has no port to memory that looks into the CPU's caches"),
        ("pynq-z2", board_folder.XILINX, "Xilinx' DMA says that what it reads and writes is not in caches"),
    ],
)
def test_no_coherent_dma_where_there_is_no_port_for_it(board: str, dma: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"^v3_4: dma_config.coherent: {message}"):
        board_folder.make(hardware.load(board), [coherent(V3)], dma=dma, rebase=True)


def test_a_problem_for_each_accelerator() -> None:
    problem = ("matmul:4x4x4", drivergen.matmul_mlir(4, 4, 4, "int32"))
    with pytest.raises(UsageError, match="2 accelerators and 1 problems"):
        board_folder.make(hardware.load("pynq-z2"), isa.place([V3, V1]), problems=[problem])


def test_functions_of_several_accelerators_have_names_of_their_own() -> None:
    plan = board_folder.make(hardware.load("pynq-z2"), isa.place([V3, V1]))
    assert [driver.function for driver in plan.drivers] == ["matmul_v3_4", "matmul_v1_4"]
    assert [one.function for one in plan.references] == ["matmul_v3_4_on_cpu", "matmul_v1_4_on_cpu"]


def test_one_segment_covers_the_registers_of_all() -> None:
    far = at(V1, id=1, address=0x4048_0000, input_address=0x1800_0000, output_address=0x1840_0000)
    plan = board_folder.make(hardware.load("pynq-z2"), [V3, far])
    first, *others = segments(plan, (Core("axiloom_soc", {}, (), plan.specs),))
    assert (first.offset, first.size) == (0x4040_0000, 0x10_0000)
    assert {(one.offset, one.size) for one in others} == {(0, 512 << 20)}


def test_interrupts_are_numbered_as_a_device_tree_has_them() -> None:
    """UG585, table 7-4 (IRQ_F2P from 61) and UG1085, table 13-1 (PL_PS_Group0 from 121), less 32."""
    zynq = board_folder.make(hardware.load("pynq-z2"), isa.place([V3, V1]))
    ultrascale = board_folder.make(hardware.load("kv260"), isa.place([V3, V1]), rebase=True)
    assert interrupts(zynq)[1] == {
        "accelerator": "v1_4",
        "mm2s": {"pin": "IRQ_F2P[1]", "spi": 30},
        "s2mm": {"pin": "IRQ_F2P[3]", "spi": 32},
    }
    assert interrupts(ultrascale)[1] == {
        "accelerator": "v1_4",
        "mm2s": {"pin": "pl_ps_irq0[1]", "spi": 90},
        "s2mm": {"pin": "pl_ps_irq1[1]", "spi": 105},
    }


def test_xilinx_dma_gets_no_rows_with_a_stride() -> None:
    spec = at(V3, scatter_gather=True)
    own = board_folder.make(hardware.load("pynq-z2"), [spec])
    theirs = board_folder.make(hardware.load("pynq-z2"), [spec], dma=board_folder.XILINX)
    assert "dma_queue_open" in own.drivers[0].c
    assert "dma_queue_open" not in theirs.drivers[0].c
