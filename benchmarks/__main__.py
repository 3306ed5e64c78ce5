"""Run all benchmarks, or those named on the command line: ``python -m benchmarks rtl_speed``.

Drivers against each other and against the CPU: ``python -m benchmarks.paper``.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

ALL = (
    *("rtl_speed", "cpu_speed", "array_throughput", "engine_utilisation", "conv_utilisation"),
    *("conv_layers", "kernels", "kernel_table", "resources", "fidelity", "board_folders", "isa_simulator"),
    "hlscnn_error",
)

# Only by name: they simulate for long, and those that end on _fit write files of the sources.
LONG = (
    *(
        "cost_fit",
        "replay_fit",
        "edge_fit",
        "queue_fit",
        "neon_fit",
        "selection",
        "sweep_resume",
        "outside_faults",
        "hand_prefetch",
        "neon_packing",
    ),
    *("quantisation", "digits_soc", "imports", "random_onnx"),  # these need the extra [networks]
    "network_kinds",  # needs the extra [networks] and scikit-learn; trains and simulates eight networks
    "published",  # builds a model for each accelerator
    "own_devices",  # builds a SoC for each device of examples/hardware
    *("faults", "device_faults", "bus_rules", "stall_seeds"),  # build a SoC for each fault in RTL
    "driver_mistakes",  # builds four SoCs, and compiles for two CPUs
    "defaults",  # builds a dozen SoCs, and simulates hundreds of small runs
    "later_calls",  # builds some SoCs, and simulates a hundred small runs
    "bring_up",  # builds a C library, and hardware with faults
    "flexasr_table2",  # two minutes of random layers
    "vta_streams",  # 10,000 streams on both of VTA's encodings: minutes
    "vta_soc",  # layers of ResNet18 and TinyBERT on the SoC with VTA, conv_v4 and v4: half an hour
    "vta_device",  # VTA's RTL in the layers of ResNet18, and what it takes of a XC7Z020: minutes
    "model_device",  # builds two dozen accelerators
    "linux_process",  # builds a C library for both CPUs
    "int8_array",  # synthesises for half an hour
    "fmax",  # places and routes for an hour
    "open_flow",  # as well
    "row_resources",  # synthesises for minutes
    "nest_search",  # searches for schedules of seven kernels: minutes
    "codesign",  # maps designs for half an hour, and needs the extra [networks] for one
    "mapping_table",  # needs the extra [prove]
    *("programs", "composites", "return_times"),  # need the extra [select]
    "change_target",  # builds two SoCs, and needs the extras [select] and [prove]
    "table4",  # runs data sets for minutes; needs [select,torch] and scikit-learn
    "select_networks",  # simulates four networks; needs [select] and [networks]
    "residual_graph",  # needs the extra [select]
    "table1",  # reads torch: needs the extras [select] and [networks]
    *(
        "nest_operators",
        "nest_resources",
    ),  # synthesise for an hour, and the first writes a file of the sources
    "nest_ports",  # builds seven designs with Verilator, three of them with 64 lanes
    "nest_windows",  # builds six designs with Verilator
    "unchanged",  # compares two revisions, and says nothing about one alone
)

WITH_OPTIONS = (
    *("unchanged", "nest_search", "nest_resources", "vta_soc", "device_faults", "bus_rules", "stall_seeds"),
)
"""They take what follows their name: ``python -m benchmarks unchanged --against before.json``."""

ROOMS = ("hardware", "simulation", "drivers", "networks", "instructions", "nest")
HERE = Path(__file__).parent
MODULES = {
    file.stem: f"benchmarks.{room}.{file.stem}" for room in ROOMS for file in (HERE / room).glob("*.py")
}

words = sys.argv[1:]
if words and words[0] in WITH_OPTIONS:
    words, options = words[:1], [words[1:]]
else:
    options = []
for name in words or ALL:
    if name not in (*ALL, *LONG):
        sys.exit(f"no benchmark {name!r}; there are {', '.join((*ALL, *LONG))}")
    print(f"== {name}", flush=True)
    importlib.import_module(MODULES.get(name, f"benchmarks.{name}")).main(*options)
