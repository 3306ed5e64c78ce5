"""README.md of a folder: what is in it, and the steps from here to a result on the board."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.board_folder.design.plan import OWN, Plan
from axiloom.board_folder.design.rtl import Core
from axiloom.board_folder.vivado.address_map import interrupts, segments

_WHAT = {
    "accelerator.json": "the specification, with the addresses as they are on this board",
    "board.json": "board, addresses and interrupts, for programs",
    "Makefile": "everything below by name: `make help`",
    "ip/": "the cores: Verilog, and component.xml for an IP catalogue",
    "vivado/": "scripts for Vivado in batch mode, and reports.py, which makes JSON of its reports",
    "constraints/": "pins (board.xdc), and the clock of a core that is built alone (ooc.xdc)",
    "sw/": "the driver, the same function for the CPU, a self-test, and the runtime",
    "linux/": "device-tree overlay",
    "python/": "a class for the PYNQ image: the same accelerator from NumPy arrays",
    "openflow/": "Yosys and nextpnr: from Verilog to a bitstream, and the host's side",
}


def text(plan: Plan, cores: tuple[Core, ...], files: Sequence[str], missing: Sequence[str]) -> str:
    """The file. `files`: paths of all others; `missing`: what is not written, a line each."""
    hardware = plan.hardware
    title = f"# {', '.join(spec.name for spec in plan.specs)} on the {hardware.name}"
    lines = [
        title,
        "",
        f"{hardware.description}. Written by `axiloom board new`: do not change files here, change",
    ]
    lines += ["the specification and write the folder anew.", ""]
    lines += ["## What is here", "", "| | |", "|---|---|"]
    for name, what in _WHAT.items():
        if name in files or any(file.startswith(name) for file in files if name.endswith("/")):
            lines.append(f"| `{name}` | {what} |")
    lines.append("")
    lines += [
        "| accelerator | computes here | registers | input window | output window |",
        "|---|---|---|---|---|",
    ]
    for spec, problem in zip(plan.specs, plan.problems, strict=True):
        dma = spec.link.dma
        windows = f"{dma.input_address:#x} | {dma.output_address:#x}"
        lines.append(f"| {spec.name} | `{problem}` | {dma.address:#x} | {windows} |")
    lines.append("")
    if missing:
        lines += ["Not written:", "", *(f"- {line}" for line in missing), ""]
    lines += _steps(plan, cores, files) if hardware.memory is not None else _open_steps(files)
    return "\n".join(lines).rstrip() + "\n"


def _steps(plan: Plan, cores: tuple[Core, ...], files: Sequence[str]) -> list[str]:
    hardware = plan.hardware
    ladder = any(file.startswith("sw/bringup/") for file in files)
    classes = [file for file in files if file.startswith("python/")]
    taken = ["build/selftest", *(["build/ladder"] if ladder else []), *classes]
    steps = [
        "## Steps",
        "",
        "**1. Check this folder.** A tool reads every file. You need no Vivado.",
        "",
        "```",
        "axiloom board check .",
        "```",
        "",
        "**2. Build the bitstream.** Install Vivado, 2022.1 to 2024.2. The scripts were checked against its",
        "documented commands. Nobody has run them in Vivado yet.",
        "",
        "```",
        "make bitstream         # or: vivado -mode batch -source vivado/build.tcl",
        "make report            # build/report.json; fails where timing is not met",
        "```",
        "",
        f"This writes `build/{plan.name}.bit` and `.hwh`, a pair with one stem for PYNQ's `Overlay`, and",
        "`.xsa`. `make ooc` builds a core alone, and gives its size and slack in minutes.",
        "",
    ]
    if hardware.board_part:
        steps += [
            f"Vivado needs the files of the board (`{hardware.board_part}`): Tools, Vivado Store, Boards.",
            "",
        ]
    steps += [
        "**3. Build the programs for the board.**",
        "",
        "```",
        "make linux             # build/selftest: a static program; on the board itself see the Makefile",
        *(["make ladder            # build/ladder: from a register to a whole kernel"] if ladder else []),
        *(
            ["make baremetal         # build/selftest.elf, to load with a debugger"]
            if hardware.cpu is not None
            else []
        ),
        "```",
        "",
        "**4. On the board** (Linux): load the bitstream, then run the programs as root.",
        "",
        "```",
        f"scp build/{plan.name}.bit build/{plan.name}.hwh {' '.join(taken)} BOARD:",
        *_load(plan),
        *(["sudo ./ladder; echo $?"] if ladder else []),
        "sudo ./selftest; echo $?",
        "```",
        "",
        *(
            [
                "The ladder stops at the first step that fails, prints the likely reason, and ends with its",
                "number: registers, memory, stream, identity, one tile, whole kernel. In simulation the same",
                "program takes the same steps.",
                "",
            ]
            if ladder
            else []
        ),
        "The self-test prints a line a round. It ends with 0 if every element is right, with 10 to 99 after",
        "a wrong element, and with 100 + the runtime's status (`dma_status` in",
        "`sw/runtime/include/axiloom.h`) after an error of the runtime.",
        "",
        "This does steps 3 and 4 over ssh, and compares with the same programs in simulation:",
        "",
        "```",
        'axiloom board test BOARD . --prefix "sudo -n" [--load]',
        "```",
        "",
    ]
    if classes:
        steps += [
            "On the PYNQ image, this runs every flow on NumPy arrays. The top of the file has more:",
            "",
            "```",
            *(f"sudo -E python3 {file.removeprefix('python/')} {plan.name}.bit" for file in classes),
            "```",
            "",
        ]
    if "linux/overlay.dts" in files:
        steps += [
            "The device tree in `linux/overlay.dts` reserves the memory that the DMA shares with the program",
            "and makes its registers a UIO device; the top of the file says how to compile and load it.",
            "",
        ]
    return steps + _map(plan, cores)


def _load(plan: Plan) -> list[str]:
    lines = [f"sudo python3 -c \"from pynq import Overlay; Overlay('{plan.name}.bit')\""]
    if plan.hardware.family == "zynqmp":
        lines.append("# without PYNQ: fpgautil -b FILE.bit.bin; bootgen makes that file from the .bit")
    return lines


def _map(plan: Plan, cores: tuple[Core, ...]) -> list[str]:
    lines = ["## Address map", "", "| master | slave | from | bytes |", "|---|---|---|---|"]
    for segment in segments(plan, cores):
        lines.append(f"| {segment.space} | {segment.segment} | {segment.offset:#010x} | {segment.size:#x} |")
    lines += ["", "| accelerator | interrupt of MM2S | of S2MM |", "|---|---|---|"]
    for entry in interrupts(plan):
        channels = [entry["mm2s"], entry["s2mm"]]
        cells = [
            f"{channel['pin']} (SPI {channel['spi']})" for channel in channels if isinstance(channel, dict)
        ]
        lines.append(f"| {entry['accelerator']} | {' | '.join(cells)} |")
    whose = "its own" if plan.dma == OWN else "Xilinx' AXI DMA"
    mode = "scatter-gather" if plan.scatter_gather else "direct register mode"
    lines += [
        "",
        f"DMA: {whose}, {mode}, LENGTH of {plan.specs[0].link.dma.length_width} bits; streams of "
        f"{plan.specs[0].link.stream_width} bits; one clock of {plan.hardware.fabric_hz / 1e6:g} MHz.",
        *(_coherent(plan) if plan.coherent and plan.memory else []),
    ]
    return lines


def _coherent(plan: Plan) -> list[str]:
    assert plan.memory is not None
    return [
        "",
        f"The DMA reads and writes memory through {plan.memory.port}, which looks into the CPU's caches: the",
        "driver maintains none. The CPU must run in SMP mode with its SCU on, and map memory as shared and",
        "write-back. The bare-metal start-up code does so; so does Linux, with `dma-coherent` in the",
        "overlay.",
    ]


def _open_steps(files: Sequence[str]) -> list[str]:
    steps = ["## Steps", ""]
    if "openflow/README.md" in files:
        steps += ["Bitstream and runs: [openflow/README.md](openflow/README.md).", ""]
    return [
        *steps,
        "`make host` builds the self-test for this PC as a library: a program of your own attaches it to the",
        "line (`sw/runtime/remote/remote.h`) and calls its `main`.",
    ]
