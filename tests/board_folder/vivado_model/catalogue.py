"""The cores that our block designs use: pins, interfaces, address segments and properties, with their values.

Written from the product guides: PG082 (processing_system7), PG201 (zynq_ultra_ps_e), PG021 (axi_dma), PG247
(smartconnect), PG164 (proc_sys_reset), and xlconcat's own window. Properties are those that scripts may set.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.board_folder.vivado_model.shapes import (
    Check,
    Interface,
    Ip,
    Pin,
    Segment,
    Shape,
    matches,
    number,
    one_of,
    whole,
)

_BIT = one_of(0, 1)
_MIO = matches(r"MIO \d+( \.\. \d+)?|EMIO|MIO|<Select>")
_WIDTHS = one_of(32, 64, 128, 256, 512, 1024)


def _on(properties: Mapping[str, str], name: str, default: str = "0") -> bool:
    return properties.get(name, default) == "1"


def _zynq(properties: Mapping[str, str]) -> Shape:
    pins = {"FCLK_CLK0": Pin(False, "clk"), "FCLK_RESET0_N": Pin(False, "rst")}
    interfaces = {"DDR": Interface(True, "ddrx"), "FIXED_IO": Interface(True, "fixedio")}
    segments: dict[str, Segment] = {}
    if _on(properties, "PCW_USE_M_AXI_GP0"):
        interfaces["M_AXI_GP0"] = Interface(True, "aximm", "M_AXI_GP0_ACLK")
        pins["M_AXI_GP0_ACLK"] = Pin(True, "clk", needed=True)
    if _on(properties, "PCW_USE_S_AXI_HP0"):
        interfaces["S_AXI_HP0"] = Interface(False, "aximm", "S_AXI_HP0_ACLK")
        pins["S_AXI_HP0_ACLK"] = Pin(True, "clk", needed=True)
        segments["S_AXI_HP0/HP0_DDR_LOWOCM"] = Segment("S_AXI_HP0", (0, 0x3FFF_FFFF))
    if _on(properties, "PCW_USE_S_AXI_ACP"):
        interfaces["S_AXI_ACP"] = Interface(False, "aximm", "S_AXI_ACP_ACLK")
        pins["S_AXI_ACP_ACLK"] = Pin(True, "clk", needed=True)
        segments["S_AXI_ACP/ACP_DDR_LOWOCM"] = Segment("S_AXI_ACP", (0, 0x3FFF_FFFF))
    if _on(properties, "PCW_USE_FABRIC_INTERRUPT") and _on(properties, "PCW_IRQ_F2P_INTR"):
        pins["IRQ_F2P"] = Pin(True, "intr", None)
    return Shape(pins, interfaces, {"Data": ("M_AXI_GP0",)}, segments, (0x4000_0000, 0x7FFF_FFFF))


_ZYNQ_PROPERTIES: dict[str, Check] = {
    **{
        f"PCW_{name}": _BIT
        for name in (
            "EN_CLK0_PORT",
            "EN_RST0_PORT",
            "USE_M_AXI_GP0",
            "USE_M_AXI_GP1",
            "USE_S_AXI_HP0",
            "USE_S_AXI_HP1",
            "USE_S_AXI_ACP",
            "USE_DEFAULT_ACP_USER_VAL",
            "USE_FABRIC_INTERRUPT",
            "IRQ_F2P_INTR",
            "UART0_PERIPHERAL_ENABLE",
            "UART1_PERIPHERAL_ENABLE",
            "SD0_PERIPHERAL_ENABLE",
            "SD0_GRP_CD_ENABLE",
            "ENET0_PERIPHERAL_ENABLE",
            "ENET0_GRP_MDIO_ENABLE",
            "ENET0_RESET_ENABLE",
            "USB0_PERIPHERAL_ENABLE",
            "USB0_RESET_ENABLE",
            "QSPI_PERIPHERAL_ENABLE",
            "QSPI_GRP_SINGLE_SS_ENABLE",
            "QSPI_GRP_FBCLK_ENABLE",
            "GPIO_MIO_GPIO_ENABLE",
        )
    },
    **{
        f"PCW_{name}": _MIO
        for name in (
            "UART0_UART0_IO",
            "UART1_UART1_IO",
            "SD0_SD0_IO",
            "SD0_GRP_CD_IO",
            "ENET0_ENET0_IO",
            "ENET0_GRP_MDIO_IO",
            "ENET0_RESET_IO",
            "USB0_USB0_IO",
            "USB0_RESET_IO",
            "QSPI_GRP_SINGLE_SS_IO",
            "QSPI_GRP_FBCLK_IO",
            "GPIO_MIO_GPIO_IO",
        )
    },
    "PCW_CRYSTAL_PERIPHERAL_FREQMHZ": number(30, 60),
    "PCW_APU_PERIPHERAL_FREQMHZ": number(50, 1000),
    "PCW_FPGA0_PERIPHERAL_FREQMHZ": number(0.1, 250),
    "PCW_PRESET_BANK0_VOLTAGE": matches(r"LVCMOS (1\.8|2\.5|3\.3)V"),
    "PCW_PRESET_BANK1_VOLTAGE": matches(r"LVCMOS (1\.8|2\.5|3\.3)V"),
    "PCW_S_AXI_HP0_DATA_WIDTH": one_of(32, 64),
    "PCW_UIPARAM_DDR_PARTNO": matches(r"MT\w+ [\w-]+|Custom"),
    "PCW_UIPARAM_DDR_BUS_WIDTH": matches("(16|32) Bit"),
    "PCW_UIPARAM_DDR_FREQ_MHZ": number(200, 667),
    **{
        f"PCW_UIPARAM_DDR_{line}_{i}_LENGTH_MM": number(0, 1000)
        for line in ("CLOCK", "DQS", "DQ")
        for i in range(4)
    },
    **{f"PCW_UIPARAM_DDR_DQS_TO_CLK_DELAY_{i}": number(-1, 1) for i in range(4)},
    **{f"PCW_UIPARAM_DDR_BOARD_DELAY{i}": number(0, 2) for i in range(4)},
}


def _zynqmp(properties: Mapping[str, str]) -> Shape:
    pins = {"pl_resetn0": Pin(False, "rst")}
    if _on(properties, "PSU__FPGA_PL0_ENABLE", "1"):
        pins["pl_clk0"] = Pin(False, "clk")
    interfaces: dict[str, Interface] = {}
    segments: dict[str, Segment] = {}
    # The defaults of the core and of the boards' presets: both FPD masters are on.
    for port, name, default in (("GP0", "HPM0_FPD", "1"), ("GP1", "HPM1_FPD", "1"), ("GP2", "HPM0_LPD", "0")):
        if _on(properties, f"PSU__USE__M_AXI_{port}", default):
            clock = f"maxi{name.lower()}_aclk"
            interfaces[f"M_AXI_{name}"] = Interface(True, "aximm", clock, needed=False)
            pins[clock] = Pin(True, "clk", needed=True)
    if _on(properties, "PSU__USE__S_AXI_GP2"):
        interfaces["S_AXI_HP0_FPD"] = Interface(False, "aximm", "saxihp0_fpd_aclk")
        pins["saxihp0_fpd_aclk"] = Pin(True, "clk", needed=True)
        segments["SAXIGP2/HP0_DDR_LOW"] = Segment("S_AXI_HP0_FPD", (0, 0x7FFF_FFFF))
        segments["SAXIGP2/HP0_LPS_OCM"] = Segment("S_AXI_HP0_FPD", (0xFF00_0000, 0xFFFF_FFFF))
    for group in (0, 1):
        if _on(properties, f"PSU__USE__IRQ{group}"):
            pins[f"pl_ps_irq{group}"] = Pin(True, "intr", None)
    masters = tuple(name for name, one in interfaces.items() if one.is_master)
    return Shape(pins, interfaces, {"Data": masters}, segments, (0xA000_0000, 0xAFFF_FFFF))


_ZYNQMP_PROPERTIES: dict[str, Check] = {
    **{
        f"PSU__USE__{name}": _BIT
        for name in (
            *(f"M_AXI_GP{i}" for i in range(3)),
            *(f"S_AXI_GP{i}" for i in range(7)),
            "IRQ0",
            "IRQ1",
            "S_AXI_ACP",
        )
    },
    **{f"PSU__MAXIGP{i}__DATA_WIDTH": one_of(32, 64, 128) for i in range(3)},
    **{f"PSU__SAXIGP{i}__DATA_WIDTH": one_of(32, 64, 128) for i in range(7)},
    "PSU__FPGA_PL0_ENABLE": _BIT,
    "PSU__FPGA_PL1_ENABLE": _BIT,
    "PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ": number(1, 500),
    "PSU__NUM_FABRIC_RESETS": whole(0, 4),
}


def _axi_dma(properties: Mapping[str, str]) -> Shape:
    sg = properties.get("c_include_sg", "1") == "1"
    pins = {
        "s_axi_lite_aclk": Pin(True, "clk", needed=True),
        "axi_resetn": Pin(True, "rst", needed=True),
        **({"m_axi_sg_aclk": Pin(True, "clk", needed=True)} if sg else {}),
    }
    interfaces = {"S_AXI_LITE": Interface(False, "aximm", "s_axi_lite_aclk")}
    spaces: dict[str, tuple[str, ...]] = {}
    if sg:
        interfaces["M_AXI_SG"] = Interface(True, "aximm", "m_axi_sg_aclk")
        spaces["Data_SG"] = ("M_AXI_SG",)
    for channel, stream, is_master in (("mm2s", "M_AXIS_MM2S", True), ("s2mm", "S_AXIS_S2MM", False)):
        if properties.get(f"c_include_{channel}", "1") != "1":
            continue
        clock = f"m_axi_{channel}_aclk"
        pins[clock] = Pin(True, "clk", needed=True)
        pins[f"{channel}_prmry_reset_out_n"] = Pin(False, "rst")
        pins[f"{channel}_introut"] = Pin(False, "intr")
        interfaces[f"M_AXI_{channel.upper()}"] = Interface(True, "aximm", clock)
        interfaces[stream] = Interface(is_master, "axis", clock)
        spaces[f"Data_{channel.upper()}"] = (f"M_AXI_{channel.upper()}",)
    return Shape(pins, interfaces, spaces, {"S_AXI_LITE/Reg": Segment("S_AXI_LITE", least=4096)})


_AXI_DMA_PROPERTIES: dict[str, Check] = {
    **{
        f"c_{name}": _BIT
        for name in (
            "include_sg",
            "sg_include_stscntrl_strm",
            "include_mm2s",
            "include_mm2s_dre",
            "include_s2mm",
            "include_s2mm_dre",
            "micro_dma",
            "include_mm2s_sf",
            "include_s2mm_sf",
            "enable_multi_channel",
            "prmry_is_aclk_async",
            "sg_use_stsapp_length",
            "single_interface",
        )
    },
    "c_sg_length_width": whole(8, 26),
    "c_addr_width": whole(32, 64),
    "c_m_axi_mm2s_data_width": _WIDTHS,
    "c_m_axi_s2mm_data_width": _WIDTHS,
    "c_m_axis_mm2s_tdata_width": one_of(8, 16, 32, 64, 128, 256, 512, 1024),
    "c_s_axis_s2mm_tdata_width": one_of(8, 16, 32, 64, 128, 256, 512, 1024),
    "c_mm2s_burst_size": one_of(2, 4, 8, 16, 32, 64, 128, 256),
    "c_s2mm_burst_size": one_of(2, 4, 8, 16, 32, 64, 128, 256),
}


def _smartconnect(properties: Mapping[str, str]) -> Shape:
    slaves, masters = int(properties.get("NUM_SI", "2")), int(properties.get("NUM_MI", "1"))
    interfaces = {f"S{i:02}_AXI": Interface(False, "aximm", "aclk") for i in range(slaves)}
    interfaces |= {f"M{i:02}_AXI": Interface(True, "aximm", "aclk") for i in range(masters)}
    return Shape(
        {"aclk": Pin(True, "clk", needed=True), "aresetn": Pin(True, "rst", needed=True)}, interfaces
    )


def _reset(_properties: Mapping[str, str]) -> Shape:
    return Shape(
        {
            "slowest_sync_clk": Pin(True, "clk", needed=True),
            "ext_reset_in": Pin(True, "rst", needed=True),
            "aux_reset_in": Pin(True, "rst"),
            "dcm_locked": Pin(True),
            "mb_debug_sys_rst": Pin(True, "rst"),
            "mb_reset": Pin(False, "rst"),
            "bus_struct_reset": Pin(False, "rst"),
            "peripheral_reset": Pin(False, "rst"),
            "interconnect_aresetn": Pin(False, "rst"),
            "peripheral_aresetn": Pin(False, "rst"),
        }
    )


def _concatenation(properties: Mapping[str, str]) -> Shape:
    count = int(properties.get("NUM_PORTS", "2"))
    pins = {f"In{i}": Pin(True, "data", None, needed=True) for i in range(count)}
    return Shape({**pins, "dout": Pin(False, "data", None)})


CATALOGUE: dict[str, Ip] = {
    "xilinx.com:ip:processing_system7": Ip(_ZYNQ_PROPERTIES, _zynq),
    "xilinx.com:ip:zynq_ultra_ps_e": Ip(_ZYNQMP_PROPERTIES, _zynqmp),
    "xilinx.com:ip:axi_dma": Ip(_AXI_DMA_PROPERTIES, _axi_dma),
    "xilinx.com:ip:smartconnect": Ip(
        {"NUM_SI": whole(1, 16), "NUM_MI": whole(1, 16), "NUM_CLKS": whole(1, 16)}, _smartconnect
    ),
    "xilinx.com:ip:proc_sys_reset": Ip({"C_EXT_RESET_HIGH": _BIT, "C_AUX_RESET_HIGH": _BIT}, _reset),
    "xilinx.com:ip:xlconcat": Ip({"NUM_PORTS": whole(1, 128)}, _concatenation),
}
"""Vendor, library and name to the core."""

INTERFACES = {
    "xilinx.com:interface:ddrx_rtl:1.0": "ddrx",
    "xilinx.com:display_processing_system7:fixedio_rtl:1.0": "fixedio",
    "xilinx.com:interface:aximm_rtl:1.0": "aximm",
    "xilinx.com:interface:axis_rtl:1.0": "axis",
}
"""Definitions of interfaces that a block design's own ports may have."""
